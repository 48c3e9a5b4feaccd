import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from reference_impl import serve
from reference_impl.__main__ import main
from reference_impl.variants import VARIANTS


def test_a_taken_port_is_an_error() -> None:
    with serve.start() as running:
        with pytest.raises(OSError, match="in use"):
            serve.start(port=running.port)


def test_the_command_serves_and_writes_a_profile(tmp_path: Path) -> None:
    out = tmp_path / "portal.toml"
    arguments = ["--port", "0", "--profile-out", str(out), "--limit", "login_window=5", "--no-clock"]
    with subprocess.Popen(
        [sys.executable, "-m", "reference_impl", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout
        announced, written = process.stdout.readline(), process.stdout.readline()
        process.terminate()
    told = tomllib.loads(out.read_text())

    assert told["portal"]["url"] in announced
    assert str(out) in written
    assert told["limits"]["login_window"] == 5
    assert "clock" not in told


def test_the_command_lists_faults_and_variants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-faults"]) == main(["--list-variants"]) == 0
    listed = capsys.readouterr().out
    assert next(iter(VARIANTS)) in listed
    assert "profile-without-token  AUTHN-001 AUTHN-002  (GET /web/v1/system/profile)" in listed


@pytest.mark.parametrize(
    "arguments", [["--limit", "nothing"], ["--limit", "mfa_code=x"], ["--fault", "unknown"]]
)
def test_wrong_arguments_are_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)

    told = capsys.readouterr().err
    assert arguments[0] in told
    assert arguments[1].split("=")[-1] in told


def test_answers_leave_at_once_whatever_reads_the_requests() -> None:
    """asyncio turns Nagle's algorithm off only where a socket is named as TCP, not only as a stream."""
    with serve.listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
