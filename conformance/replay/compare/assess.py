"""Assesses a live response against the recorded one: the same, a regression, or a permitted change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.judging import Watch, judge_of, watch
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.comparer import ResponseComparer
from conformance.replay.compare.credentials import CredentialCheck
from conformance.replay.compare.difference import Difference
from conformance.replay.compare.json_comparison import JsonComparison
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.outcome import ExchangeOutcome, State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec import REQUIREMENTS
from conformance.target.portal.budget import is_rate_limited
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Finding, Ledger, Verdict

FREE_TEXTS = frozenset({"message", "label", "description"})
"""Texts for people: the specification leaves their wording open."""

KEYS_STAY_SECRET = "SECURE-007"

WEIGHED = frozenset({Verdict.FAIL, Verdict.WARN})


@dataclass
class Assessor:
    """Decides the outcome of each exchange, from its differences and from the judge's findings.

    ``learns``: a difference that may be noise is learned as noise. ``reveals``: whether a value contains
    a key of a secure channel.
    """

    comparer: ResponseComparer
    correlation: Correlation
    noise: Noise
    baseline: RecordedBaseline
    learns: bool = False
    reveals: Callable[[Json], bool] = lambda value: False
    credentials: CredentialCheck = field(default_factory=CredentialCheck)
    _judge_recorded: Watch = field(
        default_factory=lambda: watch(Ledger(REQUIREMENTS), judge=judge_of(model=False))
    )

    def assess(self, pair: ReplayedExchange, findings: Sequence[Finding]) -> ExchangeOutcome:
        """The outcome of one exchange; ``findings`` are the judge's on the live response."""
        if pair.unsourced and pair.live.status == 404 and pair.recorded.success:
            return _not_comparable(
                pair,
                f"the target does not know {pair.unsourced[0]}, which no response returned: "
                "name one in [records]",
            )
        problem = self.credentials.problem(pair)
        if problem is not None:
            return _not_comparable(pair, problem)
        mark = len(self.correlation.journal)
        outcome = self._outcome(pair, findings)
        if pair.omitted_change is None or not outcome.differences:
            return outcome
        self._align(pair, mark)
        return _after_omitted_change(outcome, pair.omitted_change)

    def _align(self, pair: ReplayedExchange, mark: int) -> None:
        """Drops the identities that were learned since the journal had ``mark`` entries, and learns those of
        what corresponds: where records are missing, others stand in their places."""
        self.correlation.forget_since(mark)
        JsonComparison(self.correlation, pair.recorded_body, pair.live_body).align()

    def _outcome(self, pair: ReplayedExchange, findings: Sequence[Finding]) -> ExchangeOutcome:
        reason = _why_not_comparable(pair)
        if reason is not None:
            return _not_comparable(pair, reason)
        differences = self._differences(pair)
        after = [finding for finding in findings if finding.verdict in WEIGHED]
        if not differences:
            new = self._new_contradictions(pair, after)
            return _contradicting(pair, new) if new else _without_difference(pair)
        if pair.idle_seconds and any(each.kind in ("status", "code") for each in differences):
            reason = f"it was recorded after {pair.idle_seconds:.0f} s of waiting, which this pace omits"
            return _not_comparable(pair, reason, tuple(differences))
        return self._different(pair, differences, after)

    def _differences(self, pair: ReplayedExchange) -> list[Difference]:
        differences = self.comparer.compare(pair).differences
        if self.learns:
            return [each for each in differences if not self.noise.learn(pair.operation, each)]
        return differences

    def _new_contradictions(
        self, pair: ReplayedExchange, findings: Sequence[Finding]
    ) -> list[tuple[Finding, Difference]]:
        """The contradictions that the recording has not, without those learned as noise."""
        new = self.baseline.new(pair.recorded, pair.live, findings) if findings else ()
        return [(finding, each) for finding, each in new if not self.noise.is_learned(pair.operation, each)]

    def _different(
        self, pair: ReplayedExchange, differences: Sequence[Difference], after: Sequence[Finding]
    ) -> ExchangeOutcome:
        """Specification and difference together: a difference that it forbids is a regression, one from what
        it forbids is a repair."""
        before = [finding for finding in self._judge_recorded(pair.recorded) if finding.verdict in WEIGHED]
        regressed: list[Difference] = []
        changed: list[Difference] = []
        requirements: list[tuple[str, str]] = []
        for each in differences:
            requirement = self._contradicted(each, after)
            if requirement is not None:
                requirements.append((each.path, requirement))
            is_lawful = requirement is None and _is_lawful(each, before)
            (changed if is_lawful else regressed).append(each)
        for finding, each in self._further_contradictions(pair, differences, after):
            requirements.append((each.path, finding.requirement))
            regressed.append(each)
        if regressed:
            return _regressed(pair, regressed, requirements)
        reason = "new fields, other wording, or a fault that was repaired"
        return ExchangeOutcome(pair.number, State.CHANGED, pair.endpoint, reason, tuple(changed), pair.live.n)

    def _contradicted(self, difference: Difference, after: Iterable[Finding]) -> str | None:
        """The requirement that a difference contradicts."""
        if difference.kind == "extra" and self.reveals(difference.replayed):
            return KEYS_STAY_SECRET
        return next((finding.requirement for finding in after if _is_about(finding, difference)), None)

    def _further_contradictions(
        self, pair: ReplayedExchange, differences: Sequence[Difference], after: Sequence[Finding]
    ) -> list[tuple[Finding, Difference]]:
        """New contradictions at other places than those of the differences."""
        if any(each.kind in ("status", "code") for each in differences):
            return []
        others = [finding for finding in after if not any(_is_about(finding, each) for each in differences)]
        return self._new_contradictions(pair, others)


def _why_not_comparable(pair: ReplayedExchange) -> str | None:
    recorded, live = pair.recorded, pair.live
    if recorded.response is None:
        return f"no response was recorded ({recorded.error or 'for an unknown reason'})"
    if live.response is None:
        return f"no response came ({live.error or 'for an unknown reason'})"
    if is_rate_limited(live) and not is_rate_limited(recorded):
        return "the target kept refusing for its rate limit"
    if live.response.is_unknown and live.status == recorded.status:
        return f"the live body is {live.response.form}; the status is the same"
    return None


def _not_comparable(
    pair: ReplayedExchange, reason: str, differences: tuple[Difference, ...] = ()
) -> ExchangeOutcome:
    return ExchangeOutcome(pair.number, State.NOT_COMPARABLE, pair.endpoint, reason, differences, pair.live.n)


def _without_difference(pair: ReplayedExchange) -> ExchangeOutcome:
    response = pair.recorded.response
    if response is not None and response.is_unknown:
        return _not_comparable(pair, f"the recorded body is {response.form}; the status is the same")
    return ExchangeOutcome(pair.number, State.SAME, pair.endpoint, line=pair.live.n)


def _after_omitted_change(outcome: ExchangeOutcome, change: str) -> ExchangeOutcome:
    """After a change that is not replayed, only a contradiction is held against the target."""
    stated = {path for path, _ in outcome.requirements}
    forbidden = tuple(each for each in outcome.differences if each.path in stated)
    if outcome.state is not State.REGRESSED or forbidden:
        return replace(outcome, differences=forbidden or outcome.differences)
    reason = f"it was recorded after {change}, which is left out"
    return replace(outcome, state=State.NOT_COMPARABLE, reason=reason)


def _contradicting(pair: ReplayedExchange, new: Sequence[tuple[Finding, Difference]]) -> ExchangeOutcome:
    """The responses have the same form, and the live one contradicts the specification as no recorded one."""
    requirements = [(difference.path, finding.requirement) for finding, difference in new]
    return _regressed(pair, [difference for _, difference in new], requirements)


def _regressed(
    pair: ReplayedExchange, differences: Sequence[Difference], requirements: Sequence[tuple[str, str]]
) -> ExchangeOutcome:
    return ExchangeOutcome(
        pair.number,
        State.REGRESSED,
        pair.endpoint,
        "",
        tuple(differences),
        pair.live.n,
        requirements=tuple(requirements),
    )


def _is_about(finding: Finding, difference: Difference) -> bool:
    """Whether a finding is about the place of a difference, or about a place around or within it."""
    path, other = finding.path, difference.path
    return (
        path == other
        or path.startswith((f"{other}.", f"{other}["))
        or other.startswith((f"{path}.", f"{path}["))
    )


def _is_lawful(difference: Difference, before: Iterable[Finding]) -> bool:
    """Whether a difference that contradicts nothing is permitted, or repairs what was recorded."""
    return (
        difference.kind == "extra"
        or _is_free_text(difference)
        or any(_is_about(finding, difference) for finding in before)
    )


def _is_free_text(difference: Difference) -> bool:
    is_text = isinstance(difference.recorded, str) and isinstance(difference.replayed, str)
    return (
        difference.kind == "value"
        and is_text
        and bool(difference.replayed)
        and difference.place[-1] in FREE_TEXTS
    )
