"""What an answer of the replay means: the same, a regression, a permitted change, or nothing to tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.judging import Watch, watch
from conformance.replay.compare.baseline import Past
from conformance.replay.compare.comparer import Comparer, Difference
from conformance.replay.compare.outcome import Outcome, State, Tally
from conformance.replay.fast_lane.answers import Familiar, familiar_of
from conformance.spec import REQUIREMENTS, operation_of
from conformance.target.portal.budget import is_rate_limited
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Finding, Ledger, Verdict, endpoint_of

FREE_TEXTS = frozenset({"message", "label", "description"})
"""Texts for people: the specification leaves their wording open."""

KEYS_STAY_SECRET = "SECURE-007"

WEIGHED = frozenset({Verdict.FAIL, Verdict.WARN})


@dataclass
class Assessor:
    """Judges and compares each answer, once. ``learns`` takes what may be noise as noise."""

    comparer: Comparer
    judge: Watch
    past: Past
    tally: Tally = field(default_factory=Tally)
    learns: bool = False
    reveals: Callable[[Json], bool] = lambda value: False
    """Whether a value holds a key of a secure channel."""

    def __post_init__(self) -> None:
        self._judge_recorded = watch(Ledger(REQUIREMENTS))

    def assess(
        self,
        number: int,
        recorded: Exchange,
        live: Exchange,
        *,
        pair: tuple[int, int] | None = None,
        left_out: float = 0.0,
        strange: Sequence[str] = (),
        change: str | None = None,
        findings: Sequence[Finding] | None = None,
    ) -> Outcome:
        """The outcome of one exchange, counted. ``pair``: hashes of what the two answers say. ``left_out``:
        seconds that the client had waited before it when it was recorded, and that the replay did not wait.
        ``strange``: ids in it that nobody gave. ``change``: one that was recorded before it, may show in it,
        and is not replayed. ``findings``: what the judge said of it, where it was asked before."""
        if findings is None:
            findings = self.judge(live)
        if strange and live.status == 404 and recorded.success:
            endpoint = endpoint_of(recorded)
            reason = f"the target does not know {strange[0]}, which no answer gave: name one in [records]"
            outcome = Outcome(number, State.NOT_COMPARABLE, endpoint, reason, line=live.n)
        else:
            mark = len(self.comparer.identities.journal)
            outcome = self._outcome(number, recorded, live, findings, left_out, pair)
            if change is not None and outcome.differences:
                self.comparer.align(recorded, live, mark)
                outcome = _for_want_of(change, outcome)
        self.tally.add(outcome)
        return outcome

    def familiar(self, live: Exchange, pair: tuple[int, int] | None) -> Familiar | None:
        """What others are told by that say what this one did, which was assessed last, and judged then; None
        where they are to be judged or compared."""
        if pair is None or not self.comparer.knows(pair) or not live.success:
            return None
        return familiar_of(live)

    def again(self, live: Exchange, familiar: Familiar) -> list[Finding]:
        """What an exchange that says what another said contradicts at its moment; where that is nothing, it
        is counted as the same."""
        found = self.judge(live)
        if not found:
            self.tally.add_same(familiar.endpoint)
        return found

    def _outcome(
        self,
        number: int,
        recorded: Exchange,
        live: Exchange,
        findings: Sequence[Finding],
        left_out: float,
        pair: tuple[int, int] | None,
    ) -> Outcome:
        endpoint = endpoint_of(recorded)
        if recorded.response is None:
            reason = f"no answer was recorded ({recorded.error or 'unknown why'})"
            return Outcome(number, State.NOT_COMPARABLE, endpoint, reason, line=live.n)
        if live.response is None:
            reason = f"no answer came ({live.error or 'unknown why'})"
            return Outcome(number, State.NOT_COMPARABLE, endpoint, reason, line=live.n)
        if is_rate_limited(live) and not is_rate_limited(recorded):
            reason = "the target kept refusing for its rate limit"
            return Outcome(number, State.NOT_COMPARABLE, endpoint, reason, line=live.n)
        differences = self._differences(recorded, live, pair)
        if not differences:
            weighed = [one for one in findings if one.verdict in WEIGHED]
            new = self._new(recorded, live, weighed)
            if new:
                return _contradicting(number, endpoint, live, new)
            return self._alike(number, endpoint, recorded, live)
        if left_out and any(one.kind in ("status", "code") for one in differences):
            reason = f"it was recorded after {left_out:.0f} s of waiting, which this pace leaves out"
            return Outcome(number, State.NOT_COMPARABLE, endpoint, reason, tuple(differences), live.n)
        return self._different(number, endpoint, recorded, live, differences, findings)

    def _alike(self, number: int, endpoint: str, recorded: Exchange, live: Exchange) -> Outcome:
        assert recorded.response is not None
        assert live.response is not None
        for told, answer in (("recorded", recorded.response), ("live", live.response)):
            if answer.is_unknown:
                reason = f"the {told} body is {answer.form}; the status is the same"
                return Outcome(number, State.NOT_COMPARABLE, endpoint, reason, line=live.n)
        return Outcome(number, State.SAME, endpoint, line=live.n)

    def _differences(
        self, recorded: Exchange, live: Exchange, pair: tuple[int, int] | None
    ) -> list[Difference]:
        operation = operation_of(recorded.request.method, recorded.request.path)
        self.comparer.operation = operation.key if operation else recorded.request.path
        found = self.comparer.answers(recorded, live, pair)
        if self.learns:
            return [one for one in found if not self.comparer.noise.learn(self.comparer.operation, one)]
        return found

    def _new(
        self, recorded: Exchange, live: Exchange, findings: Sequence[Finding]
    ) -> list[tuple[Finding, Difference]]:
        """What is contradicted as it was not in the recording, but for what was learned to be noise."""
        noise, operation = self.comparer.noise, self.comparer.operation
        new = self.past.new(recorded, live, findings) if findings else ()
        return [(found, one) for found, one in new if not noise.knows(operation, one)]

    def _different(
        self,
        number: int,
        endpoint: str,
        recorded: Exchange,
        live: Exchange,
        differences: Iterable[Difference],
        findings: Sequence[Finding],
    ) -> Outcome:
        """Specification and difference together: what it forbids now is a regression, what it forbade when
        recorded is repaired."""
        before = [one for one in self._judge_recorded(recorded) if one.verdict in WEIGHED]
        after = [one for one in findings if one.verdict in WEIGHED]
        regressed: list[Difference] = []
        changed: list[Difference] = []
        requirements: list[tuple[str, str]] = []
        for one in differences:
            contradicted = next((found.requirement for found in after if _speaks_of(found, one)), None)
            if one.kind == "extra" and self.reveals(one.replayed):
                contradicted = KEYS_STAY_SECRET
            repaired = contradicted is None and any(_speaks_of(found, one) for found in before)
            if contradicted is not None:
                requirements.append((one.path, contradicted))
            permitted = contradicted is None and (one.kind == "extra" or _is_free_text(one))
            (changed if permitted or repaired else regressed).append(one)
        is_another = any(one.kind in ("status", "code") for one in differences)
        others = [] if is_another else [one for one in after if not _is_told(one, differences)]
        for found, difference in self._new(recorded, live, others):
            requirements.append((difference.path, found.requirement))
            regressed.append(difference)
        if regressed:
            return Outcome(
                number,
                State.REGRESSED,
                endpoint,
                "",
                tuple(regressed),
                live.n,
                requirements=tuple(requirements),
            )
        reason = "new fields, other wording, or a fault that was repaired"
        return Outcome(number, State.CHANGED, endpoint, reason, tuple(changed), live.n)


def _for_want_of(change: str, outcome: Outcome) -> Outcome:
    """Where a change was left out, only what the specification forbids is held against the target."""
    stated = {path for path, _ in outcome.requirements}
    forbidden = tuple(one for one in outcome.differences if one.path in stated)
    if outcome.state is not State.REGRESSED or forbidden:
        return replace(outcome, differences=forbidden or outcome.differences)
    reason = f"it was recorded after {change}, which is left out"
    return replace(outcome, state=State.NOT_COMPARABLE, reason=reason)


def _contradicting(
    number: int, endpoint: str, live: Exchange, new: Sequence[tuple[Finding, Difference]]
) -> Outcome:
    """The same by its shape, and yet against the specification, as the recording was not."""
    return Outcome(
        number,
        State.REGRESSED,
        endpoint,
        "",
        tuple(difference for _, difference in new),
        live.n,
        requirements=tuple((difference.path, finding.requirement) for finding, difference in new),
    )


def _is_told(finding: Finding, differences: Iterable[Difference]) -> bool:
    return any(_speaks_of(finding, one) for one in differences)


def _speaks_of(finding: Finding, difference: Difference) -> bool:
    """Whether a finding is about the place of a difference, or about what holds it or stands in it."""
    one, other = finding.path, difference.path
    return (
        one == other or one.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{one}.", f"{one}["))
    )


def _is_free_text(difference: Difference) -> bool:
    is_text = isinstance(difference.recorded, str) and isinstance(difference.replayed, str)
    return (
        difference.kind == "value"
        and is_text
        and bool(difference.replayed)
        and difference.place[-1] in FREE_TEXTS
    )
