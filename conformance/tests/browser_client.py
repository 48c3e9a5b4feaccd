"""A person with a browser: real Chromium on a small page (``client_page``) that walks the portal."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from conformance import record
from conformance.target.portal.calls.headers import edge_headers
from conformance.tests import mitmproxy
from conformance.tests.browser import chromium
from conformance.tests.installation import shared
from reference_impl import serve as reference

PAGE = Path(__file__).parent / "client_page"
TYPES = {".html": b"text/html; charset=utf-8", ".js": b"text/javascript"}
ACCOUNT = "spare"
ANOTHER_ACCOUNT = "limited"
"""It has an authenticator, and signs in by mailed codes."""

PAGES_BEFORE = ("Home", "Profile", "Security", "Accounts", "Roles", "Lists", "Types", "Channels")
PAGES_AFTER = ("Invitations", "Grants", "Orders", "File", "Renew", "Leave")
NEW_PASSWORD = "Another-password-1"
WRONG_CODE = "AUTH.MFA_CODE_INVALID"


class Deployment:
    """An ASGI wrapper as an edge is one: serves the page below ``/client/``, names the client's address."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.edge = [(name.lower().encode(), value.encode()) for name, value in edge_headers().items()]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/client/"):
            file = PAGE / (Path(scope["path"]).name if scope["path"] != "/client/" else "index.html")
            headers = [(b"content-type", TYPES[file.suffix])]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": file.read_bytes()})
        else:
            await self.app({**scope, "headers": [*scope["headers"], *self.edge]}, receive, send)


def mailed_code(portal: reference.Running, email: str) -> str:
    """The code in the newest mail, which a person reads elsewhere than in the page."""
    mails = httpx.get(f"{portal.url}/inbox/{email}").json()
    return str(next(mail["code"] for mail in mails if mail["code"]))


class Visitor:
    """A person with a page of the client, through ``base``."""

    def __init__(self, context: BrowserContext, base: str, portal: reference.Running, account: str) -> None:
        told = tomllib.loads(portal.profile())
        self._portal = portal
        self.email, self.password = (told["accounts"][account][name] for name in ("email", "password"))
        bot = told["bot_challenge"]
        built_in = {
            "accessCode": told["portal"]["access_code"],
            "botHeader": bot["header"],
            "botToken": bot["token"],
            "file": told["records"]["file"],
        }
        self._page = context.new_page()
        self._page.add_init_script(f"window.portal = {json.dumps(built_in)}")
        self._page.goto(f"{base}/client/")
        self._status = self._page.get_by_role("status")

    def offer(self, password: str, outcome: str = "A code was mailed") -> None:
        """Begins a sign-in."""
        self._page.get_by_label("Email").fill(self.email)
        self._page.get_by_label("Password").fill(password)
        self._page.get_by_role("button", name="Sign in").click()
        expect(self._status).to_contain_text(outcome)

    def confirm(self, code: str = "", outcome: str = "Signed in", *, source: str = "Mail") -> None:
        """Sends a code, or the one that was mailed."""
        self._page.get_by_label("Code").fill(code or mailed_code(self._portal, self.email))
        self._page.get_by_label("From").select_option(source)
        self._page.get_by_role("button", name="Confirm").click()
        expect(self._status).to_contain_text(outcome)

    def open(self, *names: str) -> None:
        for name in names:
            self._page.get_by_role("button", name=name, exact=True).click()
            expect(self._status).to_have_text("Done")

    def change_password(self, old: str, new: str) -> None:
        self._page.get_by_label("Old").fill(old)
        self._page.get_by_label("New").fill(new)
        self._page.get_by_role("button", name="Change password").click()
        expect(self._status).to_have_text("Password changed")

    def close(self) -> None:
        self._page.close()


def walk(context: BrowserContext, base: str, portal: reference.Running) -> None:
    """A whole visit, through ``base``: signs in with a mistake, opens every page, changes the password. In
    between somebody else signs in."""
    visitor = Visitor(context, base, portal, ACCOUNT)
    visitor.offer("not the password", "AUTH.")
    visitor.offer(visitor.password)
    visitor.confirm("000000", WRONG_CODE)
    visitor.confirm()
    visitor.open(*PAGES_BEFORE)
    walk_beside(Visitor(context, base, portal, ANOTHER_ACCOUNT))
    visitor.open("History")
    for old, new in ((visitor.password, NEW_PASSWORD), (NEW_PASSWORD, visitor.password)):
        visitor.change_password(old, new)
    visitor.open(*PAGES_AFTER)
    visitor.close()


def walk_beside(visitor: Visitor) -> None:
    """A short visit: mistakes the code, revokes the authenticator, leaves, and mistakes the password."""
    password = visitor.password
    visitor.offer(password)
    visitor.confirm(outcome=WRONG_CODE, source="Authenticator")
    visitor.confirm()
    visitor.open("History", "Revoke", "Factors", "Leave")
    for other in (password.swapcase(), password[:-1] + ("b" if password[-1] == "a" else "a")):
        visitor.offer(other, "AUTH.")
    visitor.close()


def by_the_proxy(out: Path) -> Path:
    """A visit recorded by our proxy, with the secure channel opened."""
    with chromium() as browser, reference.start(wrap=Deployment, seed=1) as portal:
        with (
            record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder,
            browser.new_context() as context,
        ):
            walk(context, recorder.url, portal)
    return out


def proxied_once(factory: pytest.TempPathFactory) -> Path:
    """Such a visit, recorded once for all test processes."""
    return shared(factory, "proxied", lambda folder: by_the_proxy(folder / "proxy.jsonl")) / "proxy.jsonl"


def by_the_browser(out: Path) -> Path:
    """A visit as the browser's own HAR, with its bodies."""
    with chromium() as browser, reference.start(wrap=Deployment, seed=2) as portal:
        with browser.new_context(record_har_path=out, record_har_content="embed") as context:
            walk(context, portal.url, portal)
    return out


def by_mitmproxy(out: Path) -> Path:
    """A visit as mitmproxy's HAR."""
    with chromium() as browser, reference.start(wrap=Deployment, seed=4) as portal:
        with mitmproxy.recording(portal.url, out) as url, browser.new_context() as context:
            walk(context, url, portal)
    return out
