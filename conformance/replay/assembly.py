"""Analyses a recording, and assembles the parts of its replay, with the fast lane or without."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from conformance.judging import Watch, judge_of, watch
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.callers import CredentialCheck
from conformance.replay.compare.clocks import Clocks
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.matchers import matchers_of
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.outcome import OutcomeTally
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.progress import Progress
from conformance.replay.engine.step import ReplayStep, Stepper
from conformance.replay.engine.timing import Timing
from conformance.replay.fast_lane import FastLane
from conformance.replay.load import Schedule
from conformance.replay.options import ReplayOptions
from conformance.replay.rebuild.actions import Actions, Await, Secret
from conformance.replay.rebuild.channels import Channels
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.rebuild.headers import HeaderRebuild
from conformance.replay.rebuild.rebuild import Rebuilder
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.needs import leave_out, refuse_changes
from conformance.replay.recording.plan import REPLAYED, ReplayPlan
from conformance.replay.recording.shares import Share, SharedPlan
from conformance.replay.recording.store import Store
from conformance.replay.recording.turns import turns_of
from conformance.report.model.regressions import Place
from conformance.target.clock import Clock
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger

LOG_BUFFER_BYTES = 1 << 20

OnStep = Callable[[ReplayStep], None]
"""Is called after each step of a replay."""


@dataclass(frozen=True)
class Replay:
    """A replay that is ready to run: nothing is sent yet."""

    plan: ReplayPlan
    machine: ReplayMachine
    stepper: Stepper
    """Takes the steps: the machine itself, or a fast lane before it."""
    secrets: Secrets
    ledger: Ledger
    drift: Counter[Place]
    on_step: OnStep
    turns: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By position, those of other sessions that must have ended before."""
    tally: OutcomeTally = field(default_factory=OutcomeTally)

    @property
    def log(self) -> ExchangeLog:
        return self.machine.log

    @property
    def correlation(self) -> Correlation:
        return self.machine.rebuilder.context.correlation

    def sessions(self, concurrency: int) -> list[Actions]:
        """The actions of every session; one sequence of actions, if the replay has no concurrency."""
        plan = self.plan
        sessions: defaultdict[int, array[int]] = defaultdict(lambda: array("i"))
        for position in plan.wanted():
            sessions[plan.session_of[position] if concurrency > 1 else 0].append(position)
        return [self._session(positions) for positions in sessions.values()]

    def _session(self, positions: Iterable[int]) -> Actions:
        """One recorded client from its first exchange to its last, or several in the order given."""
        plan, machine, turns = self.plan, self.machine, self.turns
        progress, is_movable = machine.progress, machine.timing.movable
        for position in positions:
            refusal = plan.refused.get(position)
            if refusal is None:
                for earlier in turns.get(position, ()):
                    yield Await(earlier)
                if is_movable:
                    yield from machine.timing.pass_time(position)
                step = yield from self.stepper.step(position)
            elif refusal is REPLAYED:
                progress.end(position)
                continue
            else:
                step = machine.refuse(position, refusal)
            if position not in plan.counted:
                self.tally.add(step.outcome)
            progress.end(position)
            self.on_step(step)
            del step  # what it holds is freed while it is at hand, not when the session's turn comes again


@dataclass
class Assembly:
    """Assembles a replay of a plan against a profile's portal."""

    plan: ReplayPlan
    profile: Profile
    options: ReplayOptions
    clock: Clock
    secrets: Secrets
    changes: ReplayChanges
    ledger: Ledger
    kept: int = 0
    """Lines of the log that an earlier part of the replay wrote."""
    finder: SecretFinder = field(default_factory=SecretFinder)
    """Finds the secrets of the recording and the target that no place shows."""

    def _assessor(self, comparer: Comparer, rebuilder: Rebuilder) -> Assessor:
        no_cache, recorded = not self.options.cache, self.plan.exchanges()
        return Assessor(
            comparer,
            RecordedBaseline(recorded, comparer.correlation, no_cache=no_cache, hidden=self.plan.hidden),
            reveals=rebuilder.channels.reveals,
            credentials=CredentialCheck(self.profile.bot_challenge, rebuilder.context.stand_ins),
            meanings=Meanings(
                frozenset(rebuilder.context.stand_ins), self.plan.taken_from, comparer.correlation
            ),
            matchers=matchers_of(self.profile),
        )

    def replay(self, on_step: OnStep) -> Replay:
        self.finder.take_for_ids(self.profile.record_ids())
        progress = Progress(self.plan)
        correlation = Correlation(used=self.plan.sources, counts_ids=self.plan.counts_ids)
        written = frozenset(self.plan.changing.values())
        began = Clocks(min(self.plan.moments, default=0.0), self.clock.now())
        comparer = Comparer(correlation, written, began)
        rebuilder = self._rebuilder(correlation, progress)
        no_cache = not self.options.cache
        path = self.options.out / "exchanges.jsonl"
        log = ExchangeLog(path, self.secrets, buffering=LOG_BUFFER_BYTES, kept=self.kept)
        machine = ReplayMachine(
            self.plan,
            rebuilder,
            self._assessor(comparer, rebuilder),
            self._judge(),
            log,
            progress,
            self._timing(progress.ended),
            self.changes,
            self._find_secrets,
        )
        turns = turns_of(self.plan) if self.options.sessions_at_once > 1 else {}
        stepper = machine if no_cache else FastLane(machine)
        return Replay(self.plan, machine, stepper, self.secrets, self.ledger, comparer.drift, on_step, turns)

    def _judge(self) -> Watch:
        """Judges live answers. Rules of the user's own count in the report, and no difference means more by
        them."""
        options = self.options
        own = {rule.id for rule in options.own.rules}
        judge = judge_of(no_cache=not options.cache, model=False, own=options.own.checks)
        judged = watch(self.ledger, judge=judge, descriptions=self.profile.extend.described())
        return lambda exchange: [each for each in judged(exchange) if each.requirement not in own]

    def _find_secrets(self, exchange: Exchange) -> None:
        self.finder.register(exchange, self.secrets)

    def _timing(self, ended: Sequence[int]) -> Timing:
        """A load does not move the target's clock: its requests are due by ours."""
        options = self.options
        if options.rate is not None:
            return Timing(self.plan, self.clock.now, schedule=Schedule(options.rate, options.ramp))
        is_movable = self.clock.is_simulated
        return Timing(self.plan, self.clock.now, options.scale, movable=is_movable, ended=ended)

    def _rebuilder(self, correlation: Correlation, progress: Progress) -> Rebuilder:
        def keep(secret: Secret) -> None:
            self.secrets.add(secret.value, secret.kind)

        context = RebuildContext(
            self.plan,
            self.profile,
            correlation,
            chosen=self.options.accounts,
            keep=keep,
            is_over=progress.is_over,
            new_password=self.changes.new_password,
            present_password=self.changes.present_password,
        )
        channels = Channels(self.profile.secure_channel, keep=keep)
        return Rebuilder(context, HeaderRebuild(self.plan, self.profile), channels)


PLACEHOLDERS = 1_000_000
"""How many placeholders of a kind a worker has of its own."""

OnShare = Callable[[Share], None]


def own_placeholders(secrets: Secrets, options: ReplayOptions) -> None:
    """Gives a worker's new secrets placeholders that no other worker uses. Secrets of the profile have equal
    placeholders in all workers."""
    if options.worker is not None:
        secrets.number_after(options.worker.index * PLACEHOLDERS)


@dataclass(frozen=True)
class AnalysedRecording:
    """``accounts`` are the profile's by recorded email."""

    plan: ReplayPlan
    accounts: Mapping[str, str]

    def shared(self) -> SharedPlan:
        return SharedPlan(self.plan, self.accounts)

    def keep_share(self, options: ReplayOptions, on_share: OnShare) -> None:
        """Has the plan send the worker's share alone."""
        worker = options.worker
        if worker is None:
            return
        shared = self.shared()
        shares = shared.shares(worker.workers)
        share = shares[worker.index] if worker.index < len(shares) else Share({})
        on_share(share)
        shared.keep_only(share, is_first=worker.index == 0)


@contextmanager
def analysed(
    files: Sequence[str | Path], profile: Profile, options: ReplayOptions
) -> Iterator[AnalysedRecording]:
    """Opens a recording, and analyses it. CaptureError, UsageError: as for ``planned``."""
    with Store(files, salvage=options.salvage) as store:
        plan = planned(store, options.selection)
        leave_out(plan, options.accounts)
        context = RebuildContext(plan, profile, Correlation(used=plan.sources), chosen=options.accounts)
        refuse_changes(plan, context.assumed)
        yield AnalysedRecording(plan, context.accounts)
