"""Codes and their values, wherever they stand: in coded fields and in the portal's own constants lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.checks.enumerations import coded, entries, wrong
from conformance.checks.registry import Memory, check, successes
from conformance.spec import CONSTANT_LISTS
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison

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

Pair = tuple[str, int]
"""A code and its value."""

LIST_OF: Mapping[str, str] = {CONSTANT_LISTS[suffix].endpoint: suffix for suffix in FAMILIES.values()}


@check("MODEL-002", on=coded, remembers="steadily")
def a_value_keeps_its_code(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    for name, entry in exchange.coded:
        key = f"{name} {entry['value']}"
        before = memory.get(key)
        if before is None:
            before = memory[key] = entry["code"]
        same = before.casefold() == entry["code"].casefold()
        yield HELD if same else wrong(exchange, entry, "code", before)


def _family_of(exchange: Exchange) -> str | None:
    """The name of the constants list that an exchange asks for, where a coded field has it."""
    operation = exchange.request.operation
    return None if operation is None else LIST_OF.get(operation.key)


@check(
    "MODEL-003",
    on=successes().where(lambda exchange: bool(exchange.coded) or _family_of(exchange) is not None),
    remembers="steadily",
)
def a_field_and_its_list_agree(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """A code has one value in both, and a value one code; a code that only one of them has says nothing."""
    family = _family_of(exchange)
    if family is not None:
        for index, item in enumerate(entries(exchange)):
            wanted = _in_the_other(memory, family, "the list", item)
            yield from _compared(wanted, exchange, item, f"data[{index}]")
        return
    for name, entry in exchange.coded:
        if name in FAMILIES and is_integer(entry["value"]):
            wanted = _in_the_other(memory, FAMILIES[name], "fields", entry)
            yield from _compared(wanted, exchange, entry, "")


def _in_the_other(memory: Memory, family: str, place: str, entry: Mapping[str, Json]) -> Pair | None:
    """The code and value by which the other place showed an entry first; None where it showed neither of the
    two. What one place says in two ways is another rule's."""
    pair = place, entry["code"], int(entry["value"])
    by_code = memory.setdefault(f"{family} code {entry['code'].casefold()}", pair)
    by_value = memory.setdefault(f"{family} value {pair[2]}", pair)
    other = by_code if by_code[0] != place else by_value
    return None if other[0] == place else (other[1], other[2])


def _compared(
    wanted: Pair | None, exchange: Exchange, entry: Mapping[str, Json], path: str
) -> Iterator[Comparison]:
    """An entry beside its like; without a path its place is looked for, where the two differ."""
    if wanted is None:
        return
    code, value = wanted
    if value == entry["value"] and code.casefold() == entry["code"].casefold():
        yield HELD
        return
    path = path or exchange.path_to(entry)
    if value != entry["value"]:
        yield contradicts(exchange, f"{path}.value", value, entry["value"])
    else:
        yield contradicts(exchange, f"{path}.code", code, entry["code"])
