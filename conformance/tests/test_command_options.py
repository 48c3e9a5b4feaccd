"""Options of commands beyond ``run``, each given on the command line for what it does."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.cli import main
from conformance.tests.deployment import command
from conformance.tests.replays import recorded_visit
from conformance.tests.test_descriptions import described, file_of
from conformance.tests.test_own_rules import TOML
from conformance.tests.test_record import command as recording
from conformance.traffic import capture
from reference_impl import serve as reference

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded_visit(tmp_path_factory.mktemp("visit"))


def results(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return found


def verdicts(run: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in run["requirements"]}


def rules_in(folder: Path) -> Path:
    """The rules of the page on rules of one's own, in a file."""
    (folder / "rules.toml").write_text(TOML, encoding="utf-8")
    return folder / "rules.toml"


def printed(capsys: Captured, *words: str) -> Any:
    """What a command prints as JSON."""
    capsys.readouterr()
    main([*words, "--format", "json"])
    return json.loads(capsys.readouterr().out)


def test_a_check_gives_the_same_verdicts_without_its_cache_and_writes_what_is_asked_for(
    visit: Path, tmp_path: Path, capsys: Captured
) -> None:
    usual, other = (str(tmp_path / name) for name in ("usual", "other"))
    options = ("--no-cache", "--model", "--keep", "x-request-id", "--formats", "sarif,badge")

    shown = printed(capsys, "check", str(visit), "--out", usual)
    again = printed(capsys, "check", str(visit), "--out", other, *options)

    changed = verdicts(again).items() - verdicts(shown).items()
    assert {verdicts(shown)[rule] for rule, _ in changed} == {"untested"}, "--model decides more"
    assert any(rule.startswith("MODEL-") for rule, _ in changed)
    assert {"results.sarif", "badge.json"} <= {path.name for path in (tmp_path / "other").iterdir()}
    compared = printed(capsys, "compare", usual, other)
    assert (compared["newly_failing"], compared["fixed"]) == ([], [])


def test_parts_are_merged_with_further_formats(visit: Path, tmp_path: Path, capsys: Captured) -> None:
    lines = visit.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("1", lines[:40]), ("2", lines[40:])):
        (tmp_path / f"{name}.jsonl").write_text("".join(part), encoding="utf-8")
        main(["check", str(tmp_path / f"{name}.jsonl"), "--out", str(tmp_path / name)])

    folders = [str(tmp_path / name) for name in ("1", "2")]
    whole = printed(capsys, "merge", *folders, "--out", str(tmp_path / "all"), "--formats", "badge")

    assert whole["command"] == "check"
    assert (tmp_path / "all" / "badge.json").is_file()


def test_a_replay_leaves_out_what_it_is_told_to_and_fails_on_what_it_is_told_to(
    visit: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(visit.read_bytes() + b'{"n": 9999, "requ')
    host = next(iter(capture.read(visit))).request.parts.netloc
    options = ["--skip", "GET */roles*", "--recorded-host", host, "--fail-on", "contradiction"]
    options += ["--rules", str(rules_in(tmp_path)), "--description", str(file_of(tmp_path, described()))]
    with reference.start() as portal:
        (tmp_path / "portal.toml").write_text(portal.profile(), encoding="utf-8")
        words = ["replay", str(cut), "--profile", str(tmp_path / "portal.toml"), "--impact", "disruptive"]

        refused = main([*words, "--out", str(tmp_path / "refused")])
        done = main([*words, "--out", str(tmp_path / "out"), "--salvage", "--no-cache", "--wait", *options])

    replay = results(tmp_path / "out")["replay"]
    left_out = {key for key, states in replay["endpoints"].items() if states.keys() == {"unwanted"}}
    assert (refused, done) == (4, 0)
    assert replay["fail_on"] == "contradiction"
    assert "OWN-1" in verdicts(results(tmp_path / "out"))
    assert "GET /web/v1/system/roles" in left_out
    assert all("/roles" in key for key in left_out)


def test_plan_doctor_explain_and_history_print_json(tmp_path: Path, capsys: Captured) -> None:
    with reference.start() as portal:
        path, description = str(tmp_path / "portal.toml"), str(file_of(tmp_path, described()))
        Path(path).write_text(portal.profile(), encoding="utf-8")
        plan = printed(capsys, "plan", "--profile", path)
        doctor = printed(capsys, "doctor", "--profile", path)
        main(["plan", "--profile", path, "--min-tested", "5000"])
        shown = capsys.readouterr().out
        run = ["run", "--profile", path, "--only", "CONSTANT-020", "--out", str(tmp_path / "out")]
        main([*run, "--history", str(tmp_path / "runs.db"), "--description", description])
        own = ["plan", "--profile", path, "--only", "OWN-*"]
        codes = [main(own), main([*own, "--rules", str(rules_in(tmp_path))])]

    assert codes == [4, 0]
    assert any("described endpoint" in note for note in results(tmp_path / "out")["notes"])
    assert plan["musts"] > 300
    assert {row["state"] for row in doctor} >= {"works"}
    assert "With --min-tested 5000 such a run is inconclusive, exit code 5." in " ".join(shown.split())
    (rule,) = printed(capsys, "explain", "LOGIN-022")
    assert rule["decided_by"]
    (trend,) = printed(capsys, "history", "--history", str(tmp_path / "runs.db"))
    assert len(trend["runs"]) == 1


@pytest.mark.slow
def test_a_recorder_redacts_and_keeps_what_it_is_told_to_and_stops_at_its_size(tmp_path: Path) -> None:
    """``record`` in a process of its own."""
    secret, trace = "7Qm2Zr8LxVb4Kp9TfJw3", "c3Vq8Zt1Rm5Xk7Lb2Wd9Np4G"
    options = ("--redact", "x-ours", "--keep", "x-trace", "--timeout", "5", "--max-size", "0.004")
    with (
        reference.start() as portal,
        recording(tmp_path, portal.url, "--out", "t.jsonl", *options) as (process, url),
    ):
        for _ in range(20):
            httpx.get(f"{url}/web/v1/system/profile", headers={"X-Ours": secret, "X-Trace": trace})
        process.terminate()
        process.communicate(timeout=30)

    text = (tmp_path / "t.jsonl").read_text(encoding="utf-8")
    assert (secret in text, trace in text) == (False, True)
    assert 0 < len(list(capture.read(tmp_path / "t.jsonl"))) < 20


@pytest.mark.slow
def test_a_served_portal_has_neither_clock_nor_inbox_where_it_is_to_have_none(tmp_path: Path) -> None:
    options = ("--port", "0", "--no-clock", "--no-inbox", "--seed", "7", "--profile-out", "portal.toml")
    with subprocess.Popen(
        command("serve", *options), cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        assert re.search("answers at", served.stdout.readline())
        assert re.search("profile", served.stdout.readline())
        served.terminate()

    profile = tomllib.loads((tmp_path / "portal.toml").read_text(encoding="utf-8"))
    with reference.start(seed=7) as same:
        like = tomllib.loads(same.profile())
    assert {"clock", "inboxes"}.isdisjoint(profile)
    assert profile["portal"]["access_code"] == like["portal"]["access_code"]
    assert profile["accounts"]["admin"]["password"] == like["accounts"]["admin"]["password"]


def test_a_description_is_written_over_another_one_where_it_is_forced(
    visit: Path, tmp_path: Path, capsys: Captured
) -> None:
    lines = [json.loads(line) for line in visit.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["request"]["url"] = line["request"]["url"].replace("/system/roles", "/system/wallets")
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"n": 99, "requ', encoding="utf-8")
    host = next(iter(capture.read(visit))).request.parts.netloc
    out = tmp_path / "openapi.json"
    out.write_text("mine", encoding="utf-8")
    words = ["describe", str(cut), "--out", str(out), "--target", host]

    assert main([*words, "--salvage"]) == 4
    assert "replace it with --force" in " ".join(capsys.readouterr().err.split())
    assert main([*words, "--force"]) == 4
    assert "--salvage" in capsys.readouterr().err
    assert main([*words, "--salvage", "--force"]) == 0
    assert "/web/v1/system/wallets" in json.loads(out.read_text(encoding="utf-8"))["paths"]


def test_serve_lists_the_variants_with_what_permits_them(capsys: Captured) -> None:
    assert main(["serve", "--list-variants"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 300


@pytest.mark.slow
def test_the_selftest_runs_every_case_of_a_variant_with_one_worker(tmp_path: Path, capsys: Captured) -> None:
    words = ["selftest", "--only", "gzip", "--out", str(tmp_path)]

    assert main([*words, "--jobs", "1", "--thorough"]) == 0
    assert "0 problems" in capsys.readouterr().out
