"""Rows about connections: silence, resets, ends in the middle, and bytes that nobody asked for."""

from __future__ import annotations

from collections.abc import Callable

from conformance.tests.hostile.plays import (
    after,
    end,
    every,
    everywhere,
    hang,
    reset,
    reset_midway,
    signed_in,
)
from conformance.tests.hostile.wire import Gone, Row, Turn, Wire

EXTRA = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{"success":false}'


def cut(share: float) -> Callable[[Turn], None]:
    """Only the beginning of the answer, then the end of the connection."""

    def play(turn: Turn) -> None:
        whole = turn.answer.framed()
        turn.wire.send(whole[: int(len(whole) * share)])
        turn.wire.close()

    return play


def late(turn: Turn) -> None:
    turn.wire.rest(3.0)
    turn.be_correct()


def drip_head(turn: Turn) -> None:
    whole = turn.answer.framed()
    turn.wire.drip(whole[: whole.index(b"\r\n\r\n") + 4])
    turn.wire.send(turn.answer.body)


def drip_body(turn: Turn) -> None:
    turn.wire.send(turn.answer.head(b"Content-Length: %d" % len(turn.answer.body)))
    turn.wire.drip(turn.answer.body)


def drip_status(turn: Turn) -> None:
    turn.wire.drip(b"HTTP/1.1 200 OK", pause=1.5)


def followed_by(extra: bytes, pause: float = 0.0) -> Callable[[Turn], None]:
    """The answer, and on the same connection bytes that belong to no request."""

    def play(turn: Turn) -> None:
        if pause:
            turn.be_correct()
            turn.wire.rest(pause)
            turn.wire.send(extra)
        else:
            turn.wire.send(turn.answer.framed() + extra)

    return play


def close_silently(turn: Turn) -> None:
    turn.be_correct()
    turn.wire.close()


def speak_first(wire: Wire) -> None:
    wire.send(EXTRA)


def speak_otherwise(wire: Wire) -> None:
    wire.send(b"220 mail.example.test ESMTP ready\r\n")
    raise Gone


ROWS = (
    Row("silent-accept", "Accepts a connection and never says a word.", hang, everywhere, greet=Wire.hang),
    Row("close-at-accept", "Closes each connection at once.", end, everywhere, greet=Wire.close),
    Row("reset-at-accept", "Resets each connection at once.", reset, everywhere, greet=Wire.reset),
    Row(
        "speaks-first", "Sends an answer before it was asked.", Turn.be_correct, everywhere, greet=speak_first
    ),
    Row("other-protocol", "Greets as a mail server does.", end, everywhere, greet=speak_otherwise),
    Row("empty-answer", "Closes the connection without a byte.", end, everywhere),
    Row("empty-answer-inside", "Closes without a byte behind the sign-in.", end, signed_in),
    Row("hangs-inside", "Never answers behind the sign-in.", hang, signed_in),
    Row("hangs-after-thirty", "Dies after thirty requests: nothing is answered any more.", hang, after(30)),
    Row("reset-after-thirty", "Dies after thirty requests: each one is reset.", reset, after(30)),
    Row("reset-one-in-ten", "Resets one request in ten.", reset, every(10)),
    Row("hang-every-fortieth", "Never answers each fortieth request.", hang, every(40)),
    Row("cut-head", "Ends in the middle of the headers.", cut(0.3)),
    Row("cut-body", "Ends in the middle of the body.", cut(0.9)),
    Row("reset-midway", "Resets in the middle of the body.", reset_midway),
    Row("late-answer", "Answers correctly, after the time-out.", late),
    Row(
        "dripped-status", "Sends a byte of the status line every second and a half.", drip_status, everywhere
    ),
    Row("dripped-head", "Sends the headers a byte at a time.", drip_head, signed_in),
    Row("dripped-body", "Sends the body a byte at a time.", drip_body),
    Row(
        "garbage-after-answer",
        "Sends garbage after an answer.",
        followed_by(b"\x00\xffgarbage\r\n"),
        signed_in,
    ),
    Row("answer-after-answer", "Sends two answers to one request.", followed_by(EXTRA), signed_in),
    Row("late-second-answer", "Sends an answer more, a moment later.", followed_by(EXTRA, 0.02), signed_in),
    Row("closes-silently", "Closes after each answer without saying so.", close_silently, everywhere),
)
