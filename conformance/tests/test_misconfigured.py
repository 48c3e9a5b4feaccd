"""A target that cannot be judged is never green: each misconfiguration, over a socket, by each command."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conformance import record
from conformance.tests.deployment import command, done
from conformance.tests.misconfigured import KINDS, Misconfiguration, met
from conformance.tests.scripted_client import Walker
from reference_impl import serve


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
        run = done(command("run", *target, "--out", str(out), "--time-budget", "20s"), out, environ)

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


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_replay_to_a_target_that_cannot_be_judged_is_not_green(
    kind: Misconfiguration, tmp_path: Path, recording: Path
) -> None:
    with met(kind, tmp_path) as (target, environ):
        out = tmp_path / "out"
        replay = done(command("replay", str(recording), *target, "--out", str(out)), out, environ)

    assert replay.code in (1, 4, 5, 6), replay.said[-3_000:]
    assert "Traceback" not in replay.said
