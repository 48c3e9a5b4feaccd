"""What a real browser did, as three recorders wrote it down, replayed on a fresh portal."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import capture, record
from conformance.profile import parse
from conformance.replay import Options, Replayed, replay
from conformance.replay.outcome import State
from conformance.tests import mitmproxy
from conformance.tests.browser import chromium
from conformance.tests.browser_client import ACCOUNT, NEW_PASSWORD, Deployment, walk
from reference_impl import serve as reference

CHANGE = "POST /web/v1/system/auth/password/change"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A visit recorded by our proxy, with the secure channel opened."""
    out = tmp_path_factory.mktemp("proxy") / "proxy.jsonl"
    with chromium() as browser, reference.start(wrap=Deployment, seed=1) as portal:
        with record.serve(portal.url, out, open_channel=True) as recorder, browser.new_context() as context:
            walk(context, recorder.url, portal)
        told = tomllib.loads(portal.profile())
    planted = [told["portal"]["access_code"], told["accounts"][ACCOUNT]["password"], NEW_PASSWORD, '"eyJ']
    assert [secret for secret in planted if secret in out.read_text()] == []
    return out


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A visit as the browser's own HAR, with its bodies."""
    out = tmp_path_factory.mktemp("browser") / "browser.har"
    with chromium() as browser, reference.start(wrap=Deployment, seed=2) as portal:
        with browser.new_context(record_har_path=out, record_har_content="embed") as context:
            walk(context, portal.url, portal)
    return out


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A visit as mitmproxy's HAR."""
    out = tmp_path_factory.mktemp("mitmproxy") / "mitmproxy.har"
    with chromium() as browser, reference.start(wrap=Deployment, seed=4) as portal:
        with mitmproxy.recording(portal.url, out) as url, browser.new_context() as context:
            walk(context, url, portal)
    return out


@pytest.fixture
def portal() -> Iterator[reference.Running]:
    """Another one than was recorded: other keys, ids, tokens, passwords, clock."""
    with reference.start(seed=3, now=lambda: time.time() + 86_400) as running:
        yield running


def replayed(recording: Path, portal: reference.Running, out: Path) -> Replayed:
    return replay([recording], parse(portal.profile(), {}), Options(out=out, impact="disruptive"))


def told(replay: Replayed) -> list[tuple[str, str, object, object]]:
    return [(one.endpoint, one.path, one.recorded, one.replayed) for one in replay.run.regressions]


@pytest.mark.parametrize("source", ["proxied", "saved", "dumped"])
def test_a_browsers_visit_replays_on_a_fresh_portal_without_a_regression(
    request: pytest.FixtureRequest, portal: reference.Running, tmp_path: Path, source: str
) -> None:
    replay = replayed(request.getfixturevalue(source), portal, tmp_path)

    assert told(replay) == []
    assert replay.tally.wanted > 100
    assert replay.tally.share >= 0.95
    assert replay.run.exit_code == 0


def test_what_the_page_encrypted_is_encrypted_again_and_compared(
    proxied: Path, portal: reference.Running, tmp_path: Path
) -> None:
    replay = replayed(proxied, portal, tmp_path)

    changes = [
        one for one in capture.read(tmp_path / "exchanges.jsonl") if one.request.path.endswith("/change")
    ]
    assert [one.status for one in changes] == [200, 200]
    assert all(one.plain is not None for one in changes)
    assert replay.tally.counts == {State.SAME: replay.tally.wanted}


def test_what_the_browser_encrypted_and_nobody_opened_is_named_and_not_compared(
    saved: Path, portal: reference.Running, tmp_path: Path
) -> None:
    replay = replayed(saved, portal, tmp_path)

    left = [one for one in replay.tally.kept if one.state is State.NOT_REPLAYABLE]
    assert [one.endpoint for one in left] == [CHANGE, CHANGE]
    assert all("encrypted" in one.reason for one in left)


def test_what_an_edge_sets_is_set_where_the_recording_stood_before_one(saved: Path, tmp_path: Path) -> None:
    with reference.start(variants=["edge-headers-required"]) as portal:
        replay = replayed(saved, portal, tmp_path)

    assert told(replay) == []
    assert replay.tally.share >= 0.95
