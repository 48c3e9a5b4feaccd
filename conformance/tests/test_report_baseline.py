"""A baseline lists what is known: only what is new fails a run, and what is listed must be so."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import ProfileError, UsageError
from conformance.report.across.baseline import Baseline, baseline_of, outcome_of
from conformance.report.across.baseline_rows import NOISE, BaselineRow, load, write
from conformance.report.across.compare import compare
from conformance.report.model.run import BaselineEntry, BaselineOutcome, FindingEntry, Regression, Run, Scope
from conformance.report.model.words import counted
from conformance.run.rerun import signature_of
from conformance.target.profile.model import parse
from conformance.tests.sample_run import INITIATE, conformant, row_of, sample
from conformance.traffic.exchange import Json

TODAY = date(2026, 11, 21)
DATA = f"ENV-008 {INITIATE} data"
ROLES = "GET /web/v1/system/roles"


def known(rule: str = "ENV-008", endpoint: str = INITIATE, path: str = "data", **more: object) -> BaselineRow:
    return BaselineRow(rule, endpoint, path, **{"reason": "fixed in the next release", **more})  # type: ignore[arg-type]


ELSEWHERE = known(endpoint=ROLES)


def against(run: Run, *rows: BaselineRow) -> BaselineOutcome:
    return outcome_of(run, Baseline("known.toml", rows), TODAY)


def signatures(entries: Sequence[BaselineEntry]) -> list[str]:
    return [entry.signature for entry in entries]


def failing() -> Run:
    return sample().run()


def test_what_is_not_listed_is_new_and_fails() -> None:
    result = against(failing(), known())

    assert signatures(result.known) == [DATA]
    assert {one.requirement for one in result.new} == {"ENV-011", "LOGIN-030", "PAGE-026", "SECURE-007"}


def without_errors() -> Run:
    builder = conformant()
    builder.ledger.tallies.pop("ENV-008")
    builder.ledger.leave_untested("ENV-008", "no error was seen")
    return builder.run()


@pytest.mark.parametrize("run, row", [(without_errors(), known()), (conformant().run(), known(flaky=True))])
def test_a_row_that_the_run_could_not_decide_is_neither_known_nor_stale(run: Run, row: BaselineRow) -> None:
    result = against(run, row)

    assert signatures(result.undecided) == [DATA]
    assert counted(result) == "0 new · 0 known · 0 stale · 0 expired · 1 not decided"


WALLET = "GET /web/v1/system/wallets/{id}"
UNDESCRIBED = known(endpoint=WALLET)


@pytest.mark.parametrize(
    "scope, stale",
    [
        (Scope(called=[INITIATE]), [DATA]),
        (Scope(selection="--failed"), []),
        (Scope(selection="--failed", called=[INITIATE]), []),
        (Scope(selection="--failed", called=[INITIATE], decided={INITIATE: ["ENV-001"]}), []),
        (Scope(selection="--failed", called=[INITIATE], decided={INITIATE: ["ENV-008"]}), [DATA]),
        (Scope(), [DATA, ELSEWHERE.signature, UNDESCRIBED.signature]),
        (Scope(called=[INITIATE, ROLES], decided={ROLES: ["ENV-008"]}), [ELSEWHERE.signature]),
        (Scope(called=[WALLET], decided={WALLET: ["ENV-008"]}), [UNDESCRIBED.signature]),
        (Scope(called=[WALLET, INITIATE], decided={INITIATE: ["ENV-008"]}), [DATA]),
    ],
)
def test_a_row_is_stale_only_if_its_rule_was_decided_at_its_endpoint(scope: Scope, stale: list[str]) -> None:
    result = against(conformant().run(scope=scope), known(), ELSEWHERE, UNDESCRIBED)

    assert signatures(result.stale) == stale
    assert len(result.undecided) == 3 - len(stale)


def test_a_row_is_stale_in_a_replay_only_where_its_endpoint_was_compared() -> None:
    replay = {"endpoints": {INITIATE: {"same": 3}, ROLES: {"not_comparable": 2}}}
    run = conformant().run(command="replay").model_copy(update={"replay": replay})

    assert signatures(against(run, known(), ELSEWHERE).stale) == [DATA]


def test_a_rule_of_one_endpoint_is_decided_there_by_a_selection_too() -> None:
    whole = conformant().run()
    rule = next(row for row in whole.requirements if row.verdict == "pass" and len(row.operations) == 1)
    row = known(rule.id, rule.operations[0], "status")
    run = conformant().run(scope=Scope(selection="--failed", called=rule.operations))

    assert signatures(against(run, row).stale) == [row.signature]


@pytest.mark.parametrize("exit_code", [2, 3, 5, 6])
def test_a_run_that_did_not_end_makes_nothing_stale(exit_code: int) -> None:
    assert not against(conformant().run(exit_code=exit_code), known()).stale


@pytest.mark.parametrize("until, expired", [(date(2026, 11, 20), True), (TODAY, False), (None, False)])
def test_a_row_holds_to_the_end_of_its_day(until: date | None, expired: bool) -> None:
    result = against(failing(), known(until=until))

    assert bool(result.expired) is expired
    assert (DATA in signatures(result.new)) is expired


def test_a_row_that_lists_nothing_is_stale_and_its_day_no_matter() -> None:
    result = against(conformant().run(), known(until=date(2026, 1, 1)))

    assert (signatures(result.stale), result.expired) == ([DATA], [])


def test_a_warning_is_new_only_where_strict() -> None:
    lenient, strict = (against(sample().run(strict=strict)) for strict in (False, True))

    assert [one.requirement for one in lenient.warned] == ["ACCOUNT-015"]
    assert counted(lenient) == "5 new · 0 known · 0 stale · 0 expired · 1 warning not listed"
    assert strict.warned == []
    assert "ACCOUNT-015" not in {one.requirement for one in lenient.new}
    assert "ACCOUNT-015" in {one.requirement for one in strict.new}


def test_a_row_of_a_contradiction_that_a_replay_shows_covers_its_rule_at_its_endpoint() -> None:
    result = against(failing(), known(path="status", kind="status"))

    assert DATA in signatures(result.known)
    assert DATA not in signatures(result.new)


# --- The file

OURS = f"""\
# Owned by team A; ask before you add a row.

# the error handler, see the wiki
[[known]] # oldest
endpoint = "{INITIATE}"
rule = "ENV-008"   # the envelope
path = "data"
reason = 'fixed in 7'
# until then

# --- undecided ---

[[known]]
rule = "ZZZ-001"
endpoint = "GET /z"
reason = \"\"\"of two lines:
[[known]]
# no comment\"\"\"
"""


def file_of(text: str, folder: Path) -> Path:
    path = folder / "known.toml"
    path.write_bytes(text.encode())
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    nasty = known("ENV-001", 'GET /x "quoted" \\ é', "a[*].b", reason='say "why"\n here', until=TODAY)
    difference = BaselineRow("", ROLES, "status", "status", 200, 404, "moved", True, "PORTAL-1")
    path = tmp_path / "folder" / "known.toml"

    write([known(), nasty, difference], path)

    assert load(path) == (known(), nasty, difference)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_comments_order_and_line_ends_of_what_stays_are_kept(tmp_path: Path, line_end: str) -> None:
    path = file_of(OURS.replace("\n", line_end), tmp_path)

    write([*load(path), ELSEWHERE], path)

    assert path.read_bytes().decode() == f"{OURS}\n{ELSEWHERE.text}".replace("\n", line_end)
    assert load(path)[2] == ELSEWHERE


def test_a_row_that_goes_takes_its_own_comments_with_it(tmp_path: Path) -> None:
    path = file_of(OURS, tmp_path)

    write(load(path)[1:], path)

    after = path.read_text(encoding="utf-8")
    assert "error handler" not in after
    assert after.startswith(f"{OURS.splitlines()[0]}\n\n# --- undecided ---\n\n[[known]]\n")
    assert [row.rule for row in load(path)] == ["ZZZ-001"]


ROW = '[[known]]\nrule = "A"\nendpoint = "GET /x"\nreason = "r"\n'
DIFFERENCE = f'{ROW}path = "b"\nkind = "value"\n'


@pytest.mark.parametrize(
    "text, problem",
    [
        ('[[known]]\nreasn = "x"', 'number 1 has no key "reasn". Did you mean "reason"?'),
        ('[[knwon]]\nrule = "A"', 'there is no key "knwon". Rows stand under [[known]].'),
        ('[[known]]\nrule = "A"\nendpoint = "GET /x"', "number 1 lacks reason"),
        (ROW.replace('rule = "A"\n', ""), "number 1 lacks rule, the id of a requirement, or kind"),
        (ROW.replace('"r"', "5"), "number 1: reason must be text in quotes"),
        (f'{ROW}until = "soon"', "number 1: until must be a day such as"),
        (f"{ROW}flaky = 1", "number 1: flaky must be true or false"),
        (f"{ROW}now = 1", "number 1 has a value, which belongs to a difference"),
        (f'{ROW}kind = "value"', "number 1 lacks path"),
        (DIFFERENCE.replace('"value"', '"Valeu"'), 'Did you mean "value"?'),
        (f"{DIFFERENCE}was = []", "number 1: was must be a text of at most 200 characters"),
        ("[[known]]\nuntl = 2027-01-31", "The keys are rule, endpoint, path, kind, was, now, reason, flaky"),
        ('[known]\nrule = "A"', "with two brackets"),
        ("known = [1]", "number 1 is not a table"),
        ("[[known]", "not TOML"),
        (ROW * 2, 'two rows list "A GET /x". Keep one.'),
    ],
)
def test_a_mistake_in_the_file_is_named_with_file_place_and_the_nearest_key(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        load(file_of(text, tmp_path))

    assert str(refused.value).startswith(str(tmp_path / "known.toml"))
    assert problem in str(refused.value)


def older(path: str, kind: str = "", was: Json = None, now: Json = None, rule: str = "") -> BaselineRow:
    kept = {"reason": "so it is", "ticket": "T-1", "until": TODAY}
    return known(rule, ROLES, path, kind=kind, was=was, now=now, **kept)


KEPT = 'reason = "so it is"\nticket = "T-1"\nexpires = 2026-11-21\n'
OLDER = {
    "baseline": (
        f'[[known]]\nrequirement = "ENV-008"\nsignature = "ENV-008 {ROLES} data[].a"\n{KEPT}',
        older("data[*].a", rule="ENV-008"),
    ),
    "regression": (
        f'[[regression]]\nendpoint = "{ROLES}"\npath = "data[*].a"\nkind = "value"\n{KEPT}',
        older("data[*].a", "value"),
    ),
    "accept": (
        f'[[accept]]\nendpoint = "{ROLES}"\npath = "status"\nkind = "status"\nwas = 200\nnow = 404\n{KEPT}',
        older("status", "status", 200, 404),
    ),
    "noise": (
        f'[[noise]]\noperation = "{ROLES}"\npath = "data[].a"\nkind = "value"\ncompare = "type"\ntimes = 2\n',
        BaselineRow("", ROLES, "data[*].a", "value", reason=NOISE, flaky=True),
    ),
}


@pytest.mark.parametrize("form", OLDER)
def test_an_older_file_is_refused_with_the_row_to_write_in_its_place(tmp_path: Path, form: str) -> None:
    text, row = OLDER[form]

    with pytest.raises(UsageError) as refused:
        load(file_of(text, tmp_path))

    sentence, _, present = str(refused.value).partition("\n\n")
    assert sentence.endswith("has an older form. Write each of its rows so:")
    assert load(file_of(present, tmp_path)) == (row,)


def test_an_older_profile_is_refused_with_what_to_write_in_place_of_its_rows(tmp_path: Path) -> None:
    portal = '[portal]\nurl = "http://127.0.0.1:8000"\n\n'
    row = f'endpoint = "{ROLES}"\npath = "data[*].a"\nkind = "value"\n{KEPT}'

    with pytest.raises(ProfileError) as refused:
        parse(f"{portal}[[replay.accept]]\n{row}", {})

    sentence = 'the profile has no table "replay". A difference that was accepted there is a [[known]] row'
    assert sentence in str(refused.value)
    present = f"[[known]]\n{row}".replace("expires", "until")
    assert load(file_of(present, tmp_path)) == (older("data[*].a", "value"),)


def test_where_strict_a_row_needs_a_reason_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    write([known(), BaselineRow("ENV-001", ROLES)], path)

    with pytest.raises(UsageError, match=r"with --strict each row needs a reason of its own.*: ENV-001 GET"):
        baseline_of(path, is_strict=True)

    baseline = baseline_of(path, is_strict=False)
    assert baseline is not None
    assert len(baseline.rows) == 2


# --- What a finished run shows

LOST = Regression(exchange=1, endpoint="GET /x", path="data[3].name", kind="value", recorded="a")


class Reports:
    """The reports of a finished run, beside a file of what is known."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self.known = folder, folder / "known.toml"
        run.write(folder / "results.json")

    def change(self, *words: str) -> int:
        return main(["compare", str(self.folder), "--known", str(self.known), *words])


def only(run: Run, rule: str) -> FindingEntry:
    return next(finding for finding in run.findings if finding.requirement == rule)


def test_a_finding_is_accepted_by_its_id_and_the_rest_stays_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = Reports(tmp_path, failing())

    assert reports.change("--accept", only(failing(), "ENV-008").id) == 0
    assert load(reports.known) == (known(reason="say here why this is accepted"),)
    shown = capsys.readouterr().out
    assert f"{reports.known}: 1 row, 1 of them new." in shown
    assert DATA in shown
    assert reports.change("--accept", only(failing(), "ENV-008").id) == 0
    assert len(load(reports.known)) == 1


def test_all_that_fails_is_accepted_at_once_and_reasons_are_kept(tmp_path: Path) -> None:
    run = failing().model_copy(update={"regressions": [LOST], "command": "replay"})
    reports = Reports(tmp_path, run)
    write([known(until=date(2020, 1, 1))], reports.known)

    assert reports.change("--accept", "all") == 0

    rows = load(reports.known)
    assert rows[0] == known(until=date(2020, 1, 1))
    assert rows[1] == BaselineRow("", "GET /x", "data[*].name", "value")
    assert {row.rule for row in rows[2:]} == {"ENV-011", "LOGIN-030", "PAGE-026", "SECURE-007"}


def test_warnings_are_accepted_by_their_ids_and_named_where_all_that_fails_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warning, failure = only(failing(), "ACCOUNT-015"), only(failing(), "ENV-008")
    lenient = failing().model_copy(update={"findings": [warning], "exit_code": 0})

    assert Reports(tmp_path, lenient).change("--accept", "all") == 0
    assert f"Warnings fail no run without --strict: --accept takes each by its id ({warning.id})." in (
        " ".join(capsys.readouterr().out.split())
    )
    reports = Reports(tmp_path, failing())
    assert reports.change("--accept", f"{warning.id},{failure.id}", "--accept", "ENV-011") == 0

    assert {row.rule for row in load(reports.known)} == {"ACCOUNT-015", "ENV-008", "ENV-011"}


def test_a_finding_of_a_replay_is_accepted_with_the_difference_that_shows_it(tmp_path: Path) -> None:
    finding = only(failing(), "ENV-008")
    place = {"endpoint": finding.endpoint, "path": finding.path, "kind": "value"}
    shown = Regression(exchange=3, meaning="contradiction", requirement="ENV-008", **place)
    reports = Reports(tmp_path, failing().model_copy(update={"regressions": [shown]}))

    assert reports.change("--accept", finding.id) == 0

    assert [(row.rule, row.kind) for row in load(reports.known)] == [("ENV-008", "value")]


def test_a_rerun_takes_the_id_of_a_finding_of_the_report(tmp_path: Path) -> None:
    finding = only(failing(), "ENV-008")
    folder = Reports(tmp_path, failing()).folder

    assert signature_of(finding.id, folder) == finding.signature
    assert [signature_of(each, folder) for each in ("0000000", "ENV-008")] == ["0000000", "ENV-008"]
    aside = finding.model_copy(update={"is_aside": True, "case": "cases/errors/test_ids.py::test_an_id"})
    folder = Reports(tmp_path, failing().model_copy(update={"findings": [aside]})).folder
    named = signature_of(finding.id, folder)
    assert named == f"ENV-008 {aside.case}", "no case of the rule shows it"


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--accept", "0000000"], "the run shows no finding or difference with this id"),
        (["--prune"], "--prune needs a run with --known FILE"),
    ],
)
def test_what_a_run_does_not_show_changes_no_row(
    tmp_path: Path, words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = Reports(tmp_path, failing())
    reports.known.touch()

    assert reports.change(*words) == 4

    assert problem in " ".join(capsys.readouterr().err.split())
    assert reports.known.read_text() == ""


def test_pruning_removes_what_the_run_calls_stale_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = conformant().run()
    reports = Reports(tmp_path, run.model_copy(update={"baseline": against(run, known(), known("ZZZ-001"))}))
    write([known(), known("ZZZ-001")], reports.known)

    assert reports.change("--prune") == 0

    assert [row.rule for row in load(reports.known)] == ["ZZZ-001"]
    assert f"Removed from {reports.known}: {DATA} (fixed in the next release)." in capsys.readouterr().out
    assert reports.change("--prune") == 0
    assert "is stale by this run" in capsys.readouterr().out


def test_a_comparison_leaves_out_what_is_listed_of_the_newer_run() -> None:
    run = failing().model_copy(update={"regressions": [LOST]})
    rows = (*map(row_of, run.findings), BaselineRow("", "GET /x", "data[*].name", "value"))

    whole = compare(conformant().run(), run, Baseline("known.toml", rows))
    partly = compare(conformant().run(), run, Baseline("known.toml", (known(),)))

    assert (whole.is_worse, whole.newly_failing, whole.new_regressions) == (False, [], [])
    assert partly.is_worse
    assert "ENV-008" not in {change.requirement for change in partly.newly_failing}
    assert "ENV-011" in {change.requirement for change in partly.newly_failing}
