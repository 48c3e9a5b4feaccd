"""Lines with a label, as a terminal of any width shows them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

from conformance.cli.output import RedactedStream

if TYPE_CHECKING:  # a log needs no rich
    from rich.console import Console, Group, RenderableType
    from rich.text import Text

LABEL = re.compile(r"[\w.-]+(?: [\w.-]+)?  +(?=\S)")
"""A label of one or two words, and the blanks behind it."""

WORD = re.compile(r"\S+")
LONG_WORD = re.compile(r"\S{16,}")
BREAKABLE = re.compile(r"\S*[/:_.](?![:/])")
"""As much of a word as ends with a sign behind which it may be broken."""

COMMAND = re.compile(
    r"`portal-conformance [a-z-]+(?: [^`]*)?`\S*|(?:^|(?<=[:·] ))portal-conformance [a-z-]+(?: [^`]*)?$"
)
"""A command to be copied: in its quotes, or to the end of its line."""

SHELL_WORD = re.compile(r"(?:'[^']*'|\S)+")
GOES_ON = " \\"
"""The end of a line behind which a shell reads on."""

MOST_OF_WIDTH = 0.45
"""The share of a line that its labels may take, so that there is room beside them."""


def print_laid_out(console: Console, text: str) -> None:
    """Prints a line as a terminal of the console's width shows it."""
    console.print(laid_out(text, console.width), crop=False)


def laid_out(text: str, width: int) -> RenderableType:
    """A line as a terminal of this width shows it: what does not fit goes on below its beginning."""
    from rich.table import Table
    from rich.text import Text

    shown = Text.from_ansi(text)
    split = _label_width(shown.plain, int(width * MOST_OF_WIDTH))
    if len(shown.plain) > width and COMMAND.search(shown.plain[split:]):
        return _with_command(shown, split, width)
    if not split:
        return shown
    line = Table.grid()
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    label, rest = shown.divide([split])
    line.add_row(label, Text("\n").join(rest.divide(_breaks(rest.plain, width - split))))
    return line


class _Word(NamedTuple):
    """A word of a line with its width; ``is_inside``: it continues the previous word's command."""

    start: int
    end: int
    room: int
    is_inside: bool = False


def _with_command(shown: Text, split: int, width: int) -> Group:
    """A line that a command stands in, ready to be copied: the command begins where there is room for it, and
    goes on in the next line as a shell reads it. What is wider than a line is left to the terminal."""
    from rich.console import Group
    from rich.text import Text

    lines, begin, end, margin = Text(no_wrap=True, overflow="ignore"), 0, split, 0
    for word in _words(shown.plain, split):
        if end > split and margin + word.start - begin + word.room > width:
            margin = split + len("  ") * word.is_inside
            lines.append_text(shown[begin:end]).append(GOES_ON * word.is_inside + "\n" + " " * margin)
            begin = word.start
        end = word.end
    return Group(lines.append_text(shown[begin:]))  # a text by itself would be broken once more


def _words(plain: str, split: int) -> Iterator[_Word]:
    """The words behind the label. The first one of a command needs room for all of it."""
    at = split
    for command in COMMAND.finditer(plain[split:]):
        start, stop = command.start() + split, command.end() + split
        yield from (_Word(*word.span(), len(word[0])) for word in WORD.finditer(plain, at, start))
        for word in SHELL_WORD.finditer(plain, start, stop):
            goes_on = len(GOES_ON) * (word.end() < stop)
            room = stop - start if word.start() == start else len(word[0]) + goes_on
            yield _Word(*word.span(), room, is_inside=word.start() > start)
        at = stop
    yield from (_Word(*word.span(), len(word[0])) for word in WORD.finditer(plain, at))


def _breaks(plain: str, width: int) -> list[int]:
    """Where words that are wider than a line are broken: behind a sign that parts a path or a name. No piece
    begins with a colon, which a CI server may take for a command."""
    breaks: list[int] = []
    for word in LONG_WORD.finditer(plain):
        start, end = word.span()
        while end - start > width > 2:
            sign = BREAKABLE.match(plain, start, start + width)
            cut = sign.end() if sign is not None else start + width
            start = cut - 1 if plain[cut] == ":" and plain[cut - 1] != ":" else cut
            breaks.append(start)
    return breaks


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
