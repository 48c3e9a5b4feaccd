"""The history of a target: its trend, what is flaky, and since when something fails."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.report.across.history import as_html, as_json, as_text, record, since, trend
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

    assert [(run.failed, run.verdict) for run in one.runs] == [
        (0, "Conformant"),
        (5, "Not conformant"),
        (0, "Conformant"),
    ]
    assert one.target == "staging.toml"


def test_since_when_something_fails_is_told_with_when_it_last_held(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, ".x.xx"))

    row = next(row for row in one.failing if row.requirement == "PAGE-026")
    assert row.since.startswith("2026-11-24")
    assert row.runs == 2
    assert row.last_held is not None
    assert row.last_held.startswith("2026-11-23")


def test_what_never_held_fails_since_the_first_run(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, "xx"))

    row = next(row for row in one.failing if row.requirement == "PAGE-026")
    assert (row.runs, row.last_held) == (2, None)
    assert "(2 runs), never passed here" in as_text([one])


def test_a_run_that_could_not_decide_does_not_end_a_failure(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, ".x?"))

    assert next(row for row in one.failing if row.requirement == "PAGE-026").since.startswith("2026-11-22")


def test_what_holds_in_the_newest_run_does_not_fail(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, "xx."))

    assert one.failing == []


def test_what_turns_to_and_fro_is_flaky_and_what_turned_once_is_not(tmp_path: Path) -> None:
    (turning,) = trend(kept(tmp_path, ".x.x"))
    row = next(row for row in turning.flaky if row.requirement == "PAGE-026")
    assert row.flips == 3
    assert row.verdicts == ["pass", "fail", "pass", "fail"]

    (tmp_path / "history.sqlite").unlink()
    (once,) = trend(kept(tmp_path, "..xx"))
    assert once.flaky == []


def test_what_failed_once_and_holds_since_is_fixed_and_not_flaky(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, ".xx.."))

    row = next(row for row in one.fixed if row.requirement == "PAGE-026")
    assert (row.failed_since[:10], row.fixed_since[:10], row.runs) == ("2026-11-22", "2026-11-24", 2)
    assert one.flaky == []
    assert "fixed PAGE-026: failed in 2 runs since 22 Nov 2026" in as_text([one])


def test_what_fails_anew_after_it_held_is_flaky_and_not_fixed(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, "x.x."))

    assert "PAGE-026" in {row.requirement for row in one.flaky}
    assert one.fixed == []


def test_the_share_tested_is_a_line(tmp_path: Path) -> None:
    (one,) = trend(kept(tmp_path, ".x"))

    assert 90 < one.runs[0].tested < 100
    assert f"{one.runs[1].tested} % tested" in as_text([one])
    assert '<polyline class="share"' in as_html([one])


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
    for at, (url, profile) in enumerate(
        [("http://localhost:1", "bundled"), ("http://localhost:2", "bundled"), ("http://localhost:3", None)]
    ):
        record(
            conformant().run(target_url=url, target_profile=profile, started=START + timedelta(hours=at)),
            file,
        )

    assert [(one.target, len(one.runs)) for one in trend(file)] == [("http://localhost:3", 1), ("bundled", 2)]
    assert [one.target for one in trend(file, target="bundled")] == ["bundled"]


def test_an_unknown_target_is_told_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run of other\. It has staging\.toml\."):
        trend(kept(tmp_path, "."), target="other")


def test_what_changed_since_the_run_before_is_told(tmp_path: Path) -> None:
    file = kept(tmp_path, ".")

    changed = since(runs(".x")[1], file)

    assert changed is not None
    assert "PAGE-026" in changed.newly_failing
    assert since(runs(".")[0], file) is None


def test_a_missing_history_is_told_with_how_to_begin_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--history"):
        trend(tmp_path / "none.sqlite")


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


def test_an_empty_history_is_told_so(tmp_path: Path) -> None:
    assert as_text([]) == "The history has no run yet.\n"
    assert "The history has no run yet" in as_html([])
