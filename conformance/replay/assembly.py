"""Assembles the parts of a replay, with the fast lane or without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.judging import Watch, judge_of, watch
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.callers.credentials import CredentialCheck
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.times.clocks import Clocks
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.progress import Progress
from conformance.replay.engine.sessions import Sessions
from conformance.replay.engine.step import ReplayStep
from conformance.replay.engine.timing import Timing
from conformance.replay.fast_lane import FastLane
from conformance.replay.load import Schedule
from conformance.replay.options import ReplayOptions
from conformance.replay.rebuild.actions import Secret
from conformance.replay.rebuild.channels import Channels
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.rebuild.headers import HeaderRebuild
from conformance.replay.rebuild.rebuild import Rebuilder
from conformance.replay.recording.plan import ReplayPlan
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


@dataclass(frozen=True)
class Replay:
    """A replay that is ready to run: nothing is sent yet."""

    plan: ReplayPlan
    sessions: Sessions
    secrets: Secrets
    ledger: Ledger
    drift: Counter[Place]

    @property
    def machine(self) -> ReplayMachine:
        return self.sessions.machine

    @property
    def log(self) -> ExchangeLog:
        return self.machine.log

    @property
    def correlation(self) -> Correlation:
        return self.machine.rebuilder.context.correlation


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
            meanings=self._meanings(rebuilder.context),
            no_cache=no_cache,
        )

    def replay(self, on_step: Callable[[ReplayStep], None]) -> Replay:
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
            self._timing(),
            self.changes,
            self._find_secrets,
        )
        turns = turns_of(self.plan) if self.options.sessions_at_once > 1 else {}
        stepper = machine if no_cache else FastLane(machine)
        sessions = Sessions(machine, stepper, on_step=on_step, turns=turns)
        return Replay(self.plan, sessions, self.secrets, self.ledger, comparer.drift)

    def _judge(self) -> Watch:
        """Judges live answers. Rules of the user's own count in the report, and no difference means more by
        them."""
        options = self.options
        own = {rule.id for rule in options.own.rules}
        judge = judge_of(no_cache=not options.cache, model=False, own=options.own.checks)
        judged = watch(self.ledger, judge=judge, descriptions=self.profile.extend.described().read())
        return lambda exchange: [each for each in judged(exchange) if each.requirement not in own]

    def _meanings(self, context: RebuildContext) -> Meanings:
        return Meanings(frozenset(context.stand_ins), self.plan.taken_from, context.correlation)

    def _find_secrets(self, exchange: Exchange) -> None:
        self.finder.register(exchange, self.secrets)

    def _timing(self) -> Timing:
        """A load does not move the target's clock: its requests are due by ours."""
        options = self.options
        if options.rate is not None:
            return Timing(self.plan, self.clock.now, schedule=Schedule(options.rate, options.ramp))
        return Timing(self.plan, self.clock.now, options.scale, movable=self.clock.is_simulated)

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
