"""Judges recorded traffic against the specification, with no target at all (``check FILE…``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from conformance.check.lines import JoinedLines, holds_secrets
from conformance.check.traffic import DEFAULTS, CheckOptions, FilePart, PortalTraffic, parts_of
from conformance.descriptions import NO_DESCRIPTIONS, Descriptions
from conformance.errors import UsageError
from conformance.judging import judge_of, watch
from conformance.report.across.baseline import baseline_of
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.run import Ending, Run, Scope
from conformance.traffic.capture.places import Place, place_of
from conformance.traffic.exchange import Exchange
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder, finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import written_whole
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.work.dask import cluster_of

__all__ = ["DEFAULTS", "CheckOptions", "Checked", "PortalTraffic", "check"]

BETWEEN_JOINS = 500
"""Exchanges that are judged before the lines that workers wrote meanwhile are joined."""


@dataclass
class Checked:
    """The result of a check: the run with its reports, and the entries that were ignored, by reason."""

    run: Run
    exchanges: int
    ignored: Counter[str]


@dataclass
class _Judged:
    """What a check keeps of its traffic."""

    ledger: Ledger
    coverage: Coverage = field(default_factory=Coverage)
    secrets: Secrets = field(default_factory=Secrets)
    finder: SecretFinder = field(default_factory=SecretFinder)
    interrupted: bool = False
    counted: RunEvidence | None = None
    """What the lines that were written show, where they are counted already."""
    notes: list[str] = field(default_factory=list)
    descriptions: Descriptions = NO_DESCRIPTIONS


def _judged(options: CheckOptions, files: int) -> _Judged:
    ledger = Ledger(options.own.requirements, selection=options.rules, places={})
    finder = replace(finder_of(options.redact, options.keep), files=files)
    return _Judged(ledger, finder=finder, descriptions=options.described)


def check(
    files: Sequence[str | Place],
    options: CheckOptions = DEFAULTS,
    *,
    listeners: Sequence[Callable[[Exchange], None]] = (),
) -> Checked:
    """Judges every exchange of the portal in these captures and HAR files, and writes the reports. A file is
    a path, or an address that fsspec reads (``s3://…``).

    ``listeners`` get each exchange once it is judged. CaptureError: a file cannot be read, or breaks
    (``salvage`` uses what stands before the break).
    """
    if not files:
        raise UsageError("check: name at least one capture or HAR file.")
    outputs = _outputs(options)
    started, places = datetime.now(UTC), [place_of(file) for file in files]
    traffic, judged = PortalTraffic(places, options), _judged(options, len(places))
    with written_whole(outputs.exchanges) as path:
        parts = parts_of(places) if options.workers > 1 or options.scheduler else []
        if len(parts) > 1 and not holds_secrets(PortalTraffic(places, options)):
            _judge_beside_workers(traffic, judged, path, parts, [judged.coverage.feed, *listeners])
        else:
            _judge_alone(traffic, judged, path, [judged.coverage.feed, *listeners])
    run = finish_run(
        judged.ledger,
        replace(outputs, secrets=judged.secrets, counted=judged.counted),
        details={"coverage": judged.coverage.as_json(), **traffic.totals.details()},
        target_url=traffic.totals.portal,
        target_profile=None,
        started=started,
        finished=datetime.now(UTC),
        impact="read-only",
        fail_on=options.fail_on,
        command="check",
        ending=Ending(interrupted=judged.interrupted),
        scope=_scope(judged, options),
        notes=list(_notes(traffic, judged)),
    )
    return Checked(run, traffic.totals.count, traffic.totals.ignored)


def _scope(judged: _Judged, options: CheckOptions) -> Scope:
    decided = judged.ledger.decided_by_place(is_part=options.rules is not None)
    return Scope(
        selection=options.rules.text if options.rules else "",
        called=sorted(judged.coverage.operations.keys() | (judged.ledger.places or {}).keys()),
        decided=decided,
        rules=[file.name for file in options.own.files],
    )


def _outputs(options: CheckOptions) -> Outputs:
    """UsageError: the baseline cannot be used."""
    baseline = baseline_of(options.known, is_strict=options.fail_on == "should")
    return Outputs(options.out, options.out / "exchanges.jsonl", baseline=baseline)


def _judge_alone(
    traffic: PortalTraffic, judged: _Judged, path: Path, listeners: Sequence[Callable[[Exchange], None]]
) -> None:
    """Judges all of the traffic, or what came before an interrupt, and writes it redacted to the path."""
    log = ExchangeLog(path, judged.secrets)
    try:
        _judge(traffic, judged, lambda exchange: _write(log, judged, exchange), listeners)
    finally:
        log.close()


def _write(log: ExchangeLog, judged: _Judged, exchange: Exchange) -> None:
    log.write(judged.finder.register(exchange, judged.secrets))


def _judge(
    traffic: PortalTraffic,
    judged: _Judged,
    write: Callable[[Exchange], None],
    listeners: Sequence[Callable[[Exchange], None]],
) -> None:
    options = traffic.options
    judging = judge_of(no_cache=options.no_cache, model=options.model, own=options.own.checks)
    traffic.at_another_recording = judging.forget
    judge = watch(judged.ledger, judge=judging, descriptions=judged.descriptions)
    try:
        with rare_garbage_collection():
            for exchange in traffic:
                write(exchange)
                judge(exchange)
                for listener in listeners:
                    listener(exchange)
    except KeyboardInterrupt:
        judged.interrupted = True


def _judge_beside_workers(
    traffic: PortalTraffic,
    judged: _Judged,
    path: Path,
    parts: Sequence[FilePart],
    listeners: Sequence[Callable[[Exchange], None]],
) -> None:
    """Judges all of the traffic in its order, while workers write it: this process is one of those that share
    the work. Lines that turn out to hold secrets are written by this process, as each placeholder has the
    number of its first exchange."""
    options, totals = traffic.options, traffic.totals
    files = list(dict.fromkeys(part.path for part in parts))
    option = "--scheduler" if options.scheduler else "--workers"
    with cluster_of(
        files, path.parent, workers=options.workers - 1, scheduler=options.scheduler, option=option
    ) as cluster:
        lines = JoinedLines(cluster, parts, options, path)
        lines.begin()

        def join(exchange: Exchange) -> None:
            if totals.count % BETWEEN_JOINS == 0:
                lines.join_ready()

        _judge(traffic, judged, join, listeners)
        try:
            (lines.join_ready if judged.interrupted else lines.join_all)()
        except KeyboardInterrupt:
            judged.interrupted = True
    judged.notes += lines.notes()
    if judged.interrupted:
        lines.cut(totals.count)
    elif lines.holds_secrets or lines.evidence.total != totals.count:
        _write_all(PortalTraffic(traffic.files, options), judged, path)
    else:
        judged.counted = lines.evidence


def _write_all(traffic: PortalTraffic, judged: _Judged, path: Path) -> None:
    log = ExchangeLog(path, judged.secrets)
    try:
        for exchange in traffic:
            _write(log, judged, exchange)
    finally:
        log.close()


def _notes(traffic: PortalTraffic, judged: _Judged) -> Iterator[str]:
    if judged.interrupted:
        yield f"Interrupted after {traffic.totals.count} exchanges."
    yield from judged.notes
    yield from traffic.notes
    yield from judged.coverage.sentences()
    yield from traffic.totals.sentences()
    yield from judged.finder.lines()
