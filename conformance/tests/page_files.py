"""Every page that the suite makes, written when a test asks for it: of few findings, of none and of many."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from conformance.report.across import compare, compare_pages, history, matrix, trends
from conformance.report.formats.write import write_all
from conformance.report.model.run import Run
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_runs import against_baseline, checked, of_findings, replay_of, under_load
from conformance.tests.sample_run import START, Sample, conformant, sample

MANY = 150
"""Findings of a page that has many."""

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


def _text(make: Callable[[Path], str]) -> Maker:
    def page(folder: Path) -> Path:
        (folder / "page.html").write_text(make(folder), encoding="utf-8")
        return folder / "page.html"

    return page


def _compared(folder: Path) -> str:
    """Two replays, so that every part of the page has rows."""
    old, new = conformant().run(), replay_of(8, sample())
    readings = [
        reading.model_copy(update={"observed": [{f"{reading.key}-{at}": "x" * 30 for at in range(9)}]})
        for reading in new.readings[:4]
    ]
    later = new.model_copy(update={"readings": [*readings, *new.readings[4:]]})
    return compare_pages.as_html(compare.compare(old, later))


def _side_by_side(folder: Path) -> str:
    return matrix.as_html(matrix.matrix([made.run() for made in (conformant(), sample(), hostile())]))


def _over_time(folder: Path) -> str:
    """Nine days, each third with failures."""
    for day in range(9):
        run = (sample() if day % 3 == 2 else conformant()).run()
        started = (START + timedelta(days=day)).isoformat()
        history.record(run.model_copy(update={"started": started}), folder / "history.sqlite")
    return trends.as_html(history.trend(folder / "history.sqlite"))


MAKERS: dict[str, Maker] = {
    "report": _of_sample(sample),
    "hostile": _of_sample(hostile),
    "load": _of_run(under_load),
    "baseline": _of_run(against_baseline),
    "compare": _text(_compared),
    "matrix": _text(_side_by_side),
    "history": _text(_over_time),
    "run-of-many": _of_sample(lambda: of_findings(MANY)),
    "check-of-none": _of_run(lambda: checked(conformant())),
    "replay-of-many": _of_run(lambda: replay_of(MANY)),
}
"""What writes each page."""
