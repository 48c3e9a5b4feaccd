"""Replays recorded traffic against a target, and reports every regression (``replay FILE…``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.errors import NoAnswer, TargetUnreachable, UsageError
from conformance.replay.assembly import Assembly, OnShare, OnStep, Replay, analysed, own_placeholders
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.changes.sent import losses_foreseen
from conformance.replay.engine.driver import Driver
from conformance.replay.engine.lookup import Lookups
from conformance.replay.engine.step import ReplayStep
from conformance.replay.load import LoadMeter, Schedule
from conformance.replay.notes import FinishedReplay, unwritable, without_reports, written
from conformance.replay.options import ReplayOptions, ReplayResult
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.result import finish_replay
from conformance.replay.resume import JOURNAL, EarlierPart, ReplayJournal, earlier_part, head_of_journal
from conformance.report.across.baseline import Baseline, baseline_of
from conformance.report.latency import LatencyLimit, histogram
from conformance.spec.endpoints import PROFILE
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.portal import Portal
from conformance.target.portal.ingress import IngressRefusal, refusal_at_ingress
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger

__all__ = ["ReplayOptions", "ReplayResult", "replay"]


def replay(
    files: Sequence[str | Path],
    profile: Profile,
    options: ReplayOptions,
    *,
    on_step: OnStep | None = None,
    on_notice: Callable[[str], None] = lambda notice: None,
    on_share: OnShare = lambda share: None,
) -> ReplayResult:
    """Replays the recorded exchanges against the profile's portal, and writes the reports.

    ``on_step`` is called after each exchange, ``on_notice`` before the first with what cannot be restored,
    and with what an earlier run left and is restored now;
    ``on_share`` with the share of a worker, which is empty where there are more workers than shares.
    CaptureError: a recording cannot be read. UsageError: an option, or nothing to replay. A target that does
    not answer, or stops answering, ends it with exit code 6, an interrupt with 2, a ledger that cannot be
    written with 4, an error of the suite's own with 3: the verdicts until then are written.
    """
    started = datetime.now(UTC)
    baseline = baseline_of(options.known, is_strict=options.strict)
    secrets = Secrets()
    with rare_garbage_collection(), analysed(files, profile, options) as recording:
        plan = recording.plan
        head = head_of_journal(files, profile, options)
        earlier = earlier_part(head, options)
        earlier.omit_from(plan)
        journal = ReplayJournal(options.out / JOURNAL, head, secrets)
        for notice in losses_foreseen(plan):
            on_notice(notice)
        recording.keep_share(options, on_share)
        clock = clock_of(profile)
        if isinstance(clock, SimulatedClock):
            clock.move(0)
        with Portal.connect(profile, impact="disruptive", clock=clock, secrets=secrets) as portal:
            own_placeholders(secrets, options)
            changes = ReplayChanges(portal, options.out)
            for notice in changes.left_by_earlier():
                on_notice(notice)
            ledger = Ledger(options.own.requirements)
            assembly = Assembly(plan, profile, options, clock, secrets, changes, ledger, kept=earlier.lines)
            passes = Passes(portal, journal, options, started, _meter(plan, options))
            finished = passes.all(assembly, earlier, on_step)
        result = _reported(finished, profile, options, baseline)
        if finished.is_whole:
            journal.remove()
        return result


def _reported(
    finished: FinishedReplay, profile: Profile, options: ReplayOptions, baseline: Baseline | None
) -> ReplayResult:
    """Writes the reports. UsageError, LeftBehind: they cannot be written."""
    try:
        return finish_replay(finished, profile, options, baseline=baseline)
    except (OSError, UsageError) as problem:
        raise without_reports(problem, finished, options.out) from None


@dataclass(frozen=True)
class Passes:
    """Replays a recording once, and a load, which ``meter`` measures, as often as it is asked for."""

    portal: Portal
    journal: ReplayJournal
    options: ReplayOptions
    started: datetime
    meter: LoadMeter | None

    def all(self, assembly: Assembly, earlier: EarlierPart, on_step: OnStep | None) -> FinishedReplay:
        measure = None if self.meter is None else self.meter.take
        ready = assembly.replay(_each(self.journal.add, on_step, measure))
        earlier.count_in(ready, self.options)
        finished = self._replayed(ready)
        while self._is_due_again(finished):
            changes = ReplayChanges(self.portal, self.options.out)
            assembly = replace(assembly, changes=changes, kept=ready.log.count, ledger=ready.ledger)
            ready = assembly.replay(_each(measure, on_step))
            finished = finished.followed_by(self._replayed(ready))
        return finished

    def _is_due_again(self, finished: FinishedReplay) -> bool:
        """Whether a load is to be replayed once more: so often, or as long as its time lasts."""
        if self.meter is None or not finished.is_whole or finished.blocked is not None:
            return False
        return self.meter.passes < self.options.repeat or self.meter.seconds < self.options.duration

    def _driver(self, ready: Replay) -> Driver:
        def flush() -> None:
            ready.log.flush()
            self.journal.flush()

        portal, changes = self.portal, ready.machine.changes
        return Driver(
            portal.profile,
            Lookups(portal.profile, portal.clock, portal.secrets, portal.codes, portal.secure, changes),
            ready.machine.progress,
            concurrency=max(1, self.options.sessions_at_once),
            probe=lambda: _is_there(portal),
            on_tick=flush,
            on_latency=None if self.meter is None else self.meter.answered,
        )

    def _replayed(self, ready: Replay) -> FinishedReplay:
        """Runs a replay until all sessions have ended, the target is gone, or the user interrupts; then
        restores what it changed."""
        gone: TargetUnreachable | None = None
        blocked: IngressRefusal | None = None
        interrupted, has_crashed, unusable = False, False, ""
        portal, changes, driver = self.portal, ready.machine.changes, self._driver(ready)
        try:
            self.journal.begin()
            changes.restore_earlier()
            blocked = _blocked(portal)
            if blocked is None:
                with nullcontext() if self.meter is None else self.meter.measured(driver.own_lag):
                    _to_the_end(driver.run(ready.sessions(self.options.sessions_at_once)), portal.clock)
        except TargetUnreachable as error:
            gone = error
        except KeyboardInterrupt:
            interrupted = True
        except Exception as error:
            unusable = _ended_by(error, ready)
            has_crashed = not unusable
        finally:  # once the journal is whole, only the reports are missing
            unwritten = written(ready.log.path.parent, ready.log.flush, self.journal.flush, ready.log.close)
        return FinishedReplay(
            ready,
            driver.lag,
            self.started,
            gone=gone,
            interrupted=interrupted,
            has_crashed=has_crashed,
            unusable=unusable or unwritten,
            blocked=blocked,
            left_behind=(*_restored(changes, gone), *changes.without_way_back()),
            open_sessions=_end_sessions(portal, ready, gone),
            meter=self.meter,
        )


def _meter(plan: ReplayPlan, options: ReplayOptions) -> LoadMeter | None:
    """Measures a load; None where the replay is none. UsageError."""
    if options.rate is None:
        return None

    def recorded_ms(position: int) -> float | None:
        elapsed = plan.store.exchange(position).elapsed_ms
        return elapsed or None

    limits = [LatencyLimit.of(text) for text in options.latency]
    histogram()
    return LoadMeter(Schedule(options.rate, options.ramp), limits, recorded_ms)


def _each(*listeners: OnStep | None) -> OnStep:
    """Calls several listeners with each step."""
    present = [each for each in listeners if each is not None]

    def call(step: ReplayStep) -> None:
        for each in present:
            each(step)

    return call


def _ended_by(error: Exception, ready: Replay) -> str:
    """What of the command, the profile or a file ended a replay; empty where the suite's own error did."""
    unusable = str(error) if isinstance(error, UsageError) else unwritable(error, ready.log.path.parent)
    if not unusable:
        ready.ledger.errors["replay"] = f"an internal error ended it ({type(error).__name__}: {error})"
    return unusable


def _restored(changes: ReplayChanges, gone: TargetUnreachable | None) -> list[str]:
    """Restores what a replay changed, however it ended; what could not be, as sentences."""
    try:
        return changes.restore() if gone is None else changes.pending("the target could not be reached")
    except Exception as error:
        return changes.pending(f"restoring it ended in an error ({type(error).__name__}: {error})")
    finally:
        changes.close()


def _end_sessions(portal: Portal, ready: Replay, gone: TargetUnreachable | None) -> str:
    """Ends the sessions in which changes were looked up and restored, of accounts that the recording logs out
    as well; which may stay open, of these and of the replayed ones, as a sentence."""
    if gone is not None:
        return ""
    portal.own_sessions.replayed += ready.machine.sign_ins.open_sessions
    return portal.end_sessions(logged_out=ready.machine.sign_ins.logged_out) or ""


def _blocked(portal: Portal) -> IngressRefusal | None:
    """Why the target's ingress lets nothing through; None where it does. TargetUnreachable: it is silent."""
    try:
        portal.call(PROFILE)
    except NoAnswer:
        portal.probe()
    return refusal_at_ingress(portal)


def _is_there(portal: Portal) -> bool:
    try:
        portal.probe()
    except TargetUnreachable:
        return False
    return True


def _to_the_end(work: Coroutine[Any, Any, None], clock: Clock) -> None:
    """Runs to the end, on uvloop where that is installed. Nobody waits any more where it ends early."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None
    try:
        import uvloop  # an extra: asyncio does as well, slower

        factory = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        try:
            runner.run(work)
        except BaseException:
            clock.stop()
            raise
