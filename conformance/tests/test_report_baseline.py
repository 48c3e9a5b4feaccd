"""A baseline lists what is known to fail: only what is new fails a run, and what is listed must be so."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.report.across.baseline import Baseline, KnownFailure, compare, entry_text, load, write
from conformance.report.across.baseline_update import prune, update
from conformance.report.model.run import Regression, Run, Scope
from conformance.report.model.words import counted
from conformance.tests.deployment import deployed
from conformance.tests.sample_run import INITIATE, conformant, finding, sample

TODAY = date(2026, 11, 21)
DATA = f"ENV-008 {INITIATE} data"


def known(signature: str = DATA, **changes: object) -> KnownFailure:
    fields = {
        "requirement": signature.split()[0],
        "signature": signature,
        "reason": "fixed in the next release",
    }
    return KnownFailure(**{**fields, **changes})  # type: ignore[arg-type]


def failing() -> Run:
    return sample().run()


def test_what_is_not_listed_is_new_and_fails() -> None:
    result = compare(failing(), Baseline("known.toml", (known(),)), TODAY)

    assert [entry.signature for entry in result.known] == [DATA]
    assert {one.requirement for one in result.new} == {"ENV-011", "LOGIN-030", "PAGE-026", "SECURE-007"}


def test_an_entry_that_the_run_could_not_decide_is_neither_known_nor_stale() -> None:
    builder = conformant()
    builder.ledger.tallies.pop("ENV-008")
    builder.ledger.leave_untested("ENV-008", "no error was seen")

    result = compare(builder.run(), Baseline("known.toml", (known(),)), TODAY)

    assert (result.new, result.stale) == ((), ())
    assert [entry.signature for entry in result.undecided] == [DATA]
    assert result.record().known == []
    assert [entry.signature for entry in result.record().undecided] == [DATA]
    assert counted(result.record()) == "0 new · 0 known · 0 stale · 0 expired · 1 not decided"


ELSEWHERE = "ENV-008 GET /web/v1/system/roles data"


@pytest.mark.parametrize(
    "scope, stale",
    [
        (Scope(called=[INITIATE]), [DATA]),
        (Scope(selection="--failed"), []),
        (Scope(selection="--failed", called=[INITIATE]), []),
        (Scope(selection="--failed", called=[INITIATE], decided={INITIATE: ["ENV-001"]}), []),
        (Scope(selection="--failed", called=[INITIATE], decided={INITIATE: ["ENV-008"]}), [DATA]),
        (Scope(), [DATA, ELSEWHERE]),
    ],
)
def test_an_entry_is_stale_only_where_its_rule_was_decided_at_its_endpoint(
    scope: Scope, stale: list[str]
) -> None:
    run, baseline = conformant().run(scope=scope), Baseline("known.toml", (known(), known(ELSEWHERE)))

    result = compare(run, baseline, TODAY)

    assert [entry.signature for entry in result.stale] == stale
    assert len(result.undecided) == 2 - len(stale)
    assert [entry.signature for entry in prune(run, baseline)[0].entries] == [
        entry.signature for entry in result.undecided
    ]


def test_a_rule_of_one_endpoint_is_decided_there_by_a_selection_too() -> None:
    whole = conformant().run()
    rule = next(row for row in whole.requirements if row.verdict == "pass" and len(row.operations) == 1)
    entry = known(f"{rule.id} {rule.operations[0]} status")
    run = conformant().run(scope=Scope(selection="--failed", called=rule.operations))

    assert compare(run, Baseline("known.toml", (entry,)), TODAY).stale == (entry,)


@pytest.mark.slow
def test_a_selection_leaves_the_rows_of_what_it_does_not_come_to(tmp_path: Path) -> None:
    fault, path = "countries-value-off-by-one", tmp_path / "known.toml"
    with deployed(tmp_path, faults=[fault]) as portal:
        first = portal.run("--only", "CONSTANT-020", "--baseline", str(path), "--baseline-update")
        text = path.read_text(encoding="utf-8")
        path.write_text(text + known(ELSEWHERE).row("known").text, encoding="utf-8")
        again = portal.run("--only", "CONSTANT-020", "--baseline", str(path), "--baseline-prune")
    rows = [row.signature for row in load(path).entries]
    with deployed(tmp_path) as mended:
        fixed = mended.run("--only", "CONSTANT-020", "--baseline", str(path))

    assert (first.code, again.code, fixed.code) == (0, 0, 1)
    assert [row.split()[0] for row in rows] == ["CONSTANT-020", "ENV-008"]
    assert [row["requirement"] for row in again.results["baseline"]["undecided"]] == ["ENV-008"]
    assert [row["requirement"] for row in fixed.results["baseline"]["stale"]] == ["CONSTANT-020"]


@pytest.mark.parametrize("exit_code", [2, 3, 5, 6])
def test_a_run_that_did_not_end_makes_nothing_stale(exit_code: int) -> None:
    result = compare(conformant().run(exit_code=exit_code), Baseline("known.toml", (known(),)), TODAY)

    assert not result.stale


@pytest.mark.parametrize("expires, expired", [(date(2026, 11, 20), True), (TODAY, False), (None, False)])
def test_an_entry_holds_to_the_end_of_its_day(expires: date | None, expired: bool) -> None:
    result = compare(failing(), Baseline("known.toml", (known(expires=expires),)), TODAY)

    assert bool(result.expired) is expired
    assert (DATA in {one.signature for one in result.new}) is expired


def test_a_warning_is_new_only_where_strict() -> None:
    lenient = compare(sample().run(strict=False), Baseline("known.toml"), TODAY)
    strict = compare(sample().run(strict=True), Baseline("known.toml"), TODAY)

    assert "ACCOUNT-015" not in {one.requirement for one in lenient.new}
    assert "ACCOUNT-015" in {one.requirement for one in strict.new}


def test_an_update_sets_stale_entries_aside_and_takes_their_reason_back_when_they_return() -> None:
    fixed = update(conformant().run(), Baseline("known.toml", (known(reason="we know"),)))
    assert fixed.entries == ()
    assert [entry.reason for entry in fixed.gone] == ["we know"]

    back = update(failing(), fixed)
    assert next(entry.reason for entry in back.entries if entry.signature == DATA) == "we know"
    assert back.gone == ()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    nasty = known(
        'ENV-001 GET /x "quoted" \\ \u202e', reason='say "why"\n\x7f here', expires=date(2027, 1, 31)
    )
    baseline = Baseline(str(file), (known(), nasty), (known("ENV-002 GET /y"),))

    write(baseline, file)

    read = load(file)
    assert read.entries[0] == baseline.entries[0]
    assert read.entries[1].expires == date(2027, 1, 31)
    assert read.gone == baseline.gone


@pytest.mark.parametrize(
    "text, told",
    [
        ('[[known]]\nreasn = "x"', 'number 1 has no key "reasn". Did you mean "reason"?'),
        ('[[knwon]]\nrequirement = "A"', 'there is no key "knwon". Did you mean "known"?'),
        ('[[known]]\nrequirement = "A"\nsignature = "A x"', "number 1 lacks reason"),
        ('[[known]]\nrequirement = "A"\nsignature = "A x"\nreason = 5', "reason must be text in quotes"),
        (
            '[[known]]\nrequirement = "A"\nsignature = "A"\nreason = "r"\nexpires = "soon"',
            "must be a day such as",
        ),
        (
            "[[known]]\nuntil = 2027-01-31",
            "The keys are requirement, endpoint, signature, reason, ticket, expires",
        ),
        ('[known]\nrequirement = "A"', "with two brackets"),
        ("[[known]", "not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_file_place_and_the_nearest_key(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError) as refused:
        load(file)

    assert str(refused.value).startswith(str(file))
    assert told in str(refused.value)


def test_two_entries_of_one_signature_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(entry_text(finding()) * 2, encoding="utf-8")

    with pytest.raises(UsageError, match="two entries have the signature"):
        load(file)


def test_a_baseline_is_written_from_the_reports_of_a_finished_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing().write(tmp_path / "results.json")
    path = tmp_path / "known.toml"

    assert main(["baseline", str(tmp_path), str(path)]) == 0

    listed = load(path)
    assert compare(failing(), listed, TODAY).new == ()
    shown = capsys.readouterr().out
    assert f"{path}: 5 rows, 5 of them new." in shown
    assert "5 rows without a reason" in shown


def test_a_baseline_from_reports_keeps_reasons_and_sets_aside_or_removes_what_is_gone(tmp_path: Path) -> None:
    failing().write(tmp_path / "results.json")
    path = tmp_path / "known.toml"
    write(Baseline(str(path), (known(), known("ENV-001 GET /x"))), path)

    assert main(["baseline", str(tmp_path), str(path)]) == 0
    assert [row.reason for row in load(path).entries if row.signature == DATA] == [known().reason]
    assert [row.signature for row in load(path).gone] == ["ENV-001 GET /x"]

    assert main(["baseline", str(tmp_path), str(path), "--prune"]) == 0
    assert load(path).gone == ()


def test_a_baseline_from_the_reports_of_a_replay_lists_its_regressions(tmp_path: Path) -> None:
    place = Regression(exchange=1, endpoint="GET /x", path="data[3].name", kind="value")
    failing().model_copy(update={"regressions": [place]}).write(tmp_path / "results.json")

    assert main(["baseline", str(tmp_path / "results.json"), str(tmp_path / "known.toml")]) == 0

    assert [row.path for row in load(tmp_path / "known.toml").regressions] == ["data[*].name"]
