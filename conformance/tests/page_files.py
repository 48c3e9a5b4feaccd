"""Every page that the suite makes, written when a test asks for it: of few findings, of none and of many."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

from conformance.report.across import compare, compare_pages, history, matrix
from conformance.report.formats.write import write_all
from conformance.report.model.run import Run
from conformance.selftest import pages as selftest_pages
from conformance.selftest.fault_run import FaultOutcome, Turned
from conformance.selftest.verdicts import ProofMatrix
from conformance.target.bundled import FAULTS, VARIANTS
from conformance.tests.hostile_portal import hostile
from conformance.tests.hostile_wrapper import Hostile
from conformance.tests.page_runs import checked, of_findings, other_runs, replay_of, replayed, under_load
from conformance.tests.sample_run import START, Sample, conformant, sample
from reference_impl import serve

MANY = 300
"""Findings of a page that has many."""

OTHERS = ("inconclusive", "baseline")

Maker = Callable[[Path], Path]
"""Writes a page into a folder, and says where."""


class PageFiles(dict[str, Path]):
    """The pages by name; one is written when it is asked for first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir()
        self[name] = MAKERS[name](folder)
        return self[name]


def _page_of(made: Sample, folder: Path, run: Run | None = None) -> Path:
    """The page of a run with the exchanges of a sample."""
    write_all(run or made.run(), folder, exchanges=made.write(folder / "traffic.jsonl"))
    return folder / "report.html"


def _of_sample(make: Callable[[], Sample]) -> Maker:
    return lambda folder: _page_of(make(), folder)


def _of_run(make: Callable[[], Run]) -> Maker:
    """The page of a run that was made without its exchanges."""
    return lambda folder: _page_of(sample(), folder, make())


def _other_run(name: str) -> Run:
    return dict(other_runs())[name]


def _text(make: Callable[[Path], str]) -> Maker:
    def page(folder: Path) -> Path:
        (folder / "page.html").write_text(make(folder), encoding="utf-8")
        return folder / "page.html"

    return page


def _judged_behind_a_wrapper(folder: Path) -> Path:
    """The suite itself against the reference portal behind the hostile wrapper."""
    with serve.start(wrap=Hostile, seed=3) as portal:
        (folder / "portal.toml").write_text(portal.profile(), encoding="utf-8")
        command = [
            "-m",
            "conformance.cli",
            "run",
            "--profile",
            str(folder / "portal.toml"),
            "-k",
            "test_shapes and (profile or session or files or public)",
        ]
        done = subprocess.run(
            [sys.executable, *command, "--impact", "disruptive", "--out", str(folder / "out")],
            capture_output=True,
            text=True,
            check=False,
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        )
    assert done.returncode == 1, done.stdout + done.stderr
    return folder / "out" / "report.html"


def _compared(folder: Path) -> str:
    """Two replays, so that every part of the page has rows."""
    old, new = conformant().run(), replayed()
    readings = [
        reading.model_copy(update={"observed": [{f"{reading.key}-{at}": "x" * 30 for at in range(9)}]})
        for reading in new.readings[:4]
    ]
    later = new.model_copy(update={"readings": [*readings, *new.readings[4:]]})
    return _comparison(old, later)


def _comparison(old: Run, new: Run) -> str:
    return compare_pages.as_html(compare.compare(old, new))


def _side_by_side(*made: Sample) -> str:
    return matrix.as_html(matrix.matrix([each.run() for each in made]))


def _over_time(folder: Path, runs: Sequence[Run]) -> str:
    for day, run in enumerate(runs):
        started = (START + timedelta(days=day)).isoformat()
        history.record(run.model_copy(update={"started": started}), folder / "history.sqlite")
    return history.as_html(history.trend(folder / "history.sqlite"))


def _some_runs() -> list[Run]:
    """Nine days, each third with failures."""
    return [(sample() if day % 3 == 2 else conformant()).run() for day in range(9)]


def _many_runs() -> list[Run]:
    """Three days of which the last fails much, and what failed before came and went."""
    return [each.run() for each in (of_findings(MANY), conformant(), of_findings(MANY))]


def _selftest(folder: Path) -> Path:
    """Faults that turn what they should, more, and nothing; variants, and problems."""
    outcomes = {
        name: FaultOutcome(
            name,
            turned={
                rule: Turned("fail", [f"check chapter.{name.replace('-', '_')}"], "seen otherwise", "GET /x")
                for rule in (*fault.breaks, "ENV-001")
            },
        )
        for name, fault in list(FAULTS.items())[:40]
    }
    outcomes |= {name: FaultOutcome(name) for name in list(FAULTS)[40:44]}
    variants = {name: FaultOutcome(name, verdicts={"pass": 800}) for name in list(VARIANTS)[:20]}
    problems = [f"fault {name} survives: {fault.breaks[0]} is not FAIL" for name, fault in FAULTS.items()][:9]
    made = ProofMatrix(FaultOutcome("clean"), outcomes, variants, problems=problems)
    selftest_pages.write(made, folder)
    return folder / "selftest.html"


MAKERS: dict[str, Maker] = {
    "report": _of_sample(sample),
    "hostile": _of_sample(hostile),
    "wrapped": _judged_behind_a_wrapper,
    "replay": _of_run(replayed),
    "load": _of_run(under_load),
    **{name: _of_run(partial(_other_run, name)) for name in OTHERS},
    "compare": _text(_compared),
    "matrix": _text(lambda folder: _side_by_side(conformant(), sample(), hostile())),
    "history": _text(lambda folder: _over_time(folder, _some_runs())),
    "selftest": _selftest,
    "run-of-many": _of_sample(lambda: of_findings(MANY)),
    "check-of-none": _of_run(lambda: checked(conformant())),
    "replay-of-many": _of_run(lambda: replay_of(MANY)),
    "compare-of-none": _text(lambda folder: _comparison(conformant().run(), conformant().run())),
    "matrix-of-many": _text(lambda folder: _side_by_side(conformant(), of_findings(MANY))),
    "history-of-many": _text(lambda folder: _over_time(folder, _many_runs())),
}
"""What writes each page."""
