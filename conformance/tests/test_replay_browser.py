"""What a real browser did, as three recorders wrote it down, replayed on a fresh portal."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.replay import ReplayResult, replay
from conformance.replay.compare.outcome import State
from conformance.spec.endpoints import PASSWORD_CHANGE
from conformance.target.profile.model import parse
from conformance.tests.browser_client import by_mitmproxy, by_the_browser, proxied_once
from conformance.tests.replays import options_for
from conformance.traffic import capture
from reference_impl import serve as reference


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return proxied_once(tmp_path_factory)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_the_browser(tmp_path_factory.mktemp("browser") / "browser.har")


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return by_mitmproxy(tmp_path_factory.mktemp("mitmproxy") / "mitmproxy.har")


JWT = re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}")
"""Three letters alone may stand in a key or a ciphertext by chance."""


def replayed(recording: Path, out: Path, **options: Any) -> ReplayResult:
    """On another portal than was recorded: other keys, ids, tokens, passwords, clock."""
    with reference.start(**{"seed": 3, "now": lambda: time.time() + 86_400, **options}) as portal:
        return replay([recording], parse(portal.profile(), {}), options_for(out))


@pytest.mark.parametrize("source", ["saved", "dumped"])
def test_a_browsers_visit_replays_on_a_fresh_portal_without_a_regression(
    request: pytest.FixtureRequest, tmp_path: Path, source: str
) -> None:
    replay = replayed(request.getfixturevalue(source), tmp_path)

    assert replay.run.regressions == []
    assert replay.tally.wanted > 100
    assert replay.tally.share >= 0.95
    assert replay.run.exit_code == 0
    left = [one for one in replay.tally.kept if one.state is State.NOT_REPLAYABLE]
    assert [one.endpoint for one in left] == [PASSWORD_CHANGE, PASSWORD_CHANGE]
    assert all("encrypted" in one.reason for one in left), "nobody opened it"


def test_what_the_page_encrypted_is_encrypted_again_and_compared(proxied: Path, tmp_path: Path) -> None:
    replay = replayed(proxied, tmp_path)

    exchanges = capture.read(tmp_path / "exchanges.jsonl")
    changes = [one for one in exchanges if one.request.path.endswith("/change")]
    assert [one.status for one in changes] == [200, 200]
    assert all(one.plain is not None for one in changes)
    assert replay.tally.counts == {State.SAME: replay.tally.wanted}
    assert replay.run.exit_code == 0


def test_a_browsers_har_without_authorization_replays_as_well(saved: Path, tmp_path: Path) -> None:
    replay = replayed(sanitized(saved, tmp_path / "sanitized.har"), tmp_path)

    assert replay.run.regressions == []
    assert replay.tally.share >= 0.95


def sanitized(har: Path, out: Path) -> Path:
    """As Chrome's network panel saves it by default: without Authorization and cookies."""
    content = json.loads(har.read_text(encoding="utf-8"))
    content["log"]["creator"] = {"name": "WebInspector", "version": "537.36"}
    for entry in content["log"]["entries"]:
        for message in (entry["request"], entry["response"]):
            message["cookies"] = []
            message["headers"] = [
                header
                for header in message["headers"]
                if header["name"].lower() not in ("authorization", "cookie", "set-cookie")
            ]
    out.write_text(json.dumps(content), encoding="utf-8")
    return out


def test_a_token_that_only_the_recording_knows_stands_in_no_report(saved: Path, tmp_path: Path) -> None:
    replay = replayed(saved, tmp_path, faults=["access-token-carries-the-email"])

    assert {one.path for one in replay.run.regressions} == {"data.accessToken"}
    assert [file.name for file in tmp_path.iterdir() if JWT.search(file.read_text(encoding="utf-8"))] == []


def test_a_logout_before_an_unknown_change_is_compared(saved: Path, tmp_path: Path) -> None:
    """Nobody opened what changed the password, which may end sessions: a later logout may count others."""
    replay = replayed(saved, tmp_path, faults=["a-logout-counts-too-many"])

    counted = [one for one in replay.run.regressions if one.path == "data.terminatedSessions"]
    assert [one.replayed for one in counted] == [77]
    assert replay.run.regressions == counted


def test_a_recording_that_begins_after_the_sign_in_is_inconclusive_and_no_regression(
    saved: Path, tmp_path: Path
) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    entries = content["log"]["entries"]
    signed_in = max(at for at, one in enumerate(entries) if one["request"]["url"].endswith("/login/complete"))
    content["log"]["entries"] = entries[signed_in + 1 : signed_in + 30]
    (tmp_path / "late.har").write_text(json.dumps(content), encoding="utf-8")

    replay = replayed(tmp_path / "late.har", tmp_path)

    assert replay.run.regressions == []
    assert replay.run.exit_code == 5
    assert any("record from the sign-in on" in note for note in replay.notes)


def test_what_an_edge_sets_is_set_where_the_recording_stood_before_one(saved: Path, tmp_path: Path) -> None:
    replay = replayed(saved, tmp_path, variants=["edge-headers-required"])

    assert replay.run.regressions == []
    assert replay.tally.share >= 0.95
