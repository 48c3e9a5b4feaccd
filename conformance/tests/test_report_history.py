"""The history of a target: its trend, what is flaky, and since when something fails."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.report.across.history import record, since, trend
from conformance.report.across.models import as_json
from conformance.report.across.trends import as_html, as_text
from conformance.report.model.run import Run
from conformance.tests.sample_run import START, conformant, sample


def runs(pattern: str) -> list[Run]:
    """One run a day: ``.`` conformant, ``x`` with failures, ``?`` in which PAGE-026 was not tested."""
    made = []
    for day, sign in enumerate(pattern):
        one = sample() if sign == "x" else conformant()
        if sign == "?":
            one.ledger.tallies.pop("PAGE-026")
        started = START + timedelta(days=day)
        made.append(one.run(started=started, finished=started + timedelta(seconds=9)))
    return made


def kept(tmp_path: Path, pattern: str) -> Path:
    file = tmp_path / "history.sqlite"
    for run in runs(pattern):
        record(run, file)
    return file


def test_the_trend_tells_every_run_oldest_first(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, ".x."))

    held = (0, "Conformant")
    assert [(run.failed, run.verdict) for run in one.runs] == [held, (5, "Not conformant"), held]
    assert one.target == "staging.toml"


@pytest.mark.parametrize(
    ("pattern", "failing", "flips", "fixed"),
    [
        (".x.xx", [("24", 2, "23")], [3], []),
        ("xx", [("21", 2, "")], [], []),
        (".x?", [("22", 1, "21")], [], []),
        ("..xx", [("23", 2, "22")], [], []),
        (".x.x", [("24", 1, "23")], [3], []),
        ("xx.", [], [], [("21", "23", 2)]),
        (".xx..", [], [], [("22", "24", 2)]),
        ("x.x.", [], [3], []),
    ],
)
def test_a_rule_fails_since_a_day_is_flaky_or_is_fixed(
    tmp_path: Path, pattern: str, failing: list[object], flips: list[int], fixed: list[object]
) -> None:
    (one,) = trend(kept(tmp_path, pattern))
    day = slice(8, 10)

    failed = [row for row in one.failing if row.requirement == "PAGE-026"]
    assert [(row.since[day], row.runs, (row.last_held or "")[day]) for row in failed] == failing
    assert [row.flips for row in one.flaky if row.requirement == "PAGE-026"] == flips
    mended = [row for row in one.fixed if row.requirement == "PAGE-026"]
    assert [(row.failed_since[day], row.fixed_since[day], row.runs) for row in mended] == fixed


def test_a_run_is_linked_to_its_report_until_a_later_run_writes_there(tmp_path: Path) -> None:
    first, second = runs("..")
    file, folder = tmp_path / "history.sqlite", tmp_path / "re ports"
    for run in (first, second):
        folder.mkdir(exist_ok=True)
        run.write(folder / "results.json")
        record(run, file, reports=folder)

    page = as_html(trend(file), tmp_path / "pages")

    assert page.count('href="../re%20ports/report.html"') == 1


def test_the_same_run_is_kept_once(tmp_path: Path) -> None:
    file = kept(tmp_path, ".")

    record(runs(".")[0], file)

    assert len(trend(file)[0].runs) == 1


def test_targets_have_trends_of_their_own_and_a_port_that_changes_makes_no_other(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    for port, profile in ((1, "bundled"), (2, "bundled"), (3, None)):
        target = {"target_url": f"http://localhost:{port}", "target_profile": profile}
        record(conformant().run(**target, started=START + timedelta(hours=port)), file)

    assert [(one.target, len(one.runs)) for one in trend(file)] == [("http://localhost:3", 1), ("bundled", 2)]


def test_what_changed_since_the_run_before_is_told(tmp_path: Path) -> None:
    file = kept(tmp_path, ".")

    changed = since(runs(".x")[1], file)

    assert changed is not None
    assert "PAGE-026" in changed.newly_failing
    assert since(runs(".")[0], file) is None


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("these are my notes, and a database they are not" * 20, encoding="utf-8")

    with pytest.raises(UsageError, match=r"notes\.txt: not a history"):
        record(runs(".")[0], file)
    assert file.read_text(encoding="utf-8").startswith("these are my notes")


def test_a_history_of_a_later_version_is_refused(tmp_path: Path) -> None:
    file = kept(tmp_path, ".")
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA user_version = 9")

    with pytest.raises(UsageError, match="later version"):
        trend(file)


def test_every_form_tells_what_fails_and_what_is_flaky(tmp_path: Path) -> None:
    found = trend(kept(tmp_path, ".x.x"))

    for told in (as_text(found), as_html(found), as_json(found)):
        assert "PAGE-026" in told
    assert "FAIL PAGE-026 since 24 Nov 2026" in as_text(found)
    assert "changed 3 times (·×·×)" in as_text(found)
