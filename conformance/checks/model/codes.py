"""Codes and their values, wherever they stand: in coded fields and in the portal's own constants lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from conformance.checks.enumerations import coded, entries
from conformance.checks.registry import Memory, check, key_of, successes
from conformance.spec import CONSTANT_LISTS
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, OtherPlace, endpoint_of

FAMILIES: Mapping[str, str] = {
    "accountPortal": "user-portal-types",
    "accountStatus": "user-account-statuses",
    "institutionStatus": "user-institution-statuses",
    "invitationStatus": "user-invitation-statuses",
    "mfaMethod": "user-mfa-methods",
    "mfaMethods": "user-mfa-methods",
    "typeStatus": "notification-channel-type-statuses",
    "workspaceStatus": "user-workspace-statuses",
}
"""The constants list of a coded field, where the document shows the same values in both."""


class ShownCode(NamedTuple):
    """A code and its value as one of the two places showed them first: ``the list``, or ``a field``."""

    place: str
    code: str
    value: int
    n: int
    endpoint: str


LIST_OF: Mapping[str, str] = {CONSTANT_LISTS[suffix].endpoint: suffix for suffix in FAMILIES.values()}


@check("MODEL-002", on=coded, remembers="steadily")
def a_value_keeps_its_code(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    for name, entry in exchange.coded:
        key = f"{name} {entry['value']}"
        before: ShownCode | None = memory.get(key)
        if before is None:
            value, endpoint = entry["value"], endpoint_of(exchange)
            before = memory[key] = ShownCode("a field", entry["code"], value, exchange.n, endpoint)
        if before.code.casefold() == entry["code"].casefold():
            yield HELD
            continue
        message = f"{entry['value']} of {name} is {before.code} at {before.endpoint}"
        other = OtherPlace(before.n, before.endpoint, str(entry["value"]), "code")
        path = f"{exchange.path_to(entry)}.code"
        compared = contradicts(exchange, path, before.code, entry["code"], message)
        yield replace(compared, other=other)


def _family_of(exchange: Exchange) -> str | None:
    """The name of the constants list that an exchange asks for, where a coded field has it."""
    return LIST_OF.get(key_of(exchange))


@check(
    "MODEL-003",
    on=successes().where(lambda exchange: bool(exchange.coded) or _family_of(exchange) is not None),
    remembers="steadily",
)
def a_field_and_its_list_agree(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Codes and values correspond one to one in field and list; a code missing in either proves nothing."""
    family = _family_of(exchange)
    if family is not None:
        for index, item in enumerate(entries(exchange)):
            wanted = _in_the_other(exchange, memory, family, "the list", item)
            yield from _compared(wanted, exchange, item, f"data[{index}]")
        return
    for name, entry in exchange.coded:
        if name in FAMILIES and is_integer(entry["value"]):
            wanted = _in_the_other(exchange, memory, FAMILIES[name], "a field", entry)
            yield from _compared(wanted, exchange, entry, "")


def _in_the_other(
    exchange: Exchange, memory: Memory, family: str, place: str, entry: Mapping[str, Json]
) -> ShownCode | None:
    """The entry as the other place showed it first, by its code or value; None where it showed neither of the
    two. What one place says in two ways is another rule's."""
    pair = ShownCode(place, entry["code"], int(entry["value"]), exchange.n, endpoint_of(exchange))
    by_code = memory.setdefault(f"{family} code {entry['code'].casefold()}", pair)
    by_value = memory.setdefault(f"{family} value {pair.value}", pair)
    other: ShownCode = by_code if by_code.place != place else by_value
    return None if other.place == place else other


def _compared(
    wanted: ShownCode | None, exchange: Exchange, entry: Mapping[str, Json], path: str
) -> Iterator[Comparison]:
    """An entry beside its like; without a path its place is looked for, where the two differ."""
    if wanted is None:
        return
    expected: Json
    is_value = wanted.value != entry["value"]
    if not is_value and wanted.code.casefold() == entry["code"].casefold():
        yield HELD
        return
    path = path or exchange.path_to(entry)
    message = f"{wanted.place} at {wanted.endpoint} has {wanted.code} as {wanted.value}"
    if is_value:
        part, expected, named = "value", wanted.value, wanted.code
    else:
        part, expected, named = "code", wanted.code, str(wanted.value)
    compared = contradicts(exchange, f"{path}.{part}", expected, entry[part], message)
    yield replace(compared, other=OtherPlace(wanted.n, wanted.endpoint, named, part))
