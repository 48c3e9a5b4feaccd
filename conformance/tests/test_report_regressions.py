"""Regressions where people and CI servers look: by place at the top, and as failures of their endpoints."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from conformance.report.formats import junit, summary
from conformance.report.formats.closing import closing_block, exit_reason
from conformance.report.formats.html.listings import contents
from conformance.report.formats.html.run_page import report
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.regressions import by_endpoint, places
from conformance.report.model.run import Regression, Run
from conformance.report.model.words import regressed_in_words
from conformance.tests.sample_run import ROLES, conformant

MFA, FILES = "GET /web/v1/system/security/mfa", "GET /web/v1/system/files/{fileBizId}"


def lost(exchange: int, item: int) -> Regression:
    path = f"data[{item}].roleName"
    return Regression(exchange=exchange, endpoint=ROLES, path=path, kind="type", recorded="Owner")


LONGER = Regression(exchange=9, endpoint=MFA, path="data", kind="length", recorded=2, replayed=3)


def replayed(*regressions: Regression) -> Run:
    states = {ROLES: {"same": 3, "regressed": 2}, MFA: {"same": 4}, FILES: {"skipped": 2}}
    run = conformant().run(command="replay", regressions=regressions, exit_code=1 if regressions else 0)
    return run.model_copy(update={"replay": {"endpoints": states}})


def test_the_same_in_many_answers_and_items_is_one_place() -> None:
    found = places(replayed(lost(4, 0), lost(4, 1), LONGER, lost(7, 0)))

    assert [(one.endpoint, one.path, one.kind, one.exchanges) for one in found] == [
        (ROLES, "data[*].roleName", "type", [4, 7]),
        (MFA, "data", "length", [9]),
    ]


def test_a_ci_server_sees_which_endpoints_regressed_and_which_were_not_compared() -> None:
    root = ElementTree.fromstring(junit.document(replayed(lost(4, 0), lost(7, 1))))
    suite = next(one for one in root if one.get("name") == "Replayed traffic")
    told = {str(case.get("name")): [child.tag for child in case] for case in suite}

    assert told == {
        f"{ROLES} answers as recorded": ["failure"],
        f"{MFA} answers as recorded": [],
        f"{FILES} answers as recorded": ["skipped"],
    }
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert root.get("failures") == "1"
    (failure,) = suite.iter("failure")
    message = 'data[*].roleName: another type: recorded "Owner", now null (exchanges 4, 7).'
    assert failure.get("message") == message


def test_ci_sees_what_a_difference_means_and_that_a_field_is_gone() -> None:
    told = {"kind": "missing", "meaning": "breaking", "basis": "some samples omit fields"}
    gone = lost(4, 0).model_copy(update=told)
    run = replayed(gone)

    for text in (junit.document(run), summary.markdown(run)):
        assert "field missing: recorded" in text
        assert "now left out" in text
        assert "some samples omit fields" in text
        assert "breaking" in text.lower()


def refused(exchange: int, *, endpoint: str = ROLES, code: str = "4040") -> tuple[Regression, Regression]:
    """A refusal in place of another one: another status and another code."""
    same = {"exchange": exchange, "endpoint": endpoint, "meaning": "breaking", "basis": "is not shown"}
    status = Regression(path="status", kind="status", recorded=403, replayed=404, **same)
    return status, Regression(path="code", kind="code", recorded="4030", replayed=code, **same)


def test_a_refusal_in_place_of_another_is_one_line_wherever_people_read() -> None:
    run = replayed(*refused(4), *refused(7), LONGER)
    whole = "status: another status: recorded 403, now 404; code: another code: "

    text, page = summary.markdown(run), report(run, RunEvidence())
    assert text.count(f"**BREAKING** `{ROLES}`") == 1
    assert "at `status`: another status: recorded `403`, now `404`; at `code`: another code" in text
    assert "### What regressed (3 places)" in text
    blocks = page[page.index("What fails this replay") :].partition("</ul>")[0]
    assert blocks.count("another status and another code") == 1
    failures = [each.text or "" for each in ElementTree.fromstring(junit.document(run)).iter("failure")]
    assert [whole in each and "\n" not in each for each in failures if "status" in each] == [True]
    assert len(places(run)) == len(by_endpoint(run)[0].places) + 1 == 3


def test_every_report_counts_regressions_places_and_answers_with_their_names() -> None:
    run = replayed(lost(4, 0), lost(4, 1), lost(7, 0), LONGER)
    counts = "4 regressions at 2 places in 3 answers"

    assert regressed_in_words(run) == counts
    assert regressed_in_words(replayed()) == "0 regressions"
    assert exit_reason(run) == counts
    assert [*closing_block(run, Path("out"))][-1] == f"exit code  1: {counts}"
    page = report(run, RunEvidence())
    assert f"<b>By exchange</b> · {counts}, each with both numbers" in page
    counted = next(each for each in contents(run, [], 0) if each.href == "regressions")
    assert (counted.name, counted.note) == ("Regressions", "4")
    assert 'message="2 exchanges skipped"' in junit.document(run)
