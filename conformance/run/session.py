"""One run on one target: its portal, its judge, what it decided, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from conformance.errors import SuiteError, TargetRestarted, TargetUnreachable
from conformance.impacts import FailOn
from conformance.judging import Watch, judge_of, watch
from conformance.report.across import history
from conformance.report.across.baseline import Baseline, baseline_of
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import ChangesMade, Ending, Run, Scope, Timed
from conformance.report.model.words import clock_in_words
from conformance.rules.registry import NO_OWN_RULES, OwnRules
from conformance.run import floor
from conformance.run.readings import pin_readings
from conformance.run.rerun import also_contradicted
from conformance.run.testable import beyond, shut_endpoints, why_left
from conformance.spec import REQUIREMENTS, Impact
from conformance.target.clock import Clock, wall
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER
from conformance.target.portal.ingress import IngressRefusal, refusal_at_ingress, unusable_profile
from conformance.target.portal.restoring.read_back import shown_otherwise
from conformance.target.portal.restoring.restore import cleanup_command, pending_in_words, restore_own
from conformance.target.portal.sign_ins.calls import MAILED_BEFORE
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange
from conformance.traffic.http_library import httpx
from conformance.traffic.log import ExchangeLog, ExchangeWriter
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger, endpoint_of
from conformance.verdicts.selection import RuleSelection

RESTARTED = (
    "The portal restarted: it refused connections from {since:%H:%M:%S} UTC on for {seconds:.1f} s, and then "
    "answered again. The run ended there, as another build may answer since."
)

Listener = Callable[[str | None, Exchange], None]
"""Called with the acting case and each exchange, as it comes."""


@dataclass(frozen=True)
class RunOptions:
    """What the user asked of a run. ``bundled``: the bundled reference portal is judged, as no other was
    named. ``keep_ledger``: whether changes are noted on the disk, which is of no use where the target ends
    with the run."""

    out: Path = Path("reports")
    impact: Impact = "read-only"
    fail_on: FailOn = "security"
    known: Path | None = None
    profile_name: str = ""
    min_tested: int = 0
    history: Path | None = None
    rerun: str | None = None
    rules: RuleSelection | None = None
    own: OwnRules = NO_OWN_RULES
    keep_ledger: bool = True
    bundled: bool = False


@dataclass
class ActingCase:
    """The node id of the case that acts now. The judge names it in what the case brings to light."""

    name: str | None = None

    def __call__(self) -> str | None:
        return self.name


@dataclass
class RunSession:
    """Everything of one run. ``acting`` is the case that acts now; ``listeners`` get every exchange.

    ``handler`` takes the place of the network. ``baseline`` holds the known failures, where there are any.
    ``gone`` says why no case can be run any more, and ``blocked`` why the target's ingress lets nothing
    through. ``selected`` are the requirements of the cases that a ``--rerun`` selected.
    """

    profile: Profile
    clock: Clock
    options: RunOptions
    judge: Watch
    log: ExchangeWriter
    ledger: Ledger
    secrets: Secrets = field(default_factory=Secrets)
    acting: ActingCase = field(default_factory=ActingCase)
    listeners: Sequence[Listener] = ()
    handler: httpx.BaseTransport | None = None
    baseline: Baseline | None = None
    timeline: list[Timed] = field(default_factory=list)
    new_findings: list[Finding] = field(default_factory=list)
    gone: SuiteError | None = None
    blocked: IngressRefusal | None = None
    scope: Scope = field(default_factory=Scope)
    selected: frozenset[str] = frozenset()
    shown_otherwise: Sequence[str] = ()
    called: set[str] = field(default_factory=set)
    _diverted_to: Callable[[Exchange], None] | None = None

    def __post_init__(self) -> None:
        self.started = datetime.now(UTC)
        self.portal = Portal.connect(
            self.profile,
            impact=self.options.impact,
            clock=self.clock,
            secrets=self.secrets,
            on_exchange=self.take,
            ledger=self.options.out / LEDGER if self.options.keep_ledger else None,
            handler=self.handler,
        )

    @classmethod
    def open(cls, profile: Profile, clock: Clock, options: RunOptions) -> Self:
        """A session that judges as it goes and writes its files. UsageError: the baseline or the history
        cannot be used."""
        baseline = baseline_of(options.known, is_strict=options.fail_on == "should")
        if options.history is not None:
            history.check(options.history)
        secrets, acting = Secrets(), ActingCase()
        ledger = Ledger(options.own.requirements, selection=options.rules, places={})
        return cls(
            profile,
            clock,
            options,
            judge=watch(
                ledger,
                judge=judge_of(own=options.own.checks),
                case=acting,
                descriptions=profile.extend.described(),
            ),
            log=ExchangeLog(options.out / "exchanges.jsonl", secrets),
            ledger=ledger,
            secrets=secrets,
            acting=acting,
            baseline=baseline,
        )

    # --- exchanges

    def take(self, exchange: Exchange) -> None:
        """Writes an exchange, and judges it unless exchanges are diverted. TargetRestarted ends the case."""
        self.log.write(exchange)
        if exchange.response is not None:
            self.called.add(endpoint_of(exchange))
        self.portal.changes.notice(exchange)
        for listener in self.listeners:
            listener(self.acting(), exchange)
        self._notice_restart(exchange)
        (self._diverted_to or self.judge_exchange)(exchange)

    def _notice_restart(self, exchange: Exchange) -> None:
        """Ends the run with the first answer after connections were refused. Only a case is told: what
        restores the changes afterwards goes on."""
        away = self.portal.transport.availability.away
        if away and exchange.response is not None and self.gone is None:
            since = datetime.fromtimestamp(wall() - away, UTC)
            self.gone = TargetRestarted(RESTARTED.format(since=since, seconds=away))
        if isinstance(self.gone, TargetRestarted) and self.acting.name is not None:
            raise self.gone

    def judge_exchange(self, exchange: Exchange) -> None:
        """Judges an exchange; none after a restart, which may bring another build."""
        if isinstance(self.gone, TargetRestarted):
            return
        self.new_findings.extend(self.judge(exchange))

    def divert(self, take: Callable[[Exchange], None]) -> None:
        """From now on exchanges are written and go to ``take``, and are not judged; until ``resume``."""
        self._diverted_to = take

    def resume(self) -> None:
        """From now on exchanges are judged as they come."""
        self._diverted_to = None

    def waited(self, why: str, seconds: float, now: float) -> None:
        """Notes a wait, in seconds, that begins at a tick of the clock."""
        self.timeline.append(Timed(kind="wait", label=why, start=now, end=now + seconds))

    # --- the target

    def recognise(self) -> bool:
        """Whether a portal answers at the address and lets requests in; what answers there otherwise is not
        judged."""
        exchanges: list[Exchange] = []
        self.divert(exchanges.append)
        try:
            self.portal.recognise()
            self.blocked = refusal_at_ingress(self.portal)
        except TargetUnreachable as gone:
            self.gone = gone
            return False
        finally:
            self.resume()
        if self.blocked is not None:
            return False
        for exchange in exchanges:
            self.judge_exchange(exchange)
        return True

    def is_target_there(self) -> bool:
        """Probes the target; without an answer the run is over."""
        try:
            self.portal.probe()
        except TargetUnreachable as gone:
            self.gone = gone
            return False
        return True

    @property
    def restarted(self) -> str:
        """Sentence on the time of a restart; empty without a restart."""
        return str(self.gone) if isinstance(self.gone, TargetRestarted) else ""

    @property
    def unreachable(self) -> str:
        """Why the target cannot be reached, as a sentence; empty where it can."""
        return "" if self.gone is None or self.restarted else str(self.gone)

    # --- the end

    def finish(self, *, interrupted: bool = False, crashed: bool = False) -> Run:
        """Restores what was changed, decides the pinned readings, writes every report and returns the run."""
        if crashed:
            self.ledger.errors.setdefault("pytest", "an internal error ended the run")
        left_behind, open_sessions = self.put_back()
        self.log.close()
        options, is_reading = self.options, self.options.impact == "read-only"
        return finish_run(
            self.ledger,
            Outputs(
                options.out, self.log.path, self.secrets, baseline=self.baseline, history=options.history
            ),
            target_url=self.profile.portal.url,
            target_profile=options.profile_name,
            started=self.started.isoformat(),
            finished=datetime.now(UTC).isoformat(),
            impact=options.impact,
            fail_on=options.fail_on,
            ending=Ending(
                interrupted=interrupted,
                unreachable=self.unreachable,
                restarted=self.restarted,
                left_behind=left_behind,
                cleanup=(cleanup_command(self.portal, self.portal.changes) or "") if left_behind else "",
                inconclusive=" ".join(self._shortfalls()),
                unusable=unusable_profile(self.blocked, left_behind),
            ),
            scope=self._whole_scope(),
            changes=None if is_reading else ChangesMade(**asdict(self.portal.changes.counts)),
            timeline=self.timeline,
            notes=[*self._notes(), *filter(None, [open_sessions])],
        )

    def put_back(self) -> tuple[list[str], str | None]:
        """Restores what was changed, ends the sessions, and decides the rest. Returns what could not be
        restored, and which sessions stay open."""
        self.acting.name = None
        left_behind = self._restore()
        if self.gone is None:
            self.shown_otherwise = shown_otherwise(self.portal, self.portal.changes.restored)
        open_sessions = None if self.unreachable else self.portal.end_sessions()
        pin_readings(self.ledger, self.profile.readings)
        self._give_reasons()
        self.portal.close()
        return left_behind, open_sessions

    def drop(self) -> list[str]:
        """Ends the run without a report. Returns what of its changes could not be restored, as sentences."""
        self.acting.name = None
        left_behind = self._restore()
        self.portal.end_sessions()
        self.portal.close()
        self.log.close()
        return left_behind

    def _whole_scope(self) -> Scope:
        """What the run set out to test, with the endpoints that it came to."""
        decided = self.ledger.decided_by_place(is_part=bool(self.scope.selection))
        return self.scope.model_copy(update={"called": sorted(self.called), "decided": decided})

    def _give_reasons(self) -> None:
        """Why rules stay untested that no case gives a reason for."""
        shut = shut_endpoints(self.profile)
        for rule in self.ledger.requirements:
            if self.blocked is not None:
                self.ledger.leave_untested(rule, self.blocked.reason, "credentials")
            if rule in REQUIREMENTS and (why := beyond(rule, self.options.impact)) is not None:
                self.ledger.leave_unbegun(rule, why)
            if rule in REQUIREMENTS and (why := why_left(rule, self.profile, shut)) is not None:
                self.ledger.leave_last(rule, why)

    def _notes(self) -> list[str]:
        """Notes on an early end, requests without a response, unrestored changes and uncounted findings."""
        transport = self.portal.transport
        silent = transport.availability.sentence() if transport.answered else None
        availability = f"Availability: {silent}. Nothing was judged by them." if silent else None
        blocked = None if self.blocked is None else self.blocked.reason
        staying = (f"Nothing restores: {reason}." for reason in self.portal.changes.unrestorable)
        waits = [wait.end - wait.start for wait in self.timeline if wait.label == MAILED_BEFORE]
        waited = [f"Waited {sum(waits):.0f} s for {MAILED_BEFORE}."] if waits else []
        logged_out = (
            f"A logout of [accounts.{name}] says that it ended {number} sessions at once: those that others "
            "had begun may be over too."
            for name, number in sorted(self.portal.login.logged_out.items())
        )
        also = [*staying, *self.portal.changes.traces, *logged_out, *waited]
        also += also_contradicted(self.ledger) if self.options.rerun else ()
        otherwise = (f"Restored, but shown otherwise: {sentence}." for sentence in self.shown_otherwise)
        gone = self.unreachable or self.restarted
        moved = None if self.scope.bundled else clock_in_words(self.clock.moved)
        return [note for note in (gone, blocked, availability, *otherwise, moved, *also) if note]

    def _restore(self) -> list[str]:
        if not self.unreachable:
            try:
                return restore_own(self.portal)
            except TargetUnreachable as gone:
                self.gone = gone
        return pending_in_words(
            self.portal, self.portal.changes.own_pending, "the target could not be reached"
        )

    def _shortfalls(self) -> Iterator[str]:
        """Why too little was tested to tell, as sentences; none where it is enough."""
        ended_early = self.restarted or (self.blocked.reason if self.blocked else "")
        if ended_early:
            yield ended_early
            return
        results = self.ledger.results()
        yield from floor.too_few(results, self.options.min_tested)
        if self.options.rerun is not None:
            yield from floor.undecided(results, self.options.rerun, self.selected)
        if self.scope.selection:
            yield from floor.refused_account(self.portal)
        else:
            yield from floor.shortfalls(self.portal, results, self.scope)
