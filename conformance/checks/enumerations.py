"""Coded fields and constants lists (chapters "Enumeration object", "Constants lists", "States")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256

import msgspec

from conformance.checks.registry import Memory, check, key_of, reading, successes
from conformance.spec import CONSTANT_LISTS
from conformance.spec import endpoints as op
from conformance.spec.tables import (
    CODED_FIELDS,
    CONSTANTS,
    MFA_METHODS,
    PORTAL_TYPES,
    STATES,
    WORKSPACE_KINDS,
    ConstantList,
)
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, holds
from conformance.verdicts.findings import HELD, Comparison, OtherPlace, endpoint_of

STATE_FIELDS: Mapping[str, tuple[str, str]] = {
    "accountStatus": ("STATE-001", "Account"),
    "institutionStatus": ("STATE-002", "Institution"),
    "workspaceStatus": ("STATE-003", "Workspace"),
    "invitationStatus": ("STATE-004", "Invitation"),
    "typeStatus": ("STATE-006", "Notification channel type"),
}
"""Coded fields whose family stands in the table of states, with the requirement that states it."""

NAMED: Mapping[str, Mapping[str, int]] = {
    "accountPortal": {"SYSTEM": PORTAL_TYPES["SYSTEM"]},
    "mfaMethod": MFA_METHODS,
    "mfaMethods": MFA_METHODS,
    "workspaceKind": WORKSPACE_KINDS,
}
"""Other coded fields, with what the specification itself says of their values."""

LISTED: Mapping[str, Mapping[str, int]] = {
    "accountPortal": {code: value for code, value in PORTAL_TYPES.items() if code != "SYSTEM"},
    "institutionType": CODED_FIELDS["institutionType"],
    "roleType": CODED_FIELDS["roleType"],
}
"""Coded fields that no more than a name ties to a constants list: another list may be meant."""

CONSTANT_KEYS = tuple(row.endpoint for row in CONSTANT_LISTS.values())


coded = successes().where(lambda exchange: bool(exchange.coded))


def wrong(exchange: Exchange, entry: dict[str, Json], part: str, expected: Json) -> Comparison:
    """The code or value of an enumeration object is another than the specification lists."""
    return contradicts(exchange, f"{exchange.path_to(entry)}.{part}", expected, entry[part])


def _in(exchange: Exchange, fields: Mapping[str, object]) -> Iterator[tuple[str, dict[str, Json]]]:
    """The enumeration objects in some coded fields."""
    by_field = exchange.coded_by_field
    return ((name, entry) for name in fields if name in by_field for entry in by_field[name])


def _code_rules(of_code: str, of_value: str, fields: Mapping[str, Mapping[str, int]]) -> None:
    codes = {name: {value: code for code, value in family.items()} for name, family in fields.items()}

    @check(of_code, on=coded)
    def listed_code_has_its_value(exchange: Exchange) -> Iterator[Comparison]:
        for name, entry in _in(exchange, fields):
            value = fields[name].get(entry["code"])
            if value is not None:
                yield (HELD if entry["value"] == value else wrong(exchange, entry, "value", value))

    @check(of_value, on=coded)
    def listed_value_has_its_code(exchange: Exchange) -> Iterator[Comparison]:
        for name, entry in _in(exchange, fields):
            code = codes[name].get(entry["value"])
            if code is not None:
                yield (HELD if entry["code"] == code else wrong(exchange, entry, "code", code))


_code_rules("ENUM-005", "ENUM-006", NAMED)
_code_rules("ENUM-010", "ENUM-011", LISTED)


@check("ENUM-009", on=coded, remembers="steadily")
def code_keeps_its_value(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Either of two values may be wrong; where another rule states the value of a code, that rule decides."""
    for name, entry in exchange.coded:
        code, value = entry["code"], entry["value"]
        key = f"{name} {code}"
        if key not in memory:
            memory[key] = value, _place(exchange, name, entry)
        first, place = memory[key]
        if first == value:
            yield HELD
        elif code not in CODED_FIELDS.get(name, ()):
            there = f"{first} at {place.endpoint} (exchange {place.exchange})"
            odd = contradicts(exchange, f"{exchange.path_to(entry)}.value", first, value)
            yield replace(odd, message=f"{code} has the value {value} here, and {there}", other=place)


def _place(exchange: Exchange, name: str, entry: dict[str, Json]) -> OtherPlace:
    """Where a coded field stands, with the id of its record."""
    around = exchange.at(exchange.path_to(entry).rpartition(".")[0])
    record = around.get("bizId") if isinstance(around, dict) else None
    return OtherPlace(exchange.n, endpoint_of(exchange), record if isinstance(record, str) else "", name)


def _state_rule(field: str, requirement: str, family: Mapping[str, int]) -> None:
    by_value = {value: code for code, value in family.items()}

    @check(requirement, on=coded)
    def state_has_its_value(exchange: Exchange) -> Iterator[Comparison]:
        for entry in exchange.coded_by_field.get(field, ()):
            value, code = family.get(entry["code"]), by_value.get(entry["value"])
            if value is not None:
                yield (HELD if entry["value"] == value else wrong(exchange, entry, "value", value))
            elif code is not None:
                yield wrong(exchange, entry, "code", code)


for _field, (_requirement, _family) in STATE_FIELDS.items():
    _state_rule(_field, _requirement, STATES[_family])


def entries(exchange: Exchange) -> list[dict[str, Json]]:
    """The items of a constants list; none where one of them lacks the code or value that it is known by."""
    items = exchange.data if isinstance(exchange.data, list) else []
    complete = [item for item in items if isinstance(item, dict) and _is_known(item)]
    return complete if len(complete) == len(items) else []


def _is_known(item: dict[str, Json]) -> bool:
    return isinstance(item.get("code"), str) and is_integer(item.get("value"))


def _list_rules(row: ConstantList) -> None:
    family = row.codes
    by_value = {value: code for code, value in family.items()}
    selected = successes(row.endpoint)

    @check(row.values, on=selected)
    def seen_codes_have_their_values(exchange: Exchange) -> Iterator[Comparison]:
        for index, item in enumerate(entries(exchange)):
            code, value = item["code"], item["value"]
            if code in family:
                held = value == family[code]
                yield HELD if held else contradicts(exchange, f"data[{index}].value", family[code], value)
            elif value in by_value:
                yield contradicts(exchange, f"data[{index}].code", by_value[value], code)

    @check(row.presence, on=selected)
    def seen_codes_are_listed(exchange: Exchange) -> Iterator[Comparison]:
        listed = [item["code"] for item in entries(exchange)]
        missing = [code for code in family if code not in listed]
        if listed or exchange.data == []:
            yield holds(exchange, "data", not missing, {"codes": list(family)}, actual={"missing": missing})


for _row in CONSTANT_LISTS.values():
    _list_rules(_row)


def _listed_state_rule(requirement: str, endpoint: str, family: Mapping[str, int]) -> None:
    @check(requirement, on=successes(endpoint))
    def listed_states_have_their_values(exchange: Exchange) -> Iterator[Comparison]:
        for index, item in enumerate(entries(exchange)):
            if item["code"] in family:
                value = family[item["code"]]
                yield holds(exchange, f"data[{index}].value", item["value"] == value, value)


_listed_state_rule("STATE-005", op.NOTIFICATION_CHANNEL_STATUSES, STATES["Notification channel"])
_listed_state_rule("STATE-008", op.USER_PERMISSION_STATUSES, STATES["Permission"])


@check("CONSTANT-062", on=successes(*CONSTANT_KEYS))
def nothing_stands_twice_in_a_list(exchange: Exchange) -> Iterator[Comparison]:
    yield from _once(exchange, "code", "value")


def _once(exchange: Exchange, *fields: str) -> Iterator[Comparison]:
    """No two items of a list have the same in a field; an empty text is none, but for a code."""
    for field in fields:
        shown = (item.get(field) for item in entries(exchange))
        counts = Counter(str(value) for value in shown if isinstance(value, str | int | float))
        twice = [value for value, times in counts.items() if times > 1 and (value or field == "code")]
        yield holds(exchange, "data", not twice, f"each {field} once", actual={"twice": twice})


NAMES_ONE = {op.COUNTRIES: ("alpha2Code", "alpha3Code", "numericCode"), op.US_STATES: ("isoCode",)}
"""By list, the fields that name the same country or state everywhere."""


@check("CONSTANT-069", on=successes(*NAMES_ONE))
def no_country_or_state_has_the_code_of_another(exchange: Exchange) -> Iterator[Comparison]:
    yield from _once(exchange, *NAMES_ONE[key_of(exchange)])


@check("CONSTANT-063", on=successes(op.COUNTRIES))
def country_codes_have_their_lengths(exchange: Exchange) -> Iterator[Comparison]:
    for index, item in enumerate(entries(exchange)):
        for field, length in (("alpha2Code", 2), ("alpha3Code", 3)):
            code = item.get(field)
            if isinstance(code, str):
                yield holds(exchange, f"data[{index}].{field}", len(code) == length, f"{length} letters")


@check("CONSTANT-064", on=successes(*CONSTANT_KEYS), remembers=True)
def a_list_stays_the_same(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    key, digest = exchange.request.path, _digest(exchange.data)
    before = memory.get(key)
    if before is not None and before[0] == digest:
        yield HELD
        return
    pairs = sorted((str(item["code"]), str(item["value"])) for item in entries(exchange))
    of_pairs = _digest(pairs)
    if before is not None:
        expected, actual = "the list of the previous call", f"{len(pairs)} items"
        yield holds(exchange, "data", before[1] == of_pairs, expected, actual=actual)
    memory[key] = digest, of_pairs


@reading("further-constants", on=successes(*CONSTANT_KEYS))
def constants_beyond_those_seen(exchange: Exchange) -> Iterator[Json]:
    listed = CONSTANTS[exchange.request.path.rstrip("/").rpartition("/")[2]]
    further = [item["code"] for item in entries(exchange) if item["code"] not in listed]
    yield further[:50] if further else "none"


@reading("label-form", on=coded)
def form_of_labels(exchange: Exchange) -> Iterator[str]:
    for _, entry in exchange.coded:
        label = entry.get("label")
        if isinstance(label, str):
            is_key = " " not in label and ("." in label or "_" in label)
            yield "translation key" if is_key else "display text"
            return


@reading("enumeration-description", on=coded)
def description_of_enumerations(exchange: Exchange) -> Iterator[str]:
    for _, entry in exchange.coded:
        yield "present" if isinstance(entry.get("description"), str) else "absent"
        return


@reading("further-states", on=coded)
def states_beyond_those_listed(exchange: Exchange) -> Iterator[Json]:
    for name, entry in _in(exchange, STATE_FIELDS):
        if entry["code"] not in STATES[STATE_FIELDS[name][1]]:
            yield {"field": name, "code": entry["code"], "value": entry["value"]}


def _digest(value: Json) -> bytes:
    """What is remembered of a list: the whole of one of usual length."""
    text = msgspec.json.encode(value)
    return text if len(text) <= USUAL_LIST else sha256(text).digest()


USUAL_LIST = 4_096
"""Bytes of a list that is remembered as it is."""
