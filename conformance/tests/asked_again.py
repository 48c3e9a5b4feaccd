"""What the requests of a replay are answered by another portal, asked within the process.

A portal of the same seed and clock gives the same octets, so that a fault or a variant that changes an answer
shows in a hundredth of the time that a replay takes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.app import Settings, build
from reference_impl.clock import Clock
from reference_impl.limits import Limits
from reference_impl.portal import Portal
from reference_impl.records import Seeded
from reference_impl.variants import VARIANTS

MINUTE = 60.0
OPEN_LIFETIMES = ("login_window", "refresh_token", "password_code", "secure_session", "secure_key")
"""Limits in seconds that the specification leaves open."""


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
    file: str = ""
    """The id of the file that a profile names, where it is another than that of the seed."""

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

    def is_answered_lawfully(self, fault: str) -> bool:
        """Whether a lawful portal answers all of the requests in the octets of one with this fault: what was
        asked cannot tell the two apart."""
        return asyncio.run(self._is_answered_lawfully(fault))

    async def _is_answered_otherwise(self, faults: Sequence[str], variants: Sequence[str]) -> bool:
        answers = [each.answer for each in self.asked]
        return not await self._answers(answers, {"faults": faults, "variants": variants})

    async def _is_answered_lawfully(self, fault: str) -> bool:
        answers: list[list[Message]] = []
        if not await self._answers(answers, {"faults": [fault]}):
            return False
        for settings in lawful_portals():
            if await self._answers(answers, settings):
                return True
        return False

    async def _answers(self, answers: list[list[Message]], settings: Settings) -> bool:
        """Whether a portal gives these answers. Where there are none, its own are added."""
        moment = self.began
        seeded: Settings = {**settings, "seed": self.seed}
        app = build(clock=Clock(lambda: moment), **seeded)
        name_file(app.state.portal, app.state.seeded, self.file)
        if app.state.title_case:
            return False  # the server writes it
        is_first = not answers
        for at, each in enumerate(self.asked):
            moment = each.moment
            answer = await _answer(app, each.scope, each.body)
            if is_first:
                answers.append(answer)
            elif answer != answers[at]:
                return False
        return True


def name_file(portal: Portal, seeded: Seeded, id: str) -> None:
    """Gives the file that a profile names the id that a client has built in, unless ids have another form."""
    files, own = portal.records["file"], seeded.ids.get("file", "")
    if id and len(own) == len(id):
        renamed = {**files[own], "bizId": id}
        portal.records["file"] = {key: record for key, record in files.items() if key != own} | {id: renamed}
        seeded.ids["file"] = id


def lawful_portals() -> Iterator[Settings]:
    """Portals on which what the specification leaves open lasts a minute longer, and every variant."""
    usual = Limits()
    for name in OPEN_LIFETIMES:
        yield {"limits": replace(usual, **{name: getattr(usual, name) + MINUTE})}
    for name in VARIANTS:
        yield {"variants": [name]}


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
