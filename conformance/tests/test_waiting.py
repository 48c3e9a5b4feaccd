"""``--wait-for-target``: a run waits for a portal that is still starting, but not longer than asked."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import httpx

from conformance.cli import main
from conformance.target.profile.model import of_target
from conformance.target.waiting import is_answering, wait_for_target
from conformance.tests.deployment import command
from reference_impl import serve


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_gateway_without_its_portal_is_waited_for_and_said_once() -> None:
    statuses, lines = [503, 502, 200], list[str]()
    handler = httpx.MockTransport(
        lambda request: httpx.Response(statuses.pop(0) if statuses else 200, json={})
    )

    wait_for_target(of_target("http://portal.example.test"), 30.0, on_wait=lines.append, handler=handler)

    assert statuses == []
    assert lines == ["http://portal.example.test answers with HTTP 503. Waiting up to 30 s for it."]


def test_a_portal_that_answers_is_not_waited_for() -> None:
    lines: list[str] = []
    with serve.start() as running:
        profile = of_target(running.url)
        wait_for_target(profile, 30.0, on_wait=lines.append)

        assert is_answering(profile)
    assert lines == []
    assert not is_answering(profile)


def test_a_run_begins_when_its_portal_does(tmp_path: Path) -> None:
    port = free_port()
    profile = tmp_path / "later.toml"
    with serve.start(port=port, seed=3) as running:
        profile.write_text(running.profile(), encoding="utf-8")
    words = command(
        "run", "--profile", str(profile), "--out", str(tmp_path / "out"), "--only", "CONSTANT-020"
    )

    with subprocess.Popen(
        [*words, "--wait-for-target", "60s"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout is not None
        waiting = next(line for line in run.stdout if "Waiting" in line)
        with serve.start(port=port, seed=3):
            rest = run.stdout.read()

    assert waiting.rstrip().endswith("Waiting up to 60 s for it.")
    assert run.returncode == 0, rest


def test_a_portal_that_never_starts_ends_the_run_with_exit_code_6(tmp_path: Path) -> None:
    target = f"http://127.0.0.1:{free_port()}"

    assert main(["run", "--target", target, "--out", str(tmp_path), "--wait-for-target", "1s"]) == 6
    assert (tmp_path / "report.html").is_file()
