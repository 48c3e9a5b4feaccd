"""Rows that lead elsewhere: redirects, cookies, and a clock that is not where it is said to be."""

from __future__ import annotations

from dataclasses import replace

from conformance.tests.hostile.plays import everywhere, hang, header, signed_in
from conformance.tests.hostile.wire import Answer, Play, Row, Turn


def redirect(status: int, place: str = "") -> Play:
    """A redirect to a place; without one to a server that nobody is to call."""

    def play(turn: Turn) -> None:
        location = (place or turn.trap + turn.asked.target).encode()
        turn.wire.send(Answer(status, ((b"Location", location),)).framed())

    return play


def to_itself(turn: Turn) -> None:
    turn.wire.send(Answer(307, ((b"Location", turn.asked.target.encode()),)).framed())


def refresh(turn: Turn) -> None:
    turn.wire.send(turn.answer.with_headers((b"Refresh", b"0; url=" + turn.trap.encode())).framed())


def clock_only(turn: Turn) -> bool:
    return turn.asked.path.startswith("/clock/")


def odd_clock(content: bytes) -> Play:
    return lambda turn: turn.wire.send(replace(turn.answer, body=content).framed())


COOKIE = (b"Set-Cookie", b"session=planted-by-the-portal; Path=/; Max-Age=99999")

ROWS = (
    Row("redirect-302", "Sends everything to another host, with 302.", redirect(302), everywhere),
    Row("redirect-loop", "Sends everything to itself.", to_itself, signed_in),
    Row("cookies", "Sets a cookie with each answer.", header(COOKIE), everywhere),
    Row("cookies-1000", "Sets a thousand cookies.", header(*[COOKIE] * 1000), signed_in),
    Row("clock-redirects", "Has its clock elsewhere.", redirect(302), clock_only, is_clock=True),
    Row("clock-infinite", "Gives an infinite time.", odd_clock(b'{"now":1e999}'), clock_only, is_clock=True),
    Row(
        "clock-digits",
        "Gives a time of 400 digits.",
        odd_clock(b'{"now":%s}' % (b"9" * 400)),
        clock_only,
        is_clock=True,
    ),
    Row(
        "clock-year-1",
        "Gives a time before all years.",
        odd_clock(b'{"now":-1e15}'),
        clock_only,
        is_clock=True,
    ),
    Row("clock-hangs", "Has a clock that never answers.", hang, clock_only, is_clock=True),
)
