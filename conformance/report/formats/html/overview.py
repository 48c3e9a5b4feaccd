"""The top of the page: the facts of the run, what fails it, and what changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from conformance.errors import ExitCode
from conformance.report.formats.finding_text import values
from conformance.report.formats.html.listings import REMEDIES
from conformance.report.formats.html.traffic import ignored_entries
from conformance.report.formats.page import Cells, anchor, code, with_code
from conformance.report.model.failures import FAILING, Blocker, RunFailures, failures_of
from conformance.report.model.groups import FindingGroup, gravest_first, grouped
from conformance.report.model.regressions import RegressedPlace, change_of, of_one_cause
from conformance.report.model.run import Run
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    ALLOWED,
    Untested,
    changes_in_words,
    coverage,
    day_and_time,
    duration,
    headline,
    listed,
    plural,
    standing,
    untested,
)

MOST_BLOCKERS = 12
MOST_REASONS = 5

MEANINGS = {
    "contradiction": "contradicts the specification",
    "breaking": "may break a client that worked with the recorded portal",
    "permitted": "permitted by the specification",
}
"""What the difference of a replay means, in the words of a reader."""

IN_THE_PLAN = re.compile(r" recorded exchanges of \d|^The recording was sent |^--latency ")
"""The notes of a replay that its plan and its limits show."""

COMMANDS = {"run": "run", "replay": "replay of recorded traffic", "check": "check of recorded traffic"}


def overview(run: Run, exchanges: int) -> dict[str, object]:
    """The values of the overview; ``exchanges`` is how many the run had."""
    failures = failures_of(run)
    named = {blocker.requirement.id for blocker in failures.blockers}
    regressed = of_one_cause(place for place in failures.regressed if not place.requirements & named)
    blockers = [*map(_regressed, regressed), *_blockers(run, failures)]
    more = len(blockers) - MOST_BLOCKERS
    has_earlier = bool(run.since or run.baseline)
    return {
        "head": headline(run),
        "target": run.target.url,
        "command": COMMANDS.get(run.command, run.command),
        "tested": coverage(run).partition(":")[0].removesuffix(" tested").partition(" of "),
        "facts": _facts(run, exchanges),
        "blockers_title": "Why it is inconclusive"
        if _is_inconclusive(run)
        else f"What fails this {run.command}",
        "blockers": [
            *_reasons(run),
            *(
                _row(("fail", "latency", "latency"), one_line(sentence, 300), under="")
                for sentence in failures.too_slow[:MOST_BLOCKERS]
            ),
            *blockers[:MOST_BLOCKERS],
            *(
                _row((label, entry.requirement, entry.requirement), problem, under=entry.reason)
                for label, entry, problem in failures.outdated[:MOST_BLOCKERS]
            ),
        ],
        "more_blockers": f"and {more} more below" if more > 0 else "",
        "nothing_blocks": "Nothing." if run.exit_code == 0 else "No requirement. The reason is given above.",
        "changes_title": _changes_title(run),
        "changes": list(_changes(run)),
        "no_changes": "Nothing." if has_earlier else "There is no earlier run or baseline to compare with.",
        "notes": [one_line(note, 600) for note in _notes(run)],
    }


def _is_inconclusive(run: Run) -> bool:
    return run.exit_code == ExitCode.INCONCLUSIVE


def _row(names: tuple[str, str, str], statement: str, *, under: str, severity: str = "") -> Cells:
    """A row of what fails the run. ``names``: a verdict, an id, and the place that it leads to."""
    verdict, id, href = names
    return Cells(verdict=verdict, id=id, href=href, statement=statement, severity=severity, under=under)


def _reasons(run: Run) -> list[Cells]:
    """Why an inconclusive run tested too little: the reasons of most untested rules, with their remedies.
    What no run with this impact tests is expected of none, so that it stands last."""
    if not _is_inconclusive(run):
        return []
    groups = [group for group in sorted(untested(run), key=_distance) if not group.untestable]
    return [
        _row(
            ("untested", plural(len(group.requirements), "rule"), "untested"),
            one_line(group.reason, 300),
            under=REMEDIES.get(group.fault_class or "", ""),
        )
        for group in groups[:MOST_REASONS]
    ]


def _distance(group: Untested) -> int:
    """How far a reason is from the run: its time budget, then the target and the profile, then the impact."""
    if "the time budget leaves" in group.reason:
        return 0
    return 2 if group.reason.startswith("needs --impact") else 1


def _notes(run: Run) -> list[str]:
    remarks = [note for note in run.remarks if not (run.command == "replay" and IN_THE_PLAN.search(note))]
    return [*remarks, *([f"To restore it: {run.ending.cleanup}"] if run.ending.cleanup else [])]


def _facts(run: Run, exchanges: int) -> list[tuple[str, str]]:
    tested, *others = standing(run)  # of a run, the number beside the verdict says what was tested
    lines = [tested, *others] if run.command == "replay" else others
    facts = [
        *((label.capitalize(), words) for label, words in lines),
        ("Target", one_line(run.target.url, 200)),
        ("Profile", one_line(run.target.profile or "none", 200)),
        ("When", f"{day_and_time(run.started)}, took {duration(run.seconds)}"),
        ("Impact", ALLOWED.get(run.impact, run.impact)),
    ]
    if run.command != "replay":  # its page says by what a replay fails
        facts.append(("Fails on", f"{FAILING[run.fails_on].words} (--fail-on {run.fails_on})"))
    if changes_in_words(run):
        facts.append(("Changes", changes_in_words(run)))
    if exchanges:
        facts.append(("Exchanges", f"{exchanges:,}"))
    if ignored_entries(run):
        facts.append(("Ignored", ignored_entries(run)))
    return facts


def _blockers(run: Run, failures: RunFailures) -> Iterator[Cells]:
    """The rules that fail the run, those of one cause in one row, as on its card."""
    groups = grouped(gravest_first(run, failures.new), failures.accepted)
    for blocker in failures.blockers:
        own = [group for group in groups if group.lead.requirement == blocker.requirement.id]
        if own or not blocker.findings:
            yield _blocker(blocker, own)


def _blocker(blocker: Blocker, groups: Sequence[FindingGroup]) -> Cells:
    """``groups``: those of the findings that the rule leads."""
    entry, lead = blocker.requirement, groups[0].lead if groups else None
    endpoints = dict.fromkeys(each.endpoint for group in groups for each in (group.lead, *group.elsewhere))
    also = dict.fromkeys(each.requirement for group in groups for each in group.at_once)
    seen = one_line(f"{lead.path or 'the answer'}: {values(lead, 60)}", 200) if lead else ""
    beside = f" · also contradicts {listed(also, 8)}" if also else ""
    return _row(
        (entry.verdict, entry.id, anchor("finding", entry.id) if lead else entry.id),
        with_code(entry.statement),
        severity=SEVERITIES[severity_of(lead)] if lead else "",
        under=f"{seen} · {listed(endpoints, 1)}{beside}" if lead else entry.reason or "",
    )


def _regressed(cause: Sequence[Sequence[RegressedPlace]]) -> Cells:
    same = cause[0]
    place, more = same[0], len(cause) - 1
    changes = (f"{one_line(each.path or 'the answer', 120)}: {change_of(each.first, 60)}" for each in same)
    answers = {number for others in cause for each in others for number in each.exchanges}
    times = f" · {plural(len(answers), 'answer')}{f', also at {more} more endpoints' if more else ''}"
    return _row(
        ("fail", " and ".join(each.words for each in same), "regressions"),
        code(one_line(place.endpoint, 200)),
        severity=MEANINGS.get(place.first.meaning, ""),
        under=f"{'; '.join(changes)}{times}",
    )


def _changes_title(run: Run) -> str:
    if run.baseline is not None:
        return f"Against the baseline {run.baseline.file}"
    if run.since is not None:
        return f"Since the run of {day_and_time(run.since.started)}"
    return "What changed"


def _changes(run: Run) -> Iterator[Cells]:
    base, since = run.baseline, run.since
    if base is not None:
        for tone, name, entries, words in (
            ("new", "new", base.new, "failing and not listed"),
            ("known", "known", base.known, "failing and listed"),
            ("stale", "stale", base.stale, "listed, but no longer failing"),
            ("expired", "expired", base.expired, "listed, but expired"),
            ("untested", "not decided", base.undecided, "listed, but not decided by this run"),
            ("known", "warned", base.warned, "warned of and not listed"),
        ):
            yield from _change(tone, name, [entry.requirement for entry in entries], words)
    if since is not None:
        yield from _change("new", "new", since.newly_failing, "newly failing")
        yield from _change("known", "warned", since.newly_warned, "newly warned")
        yield from _change("pass", "fixed", since.fixed, "no longer failing")
        yield from _change("untested", "untested", since.no_longer_tested, "no longer tested")
        yield from _change("open", "reading", since.changed_readings, "changed")


def _change(tone: str, word: str, names: Sequence[str], words: str) -> Iterator[Cells]:
    unique = list(dict.fromkeys(names))
    noun = "reading" if tone == "open" else "requirement"
    if unique:
        yield Cells(tone=tone, word=word, text=f"{plural(len(unique), noun)} {words}: {listed(unique, 8)}")
