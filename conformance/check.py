"""Judges recorded traffic against the specification, with no target at all (``check FILE…``)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from conformance.errors import UsageError
from conformance.judging import judge_of, watch
from conformance.report.across.baseline import initial_baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.formats.closing import closing_block
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.report.model.run import Ending, Run, Scope
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder, finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.verdicts.selection import RuleSelection


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the user asked of a check. ``target`` is the portal's address, where the traffic of several
    portals is mixed; without it, every path below ``/web/v1/`` is the portal's. ``salvage`` uses what stands
    before a break in a file. ``no_cache`` judges every exchange anew.
    ``model`` also compares what several answers say of the same thing.
    ``rules`` are the rules that count, where not all of them do."""

    out: Path = Path("reports")
    salvage: bool = False
    strict: bool = False
    target: str | None = None
    baseline: Path | None = None
    baseline_update: bool = False
    baseline_prune: bool = False
    no_cache: bool = False
    model: bool = False
    redact: Sequence[str] = ()
    """Headers, fields and patterns between slashes whose values are secrets."""
    keep: Sequence[str] = ()
    """Headers and fields whose values only look like secrets."""
    rules: RuleSelection | None = None


DEFAULTS = CheckOptions()


@dataclass
class Checked:
    """The result of a check: the run with its reports, and the entries that were ignored, by reason."""

    run: Run
    exchanges: int
    ignored: Counter[str]


@dataclass
class PortalTraffic:
    """The portal's exchanges of some files, in order; everything else is ignored and counted."""

    files: Sequence[Path]
    options: CheckOptions
    ignored: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)
    count: int = 0

    def __iter__(self) -> Iterator[Exchange]:
        """Numbered through from 1 over all the files. CaptureError: one cannot be read."""
        for path in self.files:
            reader = capture.read(path, salvage=self.options.salvage)
            for exchange in reader:
                why = self._why_ignored(exchange)
                if why:
                    self.ignored[why] += 1
                    continue
                self.count += 1
                self.hosts[exchange.request.parts.netloc] += 1
                yield exchange if exchange.n == self.count else replace(exchange, n=self.count)
            self.ignored.update(reader.set_aside)
            self.notes.extend(reader.notes)

    @property
    def target(self) -> str:
        """The portal's address, or the host that most of the traffic went to."""
        most = self.hosts.most_common(1)
        return self.options.target or (urlsplit(f"//{most[0][0]}").netloc if most else "no portal")

    def sentences(self) -> Iterator[str]:
        """What was ignored, and whether the traffic of several hosts was judged as one portal's."""
        for why, times in self.ignored.most_common():
            yield f"{times} entries were set aside: {why}."
        if len(self.hosts) > 1:
            hosts = ", ".join(f"{host} ({times})" for host, times in self.hosts.most_common(5))
            yield f"Several hosts were judged as one portal: {hosts}. Name one with --target."

    def _why_ignored(self, exchange: Exchange) -> str | None:
        target = self.options.target
        if target is not None and not exchange.request.url.startswith(target):
            return "another host or path"
        return None if PORTAL_PATH in exchange.request.path else "another path"


@dataclass
class _Judged:
    """What a check keeps of its traffic."""

    ledger: Ledger
    coverage: Coverage = field(default_factory=Coverage)
    secrets: Secrets = field(default_factory=Secrets)
    finder: SecretFinder = field(default_factory=SecretFinder)
    interrupted: bool = False


def _judged(options: CheckOptions) -> _Judged:
    ledger = Ledger(REQUIREMENTS, selection=options.rules)
    return _Judged(ledger, finder=finder_of(options.redact, options.keep))


def check(
    files: Sequence[str | Path],
    options: CheckOptions = DEFAULTS,
    *,
    listeners: Sequence[Callable[[Exchange], None]] = (),
) -> Checked:
    """Judges every exchange of the portal in these captures and HAR files, and writes the reports.

    ``listeners`` get each exchange once it is judged. CaptureError: a file cannot be read, or breaks
    (``salvage`` uses what stands before the break).
    """
    if not files:
        raise UsageError("check: name at least one capture or HAR file.")
    update, prune = options.baseline_update, options.baseline_prune
    baseline = initial_baseline(options.baseline, is_updated=update, is_pruned=prune)
    started = datetime.now(UTC)
    traffic, judged = PortalTraffic([Path(file) for file in files], options), _judged(options)
    exchanges = _judge(traffic, judged, options.out / "exchanges.jsonl", [judged.coverage.feed, *listeners])
    run = finish_run(
        judged.ledger,
        Outputs(
            options.out, exchanges, judged.secrets, baseline, baseline_update=update, baseline_prune=prune
        ),
        details={"coverage": judged.coverage.as_json(), "set_aside": dict(traffic.ignored)},
        target_url=traffic.target,
        target_profile=None,
        started=started,
        finished=datetime.now(UTC),
        impact="read-only",
        strict=options.strict,
        command="check",
        ending=Ending(interrupted=judged.interrupted),
        scope=Scope(selection=options.rules.text if options.rules else ""),
        notes=list(_notes(traffic, judged)),
    )
    return Checked(run, traffic.count, traffic.ignored)


def run(
    files: Sequence[str | Path],
    options: CheckOptions,
    *,
    output: str = "text",
    show: Callable[[str], None] = print,
) -> int:
    """``check`` for the command line: shows what was found line by line, and returns the exit code."""
    checked = check(files, options)
    if output == "json":
        print(checked.run.text(), end="")
        return checked.run.exit_code
    for line in summary_lines(checked.run, colour=wants_colour(sys.stdout), quiet=False):
        show(line)
    for line in closing_block(checked.run, options.out):
        show(line)
    return checked.run.exit_code


def _judge(
    traffic: PortalTraffic, judged: _Judged, path: Path, listeners: Sequence[Callable[[Exchange], None]]
) -> Path:
    """Judges all of the traffic, or what came before an interrupt, and writes it redacted to the path."""
    log = ExchangeLog(path, judged.secrets)
    judge = watch(
        judged.ledger, judge=judge_of(no_cache=traffic.options.no_cache, model=traffic.options.model)
    )
    try:
        for exchange in traffic:
            log.write(judged.finder.register(exchange, judged.secrets))
            judge(exchange)
            for listener in listeners:
                listener(exchange)
    except KeyboardInterrupt:
        judged.interrupted = True
    finally:
        log.close()
    return log.path


def _notes(traffic: PortalTraffic, judged: _Judged) -> Iterator[str]:
    if judged.interrupted:
        yield f"Interrupted after {traffic.count} exchanges."
    yield from traffic.notes
    yield from judged.coverage.sentences()
    yield from traffic.sentences()
    yield from judged.finder.lines()
