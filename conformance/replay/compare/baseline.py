"""What the recording contradicts by itself, so that what the target contradicts anew can be told from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from msgspec.structs import replace

from conformance.judging import watch
from conformance.replay.compare.comparer import Difference
from conformance.replay.compare.kinds import TAKEN_OUT
from conformance.replay.rebuild.correlation import Identities
from conformance.replay.recording.values import claims_of
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import ABSENT, Exchange, Json, steps
from conformance.verdicts.findings import Finding, Ledger


@dataclass
class Past:
    """The recorded exchanges in their order. They are judged once, and only where that is asked for."""

    exchanges: Iterable[Exchange]
    identities: Identities
    told: set[str] = field(default_factory=set)
    """Signatures of what was told as new already."""

    @cached_property
    def signatures(self) -> frozenset[str]:
        ledger = Ledger(REQUIREMENTS)
        judge = watch(ledger)
        for number, exchange in enumerate(self.exchanges, 1):
            judge(replace(exchange, n=number))
        return frozenset(finding.signature for finding in ledger.findings)

    def new(
        self, recorded: Exchange, live: Exchange, findings: Iterable[Finding]
    ) -> Iterator[tuple[Finding, Difference]]:
        """What an answer contradicts that the recording nowhere did, each once, one for a place.

        Nothing is new where the recording left out what would show whether it was so before, nor at a place
        that says what it said: what contradicts it is then elsewhere.
        """
        if recorded.request.lacks:
            return
        places: set[str] = set()
        for finding in findings:
            old, new = recorded.at(finding.path), live.at(finding.path)
            if old is ABSENT or new is ABSENT or self._is_as_it_was(old, new):
                continue
            if finding.signature not in self.told and finding.signature not in self.signatures:
                self.told.add(finding.signature)
                if finding.path in places:
                    continue
                places.add(finding.path)
                yield finding, Difference("value", tuple(steps(finding.path)), old, new)

    def _is_as_it_was(self, old: Json, new: Json) -> bool:
        """A token may say something else and still stand for the recorded one; an id says nothing else."""
        if isinstance(old, str) and TAKEN_OUT.search(old):
            return True
        if not isinstance(old, str) or claims_of(old) is not None:
            return bool(old == new)
        return bool(old == new) or self.identities.live.get(old) == new
