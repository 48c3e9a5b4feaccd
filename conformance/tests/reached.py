"""A portal on the other end of a real socket, or of a function, for the tests of what speaks to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.spec import REQUIREMENTS
from conformance.spec.operations import Impact
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.portal import Portal
from conformance.target.portal.transport import Transport
from conformance.target.profile.model import Profile, parse
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify
from reference_impl.serve import Running, start

Edit = Callable[[str], str]

MINIMAL = """
[portal]
url = "http://portal.example.test"
access_code = "the-access-code"

[accounts.admin]
email = "admin@example.test"
password = "the admin's password"
otp_secret = "JBSWY3DPEHPK3PXP"

[bot_challenge]
token = "the-bot-token"
"""
BY_MAIL = MINIMAL.replace('otp_secret = "JBSWY3DPEHPK3PXP"', 'inbox = "mail"') + (
    '\n[inboxes.mail]\nkind = "fixed"\ncode = "123456"\n'
)


def without(table: str) -> Edit:
    """An edit of a profile that takes a table out."""
    return lambda text: re.sub(rf"(?ms)^\[{re.escape(table)}\]\n.*?(?=^\[|\Z)", "", text)


def without_keys(*keys: str) -> Edit:
    """An edit of a profile that takes these keys out of every table."""
    return lambda text: re.sub(rf"(?m)^(?:{'|'.join(keys)}) = .*\n", "", text)


def replacing(pattern: str, by: str, *, within: str = "") -> Edit:
    """An edit of a profile at the first place that fits, in it or in a table."""
    start = rf"(^\[{re.escape(within)}\].*?)" if within else "()"
    return lambda text: re.sub(rf"(?ms){start}{pattern}", rf"\1{by}", text, count=1)


def all_of(*edits: Edit) -> Edit:
    """One edit after the other."""
    return lambda text: reduce(lambda edited, edit: edit(edited), edits, text)


WRONG_SECRET = replacing(
    'otp_secret = "[A-Z2-7]+"', 'otp_secret = "JBSWY3DPEHPK3PXP"', within="accounts.admin"
)
"""An edit of a profile: the authenticator of the admin is another one."""

AS_IT_IS = all_of()


@contextmanager
def connected(
    *,
    edit: Edit = AS_IT_IS,
    impact: Impact = "disruptive",
    ledger: Path | None = None,
    **options: Any,
) -> Iterator[tuple[Portal, list[Exchange], Running]]:
    """The suite's door to a reference portal, what passed through it so far, and the portal itself."""
    exchanges: list[Exchange] = []
    with start(seed=7, **options) as running:
        profile = parse(edit(running.profile()), {})
        with Portal.connect(profile, impact=impact, on_exchange=exchanges.append, ledger=ledger) as portal:
            yield portal, exchanges, running


def profile_at(url: str, more: str = "", *, timeout: float = 0.5) -> Profile:
    """A profile of the portal at an address; ``more`` are lines of its table."""
    own = f'http://portal.example.test"\ntimeout = {timeout}\n{more}#'
    text = MINIMAL.replace('http://portal.example.test"', own)
    return parse(text.replace("http://portal.example.test", url), {})


def transport(
    respond: Callable[[httpx.Request], httpx.Response] | None = None,
    *,
    impact: Impact = "disruptive",
    seen: list[Exchange] | None = None,
    known: Profile | None = None,
    secrets: Secrets | None = None,
) -> Transport:
    """The way to a target, or to a function that plays one. ``seen`` gets the records of its requests."""
    return Transport(
        known or parse(MINIMAL, {}),
        clock=Clock(),
        impact=impact,
        secrets=Secrets() if secrets is None else secrets,
        on_exchange=([] if seen is None else seen).append,
        handler=httpx.MockTransport(respond) if respond else None,
    )


def envelope(data: Json = None, *, code: str = "2000", **more: Json) -> dict[str, Json]:
    success = code == "2000"
    return {"success": success, "code": code, "message": "Success" if success else code, "data": data, **more}


def answer(
    data: Json = None, *, status: int = 200, code: str = "2000", headers: Mapping[str, str] | None = None
) -> httpx.Response:
    return httpx.Response(status, json=envelope(data, code=code), headers=headers)


SIGNED_IN: Json = {"sessionId": "s", "accessToken": "access", "refreshToken": "refresh", "expiresIn": 3600}
Given = httpx.Response | Callable[[httpx.Request], httpx.Response]


class Played:
    """A portal that answers by the last word of the path, and signs everybody in. ``asked``: the requests."""

    def __init__(self, other: Given | None = None, **answers: Given) -> None:
        self.other = other or answer(SIGNED_IN)
        self.answers = answers
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        given = self.answers.get(self.words[-1], self.other)
        return given(request) if callable(given) else given

    @property
    def words(self) -> list[str]:
        """The last word of each path that was asked for."""
        return [request.url.path.rpartition("/")[2] for request in self.asked]


def instead(response: Callable[[Scope], ASGIApp | None]) -> Callable[[ASGIApp], ASGIApp]:
    """A wrapper of a portal, in place of which a function answers what it has an answer for."""

    def wrap(app: ASGIApp) -> ASGIApp:
        async def answering(scope: Scope, receive: Receive, send: Send) -> None:
            other = response(scope) if scope["type"] == "http" else None
            await (other or app)(scope, receive, send)

        return answering

    return wrap


class Deciding(Verify):
    """The ``verify`` of a case that may decide these rules, or every one."""

    def __init__(self, *rules: str) -> None:
        super().__init__(Ledger(REQUIREMENTS), "a case", rules or tuple(REQUIREMENTS))

    @property
    def verdicts(self) -> dict[str, Verdict]:
        return {row.requirement.id: row.verdict for row in self.ledger.results()}


def moved() -> SimulatedClock:
    return SimulatedClock(lambda seconds: None)


def answering(
    respond: Callable[[httpx.Request], httpx.Response],
    *,
    seen: list[Exchange] | None = None,
    profile: Profile | str = MINIMAL,
    impact: Impact = "disruptive",
    clock: Clock | None = None,
    ledger: Path | None = None,
) -> Portal:
    """A portal that a function plays."""
    return Portal.connect(
        profile if isinstance(profile, Profile) else parse(profile, {}),
        impact=impact,
        clock=clock or moved(),
        on_exchange=(lambda exchange: None) if seen is None else seen.append,
        handler=httpx.MockTransport(respond),
        ledger=ledger,
    )
