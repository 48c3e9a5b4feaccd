"""``junit.xml`` keeps to the rules of Jenkins' schema (junit-10 of its xUnit plugin), restated as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from conformance.report.formats.junit import document
from conformance.report.model.run import BaselineEntry, BaselineOutcome, Run
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_runs import out_of_date
from conformance.tests.sample_run import conformant, sample

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "testcase": {
        "skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError",
        "system-out", "system-err",
    },
}  # fmt: skip
"""Elements of other names have none."""
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name"},
    "property": {"name", "value"},
}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id",
        "package", "file", "log", "url", "version",
    },
    "testcase": {"name", "time", "classname", "group"},
    "property": {"name", "value"},
    **{name: {"type", "message"} for name in ("failure", "error", "skipped")},
}  # fmt: skip
WITH_TEXT = {"failure", "error", "skipped", "system-out", "system-err"}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def breaches(element: ElementTree.Element) -> Iterator[str]:
    """What of an element and those in it the schema does not allow."""
    name = element.tag
    for child in element:
        if child.tag not in CHILDREN.get(name, set()):
            yield f"{child.tag} in {name}"
        yield from breaches(child)
    yield from (f"{name} without {lacking}" for lacking in REQUIRED.get(name, set()) - set(element.keys()))
    yield from (f"{name} with {other}" for other in set(element.keys()) - ALLOWED.get(name, set()))
    if name not in WITH_TEXT and (element.text or "").strip():
        yield f"text in {name}"
    if element.get("time") and name != "testcase" and not TIME.fullmatch(element.get("time", "")):
        yield f"time {element.get('time')} of {name}"


def parsed(run: Run) -> ElementTree.Element:
    return ElementTree.fromstring(document(run).encode())


def case(root: ElementTree.Element, requirement: str) -> ElementTree.Element:
    return next(one for one in root.iter("testcase") if one.get("name", "").startswith(f"{requirement} "))


@pytest.mark.parametrize(
    "run", [sample().run(), sample().run(strict=True), conformant().run(), hostile().run()]
)
def test_the_document_keeps_to_the_schema_whatever_the_target_sent(run: Run) -> None:
    assert list(breaches(parsed(run))) == []


def test_the_rules_see_what_breaks_them() -> None:
    broken = ElementTree.fromstring(
        '<testsuites><testsuite name="a"><testcase x="1"><properties/>!</testcase></testsuite></testsuites>'
    )

    assert len(list(breaches(broken))) >= 5


def test_a_failure_can_be_read_without_opening_another_file() -> None:
    failure = case(parsed(sample().run()), "PAGE-026").find("failure")

    assert failure is not None
    message = "POST /web/v1/system/accounts/admin/query: the page asked for is 0, the page given is 1"
    assert failure.get("message") == message
    again = "reproduce: portal-conformance run --rerun PAGE-026"
    for told in ("counts from 0", "expected at data.currentPage: 0", "seen: 1", "exchanges: 41", again):
        assert told in (failure.text or "")


def test_a_warning_passes_with_its_text_and_fails_where_strict() -> None:
    lenient = case(parsed(sample().run()), "ACCOUNT-015")
    strict = case(parsed(sample().run(strict=True)), "ACCOUNT-015")

    assert lenient.find("failure") is None
    assert "updatedAt" in (lenient.findtext("system-out") or "")
    assert strict.find("failure") is not None


def test_what_was_not_tested_is_skipped_with_its_reason() -> None:
    (skipped,) = case(parsed(sample().run()), "FILE-001")

    assert (skipped.tag, skipped.get("message")) == ("skipped", "the profile gives no [records] file")


def test_entries_of_a_baseline_that_fail_the_run_are_test_cases_that_fail() -> None:
    root = parsed(out_of_date())
    cases = root.findall(".//testcase[@classname='portal-conformance.baseline']")

    assert (root.get("failures"), list(breaches(root))) == ("2", [])
    assert [case.get("name") for case in cases] == ["ENV-001 GET /x", "ENV-002 GET /x"]
    ((stale,), (expired,)) = cases
    assert (stale.tag, stale.get("type")) == ("failure", "stale")
    assert (expired.tag, expired.get("type")) == ("failure", "expired")
    assert "compare --prune" in str(stale.get("message"))
    assert "accepted until 2026-11-20" in str(expired.get("message"))


def test_a_rule_whose_findings_are_all_accepted_is_skipped_with_the_reason() -> None:
    run = sample().run()
    first = next(each for each in run.findings if each.verdict == "fail")
    rows = [
        BaselineEntry(signature=each.signature, requirement=each.requirement, reason="release 3 mends it")
        for each in run.findings
        if each.requirement == first.requirement
    ]
    root = parsed(run.model_copy(update={"baseline": BaselineOutcome(file="known.toml", known=rows)}))

    (skipped,) = case(root, first.requirement).findall("skipped")
    assert (skipped.get("message"), skipped.get("type")) == ("accepted: release 3 mends it", "fail")
    assert case(root, first.requirement).find("failure") is None
