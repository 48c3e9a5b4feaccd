"""``junit.xml`` as CI servers read it: a suite for each section, a test case for each requirement.

Jenkins' schema (junit-10) has properties on a suite and none on a test case, so that the level and the
verdict of a requirement stand as properties of its suite, under its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree

from conformance.errors import ExitCode
from conformance.report.formats.finding_text import (
    contrast,
    expectation,
    message_of,
    own_message,
    seen,
    values,
)
from conformance.report.model.again import rerun_rule
from conformance.report.model.failures import OutdatedEntry, RunFailures, failing_rules, failures_of, weighs
from conformance.report.model.regressions import (
    RegressedPlace,
    ReplayedEndpoint,
    by_endpoint,
    of_one_refusal,
    sentence_of,
)
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, moment
from conformance.report.model.visible import visible
from conformance.report.model.words import Section, chapters, headline, plural
from conformance.traffic.clip import cut

MOST_FINDINGS = 20


def document(run: Run) -> str:
    """What ``--fail-on`` weighs is a failure; UNTESTED is skipped, and so is what a baseline lists, with its
    reason."""
    suites = [section for chapter in chapters(run) for section in chapter.sections]
    root = ElementTree.Element("testsuites", name=visible(_name(run)), time=f"{run.seconds:.3f}")
    failures, failing = failures_of(run), failing_rules(run)
    by_requirement: dict[str, list[FindingEntry]] = {}
    for finding in run.findings:
        by_requirement.setdefault(finding.requirement, []).append(finding)
    for section in suites:
        cases = [_case(run, row, by_requirement.get(row.id, []), failing) for row in section.requirements]
        root.append(_suite(run, section, cases))
    root.extend(_beside_the_rules(run, failures))
    if headline(run).tone == "unsure" and not run.scope.selection:
        root.append(_verdict(run, "The run comes to a verdict"))
    elif run.exit_code == ExitCode.LEFT_BEHIND:
        root.append(_verdict(run, "The run restores what it changed"))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root, " ")
    return (
        ElementTree.tostring(root, encoding="unicode", xml_declaration=True).replace("utf-8", "UTF-8", 1)
        + "\n"
    )


def _beside_the_rules(run: Run, failures: RunFailures) -> Iterator[ElementTree.Element]:
    """Test suites beside the rules: replayed traffic, descriptions, baseline."""
    if run.command == "replay":
        yield _replayed(run, failures)
    if run.deviations:
        yield _described(run, failures)
    if failures.outdated:
        yield _suite_of(run, "Baseline", [*map(_outdated, failures.outdated)])


def _name(run: Run) -> str:
    """The name of the test suite; it says if a run is no whole run of a real portal."""
    qualifiers = ["bundled reference portal"] if run.scope.bundled else []
    qualifiers += [f"selection: {cut(run.scope.selection, 200)}"] if run.scope.selection else []
    return " · ".join(["portal-conformance", *qualifiers])


def _verdict(run: Run, name: str) -> ElementTree.Element:
    """A suite of its own for a run that came to no verdict, or restored too little: its error is none of the
    target's."""
    head = headline(run)
    sentence = f"{head.title}: {head.sentence}"
    case = _test_case(name, "Verdict", "error", sentence, kind=head.title.lower())
    return _suite_of(run, "Verdict", [case])


def _test_case(
    name: str, group: str, how: str = "", message: str = "", *, kind: str = "", text: str = ""
) -> ElementTree.Element:
    """A test case; where it did not pass, with how it ended: ``failure``, ``error`` or ``skipped``."""
    classname = visible(f"portal-conformance.{group}")
    case = ElementTree.Element("testcase", name=visible(name), classname=classname, time="0")
    if how:
        attributes = {"type": kind} if kind else {}
        result = ElementTree.SubElement(case, how, {**attributes, "message": visible(cut(message, 600))})
        result.text = visible(text) or None
    return case


def _suite(run: Run, section: Section, cases: Sequence[ElementTree.Element]) -> ElementTree.Element:
    suite = _suite_of(run, section.name, cases)
    properties = ElementTree.Element("properties")
    for row in section.requirements:
        ElementTree.SubElement(properties, "property", name=f"{row.id}.level", value=row.level)
        ElementTree.SubElement(properties, "property", name=f"{row.id}.verdict", value=row.verdict)
    suite.insert(0, properties)
    return suite


def _suite_of(run: Run, name: str, cases: Sequence[ElementTree.Element]) -> ElementTree.Element:
    suite = ElementTree.Element(
        "testsuite",
        name=visible(name),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time="0",
        timestamp=datetime.fromtimestamp(moment(run.started), UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    )
    suite.extend(cases)
    return suite


def _replayed(run: Run, failures: RunFailures) -> ElementTree.Element:
    """A test case for each endpoint of the recording: it fails where it regressed, and is skipped where none
    of its answers could be compared."""
    cases = [_endpoint(endpoint) for endpoint in by_endpoint(run)]
    slow = [
        _test_case("A limit on latency", "Replayed traffic", "failure", sentence, kind="latency")
        for sentence in failures.too_slow
    ]
    return _suite_of(run, "Replayed traffic", [*cases, *slow])


def _described(run: Run, failures: RunFailures) -> ElementTree.Element:
    """A test case for each difference from a description: one that fails nothing is skipped."""
    cases = [
        _test_case(
            f"{row.endpoint} {row.requirement} {row.path}",
            "Descriptions",
            "failure" if row in failures.deviating else "skipped",
            values(row),
            text=row.message,
        )
        for row in run.deviations
    ]
    return _suite_of(run, "Descriptions beside the specification", cases)


def _outdated(row: OutdatedEntry) -> ElementTree.Element:
    """An entry of the baseline that fails the run itself, as a test case that fails."""
    name = cut(row.entry.signature, 300)
    return _test_case(name, "baseline", "failure", row.sentence, kind=row.label, text=row.entry.reason)


def _endpoint(endpoint: ReplayedEndpoint) -> ElementTree.Element:
    name, group = f"{endpoint.endpoint} answers as recorded", "Replayed traffic"
    if endpoint.places:
        lines = [_difference(same) for same in of_one_refusal(endpoint.places)[:MOST_FINDINGS]]
        return _test_case(name, group, "failure", lines[0], kind="regression", text="\n".join(lines))
    states = ", ".join(f"{plural(times, 'exchange')} {state}" for state, times in endpoint.states.items())
    return _test_case(name, group, "" if endpoint.is_compared else "skipped", states)


def _difference(same: Sequence[RegressedPlace]) -> str:
    numbers = ", ".join(map(str, same[0].exchanges[:20]))
    return sentence_of(same, f" (exchanges {numbers})")


def _case(
    run: Run,
    row: RequirementEntry,
    findings: Sequence[FindingEntry],
    failing_ids: frozenset[str],
) -> ElementTree.Element:
    name = f"{row.id} {row.statement}"
    accepted = {entry.signature: entry for entry in run.baseline.known} if run.baseline else {}
    fresh = [finding for finding in findings if finding.signature not in accepted]
    failing = [finding for finding in fresh if weighs(run, finding)]
    if failing or (not findings and row.id in failing_ids):
        first = failing[0] if failing else None
        message = f"{first.endpoint}: {message_of(first)}" if first else row.reason or row.statement
        text = _text(run, row, fresh)
        return _test_case(name, row.chapter, "failure", message, kind=row.verdict, text=text)
    how = message = kind = ""
    if row.verdict == "untested":
        how, message = "skipped", row.reason or "untested"
    elif findings and not fresh:
        entry = accepted[findings[0].signature]
        how, kind = "skipped", row.verdict
        message = f"accepted: {entry.reason or entry.ticket or entry.signature}"
    case = _test_case(name, row.chapter, how, message, kind=kind)
    if findings:
        ElementTree.SubElement(case, "system-out").text = visible(_text(run, row, findings))
    return case


def _text(run: Run, row: RequirementEntry, findings: Sequence[FindingEntry]) -> str:
    blocks = [
        "\n".join(
            (
                finding.endpoint,
                *([f"  {own_message(finding)}"] if own_message(finding) else []),
                f"  {contrast(finding)} at {finding.path or 'the answer'}: {expectation(finding.expected)}",
                f"  seen: {seen(finding)}",
                f"  exchanges: {', '.join(map(str, finding.exchanges)) or 'none'}",
            )
        )
        for finding in findings[:MOST_FINDINGS]
    ]
    if len(findings) > MOST_FINDINGS:
        blocks.append(f"and {len(findings) - MOST_FINDINGS} more findings")
    return "\n".join([row.statement, *blocks, f"reproduce: {rerun_rule(run, row.id)}"])
