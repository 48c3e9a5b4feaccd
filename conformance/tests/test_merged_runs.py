"""Finished checks of parts merge to the reports of the whole, in any order and any tree."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance import record
from conformance.check import CheckOptions, check
from conformance.checks.registry import CHECKS
from conformance.cli import main
from conformance.errors import UsageError
from conformance.tests.scripted_client import walk
from conformance.tests.spoiling import spoilt
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import NOT_SELECTED
from conformance.verdicts.selection import select_rules
from conformance.work.merge import merge
from reference_impl import serve
from reference_impl.limits import Limits

COMPARED = [
    *("summary", "requirements", "findings", "observations", "readings", "coverage", "set_aside"),
    *("timings", "exit_code", "notes", "target"),
]

DIFFERENCE = {
    "meaning": "breaking",
    "endpoint": "GET /a",
    "path": "status",
    "kind": "status",
    "times": 2,
    "exchanges": [3],
}

ALONE = select_rules((), tuple({row.requirement for row in CHECKS if row.remembers}))
"""The rules that see one exchange at a time."""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> list[list[Exchange]]:
    """Three visits to one portal, one after the other, of which some answers contradict something."""
    folder, dice = tmp_path_factory.mktemp("visits"), random.Random(7)
    visits = []
    with serve.start(limits=Limits(login_initiations=1000)) as portal:
        for name in ("first", "second", "third"):
            out = folder / f"{name}.jsonl"
            with record.serve(portal.url, out) as recorder:
                walk(recorder.url, portal.profile().replace('mfa = "OTP"', 'mfa = "EMAIL"'))
            visits.append([at_one_address(exchange) for exchange in capture.read(out)])
    return [[spoilt(one, dice) if dice.random() < 0.15 else one for one in visit] for visit in visits]


def at_one_address(one: Exchange) -> Exchange:
    return replace(one, request=replace(one.request, url=f"http://portal.example.test{one.request.path}"))


@pytest.fixture(scope="module")
def parts(visits: list[list[Exchange]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The reports of a check of each visit, and those of all as the last."""
    folder = tmp_path_factory.mktemp("parts")
    files = [folder / f"{number}.jsonl" for number in range(3)]
    for path, exchanges in zip(files, visits, strict=True):
        path.write_bytes(b"".join(msgspec.json.encode(exchange) + b"\n" for exchange in exchanges))
        check([path], CheckOptions(out=path.with_suffix(""), rules=ALONE))
    check(files, CheckOptions(out=folder / "3", rules=ALONE))
    return [folder / str(number) for number in range(4)]


def results(out: Path) -> Json:
    """What the report says of the rules that are selected, and the exchanges."""
    run = json.loads((out / "results.json").read_text())
    run["requirements"] = [
        row for row in run["requirements"] if not (row["reason"] or "").startswith(NOT_SELECTED)
    ]
    return {key: run.get(key) for key in COMPARED}, (out / "exchanges.jsonl").read_text()


@pytest.mark.parametrize("first", list(itertools.permutations(range(3), 2)))
def test_parts_give_the_whole_in_any_order_and_any_tree(
    parts: list[Path], tmp_path: Path, first: tuple[int, int]
) -> None:
    (other,) = {0, 1, 2} - {*first}
    some = [parts[number] for number in first]
    merge([*some, parts[other]], tmp_path / "flat")
    merge(some, tmp_path / "some")
    merge([parts[other], tmp_path / "some"], tmp_path / "tree")

    assert results(tmp_path / "flat") == results(tmp_path / "tree") == results(parts[3])


def test_the_same_part_twice_is_refused(parts: list[Path], tmp_path: Path) -> None:
    merge(parts[:2], tmp_path / "some")

    with pytest.raises(UsageError, match="hold the same exchanges"):
        merge([parts[1], tmp_path / "some"], tmp_path / "all")


def test_what_was_judged_otherwise_is_refused(parts: list[Path], tmp_path: Path) -> None:
    strict = tmp_path / "strict"
    check([parts[0].with_suffix(".jsonl")], CheckOptions(out=strict, fail_on="should", rules=ALONE))

    with pytest.raises(UsageError, match="--fail-on"):
        merge([strict, parts[1]], tmp_path / "all")


def test_what_another_command_wrote_is_refused(parts: list[Path], tmp_path: Path) -> None:
    run = json.loads((parts[0] / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps({**run, "command": "run"}))

    with pytest.raises(UsageError, match="Only checks and replays"):
        merge([tmp_path, parts[1]], tmp_path / "all")


def test_replays_are_merged_with_their_regressions_at_the_numbers_of_the_whole(
    parts: list[Path], tmp_path: Path
) -> None:
    for number in range(2):
        run = json.loads((parts[number] / "results.json").read_text())
        run |= {"command": "replay", "replay": {"compared": 9, "wanted": 10, "differences": [DIFFERENCE]}}
        run["changes"] = {"attempted": 5, "accepted": 3, "restored": 2, "staying": number}
        run["regressions"] = [{"exchange": 3, "endpoint": "GET /a", "path": "status", "kind": "status"}]
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "results.json").write_text(json.dumps(run))
        lines = (parts[number] / "exchanges.jsonl").read_text()
        (tmp_path / str(number) / "exchanges.jsonl").write_text(lines)
    before = len((parts[0] / "exchanges.jsonl").read_text().splitlines())

    run = merge([tmp_path / "1", tmp_path / "0"], tmp_path / "all").dump()

    assert [row["exchange"] for row in run["regressions"]] == [3, before + 3]
    assert (run["replay"]["compared"], run["replay"]["share"]) == (18, 0.9)
    assert run["replay"]["differences"] == [{**DIFFERENCE, "times": 4, "exchanges": [3, before + 3]}]
    assert run["changes"] == {"attempted": 10, "accepted": 6, "restored": 4, "staying": 1}
    assert run["exit_code"] == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("exchanges.jsonl", "no results.json beside exchanges.jsonl: the run did not end"),
        ("notes.txt", "results.json: there is no such file"),
    ],
)
def test_a_folder_without_results_is_named_for_what_it_is(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / name).touch()

    with pytest.raises(UsageError, match=why):
        merge([tmp_path], tmp_path / "whole")


def test_a_part_is_not_overwritten(parts: list[Path]) -> None:
    with pytest.raises(UsageError, match="the folder of a part"):
        merge(parts[:2], parts[0])


def test_the_command_ends_with_the_exit_code_of_the_whole(
    parts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = json.loads((parts[3] / "results.json").read_text())["exit_code"]

    assert main(["merge", *map(str, parts[:3]), "--out", str(tmp_path / "all")]) == whole
    assert (tmp_path / "all" / "report.html").exists()
    assert "report.html" in capsys.readouterr().out
