"""The recorded baseline: the contradictions of the recording itself, which are no regressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from conformance.checks.access.claims import claim_kinds
from conformance.checks.access.sign_in import claims_of
from conformance.judging import Watch, judge_of, watch
from conformance.replay.compare.outcome import Difference
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig, steps
from conformance.traffic.hidden import CLAIMS
from conformance.traffic.values import REDACTED
from conformance.verdicts.findings import Finding, Ledger, Verdict

SENT_TOKEN = "headers.authorization"
"""The path of a finding about the access token of a request, whose claims it names."""


@dataclass
class RecordedBaseline:
    """The recorded exchanges in their order. They are judged once, and only where that is asked for."""

    exchanges: Iterable[Exchange]
    correlation: Correlation
    no_cache: bool = True
    """Judges without the cache of verdicts."""
    hidden: Mapping[str, Json] = field(default_factory=dict)
    """What the recorder says of secrets that it redacted, by their placeholders."""
    reported: set[str] = field(default_factory=set)
    """Signatures of contradictions that were reported as new already."""

    def __post_init__(self) -> None:
        self.judge = self._judging(Ledger(REQUIREMENTS))

    def _judging(self, ledger: Ledger) -> Watch:
        return watch(ledger, judge=judge_of(no_cache=self.no_cache, model=False))

    @cached_property
    def signatures(self) -> frozenset[str]:
        ledger = Ledger(REQUIREMENTS)
        judge = self._judging(ledger)
        for number, exchange in enumerate(self.exchanges, 1):
            judge(replace(exchange, n=number))
        return frozenset(finding.signature for finding in ledger.findings)

    def new(
        self, recorded: Exchange, live: Exchange, findings: Iterable[Finding]
    ) -> Iterator[tuple[Finding, Difference]]:
        """The contradictions of a response that the recording has nowhere, each once, one for a place.

        Nothing is new where the recording lacks what would show whether it was so before, nor at a place with
        the recorded value: the cause of the contradiction is then elsewhere. What is stated is new also where
        the recorded value was redacted, and at an entry of a list that was shorter.
        """
        if recorded.request.lacks:
            return
        places: set[str] = set()
        for finding in findings:
            old, new = _at(recorded, finding.path), _at(live, finding.path)
            is_stated = finding.verdict is Verdict.FAIL
            if new is ABSENT or self._is_unchanged(old, new, is_stated=is_stated):
                continue
            if old is ABSENT and not (is_stated and _is_a_further_entry(recorded, finding.path)):
                continue
            if finding.signature not in self.reported and finding.signature not in self.signatures:
                self.reported.add(finding.signature)
                if finding.path in places:
                    continue
                places.add(finding.path)
                shown = (None, finding.actual) if finding.path == SENT_TOKEN else (old, new)
                yield finding, Difference("value", tuple(steps(finding.path)), *shown)

    def _is_unchanged(self, old: Json, new: Json, *, is_stated: bool) -> bool:
        """Whether a value is the recorded one, or its counterpart. A token may change in its claims."""
        if isinstance(old, str) and REDACTED.search(old):
            return not is_stated and not self._had_other_claims(old, new)
        if not isinstance(old, str) or claims_of(old) is not None:
            return bool(old == new)
        return bool(old == new) or self.correlation.live.get(old) == new

    def _had_other_claims(self, placeholder: str, token: Json) -> bool:
        """Tells whether a hidden recorded token had different claims, or claims of different kinds: the
        recorded claims then did not contradict the specification in this way."""
        kinds = dig(self.hidden.get(placeholder), [CLAIMS])
        return kinds is not ABSENT and isinstance(token, str) and kinds != claim_kinds(token)


def _at(exchange: Exchange, path: str) -> Json:
    """Value at a finding's path: in the response, or the request's token for ``SENT_TOKEN``."""
    if path != SENT_TOKEN:
        return exchange.at(path)
    token = exchange.request.bearer
    return ABSENT if token is None else token


def _is_a_further_entry(recorded: Exchange, path: str) -> bool:
    """Whether a path leads to an entry that the recorded list was too short to have."""
    list_path, bracket, _ = path.rpartition("[")
    while bracket:
        entries = recorded.at(list_path)
        if isinstance(entries, list):
            return int(path[len(list_path) + 1 :].partition("]")[0]) >= len(entries)
        list_path, bracket, _ = list_path.rpartition("[")
    return False
