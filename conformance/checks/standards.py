"""Codes of languages, timezones and countries against the standards they come from (several chapters)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from conformance.checks.enumerations import entries
from conformance.checks.records import records
from conformance.checks.registry import Memory, check, successes, with_data
from conformance.spec.endpoints import COUNTRIES, TIMEZONES, WORKSPACES_CURRENT
from conformance.spec.iso import COUNTRY_NUMBERS, LANGUAGES_OF_TWO_LETTERS, is_country
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, holds
from conformance.verdicts.findings import HELD, Comparison

OF_ACCOUNTS = with_data("Account", "Profile", "AccountPage")

LANGUAGE = re.compile(r"([A-Za-z]{2,3})([-_][A-Za-z0-9]{2,8}){0,3}\Z")

NAMED_OTHERWISE = re.compile(
    r"[+-]?\d+(:\d\d)?|(UTC|GMT)[ _]?([+-]|PLUS|MINUS)?[ _]?\d{0,2}(:?\d\d)?|[A-Z]{1,5}|.*STANDARD[ _]?TIME",
    re.IGNORECASE,
)
"""An offset, an abbreviation, a number of the portal's own, or a zone as one operating system names it."""


def code_rule(requirement: str, name: str, is_right: Callable[[str], bool], expected: str) -> None:
    @check(requirement, on=successes(*OF_ACCOUNTS))
    def the_code_is_one(exchange: Exchange) -> Iterator[Comparison]:
        """The first that is none is enough: a listing may have thousands."""
        is_present = False
        for path, record in records(exchange):
            code = record.get(name)
            if not isinstance(code, str) or not code.strip():
                continue
            if not is_right(code.strip()):
                yield contradicts(exchange, f"{path}.{name}", expected, code)
                return
            is_present = True
        if is_present:
            yield HELD


@lru_cache(maxsize=256)
def _is_two_letters_of_a_country(code: str) -> bool:
    """Another form is another rule's."""
    return len(code) != 2 or not code.isascii() or not code.isalpha() or is_country(code)


@lru_cache(maxsize=256)
def is_language(code: str) -> bool:
    match = LANGUAGE.match(code)
    if match is None:
        return False
    language = match.group(1).lower()
    return len(language) == 3 or language in LANGUAGES_OF_TWO_LETTERS or is_country(language)


code_rule("RESOURCE-007", "defaultCountry", _is_two_letters_of_a_country, "a country's code (ISO 3166)")
code_rule("RESOURCE-009", "defaultLanguage", is_language, "a short language code (ISO 639)")


ZONE = re.compile(r"[A-Z][A-Za-z]+(/[A-Z][A-Za-z_-]+)+")
"""A zone's name as the list of all zones has it."""


def _has_a_file(zone: str) -> bool:
    """Whether this machine knows a zone by exactly this name: that is found without a list of all zones."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return False
    return True


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """The names of the zones that this machine knows, spelled in one way, and their last parts alone."""
    zones = available_timezones()
    return frozenset(_spelled(name) for zone in zones for name in (zone, zone.rpartition("/")[2]))


def _spelled(zone: str) -> str:
    return re.sub(r"[^A-Z0-9+]+", "_", zone.upper())


@lru_cache(maxsize=1024)
def is_zone(code: str) -> bool:
    """Whether a code names a zone in a usual way; any does where this machine has no list of zones."""
    if NAMED_OTHERWISE.fullmatch(code) or (ZONE.fullmatch(code) and _has_a_file(code)):
        return True
    zones = _zones()
    return not zones or _spelled(code) in zones


def _timezones(exchange: Exchange) -> list[tuple[str, str, str]]:
    """The timezone codes of an answer, each with its record's place and its field."""
    return [
        (path, name, code)
        for path, record in records(exchange)
        for name in ("defaultTimezone", "workspaceTimezone")
        if isinstance(code := record.get(name), str) and code.strip()
    ]


@check("RESOURCE-008", on=successes(TIMEZONES, *OF_ACCOUNTS, WORKSPACES_CURRENT), remembers="steadily")
def a_timezone_is_one(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Where the portal's own list was read before: it may name zones as it likes."""
    operation, host = exchange.request.operation, exchange.request.parts.netloc
    if operation is not None and operation.key == TIMEZONES:
        if host not in memory:
            memory.outdate_verdicts()
        memory[host] = _codes_of_zones(exchange) | memory.get(host, frozenset())
        return
    listed = memory.get(host)
    if listed is None:
        return
    zones = _timezones(exchange)
    for path, name, code in zones:
        if not is_zone(code) and code not in listed:
            yield contradicts(exchange, f"{path}.{name}", "a timezone of the portal's list", code)
            return
    if zones:
        yield HELD


def _codes_of_zones(exchange: Exchange) -> frozenset[str]:
    names = ("code", "zoneIdCode", "label", "value")
    return frozenset(str(item[name]) for item in entries(exchange) for name in names if name in item)


@check("CONSTANT-067", on=successes(COUNTRIES))
def numbers_of_a_country_belong_together(exchange: Exchange) -> Iterator[Comparison]:
    """Countries outside the standard are the portal's choice."""
    for index, item in enumerate(entries(exchange)):
        numbers = COUNTRY_NUMBERS.get(_upper(item.get("alpha2Code")))
        if numbers is None:
            continue
        letters, number = _upper(item.get("alpha3Code")), item.get("numericCode")
        if len(letters) == 3:
            yield holds(exchange, f"data[{index}].alpha3Code", letters == numbers[0], numbers[0])
        if is_integer(number):
            yield holds(exchange, f"data[{index}].numericCode", number == numbers[1], numbers[1])


def _upper(value: Json) -> str:
    return value.upper() if isinstance(value, str) else ""


@check("CONSTANT-068", on=successes(TIMEZONES))
def a_zone_id_names_a_zone(exchange: Exchange) -> Iterator[Comparison]:
    for index, item in enumerate(entries(exchange)):
        zone = item.get("zoneIdCode")
        if isinstance(zone, str) and zone:
            yield holds(exchange, f"data[{index}].zoneIdCode", is_zone(zone), "a zone's name, or an offset")


OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?(\d\d))?", re.IGNORECASE)
"""A time from UTC in a usual form."""

LATELY = tuple(datetime(year, month, 15) for year in range(2012, 2027, 2) for month in (1, 7))
"""Zones are moved now and then, and not everybody's list is of the same day."""


@lru_cache(maxsize=1024)
def offsets_of(zone: str) -> frozenset[timedelta]:
    """How far a zone is from UTC, in winter and summer; nothing where this machine does not know it."""
    if not (ZONE.fullmatch(zone) and _has_a_file(zone)):
        return frozenset()
    offsets = (time.replace(tzinfo=ZoneInfo(zone)).utcoffset() for time in LATELY)
    return frozenset(offset for offset in offsets if offset is not None)


@check("CONSTANT-071", on=successes(TIMEZONES))
def an_offset_is_the_zones(exchange: Exchange) -> Iterator[Comparison]:
    for index, item in enumerate(entries(exchange)):
        zone, written = item.get("zoneIdCode"), OFFSET.fullmatch(str(item.get("utcOffset")).strip())
        offsets = offsets_of(zone) if isinstance(zone, str) and written is not None else ()
        if offsets and written is not None:
            sign, hours, minutes = written.groups()
            shown = timedelta(hours=int(hours), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
            expected = " or ".join(sorted(map(str, offsets)))
            yield holds(exchange, f"data[{index}].utcOffset", shown in offsets, expected)


@check("CONSTANT-070", on=successes(TIMEZONES))
def an_offset_is_no_zone(exchange: Exchange) -> Iterator[Comparison]:
    for index, item in enumerate(entries(exchange)):
        offset = item.get("utcOffset")
        if isinstance(offset, str) and offset:
            is_name = ZONE.fullmatch(offset) is not None and _has_a_file(offset)
            yield holds(exchange, f"data[{index}].utcOffset", not is_name, "an offset from UTC")
