"""Accounts, the caller's profile and workspaces (chapters "Account", "Admin accounts")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeGuard

from conformance.checks.envelope import is_mask
from conformance.checks.model.places import viewer_of
from conformance.checks.records import (
    are_alike,
    asks_for_text,
    coded_filter_rule,
    folded,
    has_offset,
    in_order,
    matches_enumeration,
    moment,
    owner_filter_rule,
    records,
    sent_fields,
)
from conformance.checks.registry import Memory, check, reading, successes, with_data
from conformance.spec.endpoints import ACCOUNTS_QUERY, PROFILE, PROFILE_UPDATE, WORKSPACES_MINE
from conformance.spec.tables import PORTAL_TYPES, STATES
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import contradicts, equal, holds
from conformance.verdicts.findings import HELD, Comparison, OtherPlace

ACCOUNT_KEYS = with_data("Profile", "AccountPage")


@called
@fact
def account_times(exchange: Exchange) -> list[tuple[str, str, str]]:
    """When accounts were created and updated: the place, the field, and the value where it is a time."""
    return [
        (path, name, record[name])
        for path, record in records(exchange)
        for name in ("createdAt", "updatedAt")
        if moment(record.get(name)) is not None
    ]


def _time_rule(requirement: str, is_right: Callable[[str], bool], expected: str) -> None:
    @check(requirement, on=successes(*ACCOUNT_KEYS))
    def account_times_are_written_so(exchange: Exchange) -> Iterator[Comparison]:
        for path, name, value in account_times(exchange):
            held = is_right(value)
            yield HELD if held else holds(exchange, f"{path}.{name}", held, expected)


def _is_utc(value: str) -> bool:
    """A time without a zone may well be meant as UTC: it contradicts no more than the usual form."""
    return not has_offset(value) or value.upper().endswith(("Z", "+00:00", "+0000", "+00", "-00:00"))


_time_rule("ACCOUNT-014", _is_utc, "UTC, as by a final Z")
_time_rule("ACCOUNT-043", has_offset, "a zone, as by a final Z")
_time_rule("ACCOUNT-015", lambda value: "." in value or "," in value, "fractional seconds")


@check("ACCOUNT-016", on=successes(*ACCOUNT_KEYS))
def an_account_is_updated_after_it_was_created(exchange: Exchange) -> Iterator[Comparison]:
    for path, record in records(exchange):
        yield from in_order(exchange, path, record, "createdAt", "updatedAt")


# The query.


def _coded_filter_rule(requirement: str, name: str, family: Mapping[str, int]) -> None:
    coded_filter_rule(
        requirement, ACCOUNTS_QUERY, name, family, matches_enumeration(family), "data.totalElements"
    )


_coded_filter_rule("ACCOUNT-020", "accountStatus", STATES["Account"])
_coded_filter_rule("ACCOUNT-021", "accountPortal", PORTAL_TYPES)
owner_filter_rule("ACCOUNT-022", ACCOUNTS_QUERY, "institutionBizId", "data.totalElements")


def _text_filter_rule(requirement: str, asked: str, field: str, matches: Callable[[str, str], bool]) -> None:
    @check(requirement, on=successes(ACCOUNTS_QUERY).where(asks_for_text(asked)))
    def the_text_is_found_in_the_field(exchange: Exchange) -> Iterator[Comparison]:
        wanted = sent_fields(exchange)[asked]
        for path, record in records(exchange):
            # What is put out of sight for whoever looks on says nothing of what was looked for.
            if isinstance(record.get(field), str) and not is_mask(record[field]):
                held = matches(wanted, record[field])
                yield holds(exchange, f"{path}.{field}", held, f"a text that contains {wanted!r}")


def has_the_text(wanted: str, field: str) -> bool:
    return folded(wanted) in folded(field)


def has_a_word(wanted: str, field: str) -> bool:
    """Whether a field may match the wanted name. The search method is unspecified: word search matches any
    word, phonetic search other spellings."""
    if not (wanted.isascii() and field.isascii()):
        return True
    return any(word in folded(field) for word in folded(wanted).split())


def has_a_part(wanted: str, field: str) -> bool:
    """An address that is looked for may be taken apart as a name is: at its signs."""
    parts = [part for part in SIGNS.split(folded(wanted)) if part]
    return any(part in folded(field) for part in parts) or has_the_text(wanted, field)


SIGNS = re.compile(r"[\W_]+")

_text_filter_rule("ACCOUNT-023", "email", "accountEmail", has_a_part)
_text_filter_rule("ACCOUNT-044", "email", "accountEmail", has_the_text)
_text_filter_rule("ACCOUNT-024", "name", "accountName", has_a_word)


# The caller's own.


@check("PROFILE-001", on=successes(PROFILE).at_its_moment(), remembers=True)
def a_token_shows_one_profile(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """A token is one caller's. Another workspace may have a record of its own of the same person, an email
    may change, and an id may be written otherwise each time: both together are another account's."""
    token, data = exchange.request.bearer, exchange.data
    id, email = (data.get("bizId"), data.get("accountEmail")) if isinstance(data, dict) else (None, None)
    if token is None or not (isinstance(id, str) and isinstance(email, str)):
        return
    shown, address, first, place = memory.get(token, (None, "", 0, None))
    if shown == id:
        yield HELD
    elif (here := _place_of(exchange)) != place or here[0] is None:
        memory[token] = id, email, exchange.n, here
    elif email.casefold() != address.casefold() and not (is_mask(email) or is_mask(address)):
        message = f"the token that was shown the profile of account {shown} is shown that of account {id}"
        compared = contradicts(exchange, "data.bizId", shown, id, message)
        yield replace(compared, other=OtherPlace(first, PROFILE, str(shown), "bizId"))


def _place_of(exchange: Exchange) -> tuple[str | None, str | None]:
    """Whose view a profile is, None where the token may stand for several, and of which workspace."""
    return viewer_of(exchange), exchange.request.header("x-workspace-id")


@check("PROFILE-002", on=successes(PROFILE))
def the_profile_is_of_the_system_portal(exchange: Exchange) -> Iterator[Comparison]:
    if isinstance(exchange.at("data.accountPortal.code"), str):
        yield equal(exchange, "data.accountPortal.code", "SYSTEM")


@check("PROFILE-003", on=successes(PROFILE_UPDATE).where(asks_for_text("accountName")))
def the_answer_shows_the_new_name(exchange: Exchange) -> Iterator[Comparison]:
    """A portal may tidy up what it is sent: blanks, case, and how accents are written."""
    if (shown := exchange.at("data.accountName")) is not ABSENT:
        new = sent_fields(exchange)["accountName"]
        yield holds(exchange, "data.accountName", isinstance(shown, str) and are_alike(shown, new), new)


class ShownProfile(NamedTuple):
    """What an answer shows of a caller's profile, as far as it is compared: its workspace and time, values of
    fields, and those that an update sent. It is remembered in place of the whole exchange."""

    workspace: str | None
    updated: Json
    values: dict[str, Json]
    sent: dict[str, Json]


def _shown(exchange: Exchange, fields: tuple[str, ...]) -> ShownProfile:
    sent = sent_fields(exchange)
    return ShownProfile(
        exchange.request.header("x-workspace-id"),
        exchange.at("data.updatedAt"),
        {name: exchange.at(f"data.{name}") for name in fields},
        {name: sent.get(name) for name in fields},
    )


@dataclass(slots=True)
class LastRead:
    """A caller's profile as it was read last, and the update that was accepted since."""

    read: ShownProfile
    update: ShownProfile | None = None


def _read_back_rule(requirement: str, fields: tuple[str, ...]) -> None:
    """Declares a rule for fields that the update's answer echoes. A record with the update's new timestamp is
    not outdated."""

    @check(requirement, on=successes(PROFILE, PROFILE_UPDATE).at_its_moment(), remembers=True, compares=True)
    def what_was_updated_is_read_back(exchange: Exchange, memory: Memory) -> Iterable[Comparison]:
        viewer = viewer_of(exchange)
        if viewer is None:
            return ()
        last: LastRead | None = memory.get(viewer)
        if exchange.request.method != "GET":
            memory.clear()
            if last is not None:
                memory[viewer] = LastRead(last.read, _shown(exchange, fields))
            return ()
        shown = _shown(exchange, fields)
        if last is None:
            memory[viewer] = LastRead(shown)
            return ()
        before, update = last.read, last.update
        last.read, last.update = shown, None
        return () if update is None else _read_back(exchange, (before, update, shown))


def _read_back(
    exchange: Exchange, visits: tuple[ShownProfile, ShownProfile, ShownProfile]
) -> Iterator[Comparison]:
    """Values before an update, in the update's answer, and in the judged answer."""
    before, update, now = visits
    is_of_one_place = len({visit.workspace for visit in visits}) == 1
    if not is_of_one_place or now.updated != update.updated or update.updated == before.updated:
        return
    for name, shown in now.values.items():
        new, old = update.sent[name], before.values[name]
        if not _is_shown(new) or update.values[name] != new or old == new:
            continue
        if shown == new:
            yield HELD
        elif shown == old and _is_shown(shown):
            message = "the answer to the update showed the new value, under the same updatedAt"
            yield contradicts(exchange, f"data.{name}", new, shown, message)


def _is_shown(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and "*" not in value and not is_mask(value)


_read_back_rule("PROFILE-004", ("accountName",))
_read_back_rule("PROFILE-005", ("accountPhone", "defaultLanguage", "defaultTimezone", "defaultCountry"))


@reading("workspaces-mine", on=successes(WORKSPACES_MINE))
def shape_of_my_workspaces(exchange: Exchange) -> Iterator[Json]:
    data = exchange.data
    if isinstance(data, list):
        yield f"array of {len(data)}"
    else:
        yield sorted(data) if isinstance(data, dict) else data
