"""The findings of one cause: one rule at several endpoints, or several rules at one answer or filter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.report.model.regressions import pattern_of
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.severity import compares_answers, gravity
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.spec.requests import FILTERS
from conformance.traffic.exchange import Exchange

WHOLE_ANSWER = frozenset({"", "status", "code", "success", "body"})
"""The places that a single wrong answer contradicts together."""

DERIVED = {"PAGE-010": "PAGE-008"}
"""Rules about a value that is reckoned from another one of the answer, by the rule about that other one."""

SAME_MISTAKE = {
    "AUTHN-001": ("AUTHN-001",),
    "AUTHN-004": ("AUTHN-001",),
    "AUTHN-006": ("AUTHN-001",),
    "AUTHN-007": ("AUTHN-001", "AUTHN-006"),
    "AUTHN-008": ("AUTHN-001", "AUTHN-006", "AUTHN-007"),
    "AUTHN-020": ("AUTHN-001",),
    "FILE-022": ("AUTHN-001",),
    "AUTHN-013": ("AUTHN-004", "AUTHN-006", "AUTHN-007", "AUTHN-008"),
    "LOGIN-032": ("LOGIN-031",),
    "LOGIN-072": ("LOGIN-031", "LOGIN-032"),
}
"""Rules on tokens and on login sessions, with the rules that a portal with the same mistake contradicts
first: without any token, at the endpoints that are marked JWT, and by a second completion."""

LISTED = frozenset({"data", "accounts", "items", "content", "totalElements", "totalRecords"})
"""The last names of the places of a listing's records, and of their number."""

NO_FILTER: tuple[object, ...] = (None, "", False, [])
"""Values of a filter that filter nothing."""

Key = tuple[object, ...]


@dataclass
class FindingGroup:
    """A finding with findings of the same cause. ``elsewhere``: findings of the same rule with the same
    contradiction or answer. ``at_once``: findings of other rules in the same answer or value, or of listings
    with the same ``filter``."""

    lead: FindingEntry
    elsewhere: list[FindingEntry] = field(default_factory=list)
    at_once: list[FindingEntry] = field(default_factory=list)
    filter: str = ""

    @property
    def findings(self) -> Sequence[FindingEntry]:
        return (self.lead, *self.elsewhere, *self.at_once)


def grouped(findings: Iterable[FindingEntry], accepted: frozenset[str]) -> list[FindingGroup]:
    """The groups in the order of their first findings. ``accepted`` are the signatures that a baseline
    lists; these are in no group with others, and stand last."""
    every = list(findings)
    listed = [finding for finding in every if finding.signature in accepted]
    return [*_grouped([each for each in every if each.signature not in accepted]), *_grouped(listed)]


def _grouped(findings: Sequence[FindingEntry]) -> list[FindingGroup]:
    groups = _joined(map(FindingGroup, findings), lambda group: _manner(group.lead), _join_elsewhere)
    groups = _joined(groups, _answer, _join_at_once)
    groups = _joined(groups, _value, _join_at_value)
    groups = _joined(groups, _rule_and_answer, _join_elsewhere)
    groups = _absorbed(groups, lambda group: group.lead.other is not None, _have_an_odd_one, _join_odd_one)
    groups = _absorbed(
        groups, lambda group: group.lead.requirement in SAME_MISTAKE, _is_same_mistake, _join_mistake
    )
    groups = _without_consequences(groups)
    groups = _absorbed(groups, _rejected_answers, _rejects_the_answers, _join_at_once)
    return _absorbed(groups, _filters, _is_of_one_filter, _join_filtered)


def filters_of(finding: FindingEntry, exchanges: Mapping[int, Exchange]) -> list[str]:
    """The filters that the requests of a finding set, where it is about which records a listing holds;
    ``exchanges`` are those on record, by number."""
    fields, rule = FILTERS.get(finding.endpoint, {}), REQUIREMENTS.get(finding.requirement)
    sent = [exchanges[number] for number in finding.exchanges if number in exchanges]
    if not fields or rule is None or finding.other is not None or finding.missing:
        return []
    asked = {name for exchange in sent if _key(exchange) == finding.endpoint for name in _asked(exchange)}
    filters = sorted(fields.keys() & asked)
    names = [name.partition("[")[0] for name in finding.path.split(".")]
    if names[-1] in LISTED:
        return filters if FILTERS.keys() & set(rule.operations) == {finding.endpoint} else []
    is_asked_for = any(fields[name] in names for name in filters)
    group = BY_KEY[finding.endpoint].group  # of one listing, and not of the form of its records
    is_of_listing = rule.operations == (finding.endpoint,) and rule.section.startswith(group)
    return filters if is_asked_for and is_of_listing else []


def _key(exchange: Exchange) -> str:
    operation = exchange.request.operation
    return operation.key if operation is not None else ""


def _asked(exchange: Exchange) -> set[str]:
    """The names of what a request asks for, in its body or its query."""
    fields = exchange.sent if isinstance(exchange.sent, dict) else {}
    asked = {name for name, value in fields.items() if value not in NO_FILTER}
    return asked | {name for name, value in exchange.request.query if value}


def gravest_first(run: Run, findings: Iterable[FindingEntry]) -> list[FindingEntry]:
    """The failures before the warnings, each by severity; of one severity, rules about a single answer before
    comparisons of two; the specification's order within, and the endpoint that needs least first."""
    place = {entry.id: at for at, entry in enumerate(run.requirements)}
    return sorted(
        findings,
        key=lambda finding: (
            finding.verdict != "fail",
            gravity(finding),
            place.get(finding.requirement, 0),
            _needs(finding.endpoint),
            finding.endpoint,
        ),
    )


def _needs(endpoint: str) -> int:
    """How much of the profile a request to an endpoint needs: the least makes the simplest example."""
    row = BY_KEY.get(endpoint)
    return 0 if row is None else 2 * row.bot_challenge + bool(row.parameters)


def _rejects_the_answers(first: FindingGroup, group: FindingGroup) -> bool:
    """Whether a group rejects as a whole all answers that a group after it rejects so."""
    answers = _rejected_answers(group)
    return bool(answers) and _is_as_grave(first, group) and answers <= _rejected_answers(first)


def _is_as_grave(first: FindingGroup, group: FindingGroup) -> bool:
    """Whether a group may have another one: failures never join warnings."""
    return first.lead.verdict == "fail" or group.lead.verdict != "fail"


def _rejected_answers(group: FindingGroup) -> set[Key]:
    """The answers that a group's rule rejects as a whole; none if it rejects a part of one."""
    findings = (group.lead, *group.elsewhere)
    if any(each.path not in WHOLE_ANSWER or not each.exchanges or each.other for each in findings):
        return set()
    return {(each.endpoint, each.exchanges[-1]) for each in findings}


def _without_consequences(groups: Sequence[FindingGroup]) -> list[FindingGroup]:
    """Joins each group to the group whose wrong value causes it."""
    rest = []
    for group in groups:
        if group.lead.requirement not in DERIVED and not compares_answers(group.lead):
            rest.append(group)
            continue
        others = (each for each in groups if each is not group and _is_as_grave(each, group))
        if (cause := next((each for each in others if _explains(each, group)), None)) is None:
            rest.append(group)
        else:
            _join_at_once(cause, group)
    return rest


def _is_same_mistake(first: FindingGroup, group: FindingGroup) -> bool:
    """Whether a group has a rule that the same mistake contradicts first, at all its endpoints in common."""
    causes = SAME_MISTAKE.get(group.lead.requirement, ())
    rejecting = [each for each in first.findings if each.requirement in causes]
    marked = {key for each in rejecting for key in REQUIREMENTS[each.requirement].operations}
    places = {each.endpoint for each in (group.lead, *group.elsewhere)}
    rejected = {each.endpoint for each in rejecting}
    return bool(rejecting) and _is_as_grave(first, group) and rejected >= places & marked


def _explains(cause: FindingGroup, group: FindingGroup) -> bool:
    """Whether all findings of a group follow from values that the rule of another group rejects."""
    rejecting = (cause.lead, *cause.elsewhere)
    if DERIVED.get(group.lead.requirement) == cause.lead.requirement:
        wrong = {(finding.endpoint, *finding.exchanges[-1:]) for finding in rejecting}
        following = (group.lead, *group.elsewhere)
        return all((finding.endpoint, *finding.exchanges[-1:]) in wrong for finding in following)
    if not compares_answers(group.lead) or compares_answers(cause.lead):
        return False
    rejected = {_side(finding.endpoint, finding.path, finding.actual) for finding in rejecting}
    return all(rejected & _sides(finding) for finding in (group.lead, *group.elsewhere))


def _sides(finding: FindingEntry) -> set[Key]:
    """The values of the two answers that a finding compares, each with its endpoint and field."""
    sides = {_side(finding.endpoint, finding.path, finding.actual)}
    if finding.other is not None:
        sides.add(_side(finding.other.endpoint, finding.other.field, finding.expected))
    return sides


def _side(endpoint: str, path: str, value: object) -> Key:
    return endpoint, path.rpartition(".")[2], _text(value)


def _joined(
    groups: Iterable[FindingGroup],
    key_of: Callable[[FindingGroup], Key | None],
    join: Callable[[FindingGroup, FindingGroup], None],
) -> list[FindingGroup]:
    """Joins groups with an equal key to the first of them; one without a key stays as it is."""
    first: dict[Key, FindingGroup] = {}
    joined = []
    for group in groups:
        key = key_of(group)
        if key is not None and key in first:
            join(first[key], group)
            continue
        if key is not None:
            first[key] = group
        joined.append(group)
    return joined


def _absorbed(
    groups: Iterable[FindingGroup],
    may: Callable[[FindingGroup], object],
    fits: Callable[[FindingGroup, FindingGroup], bool],
    join: Callable[[FindingGroup, FindingGroup], None],
) -> list[FindingGroup]:
    """Joins each group to the first earlier group that it fits. ``may``: whether it may fit any: there may be
    thousands of groups."""
    joined: list[FindingGroup] = []
    for group in groups:
        if not may(group) or (first := next((each for each in joined if fits(each, group)), None)) is None:
            joined.append(group)
        else:
            join(first, group)
    return joined


def _join_elsewhere(first: FindingGroup, group: FindingGroup) -> None:
    first.elsewhere += [group.lead, *group.elsewhere]
    first.at_once += group.at_once


def _join_at_once(first: FindingGroup, group: FindingGroup) -> None:
    first.at_once += group.findings


def _join_at_value(first: FindingGroup, group: FindingGroup) -> None:
    """Joins two rules that reject one value. A record that another reading shows otherwise leads before the
    filter that it does not pass so."""
    _join_at_once(first, group)
    lead, other = first.lead, group.lead
    if lead.filters and other.other is not None and lead.verdict == other.verdict:
        first.lead = other
        first.at_once[first.at_once.index(other)] = lead


def _join_mistake(first: FindingGroup, group: FindingGroup) -> None:
    is_same_rule = group.lead.requirement == first.lead.requirement
    (_join_elsewhere if is_same_rule else _join_at_once)(first, group)


def _rule_and_answer(group: FindingGroup) -> Key | None:
    """A rule contradicted at several places of one answer; what compares two answers stays as it is."""
    lead = group.lead
    if lead.other is not None or not lead.exchanges:
        return None
    return lead.requirement, lead.verdict, lead.endpoint, lead.exchanges[-1]


def _join_filtered(first: FindingGroup, group: FindingGroup) -> None:
    """Joins listings that were asked for by one filter alone, the same, and those of one rule with a common
    filter."""
    others = [each for each in group.findings if each.requirement != first.lead.requirement]
    first.elsewhere += [each for each in group.findings if each.requirement == first.lead.requirement]
    first.at_once += others
    first.filter = group.lead.filters[0] if others else first.filter


def _filters(group: FindingGroup) -> list[str]:
    """The filters of a group's first finding, where its rule is about the filters of one listing."""
    lead = group.lead
    is_one = all(each.filters and each.endpoint == lead.endpoint for each in (lead, *group.elsewhere))
    return lead.filters if is_one else []


def _is_of_one_filter(first: FindingGroup, group: FindingGroup) -> bool:
    """Whether two groups are about one filter of one listing."""
    filters, others = _filters(first), _filters(group)
    if first.lead.endpoint != group.lead.endpoint or not filters or not others:
        return False
    if first.lead.requirement == group.lead.requirement:
        return first.lead.verdict == group.lead.verdict and bool(set(filters) & set(others))
    return len(filters) == 1 and filters == others


def _answer(group: FindingGroup) -> Key | None:
    """The answer that a single finding rejects as a whole, else None."""
    lead = group.lead
    if group.elsewhere or lead.path not in WHOLE_ANSWER or not lead.exchanges:
        return None
    return (lead.exchanges[-1], lead.endpoint)


def _value(group: FindingGroup) -> Key | None:
    """The wrong value of a place in any exchange: two rules that expect another one have one cause."""
    lead = group.lead
    if group.elsewhere or lead.path in WHOLE_ANSWER:
        return None
    values = (_text(lead.expected), _text(lead.actual))
    return (lead.endpoint, pattern_of(lead.path), *values, lead.missing)


def _manner(finding: FindingEntry) -> Key:
    """How a rule is contradicted, whatever the endpoint, the item of a list and the object around; of two
    answers that disagree, whichever of them is the later one."""
    if finding.other is not None:
        endpoints = frozenset({finding.endpoint, finding.other.endpoint})
        return (finding.requirement, finding.verdict, endpoints, finding.other.field)
    name = pattern_of(finding.path).rpartition(".")[2]
    kind = type(finding.actual).__name__
    return (finding.requirement, finding.verdict, name, _text(finding.expected), kind, finding.missing)


def _have_an_odd_one(first: FindingGroup, group: FindingGroup) -> bool:
    """Whether one endpoint disagrees with several others in a field: it is the odd one."""
    sides = [
        (each.lead.requirement, each.lead.verdict, each.lead.other.field)
        for each in (first, group)
        if each.lead.other is not None
    ]
    return len(sides) == 2 and sides[0] == sides[1] and _odd_one(first, group) is not None


def _join_odd_one(first: FindingGroup, group: FindingGroup) -> None:
    """Joins two groups; the finding of the odd endpoint leads."""
    odd = _odd_one(first, group)
    every = sorted((*first.findings, *group.findings), key=lambda finding: finding.endpoint != odd)
    first.lead, first.elsewhere, first.at_once = every[0], every[1:], []


def _odd_one(first: FindingGroup, second: FindingGroup) -> str | None:
    """The only endpoint that all comparisons of two groups have in common."""
    places = [
        {each.endpoint, each.other.endpoint} if each.other is not None else set()
        for each in (*first.findings, *second.findings)
    ]
    common = set.intersection(*places)
    return common.pop() if len(common) == 1 else None


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
