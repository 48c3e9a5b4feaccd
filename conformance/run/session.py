"""One run on one target: what is known, what has been judged, and what is written at the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

from conformance.errors import TargetUnreachable, UsageError
from conformance.judging import watch
from conformance.report.across import baseline, history
from conformance.report.formats.write import write_all
from conformance.report.model.run import Run, Timed
from conformance.spec import REQUIREMENTS, Impact, Requirement
from conformance.target.clock import Clock
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger, Result, Verdict

PINNED = "READING-"
MAILING = ("/login/mfa/send", "/password/forgot", "/system/invitations")
"""Paths whose success sends a mail to somebody."""


@dataclass
class Options:
    """What the user asked of a run."""

    out: Path = Path("reports")
    impact: Impact = "read-only"
    strict: bool = False
    baseline: Path | None = None
    profile_name: str = ""
    min_tested: int = 0
    history: Path | None = None
    baseline_update: bool = False
    rerun: str | None = None
    record_costs: Path | None = None
    keep_ledger: bool = True
    """Whether changes are noted on the disk: not where the target ends with the run."""


@dataclass
class Examination:
    """Everything of one run. ``case`` is the case that acts now; ``exit_code`` is final after ``finish``."""

    profile: Profile
    clock: Clock
    options: Options
    secrets: Secrets = field(default_factory=Secrets)
    ledger: Ledger = field(default_factory=lambda: Ledger(REQUIREMENTS))
    timeline: list[Timed] = field(default_factory=list)
    case: str | None = None
    unreachable: str | None = None
    left_behind: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    known_failures: baseline.Baseline | None = None
    costs: dict[str, dict[str, int]] = field(default_factory=dict)
    on_finding: Callable[[Finding], None] = lambda finding: None
    handler: httpx.BaseTransport | None = None
    aside: Callable[[Exchange], None] | None = None
    """While it is set, exchanges are written and go there, and are not judged."""

    def __post_init__(self) -> None:
        self.started = datetime.now(UTC)
        self.known_failures = baseline.known_at_first(
            self.options.baseline, is_updated=self.options.baseline_update
        )
        if self.options.history is not None:
            history.check(self.options.history)
        self.judge = watch(self.ledger, case=lambda: self.case)
        self.log = ExchangeLog(self.options.out / "exchanges.jsonl", self.secrets)
        self.new_findings: list[Finding] = []
        self.portal = Portal.connect(
            self.profile,
            impact=self.options.impact,
            clock=self.clock,
            secrets=self.secrets,
            on_exchange=self.take,
            ledger=self.options.out / LEDGER if self.options.keep_ledger else None,
            handler=self.handler,
        )

    def take(self, exchange: Exchange) -> None:
        """Writes and judges one exchange, as it comes."""
        self.log.write(exchange)
        self._count(exchange)
        (self.aside or self.judge_one)(exchange)

    def judge_one(self, exchange: Exchange) -> None:
        """Judges an exchange that has been written."""
        for finding in self.judge(exchange):
            self.announce(finding)

    def announce(self, finding: Finding) -> None:
        """Shows a finding, with the case that acts."""
        self.new_findings.append(finding)
        self.on_finding(finding)

    def _count(self, exchange: Exchange) -> None:
        operation = exchange.request.operation
        if self.case is None:
            return
        cost = self.costs.setdefault(self.case, {"requests": 0, "sign_ins": 0, "mails": 0, "changes": 0})
        cost["requests"] += 1
        if operation is not None:
            cost["sign_ins"] += operation.path.endswith("/login/initiate")
            cost["mails"] += exchange.success and operation.path.endswith(MAILING)
            cost["changes"] += exchange.success and operation.impact != "read-only"

    def waited(self, why: str, seconds: float, now: float) -> None:
        """Remembers a wait, in seconds, that begins at a tick of the clock."""
        self.timeline.append(Timed(kind="wait", label=why, start=now, end=now + seconds))

    def recognise(self) -> bool:
        """Whether a portal answers at the address; what answers there otherwise is not judged."""
        held: list[Exchange] = []
        self.aside = held.append
        try:
            self.portal.recognise()
        except TargetUnreachable as gone:
            self.unreachable = str(gone)
            return False
        finally:
            self.aside = None
        for exchange in held:
            self.judge_one(exchange)
        return True

    def still_there(self) -> bool:
        """Whether the target answers at all; where it does not, the run is over."""
        try:
            self.portal.probe()
        except TargetUnreachable as gone:
            self.unreachable = str(gone)
            return False
        return True

    def finish(self, *, interrupted: bool = False, crashed: bool = False) -> Run:
        """Restores what was changed, decides the pinned readings, writes every report and gives the run."""
        self.case = None
        self._restore()
        self._pin_readings()
        self.portal.close()
        self.log.close()
        run = self._against_baseline(self._run())
        run = run.model_copy(
            update={"exit_code": self.exit_code(run, interrupted=interrupted, crashed=crashed)}
        )
        if self.options.record_costs is not None:
            text = json.dumps(self.costs, indent=1, sort_keys=True)
            self.options.record_costs.write_text(text + "\n", encoding="utf-8")
        if self.options.history is not None:
            run = run.model_copy(update={"since": history.since(run, self.options.history)})
        run = write_all(run, self.options.out, exchanges=self.log.path, secrets=self.secrets)
        self._keep(run)
        return run

    def _keep(self, run: Run) -> None:
        """Adds the run to its history. The reports stand already: that this fails takes nothing from them."""
        if self.options.history is None:
            return
        try:
            history.record(run, self.options.history)
        except UsageError as wrong:
            self.ledger.errors["the history"] = str(wrong)

    def _against_baseline(self, run: Run) -> Run:
        """The run with what its baseline makes of it; an update is written where it was asked for."""
        known = self.known_failures
        return (
            run
            if known is None
            else baseline.held_against(run, known, is_updated=self.options.baseline_update)
        )

    def exit_code(self, run: Run, *, interrupted: bool = False, crashed: bool = False) -> int:
        """The contract's exit codes, the gravest reason first."""
        failed = run.summary.fail + (run.summary.warn if self.options.strict else 0)
        tested = run.summary.pass_ + run.summary.fail + run.summary.warn
        if self.unreachable is not None:
            return 6
        if interrupted:
            return 2
        if crashed or self.ledger.errors:
            return 3
        if self.left_behind:
            return 7
        if run.baseline is not None:
            failed = len(run.baseline.new) + len(run.baseline.stale) + len(run.baseline.expired)
        if failed:
            return 1
        too_little = tested <= max(0, self.options.min_tested - 1) or self._is_shut_out()
        return 5 if too_little else 0

    def _is_shut_out(self) -> bool:
        """Whether the account that most cases sign in with cannot: what is left tells little of a target."""
        return self.portal.has_account("admin") and self.portal.account("admin").is_refused

    def _restore(self) -> None:
        if self.unreachable is None:
            try:
                self.left_behind.extend(self.portal.restore())
                return
            except TargetUnreachable as gone:
                self.unreachable = str(gone)
        self.left_behind.extend(self.portal.pending("the target could not be reached"))

    def _pin_readings(self) -> None:
        for key, wanted in self.profile.readings.items():
            requirement = Requirement(
                id=f"{PINNED}{key}", section="Readings pinned by the profile", level="must",
                statement=f"This deployment reads {key!r} as {wanted!r}.",
            )  # fmt: skip
            self.ledger.requirements[requirement.id] = requirement
            self._pin(requirement, key, wanted)

    def _pin(self, requirement: Requirement, key: str, wanted: Json) -> None:
        seen = [one for one in self.ledger.observations if one.topic == key]
        other = [one for one in seen if one.observed != wanted]
        for one in other:
            self.ledger.add(
                Finding(
                    requirement.id,
                    Verdict.FAIL,
                    one.endpoint,
                    f"changed reading: {key} is {one.observed!r}",
                    wanted,
                    one.observed,
                    path=key,
                    exchanges=one.exchanges,
                )
            )
        if seen and not other:
            self.ledger.satisfy(requirement.id)
        if not seen:
            self.ledger.leave_untested(
                requirement.id, "the run saw nothing that shows this reading", "environment"
            )

    def _run(self) -> Run:
        return Run.of(
            self._results(),
            self.ledger.findings,
            self.ledger.observations,
            target_url=self.profile.portal.url,
            target_profile=self.options.profile_name,
            started=self.started.isoformat(),
            finished=datetime.now(UTC).isoformat(),
            impact=self.options.impact,
            strict=self.options.strict,
            exit_code=0,
            timeline=self.timeline,
            notes=self._notes(),
        ).model_copy(update={"not_restored": self.left_behind, "cleanup": self._cleanup()})

    def _cleanup(self) -> str | None:
        """The command line that restores what is left, where anything is."""
        return self.portal.cleanup_command if self.left_behind else None

    def _notes(self) -> list[str]:
        """Why the run ended early, and how many of its requests had no answer."""
        silent = self.portal.transport.availability.sentence()
        availability = f"Availability: {silent}. Nothing was judged by them." if silent else None
        return [note for note in (self.unreachable, availability) if note]

    def _results(self) -> list[Result]:
        """The results; what a target that went away kept from being tried is nobody's failure."""
        results = self.ledger.results()
        if self.unreachable is None:
            return results
        reason = "the target could not be reached any more"
        return [
            replace(one, reason=reason, fault_class="environment")
            if one.verdict is Verdict.UNTESTED and not one.requirement.untestable and one.fault_class is None
            else one
            for one in results
        ]
