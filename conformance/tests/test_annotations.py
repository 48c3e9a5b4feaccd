"""A job on GitHub is annotated with what fails it; no text of a target's making becomes a command."""

from __future__ import annotations

import io
from pathlib import Path

from conformance.cli.annotations import annotated
from conformance.cli.output import RedactedStream
from conformance.report.formats.annotations import MOST, annotations_of
from conformance.report.formats.write import write_all
from conformance.report.model.run import Regression, Run, Scope
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_runs import out_of_date
from conformance.tests.sample_run import PROFILE, Sample, conformant, envelope, exchange, sample
from conformance.traffic.redaction.redact import Secrets

GITHUB = {"GITHUB_ACTIONS": "true"}


def printed(tmp_path: Path, made: Sample, *, secret: str = "", environment: dict[str, str]) -> str:
    """What is printed by a command that writes the reports of a run."""
    stream, secrets = io.StringIO(), Secrets()
    secrets.add(secret, "password")

    def command() -> int:
        write_all(made.run(), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))
        return 1

    output = RedactedStream(stream, [secrets])
    assert annotated(command, tmp_path, environment=environment, stream=output) == 1
    return stream.getvalue()


def test_failures_are_errors_and_warnings_warnings(tmp_path: Path) -> None:
    lines = printed(tmp_path, sample(), environment=GITHUB).splitlines()

    assert [line.partition("::")[2].partition("::")[0] for line in lines] == [
        "error title=FAIL SECURE-007",
        "error title=FAIL ENV-008",
        "error title=FAIL ENV-011",
        "error title=FAIL PAGE-026",
        "error title=FAIL LOGIN-030",
        "warning title=WARN ACCOUNT-015",
    ]
    assert "seen 1, expected 0" in lines[3]


def test_nothing_is_annotated_anywhere_else(tmp_path: Path) -> None:
    assert printed(tmp_path, sample(), environment={}) == ""


def test_the_reports_of_an_earlier_run_are_not_annotated(tmp_path: Path) -> None:
    made, stream = sample(), io.StringIO()
    write_all(made.run(), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))

    assert annotated(lambda: 4, tmp_path, environment=GITHUB, stream=stream) == 4
    assert stream.getvalue() == ""


def test_the_report_beside_the_one_that_stays_is_annotated(tmp_path: Path) -> None:
    made, stream = sample(), io.StringIO()
    exchanges = made.write(tmp_path / "exchanges.jsonl")
    write_all(made.run(), tmp_path, exchanges=exchanges)

    def command() -> int:
        write_all(conformant().run(exit_code=6), tmp_path / "unreached", exchanges=exchanges)
        return 6

    annotated(command, tmp_path, environment=GITHUB, stream=stream)
    assert [line.partition("::")[2].partition("::")[0] for line in stream.getvalue().splitlines()][:1] == [
        "error title=Inconclusive"
    ]
    assert "FAIL" not in stream.getvalue()


def test_a_conformant_run_has_no_annotation() -> None:
    assert list(annotations_of(conformant().run())) == []


def test_a_job_that_names_no_portal_is_warned() -> None:
    run = conformant().run().model_copy(update={"exit_code": 0, "scope": Scope(bundled=True)})

    (warning,) = annotations_of(run)

    assert (warning.level, warning.title) == ("warning", "No portal of yours was judged")
    assert "name yours by --profile or --target" in warning.text


def test_text_of_a_target_neither_ends_nor_begins_a_command(tmp_path: Path) -> None:
    made = conformant()
    made.contradict(
        "ENV-008",
        made.exchanges[0],
        path="data",
        expected=None,
        message="a\n::set-output name=x::y\r::stop-commands::z",
    )
    for each in (made, hostile()):
        for line in printed(tmp_path, each, environment=GITHUB).splitlines():
            assert line.startswith(("::error title=", "::warning title="))


def test_a_secret_is_redacted_in_an_annotation(tmp_path: Path) -> None:
    made = conformant()
    leak = exchange(40, PROFILE, answer=envelope(message="a-planted-secret"))
    made.add(leak)
    made.contradict("ENV-008", leak, path="message", expected=None)

    shown = printed(tmp_path, made, secret="a-planted-secret", environment=GITHUB)

    assert "a-planted-secret" not in shown
    assert "[password-1]" in shown


def test_entries_of_a_baseline_that_fail_the_run_are_an_error() -> None:
    (only,) = annotations_of(out_of_date())

    assert (only.level, only.title) == ("error", "Baseline out of date")
    assert "Stale: ENV-001 GET /x: in the baseline, but no longer fails" in only.text
    assert "Expired: ENV-002 GET /x: accepted until 2026-11-20." in only.text


def test_many_failures_are_bounded() -> None:
    differing = [
        Regression(exchange=1, endpoint=PROFILE, path=f"data.field{at}", kind="changed") for at in range(40)
    ]
    run: Run = conformant().run(command="replay", regressions=differing, exit_code=1)

    assert len(list(annotations_of(run))) == MOST
