"""The records of an answer, their times and ids (chapter "Resources and their fields")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter

from conformance.checks.registry import Memory, check, successes, with_data
from conformance.spec.endpoints import ACCOUNT, FILE, INSTITUTION, ROLE
from conformance.spec.resources import ISO_8601, is_on_the_calendar
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, holds
from conformance.verdicts.findings import HELD, Comparison

UNTYPED = {
    "Workspace": "bizId institutionBizId workspaceName workspaceTimezone createdAt updatedAt",
    "Institution": "bizId institutionName createdAt updatedAt",
    "Role": "bizId workspaceBizId roleName description createdAt updatedAt",
    "ChannelTypePage": "bizId typeName typeDescription createdAt updatedAt",
    "LoginHistoryPage": "clientIp userAgent",
}
"""Fields to which the document gives no type and which it does not call nullable, by their data."""

UNTYPED_FIELDS = {
    key: tuple(names.split()) for resource, names in UNTYPED.items() for key in with_data(resource)
}
ALL_UNTYPED = frozenset(name for fields in UNTYPED_FIELDS.values() for name in fields)
DATED = tuple(key for key in UNTYPED_FIELDS if "createdAt" in UNTYPED_FIELDS[key])
LISTINGS = ("accounts", "items", "content")
OF_PAGES = (*LISTINGS, "pagination", "totalElements")
"""What only a page has: one whose listing is no array shows no record."""


_PATHS = {name: f"data.{name}" for name in LISTINGS}


@called
@fact
def records(exchange: Exchange) -> tuple[tuple[str, dict[str, Json]], ...]:
    """Records of a response with places: items of a page or array, or a single record."""
    listed, path = exchange.data, "data"
    if isinstance(listed, dict):
        data = listed
        for name in LISTINGS:
            if isinstance(listed := data.get(name), list):
                path = _PATHS[name]
                break
        else:
            return (("data", data),) if data.keys().isdisjoint(OF_PAGES) else ()
    if not isinstance(listed, list):
        return ()
    places = _places if len(listed) <= USUAL_LISTING else _places.__wrapped__
    listing = zip(places(path, len(listed)), listed, strict=True)
    return tuple([entry for entry in listing if isinstance(entry[1], dict)])


USUAL_LISTING = 100
"""Records up to which their places are remembered."""


@lru_cache(maxsize=256)
def _places(path: str, count: int) -> tuple[str, ...]:
    return tuple(f"{path}[{index}]" for index in range(count))


def sent_fields(exchange: Exchange) -> dict[str, Json]:
    """The fields of the request's body; none where it is no object."""
    sent = exchange.sent
    return sent if isinstance(sent, dict) else {}


# Times.


def moment(value: Json) -> datetime | None:
    """An ISO 8601 date and time; one without an offset is taken as UTC. None where it is none."""
    if not isinstance(value, str):
        return None
    return _moment(value) if len(value) <= USUAL_TIME else _moment.__wrapped__(value)


USUAL_TIME = 40
"""Characters up to which a time is remembered: several checks ask for the same one."""


@lru_cache(maxsize=512)
def _moment(value: str) -> datetime | None:
    if not ISO_8601.match(value):
        return None
    try:
        time = datetime.fromisoformat(value.upper())
    except ValueError:
        return _last_moment(value)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _last_moment(value: str) -> datetime | None:
    """Leap seconds and day ends, normalised to the preceding moment; None for invalid times."""
    if not is_on_the_calendar(value):
        return None
    time = re.sub(r"(?<=[Tt ])24:?00(:?00)?([.,]0+)?", "23:59:59", value)
    time = re.sub(r"(?<=[Tt ])(\d\d:?\d\d:?)60", r"\g<1>59", time)
    return _moment(time) if time != value else None


def any_moment(value: Json) -> datetime | None:
    """As ``moment``; also of epoch milliseconds, as the envelope's ``timestamp`` has them."""
    if is_integer(value) and 10**11 <= value < 10**14:
        return datetime.fromtimestamp(value / 1000, UTC)
    return moment(value)


def has_offset(value: str) -> bool:
    """Whether a time says its zone: another clock may be meant where it does not."""
    return value.endswith(("Z", "z")) or any(sign in value[10:] for sign in "+-")


def portal_time(exchange: Exchange) -> datetime:
    """The portal's own time: its timestamp, or else the sender's clock."""
    stamp = exchange.at("timestamp")
    time = None if isinstance(stamp, str) else any_moment(stamp)
    return time or datetime.fromtimestamp(exchange.time, UTC)


CLOCKS = timedelta(seconds=5)
"""By how much the clocks of a portal's servers may differ."""


def in_order(
    exchange: Exchange, path: str, record: dict[str, Json], first: str, second: str
) -> Iterator[Comparison]:
    """The second of two times is not before the first, where both are known. Two servers of a portal may have
    written them, by clocks that differ; and one may be kept, or shown, without its fraction."""
    early, late = moment(record.get(first)), moment(record.get(second))
    if early is not None and late is not None:
        held = late >= early - CLOCKS
        yield HELD if held else holds(exchange, f"{path}.{second}", held, f"not before {record[first]}")


# Texts.


def folded(text: str) -> str:
    """A text as databases compare it: without case, and without accents."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def are_alike(text: str, other: str) -> bool:
    """Whether two texts differ in no more than blanks, case and accents."""
    return text == other or folded(" ".join(text.split())) == folded(" ".join(other.split()))


# What a filter asks for.


PLACE = frozenset({"page", "size"})


@called
@fact
def filters_given(exchange: Exchange) -> dict[str, Json]:
    """The fields of a query that may leave records out, and which page is asked for."""
    return {name: value for name, value in sent_fields(exchange).items() if value not in (None, "", False)}


def asks_for_text(name: str) -> Callable[[Exchange], bool]:
    """Whether a filter is given as a text that means one thing only: an empty one may filter nothing."""

    def asked(exchange: Exchange) -> bool:
        wanted = sent_fields(exchange).get(name)
        return isinstance(wanted, str) and bool(wanted) and wanted == wanted.strip()

    return asked


TextMatches = Callable[[Exchange, str, str, str], Comparison]
"""Compares what a filter asks for with what a record shows: ``(exchange, place, wanted, shown)``."""


def is_the_same_id(exchange: Exchange, place: str, wanted: str, shown: str) -> Comparison:
    """In which case an id is written may be no matter."""
    return holds(exchange, place, shown.casefold() == wanted.casefold(), wanted)


def _is_alone(exchange: Exchange, alone: frozenset[str], count: Json) -> bool:
    """Whether nothing but a filter may leave records out, and all that was found is counted."""
    is_whole = filters_given(exchange).keys() <= alone and not exchange.request.is_unknown
    return is_whole and is_integer(count)


def filter_rule(requirement: str, key: str, name: str, matches: TextMatches, total: str) -> None:
    """Every record of the listing matches in the field of the filter's name. It holds where a filter that is
    passed over would have given something else. ``total``: where an answer counts all that it found."""
    alone = PLACE | {name}

    @check(requirement, on=successes(key), remembers=True)
    def only_what_matches_is_given(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        filters = filters_given(exchange)
        wanted, count = filters.get(name), exchange.at(total)
        is_alone = _is_alone(exchange, alone, count)
        caller = exchange.request.bearer or ""
        if wanted is None and is_alone:
            memory[f"whole {caller}"] = count
        if wanted is None or not asks_for_text(name)(exchange):
            return
        compared = [
            matches(exchange, f"{path}.{name}", wanted, record[name])
            for path, record in records(exchange)
            if isinstance(record.get(name), str)
        ]
        wrong = [comparison for comparison in compared if comparison is not HELD]
        yield from wrong
        if is_alone and not wrong:
            narrows = not count or count < memory.get(f"whole {caller}", count)
            matching = wanted.casefold() if compared else None
            yield from _held_where_followed(memory, caller, matching, narrows=narrows)


def owner_filter_rule(requirement: str, key: str, name: str, total: str) -> None:
    """A filter by an institution narrows the listing. Whether records of institutions beneath or above count
    as its own is not stated: others contradict it where of two institutions neither left anything out. It
    holds where one leaves anything out: all may be of one institution."""
    alone = PLACE | {name}

    @check(requirement, on=successes(key), remembers=True)
    def the_owner_narrows_the_listing(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        filters = filters_given(exchange)
        wanted, count = filters.get(name), exchange.at(total)
        if not _is_alone(exchange, alone, count):
            return
        whole, passed_over = f"whole {exchange.request.bearer}", f"passed over {exchange.request.bearer}"
        if wanted is None:
            memory[whole] = count
        if not isinstance(wanted, str):
            return
        owners = [
            (path, record[name]) for path, record in records(exchange) if isinstance(record.get(name), str)
        ]
        others = [path for path, owner in owners if owner.casefold() != wanted.casefold()]
        if not others:
            narrows = not count or count < memory.get(whole, count)
            matching = wanted.casefold() if owners else None
            yield from _held_where_followed(memory, exchange.request.bearer or "", matching, narrows=narrows)
        elif count >= memory.get(whole, count + 1):
            memory[passed_over] = sorted({*memory.get(passed_over, []), wanted})
            if len(memory[passed_over]) > 1:
                yield holds(exchange, f"{others[0]}.{name}", False, wanted)


Matching = Callable[[Exchange, str, Json], Iterator[Comparison]]
"""Compares each record of a listing with what a filter asks for."""


def coded_filter_rule(
    requirement: str, key: str, name: str, family: Mapping[str, int], matches: Matching, total: str
) -> None:
    """For a filter on a coded field; ``total`` is where an answer counts all that it found.

    Whether a code is asked for by its symbol or its number is open, and a portal may pass over the form that
    it does not take. What is given beside the code contradicts the filter where that form is taken, as fewer
    were found at some time than without any filter before and after, or where neither form is followed. It
    holds where a filter that is passed over would have given something else.
    """
    alone = PLACE | {name}

    @check(requirement, on=successes(key), remembers=True)
    def only_what_has_the_code_is_given(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        filters = filters_given(exchange)
        wanted, count = filters.get(name), exchange.at(total)
        is_alone = _is_alone(exchange, alone, count)
        caller = exchange.request.bearer or ""
        whole, narrower = f"whole {caller}", f"narrower {caller}"
        if wanted is None or (code := code_asked_for(wanted, family)) is None:
            if wanted is None and is_alone:
                yield from _without_filter(memory, caller, count)
            return
        form, other = ("number", "code") if is_a_number(wanted) else ("code", "number")
        compared = list(matches(exchange, name, wanted))
        wrong = next((comparison for comparison in compared if comparison is not HELD), None)
        narrows = is_alone and count < memory.get(whole, count)
        if wrong is None:
            leaves_out = narrows or (is_alone and not count)
            matching = code if compared else None
            yield from _held_where_followed(memory, f"{form} {caller}", matching, narrows=leaves_out)
        else:
            memory[form] = True
            if other in memory or f"{form} is taken" in memory:
                yield wrong
                return
        if narrows or wrong is not None:
            narrowed = count if narrows else None
            memory[narrower] = [*memory.get(narrower, [])[-MOST_WAITING:], (form, narrowed, wrong)]


MOST_WAITING = 50


def _held_where_followed(
    memory: Memory, answers: str, matching: str | None, *, narrows: bool
) -> Iterator[Comparison]:
    """Holds where answers that match show that a filter is followed: one that is passed over gives the same
    whatever is asked for, and leaves nothing out. ``matching``: what an answer with records was asked for;
    ``answers``: of which kind they are."""
    asked, leaves_out = memory.get(f"matched {answers}", ((), False))
    if matching is not None and matching not in asked:
        asked = (*asked[-1:], matching)
    leaves_out = leaves_out or narrows
    memory[f"matched {answers}"] = asked, leaves_out
    if len(asked) > 1 or (asked and leaves_out):
        yield HELD


def _without_filter(memory: Memory, caller: str, count: int) -> Iterator[Comparison]:
    """Weighs filtered answers of the caller against an unfiltered count."""
    whole, narrower = f"whole {caller}", f"narrower {caller}"
    if narrower in memory:
        yield from _seen_to_narrow(memory, memory.pop(narrower), count)
    if memory.get(whole) != count:
        memory[whole] = count


def _seen_to_narrow(
    memory: Memory, answers: list[tuple[str, int | None, Comparison | None]], count: int
) -> Iterator[Comparison]:
    """Contradictions by filter forms that the portal understands: an answer had fewer records than the
    unfiltered listing before, and the listing lost none since."""
    taken = {form for form, number, _ in answers if number is not None and number < count}
    for form in taken:
        memory[f"{form} is taken"] = True
    yield from (wrong for form, _, wrong in answers if form in taken and wrong is not None)


def is_a_number(value: Json) -> bool:
    """Whether a code is written by its number, also as a text."""
    return is_integer(value) or (isinstance(value, str) and value.isascii() and value.isdigit())


def code_asked_for(wanted: Json, family: Mapping[str, int]) -> str | None:
    """The known code that a filter's value means, by symbol or by number; None where that is not certain."""
    if isinstance(wanted, str) and wanted in family:
        return wanted
    number = int(wanted) if is_a_number(wanted) else None
    return next((code for code, value in family.items() if value == number), None)


def matches_enumeration(family: Mapping[str, int]) -> Matching:
    """Each coded field of a name has the code, or the value, that was asked for."""

    def compare(exchange: Exchange, field: str, wanted: Json) -> Iterator[Comparison]:
        for name, entry in exchange.coded:
            if name == field:
                matches = wanted in (entry["code"], entry["value"], str(entry["value"]))
                yield HELD if matches else _of_another_code(exchange, entry, code_asked_for(wanted, family))

    def _of_another_code(exchange: Exchange, entry: dict[str, Json], code: str | None) -> Comparison:
        """By code and number on both sides, whichever of the two was asked for."""
        expected = None if code is None else f"{code} ({family[code]})"
        actual = f"{entry['code']} ({entry['value']})"
        return contradicts(exchange, exchange.path_to(entry), expected, actual)

    return compare


# Rules for the records of several chapters.


@check("RESOURCE-001", on=successes(*UNTYPED_FIELDS))
def what_is_not_nullable_is_not_null(exchange: Exchange) -> Iterator[Comparison]:
    is_present, fields = False, None
    for path, record in records(exchange):
        if (own := tuple(record)) != fields:
            fields, (names, values_of) = own, _untyped(own)
        if values_of is None:
            continue
        if None not in values_of(record):
            is_present = True
            continue
        for name in names:
            held = record[name] is not None
            yield HELD if held else contradicts(exchange, f"{path}.{name}", "a value", None)
    if is_present:
        yield HELD


@lru_cache(maxsize=128)
def _untyped(
    fields: tuple[str, ...],
) -> tuple[list[str], Callable[[dict[str, Json]], tuple[Json, ...]] | None]:
    """Untyped non-nullable fields of a record, with a getter of their values."""
    names = sorted(ALL_UNTYPED.intersection(fields))
    return names, itemgetter(*names, names[0]) if names else None


@check("RESOURCE-002", on=successes(*DATED))
def record_times_are_iso_8601(exchange: Exchange) -> Iterator[Comparison]:
    for path, record in records(exchange):
        for name in ("createdAt", "updatedAt"):
            if record.get(name) is not None:
                held = moment(record[name]) is not None
                yield HELD if held else holds(exchange, f"{path}.{name}", held, "an ISO 8601 date and time")


@check("RESOURCE-003", on=successes(*DATED))
def record_ids_are_strings(exchange: Exchange) -> Iterator[Comparison]:
    is_present = False
    for path, record in records(exchange):
        for name in ("bizId", "institutionBizId", "workspaceBizId"):
            if name in record and (value := record[name]) is not None:
                if isinstance(value, str):
                    is_present = True
                else:
                    yield holds(exchange, f"{path}.{name}", False, "a string")
    if is_present:
        yield HELD


@check("RESOURCE-004", on=successes(*DATED, *with_data("ChannelPage")))
def a_record_is_updated_after_it_was_created(exchange: Exchange) -> Iterator[Comparison]:
    for path, record in records(exchange):
        yield from in_order(exchange, path, record, "createdAt", "updatedAt")


def _asked_for_rule(requirement: str, key: str) -> None:
    @check(requirement, on=successes(key).where(lambda exchange: exchange.at("data.bizId") is not ABSENT))
    def the_record_is_the_one_asked_for(exchange: Exchange) -> Iterator[Comparison]:
        wanted = exchange.request.path.rstrip("/").rpartition("/")[2]
        if "%" not in wanted:
            yield holds(exchange, "data.bizId", str(exchange.at("data.bizId")) == wanted, wanted)


_asked_for_rule("ROLE-010", ROLE)
_asked_for_rule("FILE-023", FILE)
_asked_for_rule("INSTITUTION-011", INSTITUTION)
_asked_for_rule("ACCOUNT-033", ACCOUNT)
