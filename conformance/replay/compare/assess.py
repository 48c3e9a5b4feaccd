"""Assesses a live response against the recorded one: the same, a regression, or a permitted change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.checks.records import sent_fields
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.callers import (
    OF_A_REFUSAL,
    Authenticators,
    CredentialCheck,
    ServedCallers,
    foreign_sessions,
    why_nothing_is_shown,
)
from conformance.replay.compare.clocks import clocks_of
from conformance.replay.compare.comparer import Comparer, ResponseComparison
from conformance.replay.compare.json_comparison import JsonComparison
from conformance.replay.compare.matchers import PlaceMatcher, with_matchers
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.outcome import (
    NO_RESPONSE,
    Difference,
    ExchangeOutcome,
    Meaning,
    MeaningOfDifference,
    ReplayedExchange,
    State,
    breaking,
)
from conformance.replay.compare.written import changed_by, makes_a_record
from conformance.report.model.regressions import pattern_of
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGOUT
from conformance.target.portal.login import METHODS
from conformance.traffic.exchange import Json
from conformance.verdicts.comparisons import is_from_before_the_portal, is_rate_limited
from conformance.verdicts.findings import Finding, Verdict

KEYS_STAY_SECRET = "SECURE-007"

REFUSED_AS_MAILED = (
    "the right emailed code completes a sign-in (LOGIN-028), and the only one that was mailed to the account "
    "after the request for it is refused; is it what the inbox's pattern matches?"
)

WEIGHED = frozenset({Verdict.FAIL, Verdict.WARN})

HELD_AGAINST_THE_TARGET = frozenset({Meaning.CONTRADICTION, Meaning.BREAKING})
"""Differences by which an exchange has regressed."""


@dataclass
class Assessor:
    """Decides the outcome of each exchange, from its differences and from the judge's findings.

    ``reveals``: whether a value contains a key of a secure channel.
    """

    comparer: Comparer
    baseline: RecordedBaseline
    reveals: Callable[[Json], bool] = lambda value: False
    credentials: CredentialCheck = field(default_factory=CredentialCheck)
    meanings: Meanings = field(default_factory=Meanings)
    owners: dict[str, str] = field(default_factory=dict)
    """By id of a session, the account that was shown it first."""
    authenticators: Authenticators = field(default_factory=Authenticators)
    served: ServedCallers = field(default_factory=ServedCallers)
    matchers: Sequence[PlaceMatcher] = ()

    def assess(self, pair: ReplayedExchange, findings: Sequence[Finding]) -> ExchangeOutcome:
        """The outcome of one exchange; ``findings`` are the judge's on the live response."""
        if pair.unsourced and pair.live.status == 404 and pair.recorded.success:
            return _not_comparable(
                pair,
                f"the target does not know {pair.unsourced[0]}, which no response returned: "
                "name one in [records]",
            )
        self.served.note(pair)
        problem = self.credentials.problem(pair) or why_nothing_is_shown(pair)
        if problem is not None:
            return _not_comparable(pair, problem)
        mark = len(self.comparer.correlation.journal)
        self.comparer.correlation.shows_another = pair.shows_another and not makes_a_record(pair)
        outcome = self._outcome(pair, findings)
        if pair.omitted_change is None or not outcome.differences:
            return outcome
        self._align(pair, mark)
        return _after_omitted_change(outcome, pair)

    def _align(self, pair: ReplayedExchange, mark: int) -> None:
        """Drops the identities that were learned since the journal had ``mark`` entries, and learns those of
        what corresponds: where records are missing, others stand in their places."""
        self.comparer.correlation.forget_since(mark)
        comparison = JsonComparison(self.comparer.correlation, pair, self.comparer.earlier)
        comparison.align(pair.recorded_body, pair.live_body)

    def _outcome(self, pair: ReplayedExchange, findings: Sequence[Finding]) -> ExchangeOutcome:
        reason = _why_not_comparable(pair)
        if reason is not None:
            return _not_comparable(pair, reason)
        differences, is_stable = self._differences(pair)
        after = [finding for finding in findings if finding.verdict in WEIGHED]
        if not differences:
            new = self._contradictions(pair, after)
            return _weighed_outcome(pair, new) if new else _without_difference(pair, is_stable=is_stable)
        held_back = _why_held_back(pair)
        if held_back is not None:
            return _not_comparable(pair, held_back, tuple(differences))
        if pair.idle_seconds and any(each.kind in ("status", "code") for each in differences):
            reason = f"it was recorded after {pair.idle_seconds:.0f} s of waiting, which this pace omits"
            return _not_comparable(pair, reason, tuple(differences))
        return self._different(pair, differences, after)

    def _differences(self, pair: ReplayedExchange) -> ResponseComparison:
        """The differences of two responses, also from earlier ones of either side."""
        correlation = self.comparer.correlation
        self.comparer.own.note(pair)
        self.authenticators.note(pair)
        for record in changed_by(pair):
            moments = clocks_of(pair.recorded_body, pair.live_body, pair)
            if not correlation.shows_another:
                self.comparer.earlier.note_change(record, moments, pair.live.elapsed_ms / 1000)
            if pair.shows_another:
                self.meanings.note_change_instead(pair, record)
        compared, is_stable = self.comparer.compare(pair)
        differences = [*compared, *foreign_sessions(pair, self.owners)]
        places = {each.place for each in differences}
        repeated = self.comparer.earlier.broken(pair)
        differences += [each for each in repeated if each.place not in places]
        if self.matchers:
            differences = with_matchers(self.matchers, pair, differences)
        return ResponseComparison(differences, is_stable and not differences)

    def _contradictions(
        self, pair: ReplayedExchange, findings: Sequence[Finding]
    ) -> list[tuple[Difference, MeaningOfDifference]]:
        """Contradictions that the recording lacks, as differences."""
        new = self.baseline.new(pair.recorded, pair.live, findings)
        return [(each, self._against(pair, finding)) for finding, each in new]

    def _different(
        self, pair: ReplayedExchange, differences: Sequence[Difference], after: Sequence[Finding]
    ) -> ExchangeOutcome:
        """Specification and difference together: a difference that it forbids is a regression, one from what
        it forbids is a repair."""
        before = [finding for finding in self.baseline.judge(pair.recorded) if finding.verdict in WEIGHED]
        weighed = [(each, self._meaning(pair, each, before, after)) for each in differences]
        if not any(each.kind in ("status", "code") for each in differences):
            others = [each for each in after if not any(_is_about(each, other) for other in differences)]
            weighed += self._contradictions(pair, others)
        return _weighed_outcome(pair, weighed)

    def _meaning(
        self,
        pair: ReplayedExchange,
        difference: Difference,
        before: Sequence[Finding],
        after: Sequence[Finding],
    ) -> MeaningOfDifference:
        """What a difference means: the judge decides first, then the specification's gaps."""
        if difference.kind == "extra" and self.reveals(difference.replayed):
            return self.meanings.contradicted(pair, KEYS_STAY_SECRET, is_stated=True)
        unfit = self.authenticators.offered(pair, difference)
        if unfit is not None:
            is_of_rule = unfit in REQUIREMENTS
            return self.meanings.contradicted(pair, unfit, is_stated=False) if is_of_rule else breaking(unfit)
        is_of_a_mail = difference.kind in ("status", "code") and _is_by_mail(pair)
        if is_of_a_mail and self.credentials.has_certain_code(pair):
            return breaking(REFUSED_AS_MAILED)
        speaking = [
            each for each in after if _is_about(each, difference) or _is_of_a_refusal(each, difference)
        ]
        if speaking:
            stated = (finding for finding in speaking if finding.verdict is Verdict.FAIL)
            return self._against(pair, next(stated, speaking[0]))
        repaired = next((finding.requirement for finding in before if _is_about(finding, difference)), None)
        if repaired is not None:
            return MeaningOfDifference(Meaning.PERMITTED, f"the recorded response contradicts {repaired}")
        missed = self.served.misses(pair, difference, self.meanings.stand_ins)
        if missed is not None:
            return self.meanings.contradicted(pair, missed, is_stated=True)
        return self.meanings.of(pair, difference)

    def _against(self, pair: ReplayedExchange, finding: Finding) -> MeaningOfDifference:
        is_stated = finding.verdict is Verdict.FAIL
        return self.meanings.contradicted(pair, finding.requirement, is_stated=is_stated)


def _is_by_mail(pair: ReplayedExchange) -> bool:
    sent = sent_fields(pair.recorded)
    return pair.operation == LOGIN_COMPLETE and sent.get("method") == METHODS["EMAIL"]


def _why_not_comparable(pair: ReplayedExchange) -> str | None:
    recorded, live = pair.recorded, pair.live
    if recorded.response is None:
        return f"no response was recorded ({recorded.error or 'for an unknown reason'})"
    if live.response is None:
        return f"{NO_RESPONSE} ({live.error or 'for an unknown reason'})"
    if is_rate_limited(live) and not is_rate_limited(recorded):
        return "the target kept refusing for its rate limit"
    if live.response.is_unknown and live.status == recorded.status:
        return f"the live body is {live.response.form}; the status is the same"
    return None


def _why_held_back(pair: ReplayedExchange) -> str | None:
    """Why a recorded refusal says nothing of the portal. That sign-ins are limited is stated."""
    recorded, live = pair.recorded, pair.live
    if is_from_before_the_portal(recorded):
        return f"a proxy or gateway before the recorded portal answered in its place (HTTP {recorded.status})"
    if is_rate_limited(recorded) and not is_rate_limited(live) and pair.operation != LOGIN_INITIATE:
        return "the recorded portal refused it for its rate limit"
    return None


def _not_comparable(
    pair: ReplayedExchange, reason: str, differences: tuple[Difference, ...] = ()
) -> ExchangeOutcome:
    return ExchangeOutcome(pair.number, State.NOT_COMPARABLE, pair.endpoint, reason, differences, pair.live.n)


def _without_difference(pair: ReplayedExchange, *, is_stable: bool) -> ExchangeOutcome:
    response = pair.recorded.response
    if response is not None and response.is_unknown:
        return _not_comparable(pair, f"the recorded body is {response.form}; the status is the same")
    return ExchangeOutcome(pair.number, State.SAME, pair.endpoint, line=pair.live.n, is_stable=is_stable)


def _after_omitted_change(outcome: ExchangeOutcome, pair: ReplayedExchange) -> ExchangeOutcome:
    """After a change that is not replayed, only what a requirement speaks against is held against the target,
    what no such change takes away: that it knows the caller, and that a logout succeeds."""
    weighed = list(zip(outcome.differences, outcome.meanings, strict=True)) if outcome.meanings else []
    held = [
        (difference, meaning)
        for difference, meaning in weighed
        if meaning.meaning in HELD_AGAINST_THE_TARGET
        and (meaning.requirement or _is_not_by_a_change(pair, difference))
    ]
    if outcome.state is not State.REGRESSED:
        return outcome
    if held:
        differences, meanings = zip(*held, strict=True)
        return replace(outcome, differences=tuple(differences), meanings=tuple(meanings))
    reason = f"it was recorded after {pair.omitted_change}, which is left out"
    return replace(outcome, state=State.NOT_COMPARABLE, reason=reason, meanings=())


def _is_not_by_a_change(pair: ReplayedExchange, difference: Difference) -> bool:
    if difference.kind in ("status", "code"):
        return bool(pair.recorded.success) and pair.live.status == 401
    return pair.operation == LOGOUT and difference.place == ("data", "success")


def _weighed_outcome(
    pair: ReplayedExchange, weighed: Sequence[tuple[Difference, MeaningOfDifference]]
) -> ExchangeOutcome:
    differences = tuple(difference for difference, _ in weighed)
    meanings = tuple(meaning for _, meaning in weighed)
    is_regressed = any(each.meaning in HELD_AGAINST_THE_TARGET for each in meanings)
    requirements = tuple(
        (difference.path, each.requirement) for difference, each in weighed if each.requirement
    )
    return ExchangeOutcome(
        pair.number,
        State.REGRESSED if is_regressed else State.CHANGED,
        pair.endpoint,
        "" if is_regressed else "what the specification permits, or drift",
        differences,
        pair.live.n,
        requirements=requirements,
        meanings=meanings,
    )


def _is_of_a_refusal(finding: Finding, difference: Difference) -> bool:
    """Tells whether finding and difference both concern a refusal, in any part of the response."""
    return finding.path in OF_A_REFUSAL and difference.path in OF_A_REFUSAL


def _is_about(finding: Finding, difference: Difference) -> bool:
    """Tells whether a finding's path equals, contains or lies within the path of a difference.

    A rule about an entry says nothing of the length of a list; one about a field, of it in each entry."""
    path, other = finding.path, difference.path
    if not other:
        return not path.startswith(("status", "headers."))
    if difference.kind == "length" and path.startswith(f"{other}["):
        return False
    return (
        pattern_of(path) == pattern_of(other)
        or path.startswith((f"{other}.", f"{other}["))
        or other.startswith((f"{path}.", f"{path}["))
    )
