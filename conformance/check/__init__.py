"""Judges recorded traffic against the specification, with no target at all (``check FILE…``)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from conformance.check.divided import Division, Progress
from conformance.check.traffic import DEFAULTS, CheckOptions, PortalTraffic, parts_of
from conformance.errors import UsageError
from conformance.judging import judge_of, watch
from conformance.report.across.baseline import initial_baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.formats.closing import closing_block
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.run import Ending, Run, Scope
from conformance.spec import REQUIREMENTS
from conformance.traffic.capture.places import Place, place_of
from conformance.traffic.exchange import Exchange
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder, finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import written_whole
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger

__all__ = ["DEFAULTS", "CheckOptions", "Checked", "PortalTraffic", "check", "run"]


WORKERS_OF_A_CLUSTER = 16
"""How many workers a cluster is taken to have where captures are divided."""


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
    lost: list[str] = field(default_factory=list)
    """What no worker could do, and why."""
    counted: RunEvidence | None = None
    """What the lines that were written show, where they are counted already."""


def _judged(options: CheckOptions, files: int) -> _Judged:
    ledger = Ledger(REQUIREMENTS, selection=options.rules)
    return _Judged(ledger, finder=_finder(options, files))


def _finder(options: CheckOptions, files: int) -> SecretFinder:
    return replace(finder_of(options.redact, options.keep), files=files)


def check(
    files: Sequence[str | Place],
    options: CheckOptions = DEFAULTS,
    *,
    listeners: Sequence[Callable[[Exchange], None]] = (),
    progress: Progress = lambda done, total: None,
    divide: Callable[..., Division] = Division,
) -> Checked:
    """Judges every exchange of the portal in these captures and HAR files, and writes the reports. A file is
    a path, or an address that fsspec reads (``s3://…``).

    ``listeners`` get each exchange once it is judged, where one process judges; ``progress``
    is told how many parts are done, and of how many, where several judge; ``divide`` shares the parts out.
    CaptureError: a file cannot be read,
    or breaks (``salvage`` uses what stands before the break).
    """
    if not files:
        raise UsageError("check: name at least one capture or HAR file.")
    outputs = _outputs(options)
    started, places = datetime.now(UTC), [place_of(file) for file in files]
    traffic = PortalTraffic(places, options)
    with written_whole(outputs.exchanges) as path:
        if options.workers > 1 or options.scheduler:
            judged = _judge_in_parts(traffic, places, path, partial(divide, progress=progress))
        else:
            judged = _judged(options, len(places))
            _judge(traffic, judged, path, [judged.coverage.feed, *listeners])
    run = finish_run(
        judged.ledger,
        replace(outputs, secrets=judged.secrets, counted=judged.counted),
        details={"coverage": judged.coverage.as_json(), **traffic.details()},
        target_url=traffic.target,
        target_profile=None,
        started=started,
        finished=datetime.now(UTC),
        impact="read-only",
        strict=options.strict,
        command="check",
        ending=Ending(interrupted=judged.interrupted, inconclusive=_lost(judged.lost)),
        scope=Scope(
            selection=options.rules.text if options.rules else "",
            called=sorted(judged.coverage.operations),
        ),
        notes=list(_notes(traffic, judged)),
    )
    return Checked(run, traffic.count, traffic.ignored)


def _outputs(options: CheckOptions) -> Outputs:
    """UsageError: the baseline cannot be read."""
    update, prune = options.baseline_update, options.baseline_prune
    return Outputs(
        options.out,
        options.out / "exchanges.jsonl",
        baseline=initial_baseline(options.baseline, is_updated=update, is_pruned=prune),
        baseline_update=update,
        baseline_prune=prune,
    )


def run(
    files: Sequence[str | Place],
    options: CheckOptions,
    *,
    output: str = "text",
    show: Callable[[str], None] = print,
) -> int:
    """``check`` for the command line: shows what was found line by line, and returns the exit code."""
    checked = check(files, options, progress=_shown_progress())
    if output == "json":
        print(checked.run.text(), end="")
        return checked.run.exit_code
    for line in summary_lines(checked.run, colour=wants_colour(sys.stdout), quiet=False):
        show(line)
    for line in closing_block(checked.run, options.out):
        show(line)
    return checked.run.exit_code


def _shown_progress() -> Progress:
    """Shows how far the workers are, in one line of a terminal."""
    if not sys.stderr.isatty():
        return lambda done, total: None

    def show(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} parts are done.", end=end, file=sys.stderr, flush=True)

    return show


def _judge(
    traffic: PortalTraffic, judged: _Judged, path: Path, listeners: Sequence[Callable[[Exchange], None]]
) -> None:
    """Judges all of the traffic, or what came before an interrupt, and writes it redacted to the path."""
    log = ExchangeLog(path, judged.secrets)
    judging = judge_of(no_cache=traffic.options.no_cache, model=traffic.options.model)
    traffic.at_another_recording = judging.forget
    judge = watch(judged.ledger, judge=judging)
    try:
        with rare_garbage_collection():
            for exchange in traffic:
                log.write(judged.finder.register(exchange, judged.secrets))
                judge(exchange)
                for listener in listeners:
                    listener(exchange)
    except KeyboardInterrupt:
        judged.interrupted = True
    finally:
        log.close()


def _judge_in_parts(
    traffic: PortalTraffic, files: Sequence[Place], path: Path, divide: Callable[..., Division]
) -> _Judged:
    options = traffic.options
    workers = WORKERS_OF_A_CLUSTER if options.scheduler else options.workers
    parts = parts_of(files, workers)
    finder = _finder(options, len(files))
    divided = divide(traffic, parts, path, finder).run()
    return _Judged(
        divided.ledger,
        divided.coverage,
        divided.secrets,
        divided.finder,
        divided.interrupted,
        divided.lost,
        divided.counted,
    )


def _lost(lost: Sequence[str]) -> str:
    """Why a check in parts is incomplete; empty where it is not."""
    return f"This is missing: {'; '.join(lost)}." if lost else ""


def _notes(traffic: PortalTraffic, judged: _Judged) -> Iterator[str]:
    if judged.interrupted:
        yield f"Interrupted after {traffic.count} exchanges."
    yield from traffic.notes
    yield from judged.coverage.sentences()
    yield from traffic.sentences()
    yield from judged.finder.lines()
