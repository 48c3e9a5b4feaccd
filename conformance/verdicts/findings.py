"""From comparisons to verdicts: the requirement's level alone decides what a contradiction weighs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from conformance.errors import FaultClass
from conformance.spec import BY_KEY, Requirement
from conformance.spec.operations import endpoint_key
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.deviations import MOST_DEVIATIONS, DescribedTraffic
from conformance.verdicts.selection import RuleSelection, endpoint_in
from conformance.verdicts.verdicts import HELD as HELD
from conformance.verdicts.verdicts import PENDING_KEPT, Decision, PendingVerdicts, Verdicts
from conformance.verdicts.verdicts import Comparison as Comparison
from conformance.verdicts.verdicts import Contradiction as Contradiction
from conformance.verdicts.verdicts import Held as Held
from conformance.verdicts.verdicts import OtherPlace as OtherPlace
from conformance.verdicts.wording import expected_in_words, in_words

NOT_SELECTED = "not selected by"
"""How the reason begins of what ``--only``, ``--skip`` or ``--failed`` leave out."""

Lack = TypeVar("Lack")

DISRUPTIVE = "--impact disruptive"
"""What the reason of a case names that the greatest impact alone allows."""

SIMULATED = "a simulated clock"
"""How the reason of a case names a clock that can be moved."""

UNDECIDED = "nothing that was sent or seen could decide it"
"""How the reason begins of what no case and no check came across."""

LIMITED = "a rate limit answered in place of what was asked"
"""The reason of what a limiter kept from being tried."""

NOT_REACHED = "not reached: the run was interrupted"
"""The reason of what an interrupted run had not come across yet."""

REMEDY = "`portal-conformance explain ID` says what does"


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    OPEN = "open"
    UNTESTED = "untested"


KEPT_OBSERVATIONS = 20
"""How many different observations of one topic are kept for an endpoint."""

KEPT_MISSHAPEN = 1000
"""Of how many answers it is kept where they are not of the stated shape."""

CONTRADICTED = {"must": Verdict.FAIL, "should": Verdict.WARN, "open": Verdict.OPEN}


@dataclass(frozen=True, slots=True)
class Finding:
    requirement: str
    verdict: Verdict
    endpoint: str
    message: str
    expected: Json
    actual: Json
    path: str = ""
    case: str | None = None
    exchanges: tuple[int, ...] = ()
    times: int = 1
    fault_class: FaultClass = "target"
    other: OtherPlace | None = None
    is_aside: bool = False
    """Whether a check saw it in a case that does not declare its requirement."""
    varies: bool = False
    """Whether another value was seen, or expected, at some of the times."""

    @property
    def signature(self) -> str:
        """What stays the same from run to run: requirement, endpoint, and place without indexes."""
        parts = self.path.replace("]", "[").split("[")
        place = "".join("[]" if part.isdigit() else part for part in parts)
        return f"{self.requirement} {self.endpoint} {place}".strip()


@dataclass(frozen=True, slots=True)
class Observation:
    topic: str
    endpoint: str
    observed: Json
    exchanges: tuple[int, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """One requirement with what became of it."""

    requirement: Requirement
    verdict: Verdict
    cases: tuple[str, ...] = ()
    reason: str | None = None
    fault_class: FaultClass | None = None


Topic = tuple[str, str, type, str | int]
"""An observation by topic, endpoint and value: 1 is neither true nor "1"."""


@dataclass
class RequirementTally:
    satisfied: int = 0
    cases: dict[str, None] = field(default_factory=dict)
    reasons: dict[str, FaultClass] = field(default_factory=dict)
    lacking: dict[str, FaultClass] = field(default_factory=dict)
    doubts: dict[str, FaultClass] = field(default_factory=dict)


class Ledger:
    """What has been decided so far, by requirement. It keeps no exchange, so that a run of any length fits.

    Repeated findings (same requirement, endpoint, place without indexes) are counted, not kept.
    """

    def __init__(
        self,
        requirements: Mapping[str, Requirement],
        *,
        selection: RuleSelection | None = None,
        places: dict[str, set[str]] | None = None,
    ) -> None:
        """``places``: where it notes by endpoint the rules that checks decided there."""
        self.requirements = dict(requirements)
        self.selection = selection
        self._tallies: dict[str, RequirementTally] = {}
        self._pending = PendingVerdicts()
        self._held: Counter[Decision] = Counter()
        self._findings: dict[str, Finding] = {}
        self._observations: dict[Topic, Observation] = {}
        self._times: dict[Topic, int] = {}
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._misshapen: dict[int, tuple[str, ...]] = {}
        self.places = places
        self.errors: dict[str, str] = {}
        """Bugs of the suite itself: the check or case, and what it raised. Never held against a target."""
        self.declared: dict[str, frozenset[str]] = {}
        """By case the requirements that it declares."""
        self.deviations: dict[str, Finding] = {}
        """Where traffic differs from descriptions, by signature: no verdicts."""
        self.described = DescribedTraffic()

    def take(self, verdicts: Verdicts, *, times: int = 1, case: str | None = None) -> list[Finding]:
        """Takes what a judge decided on an exchange, or on so many equal ones; gives what is contradicted.

        ``case`` is the case that acts; without it a finding names the check.
        """
        if not verdicts.is_clean:
            return [
                finding
                for leaf in verdicts.leaves()
                for finding in self._take_leaf(leaf, times=times, case=case)
            ]
        pending = self._pending
        pending[verdicts] = pending.get(verdicts, 0) + times
        if len(pending) > PENDING_KEPT:
            self._count_pending()
        return []

    def _take_leaf(self, verdicts: Verdicts, *, times: int, case: str | None) -> Iterator[Finding]:
        self.errors.update(verdicts.bugs)
        for requirement, check, contradiction in verdicts.contradictions:
            findings = [
                self.decide(requirement, contradiction, case=case or f"check {check}") for _ in range(times)
            ]
            if (last := findings[-1]) is not None:
                yield last
        if verdicts.misshapen:
            self.note_misshapen(verdicts.contradictions[0][2].exchange, verdicts.misshapen)
        rest = Verdicts(verdicts.endpoint, verdicts.n, verdicts.held, verdicts.readings)
        self.take(verdicts if verdicts.is_clean else rest, times=times)

    def _count_pending(self) -> None:
        for verdicts, times in self._pending.leaves().items():
            for decision, number in verdicts.held:
                if not self._is_elsewhere(decision[0], verdicts.endpoint):
                    self._held[decision] += number * times
            if self.places is not None and verdicts.held:
                rules = (rule for (rule, _), _ in verdicts.held)
                self.places.setdefault(verdicts.endpoint, set()).update(rules)
            for topic, value in verdicts.readings:
                row = Observation(topic, verdicts.endpoint, clipped(value), (verdicts.n,), times)
                self.take_observation(row)

    @property
    def tallies(self) -> dict[str, RequirementTally]:
        """What was decided by requirement, with everything counted that was taken."""
        self._count_pending()
        for (requirement, check), times in self._held.items():
            self.satisfy(requirement, times, case=f"check {check}")
        self._held.clear()
        return self._tallies

    def decided_by_place(self, *, is_part: bool) -> dict[str, list[str]]:
        """By endpoint the rules about every endpoint that checks decided there; of a selection, all rules."""
        rules = {
            row.requirement.id
            for row in self.results()
            if row.verdict is not Verdict.UNTESTED
            and (is_part or len(row.requirement.operations) in (0, len(BY_KEY)))
        }
        places = self.places or {}
        return {key: sorted(rules & at) for key, at in sorted(places.items()) if rules & at}

    def decide(self, requirement: str, comparison: Comparison, *, case: str | None = None) -> Finding | None:
        """Takes one comparison; gives the finding of a contradiction. KeyError: no such requirement.

        A place that is not of the stated shape is the shape's finding and nobody else's; what two answers say
        of it stays in doubt. The answer of a limiter contradicts nothing: it is not about the request.
        """
        tally = self._tally(requirement)
        if case:
            tally.cases.setdefault(case)
        if not isinstance(comparison, Contradiction):
            tally.satisfied += not self._is_elsewhere(requirement, endpoint_in(case or ""))
            return None
        if comparison.exchange.held_back:
            self.leave_untested(requirement, LIMITED, "environment")
            return None
        if self._is_misshapen(comparison):
            leave = self.leave_untested if comparison.other is None else self.doubt
            leave(requirement, "the answer does not have the stated shape there", "target")
            return None
        finding = finding_of(self.requirements[requirement], comparison, case=case)
        return None if comparison.is_of_types else self.add(finding)

    def note_misshapen(self, exchange: Exchange, paths: Iterable[str]) -> None:
        """Remembers where an answer is not of the stated shape; of many answers, the last."""
        self._misshapen[exchange.n] = tuple(paths)
        if len(self._misshapen) > KEPT_MISSHAPEN:
            del self._misshapen[next(iter(self._misshapen))]

    def _is_misshapen(self, comparison: Contradiction) -> bool:
        places, path = self._misshapen.get(comparison.exchange.n, ()), f"{comparison.path}."
        if any(path.startswith((f"{place}.", f"{place}[")) for place in places):
            return True
        other = comparison.other
        places = () if other is None else self._misshapen.get(other.exchange, ())
        return other is not None and any(place.endswith(f".{other.field}") for place in places)

    def add(self, finding: Finding) -> Finding:
        """Takes a finding made elsewhere, and gives it with the number of its signature so far. Of each
        signature the ledger keeps the place and the exchanges of the first."""
        self._tally(finding.requirement)
        return _counted(self._findings, finding)

    def deviate(self, finding: Finding) -> None:
        """Takes a deviation from a description, as ``add``."""
        if finding.signature in self.deviations or len(self.deviations) < MOST_DEVIATIONS:
            _counted(self.deviations, finding)

    def satisfy(self, requirement: str, times: int = 1, *, case: str | None = None) -> None:
        """Counts comparisons that held, for a caller that made many at once."""
        tally = self._tally(requirement)
        tally.satisfied += times
        if case:
            tally.cases.setdefault(case)

    def observe(self, topic: str, exchange: Exchange, observed: Json) -> None:
        """Records what a target does where the specification leaves it open; equal ones are counted."""
        self._count_pending()
        self.take_observation(Observation(topic, endpoint_of(exchange), clipped(observed), (exchange.n,)))

    def take_observation(self, row: Observation, *, is_counted: bool = True) -> None:
        """Takes an observation made elsewhere; of equal ones the first is kept, and the times are added where
        they are ``is_counted``."""
        value = row.observed if isinstance(row.observed, str | int) else repr(row.observed)
        key = row.topic, row.endpoint, type(row.observed), value
        if key in self._times:
            self._times[key] += row.times if is_counted else 0
        elif self._kinds[row.topic, row.endpoint] < KEPT_OBSERVATIONS:
            self._kinds[row.topic, row.endpoint] += 1
            self._times[key] = row.times
            self._observations[key] = row

    def leave_untested(
        self, requirement: str, reason: str, fault_class: FaultClass = "configuration"
    ) -> None:
        """Records the reason why a requirement was not tried; any verdict overrides it."""
        self._tally(requirement).reasons.setdefault(reason, fault_class)

    def doubt(self, requirement: str, reason: str, fault_class: FaultClass) -> None:
        """Remembers what was seen of a requirement that may well contradict it: it does not pass by what held
        elsewhere."""
        self._tally(requirement).doubts.setdefault(reason, fault_class)

    def leave_unbegun(self, requirement: str, reason: str) -> None:
        """Remembers what a case lacks to be begun; the reasons of others that were begun come first."""
        self._tally(requirement).lacking.setdefault(reason, "configuration")

    def leave_last(self, requirement: str, reason: str) -> None:
        """Remembers a reason that counts where no case gives another one."""
        if not (tally := self._tally(requirement)).lacking:
            tally.lacking[reason] = "configuration"

    def touch(self, requirement: str, case: str) -> None:
        """Remembers that a case speaks for a requirement, whatever it decides."""
        self._tally(requirement).cases.setdefault(case)

    def knows(self, signature: str) -> bool:
        return signature in self._findings

    def counts(self, finding: Finding) -> bool:
        """Whether a finding is one of a selected rule, at an endpoint where the rule counts."""
        return self.is_selected(finding.requirement, finding.endpoint)

    def is_selected(self, requirement: str, endpoint: str) -> bool:
        """Whether what is decided of a rule at an endpoint counts: ``--only`` and ``--skip`` leave rules out,
        and ``--only`` with an endpoint other endpoints."""
        return not (self.excludes(requirement) or self._is_elsewhere(requirement, endpoint))

    def excludes(self, requirement: str) -> bool:
        return self.selection is not None and self.selection.excludes(requirement)

    def _is_elsewhere(self, requirement: str, endpoint: str) -> bool:
        return self.selection is not None and self.selection.is_elsewhere(requirement, endpoint)

    @property
    def findings(self) -> list[Finding]:
        findings = (
            replace(each, is_aside=True)
            if each.requirement not in self.declared.get(each.case or "", (each.requirement,))
            else each
            for each in filter(self.counts, self._findings.values())
        )
        return sorted(findings, key=lambda finding: (finding.requirement, finding.endpoint, finding.path))

    @property
    def observations(self) -> list[Observation]:
        rules = {row.reading: row.id for row in self.requirements.values() if row.reading}
        kept = [
            row for row in self.all_observations if self.is_selected(rules.get(row.topic, ""), row.endpoint)
        ]
        return sorted(kept, key=lambda row: (row.topic, row.endpoint, repr(row.observed)))

    @property
    def all_findings(self) -> list[Finding]:
        """Findings of all rules, also unselected ones, in order of occurrence."""
        return list(self._findings.values())

    @property
    def all_observations(self) -> list[Observation]:
        """Observations of all rules, also unselected ones, in order of occurrence."""
        self._count_pending()
        return [replace(row, times=self._times[key]) for key, row in self._observations.items()]

    def results(self) -> list[Result]:
        """Every requirement with its verdict, in the specification's order."""
        first: dict[str, Finding] = {}
        for finding in filter(self.counts, self._findings.values()):
            first.setdefault(finding.requirement, finding)
        tallies, observed = self.tallies, {row.topic for row in self.observations}
        return [
            self._result(
                requirement,
                first.get(requirement.id),
                tallies.get(requirement.id, RequirementTally()),
                observed,
            )
            for requirement in self.requirements.values()
        ]

    def _result(
        self, requirement: Requirement, finding: Finding | None, tally: RequirementTally, observed: set[str]
    ) -> Result:
        cases = tuple(sorted(tally.cases))
        if self.selection is not None and self.excludes(requirement.id):
            reason = f"{NOT_SELECTED} {self.selection.text}"
            return Result(requirement, Verdict.UNTESTED, cases, requirement.untestable or reason)
        if finding is not None and finding.verdict is not Verdict.OPEN:
            return Result(requirement, finding.verdict, cases, finding.message, finding.fault_class)
        if requirement.level == "open" and (
            tally.satisfied or finding is not None or requirement.reading in observed
        ):
            return Result(requirement, Verdict.OPEN, cases)
        if tally.satisfied and not tally.doubts:
            return Result(requirement, Verdict.PASS, cases)
        if requirement.untestable:
            return Result(requirement, Verdict.UNTESTED, cases, requirement.untestable)
        reason, fault_class = next(
            iter({**tally.doubts, **tally.reasons, **mildest_first(tally.lacking)}.items()),
            (f"{UNDECIDED}: {REMEDY}", None),
        )
        return Result(requirement, Verdict.UNTESTED, cases, reason, fault_class)

    def _tally(self, requirement: str) -> RequirementTally:
        if requirement not in self.requirements:
            raise KeyError(f"there is no requirement {requirement!r}")
        return self._tallies.setdefault(requirement, RequirementTally())


def mildest_first(lacking: Mapping[str, Lack]) -> dict[str, Lack]:
    """What the cases of a rule lack, by reason: any other case asks for less than one that needs a disruptive
    run, and that for less than a clock that can be moved, which no deployed portal has."""
    return dict(sorted(lacking.items(), key=lambda row: (SIMULATED in row[0], DISRUPTIVE in row[0])))


def finding_of(requirement: Requirement, comparison: Contradiction, *, case: str | None = None) -> Finding:
    """The finding of a contradiction, with everything a reader needs to act."""
    exchange = comparison.exchange
    return Finding(
        requirement=requirement.id,
        verdict=CONTRADICTED[requirement.level],
        endpoint=comparison.about or endpoint_of(exchange),
        message=comparison.message or _message(comparison),
        expected=clipped(comparison.expected),
        actual=clipped(comparison.actual),
        path=comparison.path,
        case=case,
        exchanges=tuple(dict.fromkeys([*(other.n for other in comparison.also), exchange.n])),
        other=comparison.other,
    )


def _message(comparison: Contradiction) -> str:
    place = comparison.path or "the answer"
    return f"{place}: expected {described(comparison.expected)}, seen {seen_in_words(comparison.actual)}"


def endpoint_of(exchange: Exchange) -> str:
    """The method and path template of the endpoint; the path as sent if it lies outside the portal."""
    request, match = exchange.request, exchange.request.operation
    if match is not None:
        return match.key
    return endpoint_key(request.method, request.path) or f"{request.method} {request.path}"


def shown(value: Json) -> str:
    """A value as a person reads it in one line: as JSON."""
    if value is ABSENT:
        return "nothing"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return shortened(text)


def described(expected: Json) -> str:
    """What was expected in one line: a value as JSON; a text of several words is a description."""
    words = expected_in_words(expected, shown)
    return shown(expected) if words is None else shortened(words)


def seen_in_words(value: Json) -> str:
    """A value in one line: objects of the suite in words, others as JSON."""
    words = in_words(value, shown)
    return shown(value) if words is None else shortened(words)


def shortened(text: str, limit: int = 200) -> str:
    """The text, or its beginning and its length."""
    return text if len(text) <= limit else f"{text[: limit - 1]}… ({len(text)} characters)"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest of some verdicts; UNTESTED where there are none."""
    order = (Verdict.FAIL, Verdict.WARN, Verdict.PASS, Verdict.OPEN, Verdict.UNTESTED)
    return min(verdicts, key=order.index, default=Verdict.UNTESTED)


def _counted(findings: dict[str, Finding], finding: Finding) -> Finding:
    """Adds a finding to those by signature; the finding with its number so far."""
    earlier = findings.get(finding.signature)
    if earlier is None:
        findings[finding.signature] = finding
        return finding
    times = earlier.times + finding.times
    is_same = (earlier.expected, earlier.actual) == (finding.expected, finding.actual)
    varies = earlier.varies or finding.varies or not is_same
    findings[finding.signature] = replace(earlier, times=times, varies=varies)
    return replace(finding, times=times)
