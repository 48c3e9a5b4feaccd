"""The terminal of a command: all that it prints is redacted, and text from a target is harmless there.

A log of a CI server is public, and its server obeys lines that look like commands to it.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from re import Pattern
from typing import TextIO

from conformance.traffic.redaction.registries import Registry, created_registries

STYLE: Pattern[str] = re.compile(r"(\x1b\[(?:0|1|2|4|22|3[0-7]|9[0-7])?(?:;(?:0|1|2|4|22|3[0-7]|9[0-7]))*m)")
"""The escape sequences that colour a text; every other one is written out."""

DISPLAY = re.compile(STYLE.pattern[:-1] + r"|\x1b\[\?25[lh]|\x1b\[\d*[AK])")
"""STYLE, and the moves by which a display is drawn anew: cursor up, erase line, hide and show the cursor."""

BRACKETED_COMMAND = re.compile(r"#(?=#\w*\[)")
"""The beginning of what some CI servers take for a command wherever it stands: ``##[error]``."""


@functools.cache
def _statements() -> list[str]:
    """The statements of the requirements, the longest first."""
    from conformance.spec import REQUIREMENTS  # help and versions have no secret, and need none of them

    return sorted({row.statement for row in REQUIREMENTS.values()}, key=len, reverse=True)


class RedactedStream(io.TextIOBase):
    """Writes to another stream what is left of a text without secrets, control characters and CI commands."""

    def __init__(
        self, stream: TextIO, registries: Sequence[Registry], *, escapes: Pattern[str] = STYLE
    ) -> None:
        super().__init__()
        self._stream = stream
        self._registries = registries
        self._escapes = escapes
        self._is_at_line_start = True

    def write(self, text: str) -> int:
        shown = self._without_commands(self._visible(self._redacted(text)))
        with _though_unread(self._stream):
            try:
                self._stream.write(shown)
            except UnicodeEncodeError:
                encoding = self._stream.encoding or "ascii"
                self._stream.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def for_display(self) -> RedactedStream:
        """The same terminal for a display that draws itself anew. What it shows must be clean already: a
        secret that is broken into lines is none that can be found."""
        return RedactedStream(self._stream, self._registries, escapes=DISPLAY)

    def clean(self, text: str) -> str:
        """A line without secrets, control characters and CI commands, before it is laid out."""
        return _without_command(self._visible_piece(self._redacted(text)), True)

    def _redacted(self, text: str) -> str:
        """The text without secrets; the statements of the requirements stay as they are."""
        clean = self._without_secrets(text)
        if clean == text or "\0" in text:
            return clean
        statements = _statements()
        for number, statement in enumerate(statements):
            text = text.replace(statement, f"\0{number}\0")
        clean = self._without_secrets(text)
        return re.sub("\0(\\d+)\0", lambda match: statements[int(match[1])], clean)

    def _without_secrets(self, text: str) -> str:
        for registry in self._registries:
            text = registry.redact(text)
        return text

    def _visible(self, text: str) -> str:
        """The text with control characters written out. A terminal's own carriage return stays."""
        if text.isascii() and text.replace("\n", "").isprintable():
            return text
        if self.isatty():
            return "\r".join(map(self._visible_piece, text.split("\r")))
        return self._visible_piece(text.replace("\r\n", "\n"))

    def _visible_piece(self, text: str) -> str:
        from conformance.report.model.visible import visible  # as above: plain text needs none of it

        pieces = self._escapes.split(text)
        return "".join(piece if at % 2 else visible(piece) for at, piece in enumerate(pieces))

    def _without_commands(self, text: str) -> str:
        lines = text.split("\n")
        starts = [self._is_at_line_start, *[True] * (len(lines) - 1)]
        self._is_at_line_start = starts[-1] and not lines[-1].strip()
        return "\n".join(map(_without_command, lines, starts))

    def flush(self) -> None:
        with _though_unread(self._stream):
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Leaves the other stream open."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors


@contextlib.contextmanager
def redacted_output() -> Iterator[None]:
    """Within the block whatever is printed is redacted by every registry of secrets that is created in it."""
    with created_registries() as registries, contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(RedactedStream(sys.stdout, registries)))
        stack.enter_context(contextlib.redirect_stderr(RedactedStream(sys.stderr, registries)))
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()


@contextlib.contextmanager
def _though_unread(stream: TextIO) -> Iterator[None]:
    """Goes on where the reader of a pipe has left, as ``head`` does: what follows goes nowhere, so that the
    command does all it is to do and ends with its own exit code."""
    try:
        yield
    except BrokenPipeError:
        give_up(stream)


def give_up(stream: TextIO) -> None:
    """Has what is still written to a stream go nowhere."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _without_command(line: str, is_whole: bool) -> str:
    """The line with a command to a CI server written out; one of ``::name`` stands at the start of a line."""
    if "##" in line:
        line = BRACKETED_COMMAND.sub("‹U+0023›", line)
    if is_whole and STYLE.sub("", line).lstrip().startswith("::"):
        line = line.replace("::", "‹U+003A›:", 1)
    return line
