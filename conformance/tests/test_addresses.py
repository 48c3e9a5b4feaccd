"""Addresses that a user writes wrongly: each command says so, in a line that a terminal can show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.cli import main

WRONG = (
    "http://[::1",
    "http://a:b",
    "http://a:99999",
    "http://a\x1b[2J",
    "http://xn--",
    "http://ａ.test",
    "ftp://a",
    "http://a..b",
    f"http://{'a' * 64}.test",
    "http://a:0",
)

COMMANDS: dict[str, Callable[[str, Path], list[str]]] = {
    "run": lambda address, folder: ["run", "--target", address, "--out", str(folder / "out")],
    "doctor": lambda address, folder: ["doctor", "--target", address],
    "record": lambda address, folder: ["record", "--upstream", address, "--out", str(folder / "a.jsonl")],
    "check": lambda address, folder: ["check", str(folder / "none.jsonl"), "--target", address],
    "proxy": lambda address, folder: [
        "doctor",
        "--offline",
        _profile(folder, f'proxy = "{_escaped(address)}"'),
    ],
    "clock": lambda address, folder: [
        "doctor",
        "--offline",
        _profile(folder, f'[clock]\nadvance = "{_escaped(address)}"'),
    ],
}


def _escaped(address: str) -> str:
    return address.replace("\x1b", r"\u001b")


def _profile(folder: Path, lines: str) -> str:
    path = folder / "portal.toml"
    path.write_text(f'[portal]\nurl = "http://127.0.0.1:9"\naccess_code = "a"\n{lines}\n', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("address", WRONG)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_to_which_nothing_can_be_sent_is_refused(
    command: str, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.jsonl").write_text("", encoding="utf-8")

    assert main(COMMANDS[command](address, tmp_path)) == 4

    said = capsys.readouterr()
    assert "address" in said.err + said.out
    assert "\x1b" not in said.err + said.out
    assert "Traceback" not in said.err
