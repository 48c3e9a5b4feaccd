"""Judges recorded traffic against the specification, with no target at all (``check FILE…``)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from conformance.errors import UsageError
from conformance.judging import judge_of
from conformance.report.across import baseline
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.report.formats.write import write_all
from conformance.report.model.run import Run
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger

"""What is the portal's: everything below this prefix, whatever stands before it."""


@dataclass
class Checked:
    """What became of the files: the run with its reports, and what was set aside."""

    run: Run
    exchanges: int
    set_aside: Counter[str]


@dataclass
class Passing:
    """The portal's exchanges of some files, in order; everything else is counted apart."""

    files: Sequence[Path]
    target: str | None
    salvage: bool
    set_aside: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Exchange]:
        """Numbered through from 1 over all the files. CaptureError: one cannot be read."""
        number = 0
        for path in self.files:
            reader = capture.read(path, salvage=self.salvage)
            for exchange in reader:
                why = self._why_aside(exchange)
                if why:
                    self.set_aside[why] += 1
                    continue
                number += 1
                self.hosts[exchange.request.parts.netloc] += 1
                yield exchange if exchange.n == number else replace(exchange, n=number)
            self.set_aside.update(reader.set_aside)
            self.notes.extend(reader.notes)

    def _why_aside(self, exchange: Exchange) -> str | None:
        if self.target is not None and not exchange.request.url.startswith(self.target):
            return "another host or path"
        return None if PORTAL_PATH in exchange.request.path else "another path"


def check(
    files: Sequence[str | Path],
    *,
    out: str | Path = "reports",
    salvage: bool = False,
    strict: bool = False,
    target: str | None = None,
    known_failures: Path | None = None,
    baseline_update: bool = False,
    no_cache: bool = False,
) -> Checked:
    """Judges every exchange of the portal in these captures and HAR files, and writes the reports.

    ``target`` is the portal's address, where the traffic of several portals is mixed; without it, every
    path below ``/web/v1/`` is the portal's. ``known_failures`` is a baseline. CaptureError: a file cannot be
    read, or breaks (``salvage`` uses what stands before the break). ``no_cache`` judges every exchange anew.
    """
    if not files:
        raise UsageError("check: name at least one capture or HAR file.")
    known = baseline.known_at_first(known_failures, is_updated=baseline_update)
    started = datetime.now(UTC)
    passing = Passing([Path(file) for file in files], target, salvage)
    secrets, ledger, coverage = Secrets(), Ledger(REQUIREMENTS), Coverage()
    log = ExchangeLog(Path(out) / "exchanges.jsonl", secrets)
    judge = judge_of(no_cache=no_cache)
    count, interrupted = 0, False
    try:
        for exchange in passing:
            count += 1
            log.write(exchange)
            ledger.take(judge.judge(exchange))
            coverage.feed(exchange)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        log.close()
    del judge  # the reports need the room of its cache
    told = [f"It was interrupted: no more than {count} exchanges were judged."] if interrupted else []
    notes = [*told, *passing.notes, *coverage.sentences(), *_aside_sentences(passing)]
    run = Run.of(
        ledger.results(),
        ledger.findings,
        ledger.observations,
        target_url=target or _shown_target(passing),
        target_profile=None,
        started=started,
        finished=datetime.now(UTC),
        impact="read-only",
        strict=strict,
        exit_code=2 if interrupted else _exit_code(ledger, strict=strict),
        command="check",
        notes=notes,
    ).model_copy(update={"coverage": coverage.as_json(), "set_aside": dict(passing.set_aside)})
    if known is not None:
        run = baseline.held_against(run, known, is_updated=baseline_update)
    run = write_all(run, Path(out), exchanges=log.path, secrets=secrets)
    return Checked(run, count, passing.set_aside)


def run(
    files: Sequence[str | Path],
    *,
    out: str | Path = "reports",
    salvage: bool = False,
    strict: bool = False,
    target: str | None = None,
    known_failures: Path | None = None,
    baseline_update: bool = False,
    output: str = "text",
    no_cache: bool = False,
) -> int:
    """``check`` for the command line: prints what was found, and gives the exit code."""
    checked = check(
        files,
        out=out,
        salvage=salvage,
        strict=strict,
        target=target,
        known_failures=known_failures,
        baseline_update=baseline_update,
        no_cache=no_cache,
    )
    if output == "json":
        print(checked.run.text(), end="")
        return checked.run.exit_code
    for line in summary_lines(checked.run, colour=wants_colour(sys.stdout), quiet=False):
        print(line)
    for note in checked.run.notes:
        print(note)
    return checked.run.exit_code


def _exit_code(ledger: Ledger, *, strict: bool) -> int:
    verdicts = [result.verdict for result in ledger.results()]
    if ledger.errors:
        return 3
    if "fail" in verdicts or (strict and "warn" in verdicts):
        return 1
    return 0 if "pass" in verdicts or "warn" in verdicts else 5


def _shown_target(passing: Passing) -> str:
    most = passing.hosts.most_common(1)
    return urlsplit(f"//{most[0][0]}").netloc if most else "no portal"


def _aside_sentences(passing: Passing) -> Iterator[str]:
    for why, times in passing.set_aside.most_common():
        yield f"{times} entries were set aside: {why}."
    if len(passing.hosts) > 1:
        told = ", ".join(f"{host} ({times})" for host, times in passing.hosts.most_common(5))
        yield f"The traffic is that of several hosts, judged as one portal: {told}. Name one with --target."
