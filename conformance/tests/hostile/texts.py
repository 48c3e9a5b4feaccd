"""Rows about texts: controls, directions, commands to a CI server, and secrets that come back."""

from __future__ import annotations

import base64
from dataclasses import replace

from conformance.tests.hostile.plays import echo, everywhere, refusal, refused, sent, signed_in, texts
from conformance.tests.hostile.wire import Play, Row, Turn

COMMANDS = "\n::error file=a,line=1::owned\r\n::add-mask::x\n##[error]owned\n::set-output name=a::b"
CONTROLS = "".join(map(chr, range(0x20))) + "\x7f\x80\x9b31m\x85"
DIRECTIONS = "\u202egnirts\u202c \u2066isolated\u2069 \u200e\u200f\u061c\u200b\u2060\ufeff\u00ad\u2028\u2029"
ESCAPES = "\x1b[2J\x1b[1;1H\x1b]0;owned\x07\x1b]8;;http://evil.example.test\x1b\\click\x1b[8m"


def message(text: str, status: int = 400) -> Play:
    """A refusal with this text."""
    return lambda turn: turn.wire.send(refusal(turn.answer, status, text).framed())


def row(name: str, sentence: str, text: str) -> tuple[Row, Row]:
    """A refusal with a text everywhere, and correct answers full of it."""
    return (
        Row(f"{name}-refusals", f"{sentence} In each refusal.", message(text), everywhere),
        Row(f"{name}-texts", f"{sentence} In each text.", texts(text), signed_in),
    )


def echo_in_reason(turn: Turn) -> None:
    answer = refusal(turn.answer, 400, "refused")
    line = sent(turn.asked).replace(b"\n", b" ").replace(b"\r", b" ")
    turn.wire.send(replace(answer, reason=line[:8000]).framed())


ROWS = (
    *row("commands", "Gives commands to a CI server.", COMMANDS),
    *row("controls", "Sends control characters.", CONTROLS),
    *row("directions", "Sends bidirectional and zero-width characters.", DIRECTIONS),
    *row("escapes", "Sends terminal escapes.", ESCAPES),
    *row("marks", "Piles 5,000 marks on a letter.", "Z" + "\u0300" * 5_000),
    Row(
        "echo-raw",
        "Repeats what it was sent in its refusals.",
        echo(lambda raw: raw.decode("latin-1")),
        everywhere,
    ),
    Row(
        "echo-base64",
        "Repeats what it was sent in base64.",
        echo(lambda raw: base64.b64encode(raw).decode()),
        everywhere,
    ),
    Row("echo-in-reason", "Repeats what it was sent in the reason.", echo_in_reason, signed_in),
    Row("refuses-all", "Refuses everything with 500.", refused(500), everywhere),
)
