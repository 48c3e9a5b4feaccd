"""How grave a run's failures are: the causes of each severity, counted once in every report."""

from __future__ import annotations

from collections import Counter

from conformance.report.model.failures import failures_of
from conformance.report.model.groups import gravest_first, grouped
from conformance.report.model.run import Run
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.spec.requirements import PINNED


def gravity_of(run: Run) -> list[tuple[int, str]]:
    """The causes of failure by severity, each number with its words, the gravest first. A pinned reading that
    differs is no cause."""
    failures = failures_of(run)
    leads = [group.lead for group in grouped(gravest_first(run, failures.new), failures.accepted)]
    found = [(lead.requirement, severity_of(lead)) for lead in leads]
    bare = [(each.requirement.id, "client") for each in failures.blockers if not each.findings]
    counts = Counter(severity for rule, severity in (*found, *bare) if not rule.startswith(PINNED))
    return [(n, _of_so_many(words, n)) for each, words in SEVERITIES.items() if (n := counts[each])]


def causes_in_words(run: Run) -> str:
    """``3 causes: 1 may let someone in, 2 break a client``; empty without any."""
    causes = gravity_of(run)
    total = sum(count for count, _ in causes)
    words = ", ".join(f"{count:,} {what}" for count, what in causes)
    return f"{total:,} {'cause' if total == 1 else 'causes'}: {words}" if total else ""


def _of_so_many(words: str, count: int) -> str:
    """A predicate, for more than one in the plural: ``breaks a client``, ``break a client``."""
    verb, _, rest = words.partition(" ")
    return f"{verb.removesuffix('s')} {rest}" if count > 1 else words
