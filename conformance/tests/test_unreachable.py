"""A target that cannot be reached: what failed and what to do, in the same words by run and replay."""

from __future__ import annotations

import socket
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import httpx
import pytest

from conformance.cli import main
from conformance.errors import TargetUnreachable
from conformance.replay import replay
from conformance.target.portal import Portal
from conformance.target.portal.availability import unreachable
from conformance.tests.reached import profile_at
from conformance.tests.replays import options_for
from conformance.tests.sample_run import conformant
from conformance.tests.traffic import account, answer
from conformance.traffic import capture


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def mute() -> Iterator[str]:
    """An address that takes connections and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


class Shell(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"SSH-2.0-x\r\n")
        self.request.recv(4096)


@contextmanager
def shell() -> Iterator[str]:
    """An address at which another service listens."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Shell) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("target", "failed", "advice"),
    [
        (
            nobody,
            "Nothing answers at {url} (connection refused). Is the portal running?",
            "Check its address: [portal] url or --target.",
        ),
        (mute, "{url} does not answer: GET ", "[portal] timeout is how long a run waits."),
        (
            shell,
            "{url} does not answer: GET ",
            "listen at that port? Check its address: [portal] url or --target.",
        ),
    ],
)
def test_run_and_replay_say_what_failed_and_what_to_do_in_the_same_words(
    tmp_path: Path, target: object, failed: str, advice: str
) -> None:
    recording = tmp_path / "recording.jsonl"
    with capture.Writer(recording) as writer:
        writer.write(answer("GET /web/v1/secure-channel/public-key", account()))

    with target() as url:  # type: ignore[operator]
        profile = profile_at(url, timeout=0.3)
        with Portal.connect(profile, impact="read-only") as portal, pytest.raises(TargetUnreachable) as run:
            portal.recognise()
        replayed = replay([recording], profile, options_for(tmp_path / "out", impact="read-only"))

    assert replayed.run.exit_code == 6
    assert replayed.notes[0] == str(run.value)
    assert str(run.value).startswith(failed.format(url=url))
    assert str(run.value).endswith(advice)


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("certificate verify failed: certificate has expired", "Have the certificate renewed, or set"),
        ("certificate verify failed: IP address mismatch, certificate is not", "Enter the name that"),
        ("certificate verify failed: self-signed certificate", "Set [portal] verify to the file of its CA"),
        ("the proxy: [Errno 111] Connection refused", "Check [portal] proxy: its address"),
        ("the proxy: it refuses with HTTP 407", "Check [portal] proxy: its address"),
    ],
)
def test_the_advice_is_that_of_the_cause(reason: str, advice: str) -> None:
    assert f"). {advice}" in unreachable("https://127.0.0.1:9", OSError(reason))


@pytest.mark.parametrize(
    ("problem", "failed"),
    [
        (OSError("no connection (Connection refused)"), "connection refused"),
        (OSError("no connection (Name or service not known)"), "no such host"),
        (httpx.ConnectTimeout("timed out"), "no connection in time"),
        (httpx.ConnectTimeout(""), "no connection in time"),
        (OSError("no connection (Network is unreachable)"), "no connection (Network is unreachable)"),
    ],
)
def test_only_a_refused_connection_is_called_refused(problem: Exception, failed: str) -> None:
    sentence = unreachable("http://127.0.0.1:9", problem)

    assert sentence.startswith(f"Nothing answers at http://127.0.0.1:9 ({failed}). Is ")


def test_a_run_that_reaches_no_portal_leaves_the_verdicts_of_a_whole_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {
        name: f"of a run that reached its portal: {name}\n" for name in ("exchanges.jsonl", "report.html")
    }
    kept["results.json"] = conformant().run().text()
    for name, text in kept.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with nobody() as url:
        code = main(["run", "--target", url, "--out", str(tmp_path)])

    shown, beside = capsys.readouterr().out, tmp_path / "unreached"
    assert code == 6
    assert {name: (tmp_path / name).read_text("utf-8") for name in kept} == kept
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "unreached"}
    assert kept.keys() <= {path.name for path in beside.iterdir()}
    assert f"which stays: this run, which reaches no portal, writes to {beside}." in " ".join(shown.split())
    assert str(beside / "report.html") in shown
