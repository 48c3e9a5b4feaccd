"""How a run is shown while it goes on: drawn anew on a terminal, line by line in a log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO, cast

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from conformance.cli.layout import print_laid_out
from conformance.cli.output import RedactedStream
from conformance.report.formats.terminal import waiting, wants_colour
from conformance.report.model.words import duration

LOG_SECONDS = 5.0
"""Seconds between two lines of a log, as long as cases end."""

STILL_SECONDS = 30.0
"""Seconds between two lines of a log where no case ends."""

FRAMES_PER_SECOND = 5

ROOM_FOR_INTERRUPT = 3
"""Columns that stay free at the end of a line: a terminal shows ``^C`` behind it, and must not break it."""

BEGINNING = "asking for the first answer"
ENDING = "restoring what was changed, and writing the reports"


@dataclass
class RunProgress:
    """How far a run is. ``until`` is the tick at which a wait ends; ``lasts`` how many seconds the waits make
    it last, 0 where nothing is waited for."""

    cases: int = 0
    ended: int = 0
    case: str = ""
    why: str = ""
    until: float = 0.0
    lasts: float = 0.0
    findings: dict[str, int] = field(default_factory=lambda: {"FAIL": 0, "WARN": 0, "known": 0})
    began: float = field(default_factory=time.monotonic)
    now: Callable[[], float] = time.monotonic

    def wait(self, why: str, seconds: float) -> None:
        self.why, self.until = why, self.now() + seconds

    @property
    def activity(self) -> str:
        """What the run waits for, and how much longer; else the case that runs."""
        left = self.until - self.now()
        if left > 0:
            return f"waiting {duration(left)} for {self.why}"
        if not self.case:
            return BEGINNING
        return ENDING if self.ended == self.cases else self.case

    @property
    def share(self) -> float:
        """Completed share of the run: of its cases, or of its time if lower, as few waiting cases take most
        of a run."""
        if not self.cases or self.ended == self.cases:
            return 1.0 if self.cases else 0.0
        took, cases = self.now() - self.began, self.ended / self.cases
        return min(cases, took / self.lasts) if self.lasts else cases

    @property
    def numbers(self) -> str:
        """``110 of 915 cases · 3 FAIL · 2 known · 36 s of 5 min 0 s (12 %)``, the percent of the budget."""
        findings = [f"{count} {verdict}" for verdict, count in self.findings.items() if count]
        took = self.now() - self.began
        time_of = f"{duration(took)} of {duration(self.lasts)}" if self.lasts > took else duration(took)
        cases = f"{self.ended:,} of {self.cases:,} cases"
        percent = f" ({int(100 * self.share)} %)"
        if self.share < self.ended / max(1, self.cases):
            time_of += percent
        else:
            cases += percent
        return " · ".join([cases, *findings, time_of])


class LogView:
    """Lines for a log: what is found, each long wait, and every few seconds how far the run is."""

    def __init__(self, stream: RedactedStream, progress: RunProgress) -> None:
        self._stream = stream
        self._progress = progress
        self._stopped = threading.Event()
        self._last = (time.monotonic(), 0)
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def line(self, text: str) -> None:
        print(self._stream.clean(text), file=self._stream, flush=True)

    def waits(self, why: str, seconds: float) -> None:
        if seconds >= LOG_SECONDS:
            self.line(waiting(why, seconds))

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def tick(self, now: float) -> None:
        """Writes how far the run is, where the line before is old enough. ``now``: of the monotonic clock."""
        since, ended = self._last
        pause = LOG_SECONDS if self._progress.ended != ended else STILL_SECONDS
        if now - since >= pause:
            self._last = (now, self._progress.ended)
            self.line(f"{self._progress.numbers} · {self._progress.activity}")

    def _repeat(self) -> None:
        while not self._stopped.wait(1.0):
            self.tick(time.monotonic())


class LiveView:
    """A display at the foot of a terminal, with what is found above it."""

    def __init__(self, stream: RedactedStream, progress: RunProgress) -> None:
        self._stream = stream
        self._progress = progress
        colour = wants_colour(stream)
        self.console = Console(
            file=cast(TextIO, stream.for_display()),
            force_terminal=True,
            color_system="standard" if colour else None,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._live = Live(
            get_renderable=self._drawn,
            console=self.console,
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def start(self) -> None:
        self._live.start()

    def line(self, text: str) -> None:
        print_laid_out(self.console, self._stream.clean(text))

    def waits(self, why: str, seconds: float) -> None:
        """The display counts a wait down by itself."""

    def stop(self) -> None:
        self._live.stop()

    def _drawn(self) -> RenderableType:
        progress = self._progress
        drawn = Table.grid()
        drawn.width = self.console.width - ROOM_FOR_INTERRUPT
        drawn.add_row(ProgressBar(total=1.0, completed=progress.share, width=self.console.width // 2))
        for text, style in ((progress.numbers, ""), (progress.activity, "dim")):
            drawn.add_row(Text(self._stream.clean(text), style=style, no_wrap=True, overflow="ellipsis"))
        return drawn
