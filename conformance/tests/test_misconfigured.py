"""A target that cannot be judged is never green: each misconfiguration, over a socket, by each command."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance import record
from conformance.tests.deployment import command, done
from conformance.tests.reached import AS_IT_IS, WRONG_SECRET, Edit, all_of, instead, replacing, without_keys
from conformance.tests.sample_run import error
from conformance.tests.scripted_client import Walker
from reference_impl import serve

INITIATE = "/web/v1/system/auth/login/initiate"
SKEW = 300.0
"""Seconds that the portal's clock is ahead."""

BY_OTP_ALONE = without_keys("inbox", "mfa")
"""Every account signs in by authenticator codes, or not at all."""
DEAD_INBOX = all_of(
    without_keys("otp_secret", "mfa"), replacing('http://[^"]*inbox', "http://127.0.0.1:9/inbox")
)
OTP_REFUSED = all_of(WRONG_SECRET, without_keys("inbox"))


def password(text: str) -> Edit:
    """The admin has another password."""
    return replacing('password = "[^"]*"', f'password = "{text}"', within="accounts.admin")


class Locking:
    """A portal that refuses a sign-in whose password is right."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.refusal = JSONResponse(error("AUTH.PASSWORD_EXPIRED"), 403)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_refused = False

        async def refuse(message: Message) -> None:
            nonlocal is_refused
            if message["type"] == "http.response.start" and message["status"] == 200:
                is_refused = True
            if not is_refused:
                await send(message)

        if scope["type"] != "http" or scope["path"] != INITIATE:
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, refuse)
        if is_refused:
            await self.refusal(scope, receive, send)


def answering(below: str, response: Callable[[], Response]) -> Mapping[str, Any]:
    """The same answer to every request below a path."""
    return {"wrap": instead(lambda scope: response() if scope["path"].startswith(below) else None)}


@dataclass(frozen=True)
class Misconfiguration:
    """One kind: how the portal is started, what the profile says of it, and the environment. ``code`` is
    what ``run`` ends with; ``message`` stands in what it prints. ``bare``: no profile is given."""

    name: str
    code: int
    message: str
    portal: Mapping[str, Any] = field(default_factory=dict)
    edit: Edit = AS_IT_IS
    environ: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False


NEVER = "[accounts.admin] never received a token."
ALIKE = "refuses every request alike"

KINDS = (
    Misconfiguration("wrong-authenticator-secret", 5, NEVER, edit=OTP_REFUSED),
    Misconfiguration("skewed-clock", 5, NEVER, {"now": lambda: time.time() + SKEW}, edit=BY_OTP_ALONE),
    Misconfiguration(
        "empty-variable",
        4,
        "environment variable PASSWORD_OF_NOBODY, which is empty",
        edit=password("${PASSWORD_OF_NOBODY}"),
        environ={"PASSWORD_OF_NOBODY": ""},
    ),
    Misconfiguration(
        "short-password",
        5,
        "it has 5 characters, and the specification allows 8 to 128",
        edit=password("short"),
    ),
    Misconfiguration("no-account", 5, "The profile has no account.", bare=True),
    Misconfiguration("dead-inbox", 5, NEVER, edit=DEAD_INBOX),
    Misconfiguration("expired-password", 5, NEVER, {"wrap": Locking}),
    Misconfiguration("wrong-access-code", 4, ALIKE, edit=replacing('access_code = "', 'access_code = "x')),
    Misconfiguration(
        "excluding-whitelist",
        5,
        ALIKE,
        answering("/web/", lambda: JSONResponse(error("ACCESS.IP_NOT_ALLOWED"), 403)),
    ),
    Misconfiguration(
        "maintenance-page",
        5,
        ALIKE,
        answering("/", lambda: HTMLResponse("<h1>Down for maintenance</h1>", 503)),
    ),
    Misconfiguration(
        "another-api", 5, ALIKE, answering("/", lambda: JSONResponse({"error": "no such route"}, 404))
    ),
    Misconfiguration(
        "no-portal", 6, "but not as a portal", answering("/", lambda: HTMLResponse("<html>Welcome</html>"))
    ),
    Misconfiguration(
        "nothing-at-all",
        6,
        "Nothing answers at",
        edit=replacing('url = "[^"]*"', 'url = "http://127.0.0.1:9"'),
    ),
)


@contextmanager
def met(kind: Misconfiguration, folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The options that lead to the target, and the environment, while it answers."""
    with ExitStack() as stack:
        portal = stack.enter_context(serve.start(seed=1, clock=False, **kind.portal))
        environ = {**kind.environ, "PORTAL_ACCESS_CODE": portal.portal.access_code}
        if kind.bare:
            yield ["--target", portal.url], environ
            return
        profile = folder / "portal.toml"
        profile.write_text(kind.edit(portal.profile()), encoding="utf-8")
        yield ["--profile", str(profile)], environ


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A visit to a portal that is in order."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with serve.start(seed=1) as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        walker = Walker(recorder.url, profile)
        walker.sign_in(profile["accounts"]["admin"])
        walker.look_around()
    return out


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_run_on_a_target_that_cannot_be_judged_is_not_green(kind: Misconfiguration, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with met(kind, tmp_path) as (target, environ):
        words = ("--out", str(out), "--time-budget", "20s", "--formats", "badge")
        run = done(command("run", *target, *words), out, environ)

    assert (run.code, kind.message in run.said) == (kind.code, True), run.said[-3_000:]
    assert "Traceback" not in run.said
    if kind.name == "wrong-access-code":
        assert (run.results["exit_code"], run.fails) == (4, [])
        assert "Not run" in (out / "summary.md").read_text(encoding="utf-8")
    elif run.code != 4:
        badge = json.loads((out / "badge.json").read_text(encoding="utf-8"))
        assert (run.results["exit_code"], run.fails) == (run.code, [])
        assert badge["message"] == "inconclusive"
        assert (out / "exchanges.jsonl").is_file()
        texts = {name: (out / name).read_text("utf-8") for name in ("report.html", "summary.md", "junit.xml")}
        assert [name for name, text in texts.items() if "Inconclusive" not in text] == []
        if kind.name == "no-portal":
            assert [name for name, text in texts.items() if kind.message not in text] == []


REPLAYED = ("wrong-authenticator-secret", "no-account", "expired-password", "wrong-access-code", "no-portal")


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.name in REPLAYED], ids=lambda kind: kind.name
)
def test_a_replay_to_a_target_that_cannot_be_judged_is_not_green(
    kind: Misconfiguration, tmp_path: Path, recording: Path
) -> None:
    with met(kind, tmp_path) as (target, environ):
        out = tmp_path / "out"
        replay = done(command("replay", str(recording), *target, "--out", str(out)), out, environ)

    assert replay.code in (1, 4, 5, 6), replay.said[-3_000:]
    assert "Traceback" not in replay.said
