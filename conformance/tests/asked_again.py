"""What the requests of a replay are answered by another portal, asked within the process.

A portal of the same seed and clock gives the same octets, so that a fault or a variant that changes an answer
shows in a hundredth of the time that a replay takes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.app import build
from reference_impl.clock import Clock


class HeardRequest(NamedTuple):
    """One request, when it came, and the messages that answered it."""

    scope: Scope
    body: bytes
    moment: float
    answer: list[Message]


@dataclass
class Conversation:
    """Everything that a portal was asked. Its clock stands still while it answers (``now``)."""

    seed: int
    began: float = field(default_factory=time.time)
    asked: list[HeardRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._moment = self.began

    def now(self) -> float:
        return self._moment

    def heard(self, app: ASGIApp) -> ASGIApp:
        """The app, each request to which is kept."""

        async def hear(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            body = await _body(receive)
            self._moment = time.time()
            answer = await _answer(app, scope, body)
            self.asked.append(HeardRequest(scope, body, self._moment, answer))
            for message in answer:
                await send(message)

        return hear

    def is_answered_otherwise(self, *, faults: Sequence[str] = (), variants: Sequence[str] = ()) -> bool:
        """Whether a portal with these faults and variants answers any of the requests in other octets."""
        return asyncio.run(self._is_answered_otherwise(faults, variants))

    async def _is_answered_otherwise(self, faults: Sequence[str], variants: Sequence[str]) -> bool:
        moment = self.began
        app = build(clock=Clock(lambda: moment), seed=self.seed, faults=faults, variants=variants)
        if app.state.title_case:
            return True  # the server writes it
        for each in self.asked:
            moment = each.moment
            if await _answer(app, each.scope, each.body) != each.answer:
                return True
        return False


async def _body(receive: Receive) -> bytes:
    body, is_more = b"", True
    while is_more:
        message = await receive()
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
    return body


async def _answer(app: ASGIApp, scope: Scope, body: bytes) -> list[Message]:
    answer: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        answer.append(message)

    await app(dict(scope), receive, send)
    return answer
