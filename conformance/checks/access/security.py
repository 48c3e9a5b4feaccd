"""IP whitelist, factors, backup codes, sessions and history (chapter "Security endpoints")."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from conformance.checks.model.places import viewer_of
from conformance.checks.records import has_offset, in_order, moment, portal_time, records
from conformance.checks.registry import Memory, answers, check, reading, sends_a_body, successes
from conformance.spec import endpoints as op
from conformance.spec.tables import INVALID_BODY
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import equal, holds
from conformance.verdicts.findings import Comparison


@check("MFA-005", on=successes(op.MFA))
def at_most_one_method_is_primary(exchange: Exchange) -> Iterator[Comparison]:
    settings = [setting for _, setting in records(exchange) if setting.get("isPrimary") is True]
    primary = {str(setting.get("mfaMethod")) for setting in settings}
    yield holds(exchange, "data", len(primary) <= 1, "at most one primary method", actual=sorted(primary))


@check("MFA-007", on=successes(op.MFA))
def no_method_stands_twice(exchange: Exchange) -> Iterator[Comparison]:
    codes = [entry["code"] for name, entry in exchange.coded if name == "mfaMethod"]
    yield holds(exchange, "data", len(codes) == len(set(codes)), "each method once", actual=codes)


@check("MFA-008", on=successes(op.MFA))
def verified_at_is_a_time(exchange: Exchange) -> Iterator[Comparison]:
    for path, setting in records(exchange):
        if isinstance(setting.get("verifiedAt"), str) and setting["verifiedAt"]:
            is_time = moment(setting["verifiedAt"]) is not None
            yield holds(exchange, f"{path}.verifiedAt", is_time, "an ISO 8601 date and time")


@check("BACKUP-003", on=successes(op.BACKUP_CODES))
def no_more_codes_remain_than_were_made(exchange: Exchange) -> Iterator[Comparison]:
    remaining, generated = exchange.at("data.remainingCount"), exchange.at("data.totalGenerated")
    if is_integer(remaining) and is_integer(generated):
        yield holds(exchange, "data.remainingCount", 0 <= remaining <= generated, f"from 0 to {generated}")


@check("SESSION-020", on=successes(op.SESSIONS))
def one_session_is_the_current_one(exchange: Exchange) -> Iterator[Comparison]:
    flags = [(path, session.get("isCurrent")) for path, session in records(exchange)]
    current = [path for path, flag in flags if flag is True]
    if all(isinstance(flag, bool) for _, flag in flags):
        shown = f"{len(current)} of {len(flags)} sessions" + (f": {', '.join(current)}" if current else "")
        yield holds(exchange, "data", len(current) == 1, "one current session", actual=shown)


TOKEN_ISSUING = (op.LOGIN_COMPLETE, op.TOKEN_REFRESH)


@check("SESSION-035", on=successes(op.SESSIONS, *TOKEN_ISSUING).at_its_moment(), remembers=True)
def a_token_belongs_to_one_session(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Which of the sessions is the current one is the token's, and no sign-in elsewhere changes it. In
    recordings that were redacted apart one placeholder stands for several tokens: each is issued first."""
    host = exchange.request.parts.netloc
    issued = exchange.at("data.accessToken")
    if isinstance(issued, str):
        memory.pop(f"{host} {issued}", None)
        return
    viewer = f"{host} {exchange.request.bearer}" if viewer_of(exchange) is not None else None
    current = [(path, session) for path, session in records(exchange) if session.get("isCurrent") is True]
    if viewer is None or len(current) != 1:
        return
    [(path, session)] = current
    before = memory.setdefault(viewer, session.get("sessionId"))
    is_listed = any(other.get("sessionId") == before for _, other in records(exchange))
    if isinstance(before, str) and is_listed:
        message = "with the same access token another session was the current one before"
        yield equal(exchange, f"{path}.sessionId", before, message=message)


@check("SESSION-045", on=answers(op.SESSIONS_TERMINATE_ALL))
def terminating_all_takes_no_body(exchange: Exchange) -> Iterator[Comparison]:
    """Judged by the code for an invalid body: ``4000`` may have another cause."""
    if sends_a_body(exchange) or exchange.request.is_unknown:
        return
    if exchange.success or exchange.code == INVALID_BODY:
        expected = "any code but one that refuses the body"
        message = "a request without a body is refused for its body"
        yield holds(exchange, "code", exchange.success, expected, message=message)


@check("SESSION-023", on=successes(op.SESSIONS))
def activity_follows_the_login(exchange: Exchange) -> Iterator[Comparison]:
    for path, session in records(exchange):
        yield from in_order(exchange, path, session, "loginTime", "lastActivityTime")


IN_USE = timedelta(minutes=30)
"""By how much the time of the last activity may lag: a portal need not note each request."""


@check("SESSION-043", on=successes(op.SESSIONS).at_its_moment())
def the_current_session_is_active(exchange: Exchange) -> Iterator[Comparison]:
    """By the portal's own clock, where the answer shows it: asking for the sessions is an activity."""
    if not is_integer(exchange.at("timestamp")):
        return
    now = portal_time(exchange)
    for path, session in records(exchange):
        active = moment(session.get("lastActivityTime")) if session.get("isCurrent") is True else None
        if active is not None and has_offset(session["lastActivityTime"]):
            held = active >= now - IN_USE
            yield holds(exchange, f"{path}.lastActivityTime", held, f"shortly before {now.isoformat()}")


@check("SESSION-033", on=successes(op.SESSIONS_CONFIG))
def config_times_are_iso_8601(exchange: Exchange) -> Iterator[Comparison]:
    for name in ("lastLoginAt", "passwordChangedAt"):
        value = exchange.at(f"data.{name}")
        if value not in (None, "", ABSENT):
            yield holds(exchange, f"data.{name}", moment(value) is not None, "an ISO 8601 date and time")


@check(
    "HISTORY-012", on=successes(op.SESSIONS_HISTORY).where(lambda exchange: not exchange.request.parts.query)
)
def the_history_has_pages_of_twenty(exchange: Exchange) -> Iterator[Comparison]:
    if is_integer(exchange.at("data.pagination.pageSize")):
        yield equal(exchange, "data.pagination.pageSize", 20)


@reading("ip-whitelist-entry", on=successes(op.IP_WHITELIST))
def form_of_an_entry(exchange: Exchange) -> Iterator[Json]:
    listed = exchange.at("data.entries")
    if isinstance(listed, list) and listed:
        yield sorted(listed[0]) if isinstance(listed[0], dict) else type(listed[0]).__name__
