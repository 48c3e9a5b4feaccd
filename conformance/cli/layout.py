"""Lines with a label, as a terminal of any width shows them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from conformance.cli.output import RedactedStream

if TYPE_CHECKING:  # a log needs no rich
    from rich.console import RenderableType

LABEL = re.compile(r" *(?:[\w-]+(?: [\w-]+)?  +(?=\S))?")
"""What the rest of a line stands below: blanks, and a label of one or two words."""


def laid_out(text: str) -> RenderableType:
    """A line as a terminal shows it: what does not fit goes on below its beginning."""
    from rich.table import Table
    from rich.text import Text

    shown = Text.from_ansi(text)
    label = LABEL.match(shown.plain)
    if label is None or not label.end():
        return shown
    line = Table.grid()
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(*shown.divide([label.end()]))
    return line


def print_blocks(blocks: Iterable[Iterable[str]]) -> None:
    """Prints lines, with an empty one between two blocks; on a terminal long ones are broken below their
    labels, elsewhere they stay whole."""
    for number, block in enumerate(blocks):
        for line in ("", *block) if number else block:
            print_line(line)


def print_line(line: str) -> None:
    """Prints a line as ``print_blocks`` does."""
    stream = sys.stdout
    if not stream.isatty():
        print(line)
        return
    from rich.console import Console

    clean = stream.clean(line) if isinstance(stream, RedactedStream) else line
    Console(file=stream, highlight=False, markup=False, emoji=False).print(laid_out(clean))
