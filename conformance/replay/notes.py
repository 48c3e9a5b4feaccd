"""What a person should know of a finished replay, also where the disk is full, as sentences."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from conformance.errors import LeftBehind, SuiteError, TargetUnreachable, UsageError
from conformance.replay.assembly import Replay
from conformance.replay.compare.outcome import OutcomeTally, State
from conformance.replay.load import LoadMeter
from conformance.replay.options import Lag
from conformance.replay.recording.plan import ReplayPlan, is_for_the_impact
from conformance.report.model.words import clock_in_words, listed, passive, plural
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND
from conformance.target.portal.ingress import IngressRefusal

GO_ON = "The same command with --resume goes on with this replay."
LACKING = ("the profile has no account", "[accounts.")
SIGN_INS = frozenset({LOGIN_INITIATE, LOGIN_MFA_SEND, LOGIN_COMPLETE})
MOST_ENDPOINTS = 3
"""Endpoints that a note names."""
REASONED = frozenset({State.NOT_COMPARABLE, State.NOT_REPLAYABLE, State.SKIPPED, State.UNWANTED})


@dataclass(frozen=True, slots=True)
class FinishedReplay:
    """A replay whose last exchange has ended."""

    replay: Replay
    lag: Lag
    started: datetime
    gone: TargetUnreachable | None = None
    interrupted: bool = False
    has_crashed: bool = False
    """Whether an error of the suite's own ended it."""
    unusable: str = ""
    """What of the command, the profile or a file ended it."""
    blocked: IngressRefusal | None = None
    """Why the target's ingress lets nothing through; then nothing was sent."""
    left_behind: tuple[str, ...] = ()
    """What was changed and could not be restored, as sentences."""
    open_sessions: str = ""
    """Which sessions that it began may stay open, as a sentence."""
    meter: LoadMeter | None = None
    only_later: frozenset[int] = frozenset()
    """The recorded exchanges that regressed in a later pass of a load, and not in the first."""

    def followed_by(self, later: FinishedReplay) -> FinishedReplay:
        """Combines this pass of a load with a later pass: counts of both, and the later pass's ending."""
        before = {outcome.number for outcome in self.tally.kept if outcome.state is State.REGRESSED}
        bad = {outcome.number for outcome in later.tally.kept if outcome.state is State.REGRESSED}
        self.tally.add_all(later.tally)
        self.replay.machine.changes.followed_by(later.replay.machine.changes)
        return replace(
            later,
            replay=self.replay,
            left_behind=(*self.left_behind, *later.left_behind),
            only_later=self.only_later | (bad - before),
        )

    @property
    def is_whole(self) -> bool:
        """Whether nothing ended it early: there is nothing to resume."""
        return self.gone is None and not (self.interrupted or self.has_crashed or self.unusable)

    @property
    def plan(self) -> ReplayPlan:
        return self.replay.plan

    @property
    def tally(self) -> OutcomeTally:
        return self.replay.tally


def notes_of(finished: FinishedReplay) -> Iterator[str]:
    """What the profile lacks, how the replay ended, and what its counts mean, in this order."""
    yield from _misfits(finished)
    yield from finished.replay.machine.rebuilder.context.replaced
    yield from _end(finished)
    yield from finished.replay.machine.changes.notes()
    yield from filter(None, [clock_in_words(finished.replay.machine.timing.moved)])
    yield from _counts(finished)
    for endpoint, seconds in finished.replay.machine.rate_limited.items():
        refused = f"{endpoint} was refused for a rate limit that the recording does not show"
        yield f"{refused}: it was sent again after {seconds} s."
    yield from _weaknesses(finished.replay)
    if finished.meter is None:
        yield from _lateness(finished.lag)
    else:
        yield from finished.meter.notes()
        if finished.only_later:
            some = ", ".join(f"#{number}" for number in sorted(finished.only_later)[:10])
            yield f"{plural(len(finished.only_later), 'exchange')} regressed only in a later pass: {some}."


def _misfits(finished: FinishedReplay) -> Iterator[str]:
    for problem in finished.replay.machine.assessor.credentials.problems:
        yield f"The profile does not fit: {problem}. Nothing is held against the target for it."
    kept = finished.tally.kept
    reasons = (outcome.reason for outcome in kept if outcome.state is State.NOT_REPLAYABLE)
    problems = finished.replay.machine.assessor.credentials.problems
    for reason in dict.fromkeys(reason for reason in reasons if reason.startswith(LACKING)):
        if reason not in problems:
            yield f"The profile does not fit: {reason}."


def skipped_for_the_profile(finished: FinishedReplay) -> Iterator[str]:
    """What was skipped for sign-ins that the profile does not suffice for: what is compared then says nothing
    of these accounts."""
    problems, tally = finished.replay.machine.assessor.credentials.problems, finished.tally
    skipped: Counter[str] = Counter()
    for outcome in tally.kept:
        is_lacking = outcome.reason.startswith(LACKING) or outcome.reason in problems
        if is_lacking and outcome.endpoint in SIGN_INS:
            skipped[outcome.reason] += tally.roots[outcome.number]
    for reason, times in skipped.items():
        if times:
            yield (
                f"{passive(times, 'exchange')} skipped: {reason}. "
                "To leave out what an account does, give --account EMAIL=none."
            )


def _end(finished: FinishedReplay) -> Iterator[str]:
    plan, tally = finished.plan, finished.tally
    number = plan.size - tally.counts.total() - plan.ignored.total()
    if finished.interrupted:
        yield f"Interrupted: {number} of the recorded exchanges were not replayed."
    if finished.gone is not None:
        yield str(finished.gone)
        if number:
            yield f"{passive(number, 'recorded exchange')} not replayed."
    if (finished.interrupted or finished.gone is not None) and finished.meter is None and tally.counts:
        yield GO_ON
    if finished.unusable:
        yield f"It ended early: {finished.unusable}"
    if finished.blocked is not None:
        yield finished.blocked.reason


def _counts(finished: FinishedReplay) -> Iterator[str]:
    plan, tally = finished.plan, finished.tally
    states = ", ".join(f"{tally.counts[state]} {state.value}" for state in State if tally.counts[state])
    clients = plural(plan.sessions, "client")
    yield f"{plan.size} recorded exchanges of {clients}: {states or 'none of them was replayed'}."
    yield from plan.notes
    yield from finished.replay.machine.rebuilder.context.notes
    yield from filter(None, (*finished.replay.machine.changes.ledger.traces, finished.open_sessions))
    for why, times in plan.ignored.most_common():
        yield f"{passive(times, 'entry')} ignored: {why}."
    yield from _reasons(tally)


def _reasons(tally: OutcomeTally) -> Iterator[str]:
    """How many exchanges were not compared, by reason, the most frequent first; those that the impact
    excludes with their endpoints."""
    reasons: Counter[tuple[State, str]] = Counter()
    endpoints: dict[str, dict[str, None]] = {}
    for outcome in tally.kept:
        if outcome.state in REASONED:
            reasons[outcome.state, outcome.reason] += 1
            endpoints.setdefault(outcome.reason, {})[outcome.endpoint] = None
    for (state, reason), times in reasons.most_common(20):
        named = f" ({listed(endpoints[reason], MOST_ENDPOINTS)})" if is_for_the_impact(reason) else ""
        yield f"{plural(times, 'exchange')} {state.value}{named}: {reason}."


def _weaknesses(replay: Replay) -> Iterator[str]:
    """What was compared more weakly than it stands in the recording."""
    if drift := replay.drift:
        count, places = plural(drift.total(), "difference"), plural(len(drift), "place")
        yield f"{count} at {places} left out as drift: state, time or data of other requests."
    others = replay.correlation.other_forms
    if others:
        yield (
            f"{plural(others, 'id')} of another form than the recorded UUIDs: each was paired with the live "
            "id in its place."
        )
    for value, lives in list(replay.correlation.ambiguous.items())[:10]:
        yield f"{value!r} is ambiguous: {len(lives)} live values stand for it, and the first was sent."


def _lateness(lag: Lag) -> Iterator[str]:
    if lag.count:
        yield f"Requests went out {lag.total / lag.count:.3f} s late on average, {lag.most:.3f} s at most."


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Why a file that was opened cannot be written any more."""


def unwritable(error: Exception, out: Path) -> str:
    """What cannot be written any more, as a sentence; empty where an error says something else."""
    if not isinstance(error, OSError) or error.errno not in FULL:
        return ""
    return f"{error.filename or out}: cannot be written ({(error.strerror or str(error)).lower()})."


def written(out: Path, *writes: Callable[[], None]) -> str:
    """Calls each writer, also after a failure; returns the first failure as a sentence."""
    problem = ""
    for write in writes:
        try:
            write()
        except OSError as error:
            problem = problem or unwritable(error, out) or str(error)
    return problem


def without_reports(problem: OSError | UsageError, finished: FinishedReplay, out: Path) -> SuiteError:
    """The error in place of the reports that cannot be written: it names what is left at the target."""
    why = str(problem)
    if isinstance(problem, OSError):
        why = f"Cannot write {problem.filename or out}: {(problem.strerror or why).lower()}."
    changes = finished.replay.machine.changes
    left = [f"Not restored: {sentence}." for sentence in finished.left_behind]
    if left and changes.cleanup_command:
        left.append(f"To restore it: {changes.cleanup_command}")
    if left:
        return LeftBehind(" ".join((why, *changes.notes(), *left)))
    if isinstance(problem, UsageError):
        return problem
    rest = " ".join(changes.notes()) or "Nothing is left changed at the target."
    return UsageError(f"{why} Choose another --out or file. {rest}")
