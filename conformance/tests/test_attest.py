"""``verify``: an honest report has nothing other, and a forged one is found, with what is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.attest.recomputing import no_cases
from conformance.cli import main
from conformance.report.formats.manifest import EXCHANGES, MANIFEST
from conformance.report.model.run import Run
from conformance.spec.places import OWN_SECTION
from conformance.tests.attested import (
    BROKEN,
    Forgery,
    assert_verified,
    edit,
    faulty_run,
    forged_exchanges,
    forged_results,
    mended,
    recount,
    renumbered,
    rewrite_manifest,
    row_of,
    verified,
    without_findings,
)
from conformance.tests.deployment import command, done
from conformance.tests.installation import shared


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    """A copy of the folder of a faulty run."""
    made = shared(tmp_path_factory, "attested", faulty_run) / "out"
    return Path(shutil.copytree(made, tmp_path / "reports"))


def other_verdict(results: dict[str, Any]) -> None:
    row_of(results)["verdict"] = "pass"
    recount(results)


def lower_level(results: dict[str, Any]) -> None:
    row_of(results).update(level="should", verdict="warn")
    for finding in results["findings"]:
        finding["verdict"] = "warn"
    recount(results)
    results.update(exit_code=0, exit_codes=[])


def no_such_rule(results: dict[str, Any]) -> None:
    without_findings(results)
    results["requirements"].remove(row_of(results))
    results["edition"]["untested"].append(BROKEN)
    recount(results)


def untested_passes(results: dict[str, Any]) -> None:
    row = next(row for row in results["requirements"] if row["verdict"] == "untested" and not row["cases"])
    row.update(verdict="pass")
    row.pop("reason")
    recount(results)


def of_a_selection(results: dict[str, Any]) -> None:
    without_findings(results)
    results["scope"]["selection"] = "--skip CONSTANT-020"
    results["edition"]["conforms"] = True


def of_a_restart(results: dict[str, Any]) -> None:
    without_findings(results)
    results["ending"] = {"restarted": "The portal restarted."}
    results["edition"]["conforms"] = False


def of_another_version(results: dict[str, Any]) -> None:
    no_such_rule(results)
    results["suite"]["version"] = "99.0.0"


def other_request(lines: list[dict[str, Any]]) -> None:
    """A query of the last page asks for the first."""
    body = next(line["request"]["body"] for line in lines if line["request"].get("body", {}).get("page"))
    body["page"] = 0


def sent_twice(lines: list[dict[str, Any]]) -> None:
    lines.insert(40, dict(lines[39]))
    for number, line in enumerate(lines, 1):
        line["n"] = number


def finding_with(**changes: object) -> Forgery:
    return forged_results(lambda results: results["findings"][0].update(changes))


def results_with(**changes: object) -> Forgery:
    return forged_results(lambda results: results.update(changes))


def manifest_with(old: str, new: str) -> Forgery:
    def forge(folder: Path) -> None:
        path = folder / MANIFEST
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    return forge


OTHER_NUMBERS = "its timings, or the gravity of its findings"
REWRITTEN: dict[str, tuple[Forgery, str]] = {
    "a finding is taken out": (forged_results(without_findings), f"{BROKEN}: exchange"),
    "a finding is taken out, and a restart claimed": (forged_results(of_a_restart), f"{BROKEN}: exchange"),
    "a finding is taken out, and another version claimed": (
        forged_results(of_another_version),
        "another build of the suite wrote this",
    ),
    "a verdict is turned": (forged_results(other_verdict), "its level and findings make another"),
    "the level of a rule is lowered": (forged_results(lower_level), "its level is must, and it says"),
    "a rule is left out": (forged_results(no_such_rule), f"it leaves out {BROKEN}"),
    "an untested rule passes": (forged_results(untested_passes), "its verdict is pass. What was recorded"),
    "the summary is another": (
        forged_results(lambda results: results["summary"].update(fail=0)),
        "its summary does not count its verdicts",
    ),
    "the exit code is another": (
        results_with(exit_code=0, exit_codes=[]),
        "its exit code is 0, and its verdicts make [1]",
    ),
    "the edition is claimed": (
        forged_results(lambda results: results["edition"].update(conforms=True)),
        "what it says of an edition",
    ),
    "the edition is claimed for a selection": (forged_results(of_a_selection), "what it says of an edition"),
    "a page says something else": (
        lambda folder: (folder / "summary.md").write_text("Conformant", encoding="utf-8"),
        "summary.md: it is not what results.json and the exchanges make",
    ),
    "a finding is less grave": (finding_with(severity="own"), OTHER_NUMBERS),
    "a finding says another value": (finding_with(actual=0), f"{BROKEN}: its finding says 0, and exchange"),
    "a finding names no exchange": (finding_with(exchanges=[99_999]), "names an exchange that is not there"),
    "an exchange is dropped": (forged_exchanges(lambda lines: lines.pop(7)), OTHER_NUMBERS),
    "an exchange is dropped, and the others renumbered": (forged_exchanges(renumbered), OTHER_NUMBERS),
}
"""By what a forger does who then writes the manifest anew: how, and what is said of it."""

PLAIN: dict[str, tuple[Forgery, str]] = {
    "an answer is edited and nothing else": (forged_exchanges(mended), f"{EXCHANGES}: its digest"),
    "the page is replaced": (
        lambda folder: (folder / "report.html").write_text("<h1>Conformant</h1>", encoding="utf-8"),
        "report.html: its digest is not that of manifest.json",
    ),
    "a report is swapped with another": (
        lambda folder: shutil.copy(folder / "summary.md", folder / "junit.xml"),
        "junit.xml: its digest",
    ),
    "a report is taken away": (
        lambda folder: (folder / "junit.xml").unlink(),
        "junit.xml: manifest.json lists it, and it is not there",
    ),
    "a report is put there": (
        lambda folder: (folder / "badge.json").write_text("{}", encoding="utf-8"),
        "badge.json: manifest.json does not list it",
    ),
    "the manifest says another result": (
        manifest_with("FAILED", "PASSED"),
        "manifest.json: its result is not that of the files",
    ),
    "the manifest is of another type": (
        manifest_with("test-result", "vsa"),
        "it is no Statement on a test result",
    ),
}
"""The same of a forger who leaves the manifest."""


@pytest.fixture
def without_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """No case runs on what was recorded: the rest finds it alone."""
    monkeypatch.setattr("conformance.run.recorded_run.cases_on_record", no_cases)


@pytest.mark.usefixtures("without_cases")
@pytest.mark.parametrize("name", [*REWRITTEN, *PLAIN])
def test_a_forgery_is_found_whether_its_manifest_is_new_or_not(name: str, folder: Path) -> None:
    forge, words = (REWRITTEN | PLAIN)[name]
    forge(folder)
    if name in REWRITTEN:
        rewrite_manifest(folder)

    assert_verified(1, words, folder)


OF_A_CASE = "FILE-020"


def test_results_that_the_cases_do_not_make_are_found(folder: Path) -> None:
    def forge(results: dict[str, Any]) -> None:
        finding, row = results["findings"][0], row_of(results, OF_A_CASE)
        made_up = {"requirement": OF_A_CASE, "case": row["cases"][0], "signature": "0" * 16}
        results["findings"].append({**finding, **made_up})
        row["verdict"] = "fail"
        row_of(results, "PAGE-033").update(verdict="untested", reason="no account")
        results["scope"]["testable"] += 1
        recount(results)

    edit(folder, forge)
    rewrite_manifest(folder)
    code, said = verified(folder)

    assert code == 1
    assert f"{OF_A_CASE}: its verdict is fail" in said
    assert "PAGE-033: by what was recorded, its verdict is pass" in said
    assert "musts could be tested, and its profile and its impact let" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(other_request, "it does not send exchange", id="another request"),
        pytest.param(sent_twice, "run on what was recorded: it", id="one more"),
        pytest.param(lambda lines: lines.pop(), "which was not recorded there", id="one less"),
    ],
)
def test_exchanges_that_the_cases_do_not_send_are_found(
    change: Callable[[list[dict[str, Any]]], object], words: str, folder: Path
) -> None:
    forged_exchanges(change)(folder)
    rewrite_manifest(folder)

    assert_verified(1, words, folder)


def test_a_report_without_its_profile_is_not_taken_for_one_that_has_no_cases(folder: Path) -> None:
    edit(folder, lambda results: results["scope"].pop("profile"))
    rewrite_manifest(folder)

    assert_verified(1, "the cases, run on what was recorded: they cannot run on it", folder)


def test_an_honest_report_of_a_faulty_portal_has_nothing_other(folder: Path) -> None:
    code, said = verified(folder)

    assert (code, "other " in said) == (0, False), said
    assert "result     Not conformant" in said
    assert f"edition    does not conform to 2026.1, Core: 1 rule contradicted ({BROKEN})" in said
    assert_share(said)


def assert_share(said: str) -> None:
    """At least 97 of a hundred musts that were decided are recomputed."""
    words = said.partition("recomputed: ")[2].split()
    assert round(100 * int(words[0]) / int(words[2])) >= 97, said


@pytest.mark.slow
def test_an_honest_report_of_a_whole_run_and_of_a_check_has_nothing_other(tmp_path: Path) -> None:
    run = done(command("run", "--out", str(tmp_path / "run"), "--formats", "cases,badge"), tmp_path / "run")
    assert run.code == 0
    main(["check", str(run.out / EXCHANGES), "--model", "--out", str(tmp_path / "check")])

    whole, of_run = verified(run.out)
    alone, of_check = verified(tmp_path / "check")

    assert (whole, alone) == (0, 0), of_run + of_check
    assert_share(of_run)
    assert "not recomputable: about what a token says" in of_run
    assert "not recomputable" not in of_check


@pytest.mark.usefixtures("without_cases")
def test_of_very_many_differences_the_first_are_named(folder: Path) -> None:
    edit(folder, lambda results: [row.update(level="open") for row in results["requirements"]])

    _, said = verified(folder)

    assert said.count("\nother ") < 100
    assert " more\n" in said


def test_a_report_of_another_build_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.report.formats.manifest.suite_digest", lambda: "0" * 64)

    assert_verified(5, "another build of the suite wrote this", folder)


@pytest.mark.usefixtures("without_cases")
def test_rules_of_the_user_are_not_recomputable(folder: Path) -> None:
    def with_own(results: dict[str, Any]) -> None:
        own = {**row_of(results, "PAGE-001"), "id": "OWN-1", "section": OWN_SECTION, "verdict": "pass"}
        results["requirements"].append(own)
        results["own_rules"] = {"pass": 1, "fail": 0, "warn": 0, "open": 0, "untested": 0}

    edit(folder, with_own)
    rewrite_manifest(folder)

    assert Run.read(folder).own_ids == {"OWN-1"}
    assert_verified(1, "1 verdict not recomputable: a rule of the user's own", folder)  # no page has it
