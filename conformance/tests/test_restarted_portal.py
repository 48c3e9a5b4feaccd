"""A portal that is restarted during a run: connections are refused for a while, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from conformance.target.clock import SystemClock
from conformance.target.portal.transport import Transport
from conformance.target.profile.model import parse
from conformance.tests.deployment import command
from conformance.tests.reached import MINIMAL
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve

AWAY = 1.5
"""Seconds in which nothing listens at the portal's address."""


def sender(url: str, seen: list[Exchange]) -> Transport:
    return Transport(
        parse(MINIMAL.replace("http://portal.example.test", url), {}),
        clock=SystemClock(),
        impact="read-only",
        secrets=Secrets(),
        on_exchange=seen.append,
    )


@contextmanager
def restarting(port: int) -> Iterator[None]:
    """A portal that listens at the port after a while."""

    def late() -> serve.Running:
        time.sleep(AWAY)
        return serve.start(port=port, seed=7)

    with ThreadPoolExecutor() as pool:
        portal = pool.submit(late)
        try:
            yield
        finally:
            portal.result().stop()


def test_a_request_waits_for_a_portal_that_is_restarted_and_is_sent_once() -> None:
    seen: list[Exchange] = []
    with serve.start(seed=7) as portal:
        sending = sender(portal.url, seen)
        sending.send("GET", "/web/v1/system/profile")

    with restarting(portal.port):
        started = time.monotonic()
        late = sending.send("GET", "/web/v1/system/profile")
        took = time.monotonic() - started

    assert late.status is not None
    assert [exchange.error for exchange in seen] == [None, None]
    assert AWAY - 0.5 <= took < AWAY + 5
    assert late.elapsed_ms < 1000  # from when it was sent
    assert late.time - seen[0].time > AWAY - 0.5
    assert AWAY - 0.5 <= sending.availability.away <= AWAY + 1


def test_a_run_goes_on_where_the_portal_is_restarted(tmp_path: Path) -> None:
    """Tokens of before are no longer taken: the accounts sign in anew."""
    with serve.start(seed=7, clock=False) as portal:
        profile = tmp_path / "portal.toml"
        profile.write_text(portal.profile(), encoding="utf-8")
        out = tmp_path / "out"
        arguments = command(
            "run", "--profile", str(profile), "--out", str(out), "--only", "CONSTANT-*", "--only", "PROFILE-*"
        )
        running = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path
        )
        while len(portal.portal.received) < 40 and running.poll() is None:
            time.sleep(0.02)
        assert running.poll() is None
    time.sleep(AWAY)
    with serve.start(seed=7, clock=False, port=portal.port):
        said, _ = running.communicate(timeout=120)

    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert (running.returncode, results["summary"]["fail"]) == (0, 0), said
    assert any(note.startswith("The portal refused connections for") for note in results["notes"])
    gone = "the target could not be reached any more"
    assert [row["id"] for row in results["requirements"] if row["reason"] == gone] == []
