"""``summary.md``: a run for a pull request or a job summary, new failures first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.report.formats.finding_text import contrast, expectation, seen
from conformance.report.model.again import rerun_rule
from conformance.report.model.failures import (
    Blocker,
    OutdatedEntry,
    RunFailures,
    deviations_in_words,
    failures_of,
)
from conformance.report.model.gravity import groups_of
from conformance.report.model.groups import gravest_first
from conformance.report.model.regressions import RegressedPlace, change_of, of_one_refusal
from conformance.report.model.run import BaselineEntry, FindingEntry, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    ALLOWED,
    changes_in_words,
    counted,
    day_and_time,
    duration,
    headline,
    left_untested,
    listed,
    not_selected,
    plural,
    standing,
    untested,
)

MOST_FAILURES = 25
MOST_WARNINGS = 15
MOST_NOTES = 10
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&@:])")


def markdown(run: Run) -> str:
    """The summary, below 200,000 characters; text from the target is not interpreted as Markdown or HTML."""
    failures = failures_of(run)
    slow = [f"- {quoted(sentence, 600)}" for sentence in failures.too_slow[:MOST_FAILURES]]
    lines = [
        *_top(run),
        *_regressions(failures),
        *(_section("Too slow", slow) if slow else ()),
        *_blocking(run, failures),
        *_baseline(run),
        *_since(run),
        *_warnings(run, failures),
        *_untested(run),
        "",
        f"Details in `report.html`; {run.suite.name} {run.suite.version}.",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str, limit: int = 300) -> str:
    """The text, escaped so that Markdown shows it as it is."""
    return (
        SPECIAL.sub(r"\\\1", one_line(text, limit))
        .replace("\\<", "&lt;")
        .replace("\\>", "&gt;")
        .replace("\\&", "&amp;")
    )


def code(text: str, limit: int = 300) -> str:
    """The text as code, whatever backticks and bars it holds."""
    shown = one_line(text, limit).replace("|", "\\|")
    longest = max((len(run_of_ticks) for run_of_ticks in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _top(run: Run) -> Iterator[str]:
    head = headline(run)
    yield from (f"## {head.title}", "", head.sentence.replace("<", "&lt;"), "")
    yield from (f"- **{label}** {quoted(words)}" for label, words in standing(run))
    yield ""
    lines = [quoted(note) for note in run.remarks[:MOST_NOTES]]
    lines += [f"To restore it: {code(run.ending.cleanup, 1000)}"] if run.ending.cleanup else []
    lines += [f"Changes: {changes_in_words(run)}"] if changes_in_words(run) else []
    for line in lines:
        yield from (line, "")
    fails_on = "" if run.command == "replay" else f", fails on {run.fails_on}"
    yield (
        f"{code(run.target.url)} · {quoted(run.target.profile or 'no profile')} · {day_and_time(run.started)}"
        f" · {duration(run.seconds)} · {ALLOWED.get(run.impact, run.impact).partition(':')[0]}{fails_on}"
    )


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    yield from ("", f"### {title}", "", *rows)


def _regressions(failures: RunFailures) -> Iterator[str]:
    if not failures.regressed:
        return
    causes = of_one_refusal(failures.regressed)
    yield from _section(f"What regressed ({plural(len(failures.regressed), 'place')})", ())
    for place, *beside in causes[:MOST_FAILURES]:
        first, seen_in = place.first, place.exchanges
        numbers = ", ".join(map(str, seen_in[:4])) + (", …" if len(seen_in) > 4 else "")
        meaning = (first.meaning or "regressed").upper()
        yield f"- **{meaning}** {code(place.endpoint)}{';'.join(map(_change, (place, *beside)))}"
        bases = dict.fromkeys(each.first.basis for each in (place, *beside) if each.first.basis)
        why = f": {'; '.join(map(code, bases))}" if bases else ""
        yield f"  (exchange {numbers}){why}"
    if more := sum(map(len, causes[MOST_FAILURES:])):
        yield from ("", f"and {plural(more, 'place')} more in the report.")


def _change(place: RegressedPlace) -> str:
    where = f" at {code(place.path)}" if place.path else ""
    return f"{where}: {place.words}: {change_of(place.first, 120, quoted=code)}"


def _blocking(run: Run, failures: RunFailures) -> Iterator[str]:
    blockers, entries = failures.blockers, failures.outdated
    if not blockers and not entries:
        return
    yield ""
    title = "What contradicts a rule" if run.command == "replay" else "What fails the run"
    yield f"### {title} ({len(blockers) + len(entries)})"
    leads = {each.requirement: group.lead.requirement for group in groups_of(run) for each in group.findings}
    for blocker in blockers[:MOST_FAILURES]:
        yield from _blocker(run, blocker, leads)
    if len(blockers) > MOST_FAILURES:
        yield from ("", f"and {len(blockers) - MOST_FAILURES} more in the report.")
    if entries:
        yield from ("", *map(_outdated, entries[:MOST_FAILURES]))
    if len(entries) > MOST_FAILURES:
        yield from ("", f"and {len(entries) - MOST_FAILURES} more entries of the baseline in the report.")


def _blocker(run: Run, blocker: Blocker, leads: Mapping[str, str]) -> Iterator[str]:
    entry, findings = blocker.requirement, blocker.findings
    yield ""
    yield f"- **{entry.verdict.upper()} {entry.id}** {entry.statement}"
    if leads.get(entry.id, entry.id) != entry.id:
        yield f"  - the same mistake as {leads[entry.id]}, as far as answers tell"
    for finding in findings[:3]:
        yield f"  - {_finding(finding)}"
    if len(findings) > 3:
        yield f"  - and {len(findings) - 3} more places"
    if not findings and entry.reason:
        yield f"  - {quoted(entry.reason)}"
    yield f"  - reproduce: {code(rerun_rule(run, entry.id), 600)}"


def _outdated(row: OutdatedEntry) -> str:
    reason = f" ({quoted(row.entry.reason)})" if row.entry.reason else ""
    return f"- **{row.label.upper()}** {code(row.entry.signature)}: {row.problem}{reason}"


def _finding(finding: FindingEntry) -> str:
    place = f" at {code(finding.path)}" if finding.path else ""
    noun = "exchange" if len(finding.exchanges) == 1 else "exchanges"
    numbers = f" ({noun} {', '.join(map(str, finding.exchanges[-4:]))})" if finding.exchanges else ""
    other = f"{contrast(finding)} {code(expectation(finding.expected))}"
    shown = f"seen {code(seen(finding, 120))}, {other}{numbers}"
    return f"{code(finding.endpoint)}{place}: {shown}, id {code(finding.id)}"


def _baseline(run: Run) -> Iterator[str]:
    base = run.baseline
    if base is None:
        return
    yield from _section(f"Against the baseline {quoted(base.file)}", [counted(base)])
    rows = [f"- {code(entry.signature, 200)}: {_accepted(entry)}" for entry in base.known[:MOST_WARNINGS]]
    if len(base.known) > MOST_WARNINGS:
        rows.append(f"- and {len(base.known) - MOST_WARNINGS} more in the report")
    if rows:
        yield from _folded("Known", rows)


def _accepted(entry: BaselineEntry) -> str:
    """Reason, last day and ticket of a row of the baseline."""
    until = f"until {entry.expires}" if entry.expires else ""
    return ", ".join(quoted(text) for text in (entry.reason, until, entry.ticket) if text)


def _since(run: Run) -> Iterator[str]:
    if run.since is not None:
        lines = [f"- {len(names)} {words}: {listed(names, 12)}" for words, names in run.since.groups]
        yield from _section(f"Since {day_and_time(run.since.started)}", lines or ["Nothing changed."])


def _warnings(run: Run, failures: RunFailures) -> Iterator[str]:
    warnings, deviations = gravest_first(run, failures.warnings), failures.unlisted
    if warnings:
        yield from _folded(plural(len(warnings), "warning"), _rows(warnings, "more warning"))
    if deviations:
        yield from _folded(deviations_in_words(run), _rows(deviations, "more place"))


def _rows(findings: Sequence[FindingEntry], noun: str) -> Iterator[str]:
    yield from (f"- **{finding.requirement}** {_finding(finding)}" for finding in findings[:MOST_WARNINGS])
    if len(findings) > MOST_WARNINGS:
        yield f"- and {plural(len(findings) - MOST_WARNINGS, noun)} in the report"


def _untested(run: Run) -> Iterator[str]:
    groups = untested(run)
    rows = [
        f"- {len(group.requirements)}: {quoted(group.reason)}"
        f" ({listed((row.id for row in group.requirements), 4)})"
        for group in groups[:MOST_WARNINGS]
    ]
    left_out = groups[MOST_WARNINGS:]
    if left_out:
        count = sum(len(group.requirements) for group in left_out)
        rows.append(f"- {count}: {plural(len(left_out), 'more reason')} in the report")
    if rows:
        yield from _folded(f"{left_untested(run)} untested", rows)
    if not_selected(run):
        yield from ("", not_selected(run))


def _folded(title: str, rows: Iterable[str]) -> Iterator[str]:
    yield from ("", f"<details><summary>{title}</summary>", "", *rows, "", "</details>")
