"""Describes a run in words: its verdict, the numbers, what blocks, and what is untested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from conformance.errors import ExitCode
from conformance.report.model.failures import Blocker, deviations_in_words, failures_of, is_grave
from conformance.report.model.gravity import causes_in_words, predicate, warned_causes
from conformance.report.model.regressions import answers_in, by_endpoint, places
from conformance.report.model.run import BaselineOutcome, RequirementEntry, Run, VerdictName, moment
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.spec.places import PARTS, chapter_of
from conformance.spec.requirements import PINNED
from conformance.verdicts.findings import NOT_REACHED, NOT_SELECTED, UNDECIDED

Tone = Literal["good", "bad", "grave", "known", "unsure"]

NOTHING_TESTED = "Nothing was tested."
"""How a run ends that decided nothing, where no other cause is known."""

ALLOWED = {
    "read-only": "read-only: sign in and read",
    "mutating": "mutating: also create and change records, and restore them",
    "disruptive": "disruptive: also trip rate limits, end sessions and change passwords",
}

HALTED: dict[int, tuple[str, str]] = {
    ExitCode.INTERRUPTED: (
        "Interrupted",
        "The run was interrupted. The report covers what was judged before that.",
    ),
    ExitCode.INTERNAL_ERROR: (
        "Internal error",
        "The suite itself failed; the report does not judge the target.",
    ),
    ExitCode.USAGE: ("Not run", "The command, the profile or a file is wrong."),
    ExitCode.INCONCLUSIVE: (
        "Inconclusive",
        "Too little was tested for a verdict. Each untested requirement has its reason.",
    ),
    ExitCode.UNREACHABLE: (
        "Inconclusive",
        "The target could not be reached, or stopped answering during the run.",
    ),
    ExitCode.LEFT_BEHIND: (
        "Clean-up incomplete",
        "The run could not restore everything that it created or changed at the target.",
    ),
}

DEVIATES = "Differs from your description"
"""How a run is headed that fails by nothing but descriptions of the user's own (--fail-on description)."""

BUNDLED = (
    "This was the bundled reference portal, and no portal of yours: name yours by --profile or --target."
)

RECORDED = "Recorded traffic shows a part of a portal."

NO_MUST = "No must contradicted"
"""How a verdict is called that rests on a should alone, whose contradiction is grave."""

GREEN = {"check": "Nothing contradicted", "replay": "No regression"}
"""What a green verdict is called of what is no run: recorded traffic shows a part of a portal only."""


@dataclass(frozen=True, slots=True)
class Headline:
    tone: Tone
    title: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    requirements: tuple[RequirementEntry, ...]

    def count(self, verdict: VerdictName) -> int:
        return sum(entry.verdict == verdict for entry in self.requirements)


@dataclass(frozen=True, slots=True)
class Chapter:
    name: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Untested:
    """The requirements that are untested for one reason."""

    reason: str
    fault_class: str | None
    untestable: bool
    requirements: tuple[RequirementEntry, ...]


def headline(run: Run) -> Headline:
    """The verdict of the run in a few words and a sentence."""
    failed, code = run.by_verdict("fail"), _code_of_the_specification(run)
    if code in HALTED:
        return _halted(run, code)
    verdict = _green(run, failed) if code == ExitCode.CONFORMANT else _red(run, failed)
    return replace(verdict, sentence=verdict.sentence + _bundled(run))


def _code_of_the_specification(run: Run) -> int:
    """The exit code of a run without what rules of the user's own decide, which no headline speaks of."""
    codes = run.codes
    if failures_of(run).are_of_own_rules:
        codes = [code for code in codes if code != ExitCode.FAILED]
    if run.ending.broken_rules and not run.ending.unusable:
        codes = [code for code in codes if code != ExitCode.USAGE]
    return next(iter(codes), ExitCode.CONFORMANT)


def own_rules_in_words(run: Run) -> str:
    """``2 hold, 1 is violated (OWN-1), 1 is undecided (OWN-4)``; empty without rules of the user's own."""
    own = [entry for entry in run.requirements if entry.is_own and not is_left_out(run, entry)]
    held = sum(entry.verdict == "pass" for entry in own)
    parts = [f"{held} {'holds' if held == 1 else 'hold'}"]
    for verdict, words in OWN_VERDICTS.items():
        ids = [entry.id for entry in own if entry.verdict == verdict]
        parts += [f"{len(ids)} {'is' if len(ids) == 1 else 'are'} {words} ({listed(ids)})"] if ids else []
    return ", ".join(parts) if own else ""


OWN_VERDICTS: Mapping[VerdictName, str] = {
    "fail": "violated",
    "warn": "violated with a warning",
    "untested": "undecided",
}
"""What became of the user's own rules that do not hold."""


MUSTS = frozenset(row.id for row in REQUIREMENTS.values() if row.level == "must" and row.can_hold)
"""The musts of the specification that an answer can show."""


def share_of_musts(run: Run) -> str:
    """``16 % of 447 musts tested``, rounded down, so that all is only what is all; of a selection
    ``35 of 36 selected musts tested``; a selection of cases has no musts but those that it came across."""
    musts = [entry for entry in run.requirements if entry.id in MUSTS]
    if run.scope.selection:
        musts = [entry for entry in musts if not is_left_out(run, entry)]
    tested = sum(entry.verdict != "untested" for entry in musts)
    if run.scope.selection:
        names_rules = _names_rules(run.scope.selection)
        which = "selected musts" if names_rules else "musts that the selected cases came across"
        return f"{tested} of {len(musts)} {which} tested"
    share = 100 * tested // len(musts) if musts else 0
    return f"{share} % of {len(musts)} musts tested"


def coverage(run: Run) -> str:
    """The share of the musts that was tested; of a replay, what became of its answers:
    ``287 of 300 exchanges compared, at 41 of 88 endpoints: 250 as recorded, 37 changed as the specification
    permits``."""
    details = (run.model_extra or {}).get("replay", {})
    states = details.get("states", {})
    if run.command != "replay" or "compared" not in details:
        return share_of_musts(run)
    differing = "regressed" if run.regressions else "different as is accepted"
    kinds = {"same": "as recorded", "changed": "changed as the specification permits", "regressed": differing}
    counts = [f"{states[state]:,} {words}" for state, words in kinds.items() if states.get(state)]
    compared = f"{details['compared']:,} of {plural(details['wanted'], 'exchange')} compared"
    if reached := sum(each.is_compared and each.endpoint in BY_KEY for each in by_endpoint(run)):
        compared = f"{compared}, at {reached} of {len(BY_KEY)} endpoints"
    return ": ".join(filter(None, (compared, ", ".join(counts))))


BY_RULE = re.compile(r"--(only|skip|failed|rerun [A-Z]+-)")
"""The options that select rules, and not cases: also those of a rerun of a rule."""


def _names_rules(selection: str) -> bool:
    return BY_RULE.search(selection) is not None


def is_left_out(run: Run, entry: RequirementEntry) -> bool:
    """Whether a selection did not ask for a rule. A selection of cases names no rules: there it is what no
    selected case came across."""
    selection, reason = run.scope.selection, entry.reason or ""
    if not selection or entry.verdict != "untested":
        return False
    is_by_case = reason.startswith((UNDECIDED, NOT_REACHED)) and not _names_rules(selection)
    return entry.untestable or reason.startswith(NOT_SELECTED) or is_by_case


def left_untested(run: Run) -> int:
    """How many rules are untested, without those that a selection did not ask for."""
    return sum(not is_left_out(run, entry) for entry in run.by_verdict("untested"))


def not_selected(run: Run) -> str:
    """How many rules a selection did not ask for, as a sentence; empty where it asked for all."""
    left = run.summary.untested - left_untested(run)
    return f"Not selected: {plural(left, 'requirement')}." if left else ""


def numbers(run: Run) -> str:
    """``must 271/274 · should 38/40 · 12 untested``: how many passed of those that were tested. What a
    selection leaves out is not counted."""
    return " · ".join(
        [
            *(f"{level} {held}/{decided}" for level, held, decided in levels(run)),
            f"{left_untested(run)} untested",
        ]
    )


def standing(run: Run) -> list[tuple[str, str]]:
    """Labelled lines under every verdict: tested share, untested rules, what differs from descriptions, ways
    to test more."""
    lines = [
        ("tested", f"{coverage(run).removesuffix(' tested')} · {duration(run.seconds)}"),
        ("untested", "" if run.command == "replay" else _untested_in_words(run)),
        ("edition", edition_in_words(run)),
        ("described", deviations_in_words(run)),
        ("more", "; ".join(run.scope.more)),
        ("own rules", own_rules_in_words(run)),
    ]
    return [(label, words) for label, words in lines if words]


def edition_in_words(run: Run) -> str:
    """``conforms to 2026.1, Full``, or what is missing; empty where no edition was asked for."""
    if (outcome := run.edition) is None:
        return ""
    name = f"{outcome.name}, {outcome.level.capitalize()}"
    newer = f"; {plural(len(outcome.not_scored), 'newer rule')} not scored" if outcome.not_scored else ""
    if outcome.conforms:
        whose = "the bundled reference portal, and no product, " if run.scope.bundled else ""
        return f"{whose}conforms to {name}{newer}"
    lists = {"contradicted": outcome.contradicted, "untested": outcome.untested}
    missing = [f"{plural(len(ids), 'rule')} {what} ({listed(ids, 3)})" for what, ids in lists.items() if ids]
    missing += ["only a selection was tested"] if run.scope.selection else []
    return f"does not conform to {name}: {', '.join(missing) or 'the run did not end well'}{newer}"


def _untested_in_words(run: Run) -> str:
    """``42 rules, 12 of them because of what the portal answered``; empty without any."""
    rows = [row for row in run.by_verdict("untested") if not is_left_out(run, row)]
    rules = [row for row in rows if not row.untestable]
    answered = sum(row.fault_class in BY_ANSWERS for row in rules)
    because = f", {answered:,} of them because of what the portal answered" if answered else ""
    unseen = len(rows) - len(rules)
    beside = f"; {unseen:,} more cannot be seen from outside" if unseen else ""
    return f"{plural(len(rules), 'rule')}{because}{beside}" if rules else ""


BY_ANSWERS = ("target", "credentials")
"""Classes of reasons that an answer gave: also the refusal of a sign-in."""


def changes_in_words(run: Run) -> str:
    """``3 accepted by the target, 3 restored``; empty where the run could change nothing."""
    changes = run.changes
    if changes is None:
        return ""
    left = len(run.ending.left_behind)
    if not changes.attempted and not left:
        return "none attempted"
    if not changes.accepted and not left:
        attempts = plural(changes.attempted, "attempt")
        wrong = ", most of them wrong on purpose," if run.command == "run" else ""
        return f"none: of {attempts}{wrong} none was accepted"
    staying = f", {changes.staying:,} that nothing restores" if changes.staying else ""
    not_restored = f", {left:,} not restored" if left else ""
    return (
        f"{changes.accepted:,} accepted by the target, {changes.restored:,} restored{staying}{not_restored}"
    )


def clock_in_words(moved: float) -> str:
    """A sentence on seconds by which a target's clock was moved; empty where it was not."""
    return f"The target's clock was moved ahead by {duration(moved)}: nothing sets it back." if moved else ""


def levels(run: Run) -> list[tuple[str, int, int]]:
    """For must and should: the level, how many passed, how many were tested."""
    counts = []
    for level in ("must", "should"):
        rows = (entry for entry in run.requirements if entry.level == level and not entry.is_own)
        verdicts = [entry.verdict for entry in rows]
        held = verdicts.count("pass")
        counts.append((level, held, held + verdicts.count("fail") + verdicts.count("warn")))
    return counts


def chapters(run: Run) -> list[Chapter]:
    """The requirements by chapter and section, in the specification's order."""
    by_section: dict[str, list[RequirementEntry]] = {}
    for entry in run.requirements:
        by_section.setdefault(entry.section, []).append(entry)
    by_chapter: dict[str, list[Section]] = {name: [] for name, _ in PARTS}
    for section, entries in by_section.items():
        by_chapter[chapter_of(section)].append(Section(section, tuple(entries)))
    return [Chapter(name, tuple(sections)) for name, sections in by_chapter.items() if sections]


def untested(run: Run) -> list[Untested]:
    """The untested requirements by reason, without those that a selection did not ask for: first those that a
    profile or option can make testable, the untestable ones last."""
    groups: dict[tuple[bool, str, str | None], list[RequirementEntry]] = {}
    for entry in run.by_verdict("untested"):
        if is_left_out(run, entry):
            continue
        reason = entry.reason or "no reason is recorded"
        groups.setdefault((entry.untestable, reason, entry.fault_class), []).append(entry)
    ordered = sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1]), group[0][1]))
    return [Untested(reason, fault, never, tuple(rows)) for (never, reason, fault), rows in ordered]


def counted(base: BaselineOutcome) -> str:
    """``1 new · 3 known · 0 stale · 0 expired``, and ``2 not decided · 1 warning not listed`` where there are
    such entries."""
    groups = {"new": base.new, "known": base.known, "stale": base.stale, "expired": base.expired}
    if base.undecided:
        groups["not decided"] = base.undecided
    warned = [f"{plural(len(base.warned), 'warning')} not listed"] if base.warned else []
    return " · ".join([*(f"{len(entries)} {name}" for name, entries in groups.items()), *warned])


def plural(count: int, noun: str) -> str:
    return (
        f"{count:,} {noun}"
        if count == 1
        else f"{count:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
    )


def passive(count: int, noun: str) -> str:
    """The subject of a sentence on what was done: ``1 entry was``, ``3 entries were``."""
    return f"{plural(count, noun)} {'was' if count == 1 else 'were'}"


def regressed_in_words(run: Run) -> str:
    """``5 regressions at 2 places in 3 answers``: each is one difference of one answer."""
    count = plural(len(run.regressions), "regression")
    if not run.regressions:
        return count
    answers = plural(len({each.exchange for each in run.regressions}), "answer")
    return f"{count} at {plural(len(places(run)), 'place')} in {answers}"


def answers_in_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """``1 answer``, ``at least 25 answers``."""
    count, is_exact = answers_in(rows)
    return f"{'' if is_exact else 'at least '}{plural(count, 'answer')}"


def duration(seconds: float) -> str:
    """``0.8 s``, ``42 s``, ``3 min 5 s``, ``1 h 2 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def day_and_time(iso: str) -> str:
    """``21 Nov 2026, 09:53 UTC``; the text itself where it is no time."""
    seconds = moment(iso)
    if not seconds:
        return iso
    time = datetime.fromtimestamp(seconds, UTC)
    return f"{time.day} {time:%b %Y, %H:%M} UTC"


def in_figures(number: float) -> str:
    """A measured number in three figures, or a whole one, without an exponent: ``35.8``, ``22,450``."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def listed(names: Iterable[str], most: int = 6) -> str:
    """``A, B, C and 4 more``."""
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")


def _green(run: Run, failed: Sequence[RequirementEntry]) -> Headline:
    if failed:
        parts = [f"{plural(len(failed), 'requirement')} failed, all listed in the baseline"]
        parts += filter(None, [causes_in_words(run, of_baseline=True)])
        return Headline("known", "No new failure", f"{': '.join(parts)}.")
    title, nothing = GREEN.get(run.command, "Conformant"), _nothing(run)
    if grave := _grave_in_words(run):
        return Headline("grave", NO_MUST, grave)
    if run.scope.selection:
        limits = "A selection says nothing of the portal as a whole."
        return Headline("unsure", "Selection", f"{nothing}. {limits} Selected: {run.scope.selection}.")
    return Headline("good", title, RECORDED if title == nothing else f"{nothing}.")


def _nothing(run: Run) -> str:
    """Says how much is contradicted in a green run: warnings contradict a should."""
    warns = run.summary.warn
    return f"No must contradicted, {plural(warns, 'warning')}" if warns else "Nothing contradicted"


def _grave_in_words(run: Run) -> str:
    """``2 findings may let someone in, 1 finding shows a secret.``; empty without such warnings, or where a
    baseline lists them all."""
    failures = failures_of(run)
    counts = Counter(severity_of(each) for each in (*failures.new, *failures.warnings) if is_grave(each))
    parts = [
        f"{plural(counts[each], 'finding')} {predicate(words, counts[each])}"
        for each, words in SEVERITIES.items()
        if counts[each]
    ]
    selected = f" Selected: {run.scope.selection}." if run.scope.selection else ""
    return f"{', '.join(parts)}.{selected}" if parts else ""


def _halted(run: Run, code: int) -> Headline:
    title, sentence = HALTED[code]
    if code == ExitCode.UNREACHABLE:
        sentence = run.ending.unreachable or sentence
    if code == ExitCode.INCONCLUSIVE:
        sentence = run.ending.inconclusive or sentence
    is_decided = run.summary.pass_ or run.summary.fail or run.summary.warn
    if run.ending.unusable and is_decided:
        title, sentence = "Ended early", f"{run.ending.unusable} What was judged before stands."
    elif run.ending.unusable:
        sentence = run.ending.unusable
    before = _failed_before(run)
    if before and (code != ExitCode.USAGE or run.ending.unusable):
        sentence += f" Before that, {before}."
    tone: Tone = "bad" if code == ExitCode.LEFT_BEHIND else "unsure"
    return Headline(tone, title, sentence + _bundled(run))


def _failed_before(run: Run) -> str:
    """What failed before a run was halted, in words."""
    causes = causes_in_words(run)
    parts = [f"it failed for {causes}"] if causes else []
    if run.regressions:
        parts.append(f"the replay found {regressed_in_words(run)}")
    return ", and ".join(parts)


def _bundled(run: Run) -> str:
    return f" {BUNDLED}" if run.scope.bundled else ""


def _red(run: Run, failed: Sequence[RequirementEntry]) -> Headline:
    failures = failures_of(run)
    blockers = [blocker for blocker in failures.blockers if not blocker.is_own]
    others = len({row.id for row in failed} - {blocker.requirement.id for blocker in blockers})
    if run.regressions:
        answers = plural(len({regression.exchange for regression in run.regressions}), "answer")
        sentence = f"{answers} differ from the recording, at {plural(len(failures.regressed), 'place')}"
        if answers.startswith("1 "):
            sentence = sentence.replace("differ", "differs", 1)
        return Headline("bad", "Regressed", _sentence(run, sentence, blockers, others=others))
    if blockers and run.fails_on != "should" and all(row.requirement.verdict == "warn" for row in blockers):
        return Headline("grave", NO_MUST, _grave_in_words(run))
    if blockers:
        return _not_conformant(run, _sentence(run, "", blockers, others=others))
    if failures.too_slow:
        return Headline("bad", "Too slow", " ".join(failures.too_slow))
    if failures.deviating:
        return Headline("bad", DEVIATES, f"{plural(len(failures.deviating), 'place')} of answers.")
    out_of_date = len(failures.outdated)
    if run.baseline is not None and out_of_date:
        return Headline(
            "bad",
            "Baseline out of date",
            f"{plural(out_of_date, 'entry')} of {run.baseline.file} no longer "
            f"{'fits' if out_of_date == 1 else 'fit'}.",
        )
    return _not_conformant(run, f"{plural(len(failed), 'requirement')} failed.")


def _not_conformant(run: Run, sentence: str) -> Headline:
    """A failed run; one of a selection is headed as such, as the portal may fail more."""
    if run.scope.selection:
        return Headline(
            "bad", "Not conformant in a selection", f"{sentence} Selected: {run.scope.selection}."
        )
    return Headline("bad", "Not conformant", sentence)


def _sentence(run: Run, first: str, blockers: Sequence[Blocker], *, others: int) -> str:
    """What fails a run, after ``first``. ``others``: how many rules fail as the baseline lists."""
    pins = sum(blocker.requirement.id.startswith(PINNED) for blocker in blockers)
    causes = causes_in_words(run)
    of_the_rules = f"the specification is contradicted by {causes}" if first and causes else causes
    parts = [part for part in (first, of_the_rules) if part]
    if pins:
        differ = "differs" if pins == 1 else "differ"
        parts.append(f"{plural(pins, 'reading')} that the profile pins {differ}")
    beside = warned_causes(run)
    if beside:
        parts.append(f"warnings of {plural(beside, 'cause')} beside")
    counting = [each.requirement.id for each in blockers if each.requirement.verdict == "warn"]
    if counting:
        parts.append(f"of the warnings {listed(counting, 3)} count too (--fail-on {run.fails_on})")
    if others:
        verb = "is" if others == 1 else "are"
        parts.append(f"{plural(others, 'other')} {verb} known from the baseline")
    return "; ".join(parts)[:1].upper() + "; ".join(parts)[1:] + "."
