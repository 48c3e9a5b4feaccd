"""The text of a script that reproduces a finding: imports, the portal, the steps, and the verdict."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterator, Sequence

from conformance.report.model.again import BUNDLED, rerun_finding
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.severity import compares_answers
from conformance.report.model.visible import one_line
from conformance.traffic.exchange import Json

CONSTANT = re.compile(r"[A-Z][A-Z_]*(\.[A-Z_]+)?|\d{4}|GA\d+|[12]\.\d\.\d")
"""Texts that the specification fixes, and that are therefore the same in every run."""


def script_text(
    run: Run,
    finding: FindingEntry,
    lines: Sequence[str],
    *,
    answers: Sequence[tuple[str, bool]],
    emails: Container[str] = (),
) -> str:
    """The whole script around the lines of its steps; ``answers`` are the variables of the answers, each with
    whether it was a success in the run, ``emails`` those of the accounts that signed in, in lower case."""
    rule = next((row.statement for row in run.requirements if row.id == finding.requirement), "")
    profile = run.target.profile or ""
    compared = comparison(finding, emails)
    door = f"Portal.connect(profile, impact={run.impact!r}, on_exchange=watch(ledger)) as portal:"
    if profile in BUNDLED:
        opening = [f"with running_portal() as profile, {door}"]
    else:
        opening = [f"profile = load(Path({profile!r}), target={run.target.url!r})", f"with {door}"]
    return "\n".join(
        [
            f'"""Reproduces {finding.requirement}: {_quoted(rule)}',
            "",
            f"Exit code 1: the {_noun(finding)} was reproduced. Exit code 0: it was not.",
            '"""',
            "",
            *_imports(profile, is_compared=bool(compared)),
            "",
            "",
            "def say(seconds, why):",
            "    if seconds >= 1:",
            '        print(f"waiting {seconds:.0f} s for {why}", file=sys.stderr)',
            "",
            "",
            "ledger = Ledger(REQUIREMENTS)",
            *opening,
            "    portal.clock.on_wait = say",
            *(f"    {line}" for line in lines),
            "",
            *_verdict(run, finding, answers, compared),
        ]
    )


def _noun(finding: FindingEntry) -> str:
    return "warning" if finding.verdict == "warn" else "contradiction"


def _imports(profile: str, *, is_compared: bool) -> list[str]:
    is_bundled = profile in BUNDLED
    return [
        "import sys",
        *([] if is_bundled else ["from pathlib import Path"]),
        "",
        *([] if is_compared else ["from conformance.cli import main"]),
        "from conformance.judging import watch",
        "from conformance.spec import REQUIREMENTS",
        *(["from conformance.target.bundled import running_portal"] if is_bundled else []),
        "from conformance.target.portal import Portal",
        *([] if is_bundled else ["from conformance.target.profile.model import load"]),
        "from conformance.verdicts.findings import Ledger",
    ]


def _verdict(
    run: Run, finding: FindingEntry, answers: Sequence[tuple[str, bool]], compared: str
) -> Iterator[str]:
    """The lines that say what was seen, and whether it was the contradiction: the steps before the last one
    must have ended as in the run."""
    name = finding.requirement
    yield f'messages = [row.message for row in ledger.findings if row.requirement == "{name}"]'
    if compared:
        *earlier, (answer, _) = answers
        ended = [f"{'' if was_success else 'not '}{step}.success" for step, was_success in earlier]
        yield f"seen = {compared.replace('ANSWER', answer)}"
        yield f"if {' and '.join(['not messages', *ended, _differs(finding.expected)])}:"
        yield f'    messages = [f"seen {{seen!r}}, expected {_quoted(_as_text(finding.expected))}"]'
    else:
        command = rerun_finding(run, finding)
        words = ", ".join(repr(word) for word in shlex.split(command)[1:])
        yield f'if "{name}" not in ledger.tallies:  # no check decides this: run the suite\'s case'
        yield f"    sys.exit(main([{words}]))"
    yield 'print("\\n".join(messages) or "not reproduced")'
    yield "sys.exit(bool(messages))"


def comparison(finding: FindingEntry, emails: Container[str] = ()) -> str:
    """What to read of the last answer, where the expected value is the same in every run; else nothing, also
    where it is only what another answer showed."""
    expected = finding.expected
    if isinstance(expected, dict) and expected.keys() == {"status", "code"}:
        return '{"status": ANSWER.status, "code": ANSWER.code}' if _is_fixed(expected["code"]) else ""
    if isinstance(expected, dict) and expected.keys() == {"one of"} and isinstance(expected["one of"], list):
        is_fixed = all(_is_fixed(value) for value in expected["one of"])
    else:
        is_fixed = _is_fixed(expected) or (isinstance(expected, str) and expected.lower() in emails)
    if (
        compares_answers(finding)
        or not is_fixed
        or not finding.path
        or (expected is None and not finding.path.startswith("data"))
    ):
        return ""
    return f"ANSWER.at({finding.path!r})"


def _is_fixed(value: Json) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return value < 1_000 or 10_000_000 <= value < 100_000_000
    return isinstance(value, str) and bool(CONSTANT.fullmatch(value))


def _differs(expected: Json) -> str:
    if isinstance(expected, dict) and "one of" in expected:
        return f"seen not in {expected['one of']!r}"
    if isinstance(expected, dict):
        statuses = expected["status"] if isinstance(expected["status"], list) else [expected["status"]]
        return f"not (seen['code'] == {expected['code']!r} and seen['status'] in {statuses or ['any']!r})"
    return f"seen != {expected!r}"


def _as_text(expected: Json) -> str:
    return repr(expected).replace("{", "{{").replace("}", "}}").replace('"', "'")


def _quoted(text: str) -> str:
    return one_line(text, 300).replace("\\", "\\\\").replace('"', "'")
