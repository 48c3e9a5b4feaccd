"""How grave a run's failures are: the causes of each severity, counted once in every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.report.model.failures import failures_of
from conformance.report.model.groups import gravest_first, grouped
from conformance.report.model.run import Run
from conformance.report.model.severity import SEVERITIES, Severity, severity_of
from conformance.spec.requirements import PINNED


@dataclass(frozen=True, slots=True)
class Gravity:
    """What fails a run, and what would where it is strict: findings of one cause are counted once.

    ``causes``: how many there are of each severity that occurs, the gravest first.
    """

    causes: Mapping[Severity, int]
    warnings: int

    @property
    def parts(self) -> list[tuple[int, str]]:
        """Each count with its words: ``1, shows a secret`` and ``8, break a client``."""
        return [(count, _of_so_many(SEVERITIES[each], count)) for each, count in self.causes.items()]

    @property
    def in_words(self) -> str:
        """``3 causes: 1 may let someone in, 2 break a client``; empty without causes."""
        total = sum(self.causes.values())
        words = ", ".join(f"{count:,} {what}" for count, what in self.parts)
        return f"{total:,} {'cause' if total == 1 else 'causes'}: {words}" if total else ""


def gravity_of(run: Run) -> Gravity:
    """Counts the causes; a pinned reading that differs is none, as it contradicts no requirement."""
    failures = failures_of(run)
    groups = grouped(gravest_first(run, failures.new), failures.accepted)
    counts = Counter(severity_of(group.lead) for group in groups if not _is_pin(group.lead.requirement))
    bare = [each for each in failures.blockers if not each.findings and not _is_pin(each.requirement.id)]
    counts["client"] += len(bare)
    warnings = grouped(gravest_first(run, failures.warnings), failures.accepted)
    return Gravity({each: counts[each] for each in SEVERITIES if counts[each]}, len(warnings))


def _is_pin(requirement: str) -> bool:
    return requirement.startswith(PINNED)


def _of_so_many(words: str, count: int) -> str:
    """A singular predicate, for more than one in the plural: ``breaks a client``, ``break a client``."""
    verb, _, rest = words.partition(" ")
    return f"{verb.removesuffix('s')} {rest}" if count > 1 else words
