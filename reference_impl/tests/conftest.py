"""One socket for all tests; behind it a portal of its own for each."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl import serve
from reference_impl.app import build
from reference_impl.tests.client import Client


class Switch:
    """An ASGI application that stands for whichever one a test has put behind it."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def switch() -> Switch:
    return Switch()


@pytest.fixture(scope="session")
def http(switch: Switch) -> Iterator[httpx.Client]:
    with serve.start(wrap=lambda app: switch) as running:
        with httpx.Client(base_url=running.url, verify=False, timeout=10) as client:
            yield client


Portals = Callable[..., Client]


@pytest.fixture
def portal_with(switch: Switch, http: httpx.Client) -> Portals:
    """Builds a portal with what ``build`` takes, and gives a client of it that has not signed in."""

    def make(**how: Any) -> Client:
        app = build(**how)
        switch.app = app
        return Client(http, app.state.portal, app.state.seeded)

    return make


@pytest.fixture
def client(portal_with: Portals) -> Client:
    return portal_with()


@pytest.fixture
def admin(client: Client) -> Client:
    return client.signed_in("admin")
