"""Whose data an answer shows: what is the caller's own is shown to no other account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from conformance.checks.envelope import is_mask
from conformance.checks.model.places import viewer_of
from conformance.checks.records import records
from conformance.checks.registry import Memory, check, key_of, successes
from conformance.spec.endpoints import OWN_INVITATIONS, PROFILE, SESSIONS, SESSIONS_HISTORY
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, OtherPlace, endpoint_of

IDS = {SESSIONS: "sessionId", SESSIONS_HISTORY: "bizId"}


@called
@fact
def identities(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """Places of an answer's entries with their identities: ids alone may be counters per account. Cached
    object for repeated answers."""
    names = (IDS.get(key_of(exchange), "bizId"), "loginTime", "clientIp", "userAgent")
    texts = [
        (path, [value for name in names if isinstance(value := record.get(name), str)])
        for path, record in records(exchange)
    ]
    return tuple(
        (f"{path}.{names[0]}", " ".join(values)) for path, values in texts if len(values) == len(names)
    )


@check("MODEL-007", on=successes(PROFILE, *IDS).at_its_moment(), remembers=True)
def nothing_of_the_callers_is_anothers(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    viewer, key = viewer_of(exchange), key_of(exchange)
    if viewer is None:
        return
    if key == PROFILE:
        memory[viewer] = exchange.at("data.bizId")
        return
    caller = memory.get(viewer)
    if not _is_text(caller):
        return
    shown, last = identities(exchange), f"{caller} {key}"
    if memory.get(last) is shown:
        yield HELD
        return
    compared = _first_of_another(exchange, memory, shown, caller)
    if compared is HELD:
        memory[last] = shown
    yield compared


class Owner(NamedTuple):
    """The account that was shown an entry first, and the exchange."""

    account: str
    n: int


def _first_of_another(
    exchange: Exchange, memory: Memory, shown: tuple[tuple[str, str], ...], caller: str
) -> Comparison:
    for path, identity in shown:
        owner: Owner = memory.get(identity) or Owner(caller, exchange.n)
        if owner.account != caller:
            id, name = exchange.at(path), path.rpartition(".")[2]
            message = f"what account {owner.account} was shown as its own is shown to account {caller}"
            compared = contradicts(exchange, path, "an entry of the caller's", id, message)
            return replace(compared, other=OtherPlace(owner.n, endpoint_of(exchange), str(id), name))
        memory[identity] = owner
    return HELD


@check("MODEL-008", on=successes(PROFILE, OWN_INVITATIONS).at_its_moment(), remembers=True)
def own_invitations_are_addressed_to_the_caller(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Compares account ids: emails may be aliases or outdated."""
    viewer = viewer_of(exchange)
    if viewer is None:
        return
    if key_of(exchange) == PROFILE:
        memory[viewer] = exchange.at("data.bizId"), exchange.n
        return
    caller, profile = memory.get(viewer, (None, 0))
    if not _is_text(caller):
        return
    for path, record in records(exchange):
        invitee = record.get("inviteeAccountBizId")
        if not _is_text(invitee):
            continue
        if invitee == caller:
            yield HELD
        else:
            message = f"an invitation of account {invitee} is shown to account {caller}"
            compared = contradicts(exchange, f"{path}.inviteeAccountBizId", caller, invitee, message)
            yield replace(compared, other=OtherPlace(profile, PROFILE, caller, "bizId"))


def _is_text(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip()) and not is_mask(value)
