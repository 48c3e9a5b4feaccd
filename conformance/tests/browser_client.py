"""A person with a browser: real Chromium on a small page (``client_page``) that walks the portal."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, expect

from conformance import record
from conformance.target.portal.calls.headers import edge_headers
from conformance.tests import mitmproxy
from conformance.tests.browser import chromium
from reference_impl import serve as reference

PAGE = Path(__file__).parent / "client_page"
TYPES = {".html": b"text/html; charset=utf-8", ".js": b"text/javascript"}
ACCOUNT = "spare"
PAGES_BEFORE = ("Home", "Profile", "Security", "Accounts", "Roles", "Lists", "Types", "Channels")
PAGES_AFTER = ("Invitations", "Grants", "Orders", "File", "Renew", "Leave")
NEW_PASSWORD = "Another-password-1"


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


def walk(context: BrowserContext, base: str, portal: reference.Running) -> None:
    """A whole visit, through ``base``: signs in with a mistake, opens every page, changes the password."""
    told = tomllib.loads(portal.profile())
    account, bot = told["accounts"][ACCOUNT], told["bot_challenge"]
    built_in = {
        "accessCode": told["portal"]["access_code"],
        "botHeader": bot["header"],
        "botToken": bot["token"],
        "file": told["records"]["file"],
    }
    page = context.new_page()
    page.add_init_script(f"window.portal = {json.dumps(built_in)}")
    page.goto(f"{base}/client/")
    status = page.get_by_role("status")

    page.get_by_label("Email").fill(account["email"])
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(status).to_contain_text("AUTH.")
    page.get_by_label("Password").fill(account["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(status).to_have_text("A code was mailed")
    for code, outcome in (
        ("000000", "AUTH.MFA_CODE_INVALID"),
        (mailed_code(portal, account["email"]), "Signed in"),
    ):
        page.get_by_label("Code").fill(code)
        page.get_by_role("button", name="Confirm").click()
        expect(status).to_contain_text(outcome)

    def open_pages(names: tuple[str, ...]) -> None:
        for name in names:
            page.get_by_role("button", name=name, exact=True).click()
            expect(status).to_have_text("Done")

    open_pages(PAGES_BEFORE)
    for old, new in ((account["password"], NEW_PASSWORD), (NEW_PASSWORD, account["password"])):
        page.get_by_label("Old").fill(old)
        page.get_by_label("New").fill(new)
        page.get_by_role("button", name="Change password").click()
        expect(status).to_have_text("Password changed")
    open_pages(PAGES_AFTER)
    page.close()


def by_the_proxy(out: Path) -> Path:
    """A visit recorded by our proxy, with the secure channel opened."""
    with chromium() as browser, reference.start(wrap=Deployment, seed=1) as portal:
        with (
            record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder,
            browser.new_context() as context,
        ):
            walk(context, recorder.url, portal)
    return out


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
