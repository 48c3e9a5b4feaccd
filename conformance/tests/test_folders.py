"""The folder of reports: which one a command takes, and what it leaves alone there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.cli import main
from conformance.cli.options import folder_beside_run
from conformance.spec.endpoints import PROFILE
from conformance.target.locks import target_lock
from conformance.target.profile.model import load
from conformance.tests.reached import MINIMAL
from conformance.tests.sample_run import conformant, reported
from conformance.tests.traffic import answer
from conformance.traffic.log import line_of


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual folder of reports, empty, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    return Path("reports")


@pytest.mark.parametrize(
    "written, command, is_named, taken",
    [
        ("run", "check", False, "check"),
        ("run", "replay", False, "replay"),
        ("check", "check", False, ""),
        ("run", "check", True, ""),
    ],
)
def test_the_report_of_a_whole_run_stays_unless_the_user_names_its_folder(
    reports: Path, written: str, command: str, is_named: bool, taken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reported(reports, conformant().run(command=written))
    options = SimpleNamespace(out=reports if is_named else None, force=False)

    assert folder_beside_run(options, command) == reports / taken
    said = capsys.readouterr().err
    assert f"this {command} writes to {reports / taken}." in said if taken else said == ""


LINE = line_of(answer(PROFILE, {})).decode() + "\n"
NOTHING = "http://127.0.0.1:9"
"""An address at which nothing answers."""


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "capture.jsonl"
    path.write_text(LINE, encoding="utf-8")
    return path


def commands(out: Path, capture: Path) -> Iterator[list[str]]:
    profile = capture.with_name("portal.toml")
    profile.write_text(MINIMAL.replace("http://portal.example.test", NOTHING), encoding="utf-8")
    yield ["run", "--target", NOTHING, "--only", "SESSION-001", "--quiet"]
    yield ["check", str(capture)]
    yield ["replay", str(capture), "--profile", str(profile)]
    yield ["merge", str(capture.parent)]


@pytest.mark.parametrize("index", range(4), ids=["run", "check", "replay", "merge"])
def test_files_of_others_are_replaced_by_no_command(
    index: int, tmp_path: Path, capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = {"summary.md": "# Our product", "results.json": '{"name": "jest"}'}
    out = tmp_path / "repository"
    out.mkdir()
    for name, text in theirs.items():
        (out / name).write_text(text, encoding="utf-8")

    assert main([*list(commands(out, capture))[index], "--out", str(out)]) == 4

    assert "results.json and summary.md, which portal-conformance did not write" in capsys.readouterr().err
    assert {each.name: each.read_text() for each in out.iterdir()} == theirs


def test_files_of_others_are_replaced_where_the_user_says_so(tmp_path: Path, capture: Path) -> None:
    (tmp_path / "summary.md").write_text("# Our product", encoding="utf-8")

    assert main(["check", str(capture), "--out", str(tmp_path), "--force"]) != 4
    assert main(["check", str(capture), "--out", str(tmp_path)]) != 4  # from now on they are ours

    assert "Our product" not in (tmp_path / "summary.md").read_text(encoding="utf-8")


LINKED = ("exchanges.jsonl", "exchanges.jsonl.part", "results.json", "report.html")


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_link_in_the_folder_is_not_followed(command: str, tmp_path: Path, capture: Path) -> None:
    precious, out = tmp_path / "precious", tmp_path / "out"
    out.mkdir()
    precious.write_text("precious", encoding="utf-8")
    for name in LINKED:
        (out / name).symlink_to(precious)
    lines = {each[0]: each for each in commands(out, capture)}

    main([*lines[command], "--out", str(out), "--force"])

    assert precious.read_text(encoding="utf-8") == "precious"
    assert '"portal-conformance"' in (out / "results.json").read_text(encoding="utf-8")


def test_a_refused_run_leaves_the_evidence_of_the_last_one(tmp_path: Path) -> None:
    (tmp_path / "exchanges.jsonl").write_text(LINE, encoding="utf-8")
    (tmp_path / "changes.jsonl").write_text("of another tool\n{}\n", encoding="utf-8")

    assert main(["run", "--target", NOTHING, "--out", str(tmp_path), "--quiet"]) == 4

    assert (tmp_path / "exchanges.jsonl").read_text(encoding="utf-8") == LINE


def test_a_replay_leaves_the_accounts_of_a_run_alone(
    tmp_path: Path, capture: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay = next(each for each in commands(tmp_path / "out", capture) if each[0] == "replay")
    lock = target_lock(load(tmp_path / "portal.toml"))
    assert lock is not None

    with lock.held(on_wait=None, note=""):
        assert main([*replay, "--out", str(tmp_path / "out")]) == 4

    assert "is in use by process" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
