"""What rows are made of: when a row strikes, and how an answer is spoiled."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from conformance.tests.hostile.wire import Answer, Asked, Play, Row, Turn, When

Change = Callable[[Answer], Answer]

UNSPOILED = ("/web/v1/system/auth/", "/web/v1/secure-channel/")
"""Where a client signs in: behind it most of a portal lies."""


# --- when a row strikes


def everywhere(turn: Turn) -> bool:
    return True


def signed_in(turn: Turn) -> bool:
    """All that is asked for behind the sign-in."""
    return not turn.asked.path.startswith(UNSPOILED)


def every(number: int) -> When:
    """One request of so many."""
    return lambda turn: turn.number % number == 0


def after(number: int) -> When:
    """Every request after the first so many."""
    return lambda turn: turn.number > number


def at(ending: str) -> When:
    """The endpoints whose path ends like this."""
    return lambda turn: turn.asked.path.endswith(ending)


def playing(play: Play) -> Row:
    """A row that answers every request so."""
    return Row("", "", play, everywhere)


# --- what it does


def hang(turn: Turn) -> None:
    turn.wire.hang()


def reset(turn: Turn) -> None:
    turn.wire.reset()


def end(turn: Turn) -> None:
    turn.wire.close()


def reset_midway(turn: Turn) -> None:
    """Ends TCP, without ending TLS, in the middle of a body."""
    turn.wire.send(turn.answer.framed()[:-5])
    turn.wire.reset()


def changed(change: Change) -> Play:
    """The portal's answer, changed and framed well."""
    return lambda turn: turn.wire.send(change(turn.answer).framed())


def body(content: bytes, *headers: tuple[bytes, bytes]) -> Play:
    """The portal's status and headers with another body."""
    return changed(lambda answer: replace(answer.with_headers(*headers), body=content))


def header(*headers: tuple[bytes, bytes]) -> Play:
    """The portal's answer with further headers."""
    return changed(lambda answer: answer.with_headers(*headers))


def refused(status: int, *headers: tuple[bytes, bytes]) -> Play:
    """A refusal in the portal's own form."""

    def play(turn: Turn) -> None:
        turn.wire.send(refusal(turn.answer, status, "refused").with_headers(*headers).framed())

    return play


def refusal(answer: Answer, status: int, text: str) -> Answer:
    """A refusal that gives ``text`` as its message; halves of surrogate pairs may stand in it."""
    value = envelope_of(answer)
    value.update(success=False, code="4000", message=text, data=None)
    return replace(answer, status=status, body=json.dumps(value).encode())


def envelope_of(answer: Answer) -> dict[str, Any]:
    """The portal's envelope; an empty one where the answer is none."""
    try:
        value = msgspec.json.decode(answer.body)
    except msgspec.DecodeError:
        value = {}
    return value if isinstance(value, dict) else {}


def data(change: Callable[[Any], Any]) -> Play:
    """The portal's answer with other ``data``."""

    def play(answer: Answer) -> Answer:
        value = envelope_of(answer)
        value["data"] = change(value.get("data"))
        return answer.with_json(value)

    return changed(play)


def texts(text: str) -> Play:
    """The portal's answer with ``text`` in each of its texts, those that a client sends back included."""

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: change(item) for name, item in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        return text if isinstance(value, str) else value

    return changed(lambda answer: replace(answer, body=json.dumps(change(envelope_of(answer))).encode()))


def raw(content: bytes) -> Play:
    """These bytes in place of an answer, then the end of the connection."""

    def play(turn: Turn) -> None:
        turn.wire.send(content)
        turn.wire.close()

    return play


def rest(content: bytes, framing: bytes) -> Play:
    """The portal's head with other framing, these bytes for a body, then the end of the connection."""

    def play(turn: Turn) -> None:
        turn.wire.send(turn.answer.head(framing) + content)
        turn.wire.close()

    return play


def framing(*lines: bytes) -> Play:
    """The portal's answer with other lines about where its body ends, then the end of the connection."""

    def play(turn: Turn) -> None:
        turn.wire.send(turn.answer.head(*lines) + turn.answer.body)
        turn.wire.close()

    return play


def status_line(line: bytes) -> Play:
    """The portal's answer under another status line."""

    def play(turn: Turn) -> None:
        whole = turn.answer.framed()
        turn.wire.send(line + whole[whole.index(b"\r\n") :])
        turn.wire.close()

    return play


def echo(form: Callable[[bytes], str], status: int = 400) -> Play:
    """A refusal that repeats what was sent: the head and the body, in some form."""
    return lambda turn: turn.wire.send(refusal(turn.answer, status, form(sent(turn.asked))).framed())


def sent(asked: Asked) -> bytes:
    """A request as a careless log would show it."""
    lines = [b"%s: %s" % pair for pair in asked.headers]
    return f"{asked.method} {asked.target}\n".encode() + b"\n".join(lines) + b"\n" + asked.body
