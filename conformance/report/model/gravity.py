"""How grave a run's failures are: the causes of each severity, counted once in every report."""

from __future__ import annotations

from collections import Counter

from conformance.report.model.failures import failures_of
from conformance.report.model.groups import FindingGroup, gravest_first, grouped
from conformance.report.model.run import Run
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.spec.requirements import PINNED


def groups_of(run: Run) -> list[FindingGroup]:
    """What fails a run, and what it warns of, by cause, the gravest first."""
    failures = failures_of(run)
    return grouped(gravest_first(run, [*failures.new, *failures.warnings]), failures.accepted)


def warned_causes(run: Run) -> int:
    """How many causes are warned of, and fail nothing."""
    warned = {finding.id for finding in failures_of(run).warnings}
    return sum(group.lead.id in warned for group in groups_of(run))


def causes_in_words(run: Run, *, of_baseline: bool = False) -> str:
    """``3 causes at most: 1 may let someone in, 2 break a client``, the gravest first; empty without any: one
    fault of a portal may contradict several rules. A pinned reading that differs is no cause, nor is
    a rule of the user's own. ``of_baseline``: the causes of what a baseline lists, in place of what fails."""
    failures = failures_of(run)
    listed = (each for each in run.findings if each.signature in failures.accepted and each.verdict == "fail")
    findings = gravest_first(run, listed if of_baseline else failures.new)
    rules = [(group.lead.requirement, severity_of(group.lead)) for group in grouped(findings, frozenset())]
    blockers = () if of_baseline else failures.blockers
    bare = [(each.requirement.id, "client") for each in blockers if not each.findings]
    counts = Counter(severity for rule, severity in (*rules, *bare) if not rule.startswith(PINNED))
    del counts["own"]
    parts = [(counts[each], predicate(words, counts[each])) for each, words in SEVERITIES.items()]
    grave = [(count, words) for count, words in parts if count]
    if counts.total() == 1:
        return f"1 cause that {grave[0][1]}"
    listing = ", ".join(f"{count:,} {words}" for count, words in grave)
    return f"{counts.total():,} causes at most: {listing}" if grave else ""


def predicate(words: str, count: int) -> str:
    """A predicate, of more than one cause in the plural: ``breaks a client``, ``break a client``."""
    verb, _, rest = words.partition(" ")
    return f"{verb if count == 1 else verb.removesuffix('s')} {rest}"
