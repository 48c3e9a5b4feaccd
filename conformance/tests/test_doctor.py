"""The doctor tells configuration, credentials, environment and target apart, with one sign-in per account."""

# ruff: noqa: E501 (a table is read row by row)

from __future__ import annotations

import re
import time
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.errors import FaultClass
from conformance.target.doctor import Diagnosis, examine
from conformance.target.profile.model import parse
from conformance.tests.reached import (
    AS_IT_IS,
    MINIMAL,
    WRONG_SECRET,
    Edit,
    Played,
    all_of,
    answer,
    replacing,
    without,
    without_keys,
)
from conformance.traffic.exchange import Exchange
from reference_impl.serve import Running, start


def examined(edit: Edit = AS_IT_IS, **options: object) -> tuple[list[Diagnosis], list[Exchange], Running]:
    exchanges: list[Exchange] = []
    with start(seed=7, **options) as running:  # type: ignore[arg-type]
        return examine(parse(edit(running.profile()), {}), on_exchange=exchanges.append), exchanges, running


def of(found: list[Diagnosis], part: str) -> Diagnosis:
    return next(one for one in found if one.part == part)


def to_url(address: str) -> Edit:
    """An edit that puts another address in place of the portal's."""

    def edited(text: str) -> str:
        url = re.search(r'(?m)^url = "(http[^"]*:\d+)"', text)
        assert url is not None
        other = address.format(url=url[1], plain=url[1].removeprefix("http"))
        return text.replace(f'url = "{url[1]}"', f'url = "{other}"', 1)

    return edited


def test_everything_works_on_the_bundled_portal_and_nothing_is_changed() -> None:
    found, seen, running = examined()

    assert {one.state for one in found} == {"works"}
    assert of(found, "accounts.pending").message == "signs in by EMAIL, and awaits approval"
    initiated = [one.request.body["email"] for one in seen if one.request.path.endswith("login/initiate")]
    assert sorted(initiated) == sorted(set(initiated))
    assert not [
        entry for entry in running.portal.received if entry["changed"] and "/auth/" not in entry["path"]
    ]


RESET = 'operations."POST /web/v1/system/auth/password/reset"'
NOWHERE = all_of(
    replacing('password = "', 'password = "x', within="accounts.spare"),
    replacing('role = "', 'role = "x', within="records"),
    replacing('token = "', 'token = "x', within="bot_challenge"),
    replacing('url = "http://[^"]*inbox', 'url = "http://127.0.0.1:9'),
)
BOTH_FACTORS = replacing(
    '\ninbox = "', '\notp_secret = "JBSWY3DPEHPK3PXP"\ninbox = "', within="accounts.spare"
)
LEFT_OUT = all_of(
    *(without(table) for table in ("records", "bot_challenge", "limits", "accounts.spare", RESET))
)


def swapped(text: str) -> str:
    """The accounts by names that are not theirs."""
    names = {"admin": "limited", "limited": "admin", "pending": "spare", "spare": "pending"}
    return re.sub(r"\[accounts\.(\w+)\]", lambda name: f"[accounts.{names[name[1]]}]", text)


def twice(text: str) -> str:
    """One account by two names."""
    (admin,) = re.findall(r'email = "(admin@[^"]+)"', text)
    return replacing('email = "[^"]+"', f'email = "{admin}"', within="accounts.spare")(text)


class Below:
    """Serves an application below a path, and nothing elsewhere."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(("/clock", "/inbox")):
            await self.app(scope, receive, send)
        elif scope["path"].startswith(f"{self.path}/"):
            path = scope["path"].removeprefix(self.path)
            await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
        else:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)


@pytest.mark.parametrize(
    "edit, options, rows",
    [
        (NOWHERE, {}, [
            ("accounts.spare", "wrong", "credentials", "email or password is refused"),
            ("bot_challenge", "wrong", "credentials", "the token is refused"),
            ("accounts.limited", "wrong", "environment", "[inboxes.mail]: nothing answers"),
            ("inboxes.mail", "wrong", "environment", "nothing answers"),
            ("records.role", "wrong", "configuration", "the target has no role"),
        ]),
        (replacing("/inbox/", "/nowhere/"), {}, [
            ("inboxes.mail", "wrong", "environment", "answers with HTTP"),
            ("accounts.spare", "wrong", "environment", "[inboxes.mail]: http"),
        ]),
        (BOTH_FACTORS, {}, [("accounts.spare", "works", None, "MFA-009 and similar rules stay untested")]),
        (swapped, {}, [
            ("accounts.admin", "wrong", "configuration", "lacks permissions"),
            ("accounts.limited", "wrong", "configuration", "has permissions; [accounts.limited] must have none"),
            ("accounts.pending", "wrong", "configuration", "does not await approval"),
            ("accounts.spare", "wrong", "configuration", "awaits approval; it must be active"),
        ]),
        (twice, {}, [("accounts.spare", "wrong", "configuration", "has the email of [accounts.admin]")]),
        (LEFT_OUT, {}, [
            ("records.file", "missing", "configuration", "no [records] file"),
            ("records.role", "works", None, "taken from a listing"),
            ("bot_challenge", "missing", "configuration", "the profile has no token"),
            ("limits.login_window", "missing", "configuration", "60 s are assumed"),
            ("accounts.spare", "missing", "configuration", "the profile has no [accounts.spare]"),
            (RESET, "missing", "configuration", "the profile has no body"),
        ]),
        (replacing('advance = "[^"]*"', 'advance = "http://127.0.0.1:9/advance"'), {}, [("clock", "wrong", "environment", "nothing answers")]),
        (replacing('/clock/advance"', '/web/v1/clock"'), {}, [("clock", "wrong", "configuration", "Check that the clock is offered")]),
        (to_url("{url}/web/v1"), {}, [("portal.url", "wrong", "configuration", 'one does at {url}. Write url = "{url}" in [portal].')]),
        (to_url("{url}/web/v1/system/profile"), {}, [("portal.url", "wrong", "configuration", "the path of {url}/web/v1/system/profile is too much")]),
        (to_url("https{plain}"), {}, [("portal.url", "wrong", "configuration", 'does not speak TLS. Write url = "{url}" in [portal]')]),
        (replacing('access_code = "[^"]*"', 'access_code = ""'), {}, [("portal.access_code", "wrong", "configuration", "it is empty, and requests without one are refused")]),
        (replacing('access_code = "', 'access_code = "x'), {}, [("portal.access_code", "wrong", "credentials", "Check that it is the code of the SYSTEM portal")]),
        (WRONG_SECRET, {}, [("accounts.admin", "wrong", "credentials", "The clocks agree, so [accounts.admin] otp_secret is not the secret")]),
        (replacing('password = "[^"]*', 'password = "short', within="accounts.admin"), {}, [("accounts.admin", "wrong", "credentials", "it has 5 characters, and the specification allows 8 to 128")]),
        (AS_IT_IS, {"wrap": lambda app: Below(app, "/portal")}, [("portal.url", "wrong", "configuration", "too little: no portal answers there (HTTP 404), but one does at {url}/portal")]),
        (without("clock"), {"now": lambda: time.time() - 300, "clock": False}, [
            ("time", "wrong", "environment", "the portal's clock is 300 s behind this machine's"),
            ("accounts.admin", "wrong", "credentials", "portal's clock is"),
        ]),
        (all_of(without_keys("inbox", "mfa"), without("inboxes.mail")), {}, [
            ("inboxes", "missing", "configuration", "requirements about mailed codes stay untested"),
            ("accounts.spare", "wrong", "configuration", "neither an otp_secret nor an inbox"),
        ]),
        (AS_IT_IS, {"variants": ["pending-by-another-name"]}, [("accounts.pending", "works", None, "")]),
        (without("secure_channel"), {"variants": ["sealed-objects"]}, [("secure_channel", "works", None, "rsa_padding = 'oaep-sha1'")]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_whose_fault_it_is_and_its_cure(
    edit: Edit, options: dict[str, Any], rows: list[tuple[str, str, FaultClass | None, str]]
) -> None:
    found, seen, running = examined(edit, **options)

    for part, state, blame, message in rows:
        diagnosis = of(found, part)
        assert (diagnosis.state, diagnosis.fault_class) == (state, blame), diagnosis
        assert message.format(url=running.url) in diagnosis.message
        assert not diagnosis.message.startswith(f"[{part}]")
    wrong = [row.part for row in found if row.state == "wrong"]
    assert sorted(wrong) == sorted(part for part, state, *_ in rows if state == "wrong")
    if wrong == ["portal.access_code"]:
        assert not [one for one in seen if one.request.path.endswith("login/initiate")]


def test_an_inbox_that_gives_no_code_is_tried_for_one_account() -> None:
    found, seen, _running = examined(replacing("pattern = .*?\n", "pattern = '\\\\d{8}'\ntimeout = 0.5\n"))

    assert "Your sign-in code" in of(found, "accounts.spare").message
    assert of(found, "accounts.limited").message.startswith("not tried: its code comes by [inboxes.mail]")
    assert of(found, "accounts.limited").state == "missing"
    assert len([row for row in seen if row.request.path.endswith("mfa/send")]) == 1


@pytest.mark.parametrize(
    "response, blame, said",
    [
        (
            httpx.Response(302, headers={"location": "https://elsewhere.example.test/"}),
            "configuration",
            "redirects to",
        ),
        (httpx.Response(200, text="<html>"), "configuration", "but not as a portal. Check [portal] url."),
        (answer(status=503, code="DOWN"), "target", "Check the portal and the services it needs"),
        (None, "environment", "127.0.0.1:9"),
    ],
)
def test_an_address_at_which_no_portal_answers_is_all_that_is_told(
    response: httpx.Response | None, blame: str, said: str
) -> None:
    """None: nothing answers there."""
    profile = parse(MINIMAL if response else MINIMAL.replace("portal.example.test", "127.0.0.1:9"), {})
    found = examine(profile, handler=httpx.MockTransport(Played(response)) if response else None)

    assert [(one.part, one.state, one.fault_class) for one in found] == [("portal.url", "wrong", blame)]
    assert said in found[0].message
