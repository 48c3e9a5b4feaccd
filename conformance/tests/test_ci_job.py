"""The CI job of docs/ci.md, run by run, with its commands as the page prints them."""

from __future__ import annotations

import shlex
from pathlib import Path

from conformance.tests.deployment import Done, command, deployed, done
from conformance.tests.documents import commands

OLD, NEW = "countries-value-off-by-one", "timezones-value-off-by-one"
FEW = {"PORTAL_CONFORMANCE_ONLY": "CONSTANT-02?"}
"""The variable that limits a run to the rules which two faults break, and some others."""


def printed(*words: str) -> str:
    """The command of the page that has these words, without further ones of a service."""
    texts = {each.text for each in commands() if each.page == "docs/ci.md" and not each.needs}
    return min((text for text in texts if all(f" {word}" in f"{text} " for word in words)), key=len)


JOB = printed("run --profile", "--known known.toml", "--formats sarif")
ACCEPT_ALL, ACCEPT, PRUNE = (printed(f"{words} ") for words in ("--accept all", "--accept ID", "--prune"))


def ran(folder: Path, text: str) -> Done:
    return done(command(*shlex.split(text)[1:]), folder / "reports", FEW)


def job(folder: Path, *faults: str) -> Done:
    with deployed(folder, faults=faults):
        return ran(folder, JOB)


def new_ids(run: Done) -> list[str]:
    return [entry["id"] for entry in run.results["baseline"]["new"]]


def test_the_job_is_green_red_and_green_again_by_what_is_accepted_mended_and_pruned(tmp_path: Path) -> None:
    with deployed(tmp_path):
        assert ran(tmp_path, printed("run --profile portal.toml --time-budget")).code == 0
    assert ran(tmp_path, ACCEPT_ALL).code == 0
    assert job(tmp_path).code == 0

    red = job(tmp_path, OLD)
    assert red.code == 1
    (id, *_) = ids = new_ids(red)
    assert all(f"id {each}" in red.said for each in ids)
    assert all(f"<code>{each}</code>" in (red.out / "report.html").read_text() for each in ids)
    for each in ids:
        assert ran(tmp_path, ACCEPT.replace("ID", each)).code == 0
    assert job(tmp_path, OLD).code == 0

    worse = job(tmp_path, OLD, NEW)
    assert worse.code == 1
    assert id not in new_ids(worse)
    assert {row["requirement"] for row in worse.results["baseline"]["new"]} == {"CONSTANT-021"}

    stale = job(tmp_path)
    assert stale.code == 1
    assert [row["id"] for row in stale.results["baseline"]["stale"]] == ids
    assert ran(tmp_path, PRUNE).code == 0
    assert job(tmp_path).code == 0
