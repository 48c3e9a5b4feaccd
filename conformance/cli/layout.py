"""Lines with a label, as a terminal of any width shows them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from conformance.cli.output import RedactedStream

if TYPE_CHECKING:  # a log needs no rich
    from rich.console import Console

LABEL = re.compile(r"[\w.-]+(?: [\w.-]+)?  +(?=\S)")
"""A label of one or two words, and the blanks behind it."""

COMMAND = re.compile(
    r"`portal-conformance [a-z-]+(?: [^`]*)?`\S*|(?:^|(?<=[:·] ))portal-conformance [a-z-]+(?: [^`]*)?$"
)
"""A command to be copied: in its quotes, or to the end of its line."""

MOST_OF_WIDTH = 0.45
"""The share of a line that its labels may take, so that there is room beside them."""


def print_laid_out(console: Console, text: str) -> None:
    """Prints a line as a terminal of the console's width shows it: what does not fit goes on below its
    beginning. One with a command is left for the terminal to wrap: what is copied of it is one line."""
    from rich.table import Table
    from rich.text import Text

    shown = Text.from_ansi(text)
    split = _label_width(shown.plain, int(console.width * MOST_OF_WIDTH))
    if len(shown.plain) > console.width and COMMAND.search(shown.plain[split:]):
        console.print(shown, soft_wrap=True)
    elif split:
        line = Table.grid()
        line.add_column(no_wrap=True)
        line.add_column(overflow="fold")
        line.add_row(*shown.divide([split]))
        console.print(line, crop=False)
    else:
        console.print(shown, crop=False)


def _label_width(plain: str, most: int) -> int:
    """How many characters at the beginning of a line are blanks and labels, as far as there is room."""
    split = len(plain) - len(plain.lstrip(" "))
    while (label := LABEL.match(plain, split)) is not None and label.end() <= most:
        split = label.end()
    return split


def is_screen(stream: TextIO | RedactedStream) -> bool:
    """Whether a stream is a terminal on which a display can be drawn; a dumb one shows what a log does."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def print_blocks(blocks: Iterable[Iterable[str]]) -> None:
    """Prints lines, with an empty one between two blocks; on a terminal long ones are broken below their
    labels, elsewhere they stay whole."""
    for number, block in enumerate(blocks):
        for line in ("", *block) if number else block:
            print_line(line)


def print_text(text: str, *, form: str) -> None:
    """Prints what a command answers: a text as ``print_blocks`` does, JSON as it is."""
    if form == "json":
        print(text)
        return
    for line in text.split("\n"):
        print_line(line)


def print_line(line: str, *, stream: TextIO | None = None) -> None:
    """Prints a line as ``print_blocks`` does; ``stream`` takes the place of the standard output."""
    place = stream or sys.stdout
    if not is_screen(place):
        print(line, file=place)
        return
    from rich.console import Console

    clean = place.clean(line) if isinstance(place, RedactedStream) else line
    console = Console(file=place, highlight=False, markup=False, emoji=False)
    print_laid_out(console, clean)


def print_error(text: str) -> None:
    """Prints a message to the standard error, line by line as ``print_line`` does."""
    for line in text.split("\n"):
        print_line(line if line.isprintable() else _visible(line), stream=sys.stderr)


def _visible(line: str) -> str:
    from conformance.report.model.visible import visible  # half a second, for what is rarely typed

    return visible(line)


@contextmanager
def status_line() -> Iterator[Callable[[str], None]]:
    """A function that shows on a terminal what a command does now, in a line that goes when it ends."""
    if not is_screen(sys.stdout):
        yield lambda text: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    file = sys.stdout.for_display() if isinstance(sys.stdout, RedactedStream) else sys.stdout
    console = Console(file=cast(TextIO, file), force_terminal=True, color_system=None, markup=False)
    spinner = Spinner("dots")
    with Live(spinner, console=console, transient=True, redirect_stdout=False, redirect_stderr=False):
        yield lambda text: spinner.update(text=text)


@contextmanager
def status_until_shown(text: str) -> Iterator[Callable[[str], None]]:
    """Shows on a terminal what a command does now, until the function that it gives prints a first line."""
    with ExitStack() as shown:
        shown.enter_context(status_line())(text)

        def show(line: str) -> None:
            shown.close()
            print_line(line)

        yield show
