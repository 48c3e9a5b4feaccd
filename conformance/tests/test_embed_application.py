"""``conformance_cases``: cases against an ASGI application in process."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from conformance.embed.application import ApplicationCases
from conformance.embed.bridge import ApplicationTransport
from conformance.errors import UsageError
from conformance.report.model.run import Run
from conformance.target.bundled import in_process

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"


async def in_a_loop(run: Callable[[], Run]) -> Run:
    """It runs within an event loop as well."""
    return run()


def test_a_selection_runs_against_an_application_and_returns_its_findings(tmp_path: Path) -> None:
    portal, faulty = in_process(), in_process(faults=[FAULT])
    cases, environment = ApplicationCases(tmp_path), dict(os.environ)

    lawful = cases(portal.app, profile=portal.profile, only=[BROKEN])
    broken = asyncio.run(in_a_loop(lambda: cases(faulty.app, profile=faulty.profile, only=[BROKEN])))

    assert (lawful.exit_code, lawful.findings) == (0, [])
    assert broken.exit_code == 1
    assert {finding.requirement for finding in broken.findings} == {BROKEN}
    assert (tmp_path / "report.html").exists()
    assert dict(os.environ) == environment


def test_rules_that_no_case_decides_alone_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    portal = in_process()

    with pytest.raises(UsageError, match="NONE-1"):
        ApplicationCases(tmp_path)(portal.app, only=["NONE-1"])


def test_an_application_starts_and_ends_with_its_transport() -> None:
    events: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        events.append("started")
        yield
        events.append("ended")

    async def page(request: Any) -> PlainTextResponse:
        return PlainTextResponse(", ".join(events))

    transport = ApplicationTransport(Starlette(routes=[Route("/", page)], lifespan=lifespan))
    with httpx.Client(transport=transport) as client:
        assert client.get("http://localhost/").text == "started"
    assert events == ["started", "ended"]
