"""Notification channels and their types, as far as the wire shows them (chapter "Notifications")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from conformance.checks.access.changed import SOON_SECONDS
from conformance.checks.envelope import is_mask
from conformance.checks.records import (
    PLACE,
    Matching,
    code_asked_for,
    coded_filter_rule,
    filter_rule,
    filters_given,
    folded,
    is_the_same_id,
    matches_enumeration,
    owner_filter_rule,
    records,
    sent_fields,
)
from conformance.checks.registry import Memory, answers, check, key_of, successes
from conformance.spec import endpoints as op
from conformance.spec.tables import CONSTANTS, STATES
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, equal, holds, is_granted
from conformance.verdicts.findings import HELD, Comparison

TYPE_STATES = STATES["Notification channel type"]
SWITCHES = (op.CHANNEL_ACTIVATE, op.CHANNEL_UPDATE, op.CHANNEL_CREATE)
"""What may lead a channel to another state."""

# Channel types.


@check("CHANNELTYPE-025", on=successes(op.CHANNEL_TYPES_QUERY))
def enabled_goes_with_the_status(exchange: Exchange) -> Iterator[Comparison]:
    fits = False
    for path, record in records(exchange):
        status = record.get("typeStatus")
        code = status.get("code") if type(status) is dict else None
        if type(code) is str and code in TYPE_STATES and type(record.get("enabled")) is bool:
            if record["enabled"] is (code == "ENABLED"):
                fits = True
            else:
                yield equal(exchange, f"{path}.enabled", code == "ENABLED")
    if fits:
        yield HELD


@check("CHANNELTYPE-036", on=successes(op.CHANNEL_TYPES_QUERY))
def no_two_types_share_a_code_or_value(exchange: Exchange) -> Iterator[Comparison]:
    """Judges one answer: later answers may reuse deleted codes. Records in unknown states may be deleted."""
    compared = [
        row for row in records(exchange) if type(row[1].get("bizId")) is str and _is_in_a_state(row[1])
    ]
    for name in ("typeCode", "typeValue"):
        owners: dict[str, Json] = {}
        for path, record in compared:
            value = record.get(name)
            if value and (type(value) is str or isinstance(value, int)):
                id = record["bizId"]
                owner = owners.setdefault(str(value), id)
                if owner != id:
                    message = f"channel type {owner} has it too"
                    yield contradicts(exchange, f"{path}.{name}", "one of its own", value, message)
        if owners:
            yield HELD


def _is_in_a_state(channel_type: dict[str, Json]) -> bool:
    status = channel_type.get("typeStatus")
    code = status.get("code") if type(status) is dict else None
    return type(code) is not str or code in TYPE_STATES


TOTAL = "data.pagination.totalRecords"

filter_rule("CHANNELTYPE-020", op.CHANNEL_TYPES_QUERY, "bizId", is_the_same_id, TOTAL)


def contains(exchange: Exchange, place: str, wanted: str, code: str) -> Comparison:
    """How a text is matched is not stated: the code may be looked for in part, and without regard to case."""
    return holds(exchange, place, folded(wanted) in folded(code), f"a text that contains {wanted!r}")


filter_rule("CHANNELTYPE-021", op.CHANNEL_TYPES_QUERY, "typeCode", contains, TOTAL)
_BY_STATE = matches_enumeration(TYPE_STATES)
coded_filter_rule("CHANNELTYPE-022", op.CHANNEL_TYPES_QUERY, "typeStatus", TYPE_STATES, _BY_STATE, TOTAL)


def _only_rule(
    requirement: str, key: str, flag: str, compare: Callable[[Exchange], Iterator[Comparison]]
) -> None:
    """Declares a rule for a flag that excludes records. It holds only where the listing without the flag
    has such a record, or counts more."""

    @check(requirement, on=successes(key), remembers=True)
    def only_those_are_given(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        filters = filters_given(exchange).keys()
        count, whole = exchange.at(TOTAL), f"whole {exchange.request.bearer}"
        is_known = is_integer(count) and not exchange.request.is_unknown
        if is_known and filters <= PLACE:
            has_others = any(comparison is not HELD for comparison in compare(exchange))
            memory[whole] = inf if has_others else count
        if flag not in filters or sent_fields(exchange)[flag] is not True:
            return
        compared = list(compare(exchange))
        yield from (comparison for comparison in compared if comparison is not HELD)
        if compared and is_known and filters <= {*PLACE, flag} and count < memory.get(whole, count):
            yield from (comparison for comparison in compared if comparison is HELD)


def _enabled_types(exchange: Exchange) -> Iterator[Comparison]:
    """Where flag and status disagree, which is another rule's matter, either will do."""
    for path, record in records(exchange):
        status = record.get("typeStatus")
        by_status = isinstance(status, dict) and status.get("code") == "ENABLED"
        if isinstance(record.get("enabled"), bool):
            yield HELD if by_status else equal(exchange, f"{path}.enabled", True)


def _active_channels(exchange: Exchange) -> Iterator[Comparison]:
    """Channels that may be active: further states exist undocumented, only INACTIVE is excluded."""
    for path, record in records(exchange):
        if isinstance(record.get("channelStatus"), str):
            inactive = record["channelStatus"] == "INACTIVE"
            yield holds(exchange, f"{path}.channelStatus", not inactive, "ACTIVE")


_only_rule("CHANNELTYPE-023", op.CHANNEL_TYPES_QUERY, "enabledOnly", _enabled_types)
_only_rule("CHANNEL-044", op.CHANNELS_QUERY, "activeOnly", _active_channels)

# Channels.

filter_rule("CHANNEL-040", op.CHANNELS_QUERY, "bizId", is_the_same_id, TOTAL)


CATEGORIES = CONSTANTS["notification-channel-types"]
STATES_OF_CHANNELS = STATES["Notification channel"]

owner_filter_rule("CHANNEL-041", op.CHANNELS_QUERY, "institutionBizId", TOTAL)


def _matches_text(family: Mapping[str, int]) -> Matching:
    """For a field that shows a code as plain text."""

    def compare(exchange: Exchange, name: str, wanted: Json) -> Iterator[Comparison]:
        code = code_asked_for(wanted, family)
        for path, record in records(exchange):
            if isinstance(record.get(name), str):
                yield equal(exchange, f"{path}.{name}", code)

    return compare


for _requirement, _name, _family in (
    ("CHANNEL-042", "channelCategory", CATEGORIES),
    ("CHANNEL-043", "channelStatus", STATES_OF_CHANNELS),
):
    coded_filter_rule(_requirement, op.CHANNELS_QUERY, _name, _family, _matches_text(_family), TOTAL)


@check("CHANNEL-008", on=successes(op.CHANNELS_QUERY, op.CHANNEL_COMMAND_DEACTIVATE))
def a_mail_channel_has_its_settings(exchange: Exchange) -> Iterator[Comparison]:
    """What a channel of another category holds is not shown."""
    for path, record in records(exchange):
        if record.get("channelCategory", "EMAIL") == "EMAIL":
            there = isinstance(record.get("emailConfig"), dict)
            yield holds(exchange, f"{path}.emailConfig", there, "an object with the mail settings")


@check("CHANNEL-030", on=successes(op.CHANNEL_COMMAND_DEACTIVATE))
def a_deactivated_channel_is_inactive(exchange: Exchange) -> Iterator[Comparison]:
    if exchange.at("data.channelStatus") is not ABSENT:
        yield equal(exchange, "data.channelStatus", "INACTIVE")


@check("CHANNEL-055", on=successes(op.CHANNEL_COMMAND_DEACTIVATE))
def the_answer_is_the_channel_that_was_named(exchange: Exchange) -> Iterator[Comparison]:
    if isinstance(sent_fields(exchange).get("bizId"), str) and exchange.at("data.bizId") is not ABSENT:
        yield equal(exchange, "data.bizId", sent_fields(exchange)["bizId"])


@check(
    "CHANNEL-031", on=successes(op.CHANNEL_COMMAND_DEACTIVATE, op.CHANNELS_QUERY, *SWITCHES), remembers=True
)
def a_channel_deactivated_by_command_is_listed_so(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Only the first listing that shows it is held to it, once the change has had its time, unless it was
    switched in between: afterwards anybody may have activated it again."""
    if (key := key_of(exchange)) != op.CHANNELS_QUERY:
        memory.clear()
        if key == op.CHANNEL_COMMAND_DEACTIVATE and exchange.at("data.channelStatus") is not ABSENT:
            memory["last"] = exchange.data.get("bizId"), exchange.time
        return
    id, moment = memory.get("last", (None, 0.0))
    for path, record in records(exchange):
        if id is not None and record.get("bizId") == id:
            compared = equal(exchange, f"{path}.channelStatus", "INACTIVE")
            if compared is HELD or exchange.time > moment + WRITTEN_SECONDS:
                memory.clear()
                yield compared


WRITTEN_SECONDS = 9.5
"""How long a change may take to show: a little less than the cases wait before their last look."""


class Switch(NamedTuple):
    """A state change of records: its operation, their listing, and other operations with the same effect."""

    key: str
    query: str
    others: tuple[str, ...]
    field: str
    before: str
    after: str


def _switch_rule(requirement: str, switch: Switch) -> None:
    """The first listing that shows what was switched does not show the state before any more, once the change
    has had its time. Further states are not shown."""

    @check(requirement, on=answers(switch.key, switch.query, *switch.others), remembers=True, compares=True)
    def what_was_switched_is_listed_so(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        key, id = key_of(exchange), sent_fields(exchange).get("bizId")
        if key != switch.query:
            memory.clear()
            if key == switch.key and is_granted(exchange) and isinstance(id, str):
                memory["last"] = id, exchange.time
            return
        id, moment = memory.get("last", (None, 0.0))
        for path, record in records(exchange) if id is not None and exchange.success else ():
            state = _code_in(record.get(switch.field)) if record.get("bizId") == id else None
            is_due = moment + WRITTEN_SECONDS < exchange.time < moment + SOON_SECONDS
            if state == switch.after or (state == switch.before and is_due):
                memory.clear()
                place = f"{path}.{switch.field}"
                yield holds(exchange, place, state == switch.after, switch.after, actual=state)


def _code_in(state: Json) -> Json:
    return state.get("code") if isinstance(state, dict) else state


_TYPES = (op.CHANNEL_TYPE_CREATE, op.CHANNEL_TYPE_UPDATE, op.CHANNEL_TYPE_DELETE)

_OF_CHANNELS = (op.CHANNEL_COMMAND_DEACTIVATE, op.CHANNEL_DELETE, *SWITCHES)
_OF_TYPES = op.CHANNEL_TYPES_QUERY, (*_TYPES, op.CHANNEL_TYPE_ENABLE, op.CHANNEL_TYPE_DISABLE), "typeStatus"

_switch_rule(
    "CHANNEL-049",
    Switch(op.CHANNEL_DEACTIVATE, op.CHANNELS_QUERY, _OF_CHANNELS, "channelStatus", "ACTIVE", "INACTIVE"),
)
_switch_rule("CHANNELTYPE-028", Switch(op.CHANNEL_TYPE_DISABLE, *_OF_TYPES, "ENABLED", "DISABLED"))
_switch_rule("CHANNELTYPE-029", Switch(op.CHANNEL_TYPE_ENABLE, *_OF_TYPES, "DISABLED", "ENABLED"))


@check(
    "CHANNEL-046",
    on=successes(op.CHANNEL_CREATE, op.CHANNEL_UPDATE, op.CHANNELS_QUERY, op.CHANNEL_COMMAND_DEACTIVATE),
    remembers=True,
)
def a_mail_password_is_masked(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Contradicted by a password sent before it was ever shown; satisfied by visible masks, if all are masks.
    Other values stay undecided, as clients send shown masks back."""
    config = sent_fields(exchange).get("emailConfig")
    sent = config.get("password") if isinstance(config, dict) else None
    if isinstance(sent, str) and len(sent) >= 6 and not is_mask(sent):
        memory.setdefault(f"password {sent}", "sent")
    masks = 0
    for path, record in records(exchange):
        shown = record.get("emailConfig")
        password = shown.get("password") if isinstance(shown, dict) else None
        if not isinstance(password, str):
            continue
        if is_mask(password):
            masks += 1
        elif memory.setdefault(f"password {password}", "shown") == "sent":
            yield contradicts(exchange, f"{path}.emailConfig.password", "a mask", "the password that was set")
        elif password:
            memory["may be in the clear"] = True
    if masks and "may be in the clear" not in memory:
        yield HELD
