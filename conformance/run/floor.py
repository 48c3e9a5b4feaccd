"""How much a run must have tested for its verdict to say anything; below that it is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.report.model.run import Scope
from conformance.report.model.words import MUSTS
from conformance.spec.places import OWN_SECTION
from conformance.target.portal import Portal
from conformance.target.profile.model import Profile
from conformance.verdicts.findings import Result, Verdict

LONGER = "A longer --time-budget may test more."
REMEDY = "Give a longer --time-budget, or write a lower number there."
TIME_BUDGET = "time budget"
"""What every reason says that leaves something out for want of time."""

SHARE = 0.5
"""The share of the testable musts that must be tested, where the profile does not say how many."""

TESTED = (Verdict.PASS, Verdict.FAIL, Verdict.WARN)


def shortfalls(portal: Portal, results: Sequence[Result], scope: Scope) -> Iterator[str]:
    """Why a run of all cases tested too little, as sentences; none where it is enough."""
    musts = [result for result in results if result.requirement.id in MUSTS]
    tested = sum(result.verdict in TESTED for result in musts)
    yield from _accounts(portal)
    availability = portal.transport.availability
    if availability.is_poor:  # what was answered hides what else it would have answered
        yield f"The portal is not available enough to be judged: {availability.sentence()}."
    yield from _musts(portal.profile, tested, scope, is_short=_is_short_of_time(portal, musts))
    for chapter in portal.profile.expect.chapters:
        rows = [result for result in musts if result.requirement.chapter == chapter]
        if not any(result.verdict in TESTED for result in rows):
            yield f"[expect] chapters names {chapter}, and no must of that chapter was tested."


def refused_account(portal: Portal) -> Iterator[str]:
    """Why a selection tested too little: the account that most cases sign in with cannot."""
    if portal.has_account("admin") and portal.account("admin").attempts.is_stopped:
        yield "The account that most cases sign in with, [accounts.admin], cannot sign in."
        yield from _refusal(portal, "admin")


def _refusal(portal: Portal, name: str) -> Iterator[str]:
    """Reason and advice for an account whose sign-in ended without a token."""
    reason = portal.account(name).attempts.refusal if portal.has_account(name) else ""
    if reason:
        yield f"{reason[0].upper()}{reason[1:]}{'' if reason.endswith('.') else '.'}"


def too_few(results: Sequence[Result], least: int) -> Iterator[str]:
    """``--min-tested``."""
    stated = (result for result in results if result.requirement.section != OWN_SECTION)
    tested = sum(result.verdict in TESTED for result in stated)
    if tested < least:
        yield f"{tested} requirements were tested, fewer than --min-tested {least}."


def undecided(results: Sequence[Result], rerun: str, requirements: frozenset[str]) -> Iterator[str]:
    """Reports a ``--rerun`` that decided none of its requirements; of a case, no requirement at all."""
    if "::" in rerun:
        requirements = frozenset(result.requirement.id for result in results)
    if all(result.verdict is Verdict.UNTESTED for result in results if result.requirement.id in requirements):
        yield f"--rerun {rerun} decided nothing. Each untested requirement has its reason."


def _accounts(portal: Portal) -> Iterator[str]:
    """Each account that is expected received a token; without an expectation the admin, or where there is
    none any account."""
    expected = portal.profile.expect.accounts
    wanted = expected or (["admin"] if portal.has_account("admin") else [])
    for name in wanted:
        if name not in portal.calls.token_holders:
            yield f"[accounts.{name}] never received a token."
            yield from _refusal(portal, name)
    if not wanted and not portal.calls.token_holders:
        yield (
            "No account ever received a token." if portal.profile.accounts else "The profile has no account."
        )


def _is_short_of_time(portal: Portal, musts: Sequence[Result]) -> bool:
    """Whether the time budget left musts out, and no account that cannot sign in explains the rest."""
    wanted = portal.profile.expect.accounts or ["admin"]
    if any(portal.has_account(name) and portal.account(name).attempts.is_stopped for name in wanted):
        return False
    return any(row.verdict is Verdict.UNTESTED and TIME_BUDGET in (row.reason or "") for row in musts)


def _musts(profile: Profile, tested: int, scope: Scope, *, is_short: bool) -> Iterator[str]:
    expected = profile.expect.musts
    if expected is not None:
        if tested < expected:
            remedy = f" {REMEDY}" if is_short else ""
            yield f"{tested} musts were tested, fewer than the {expected} of [expect] musts.{remedy}"
    elif scope.testable is not None and tested < scope.testable * SHARE:
        remedy = f" {LONGER}" if is_short else ""
        of_all = f"{tested} of the {scope.testable} musts that can be tried were tested"
        yield f"{of_all}, fewer than half.{remedy}"
