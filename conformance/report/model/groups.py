"""The findings that have one cause: one rule at several endpoints, or several rules at one answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.report.model.regressions import pattern_of
from conformance.report.model.run import FindingEntry

WHOLE_ANSWER = frozenset({"", "status", "code", "success", "body"})
"""The places that a single wrong answer contradicts together."""


@dataclass
class FindingGroup:
    """A finding with those of the same cause: ``elsewhere`` contradicts the same rule in the same way,
    ``at_once`` are other rules that the same answer contradicts."""

    lead: FindingEntry
    elsewhere: list[FindingEntry] = field(default_factory=list)
    at_once: list[FindingEntry] = field(default_factory=list)

    @property
    def findings(self) -> Sequence[FindingEntry]:
        return (self.lead, *self.elsewhere, *self.at_once)


def grouped(findings: Iterable[FindingEntry], accepted: frozenset[str]) -> list[FindingGroup]:
    """The groups in the order of their first findings. ``accepted`` are the signatures that a baseline
    lists; these are in no group with others."""
    by_rule: dict[tuple[object, ...], FindingGroup] = {}
    for finding in findings:
        key = (*_manner(finding), finding.signature in accepted)
        if key in by_rule:
            by_rule[key].elsewhere.append(finding)
        else:
            by_rule[key] = FindingGroup(finding)
    return _by_answer(list(by_rule.values()), accepted)


def _by_answer(groups: Sequence[FindingGroup], accepted: frozenset[str]) -> list[FindingGroup]:
    """The groups, with those of one finding joined to the group whose answer they are about."""
    first: dict[tuple[object, ...], FindingGroup] = {}
    joined = []
    for group in groups:
        answer = _answer(group, accepted)
        if answer is None:
            joined.append(group)
        elif answer in first:
            first[answer].at_once.append(group.lead)
        else:
            first[answer] = group
            joined.append(group)
    return joined


def _answer(group: FindingGroup, accepted: frozenset[str]) -> tuple[object, ...] | None:
    """The answer that a finding rejects as a whole; None where it is about a part of it, or about several."""
    lead = group.lead
    if group.elsewhere or lead.path not in WHOLE_ANSWER or not lead.exchanges:
        return None
    return (lead.exchanges[-1], lead.endpoint, lead.verdict, lead.signature in accepted)


def _manner(finding: FindingEntry) -> tuple[object, ...]:
    """How a rule is contradicted, whatever the endpoint and the item of a list."""
    expected = json.dumps(finding.expected, sort_keys=True)
    kind = type(finding.actual).__name__
    return (finding.requirement, finding.verdict, pattern_of(finding.path), expected, kind, finding.missing)
