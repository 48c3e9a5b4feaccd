"""What a case says with: ``verify`` never raises, so that one scarce sign-in serves many requirements."""

from __future__ import annotations

from collections.abc import Collection

from conformance.errors import FaultClass
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import HELD, Comparison, Finding, Ledger


class Verify:
    """Writes what one case decides into the ledger.

    ``declared`` are the ids the case names; deciding another is the suite's error (ValueError).
    """

    def __init__(self, ledger: Ledger, case: str, declared: Collection[str]) -> None:
        self.ledger = ledger
        self.case = case
        self.declared = tuple(declared)
        ledger.declared[case] = frozenset(declared)
        self.decided: set[str] = set()
        self.findings: list[Finding] = []

    def __call__(self, requirement: str, *comparisons: Comparison) -> bool:
        """Decides a requirement by comparisons, all of which must hold; says whether they did."""
        self.claim(requirement)
        for comparison in comparisons:
            finding = self.ledger.decide(requirement, comparison, case=self.case)
            if finding is not None:
                self.findings.append(finding)
        return all(comparison is HELD for comparison in comparisons)

    def observe(self, topic: str, exchange: Exchange, value: Json) -> None:
        """Records how the target takes something open: a value of the answer, ABSENT where there is none."""
        self.ledger.observe(topic, exchange, None if value is ABSENT else value)
        self.decided.update(
            row.id
            for row in self.ledger.requirements.values()
            if row.reading == topic and row.id in self.declared
        )

    def untested(self, requirement: str, reason: str, fault_class: FaultClass = "configuration") -> None:
        """Says why one of the case's requirements could not be tried."""
        self.claim(requirement)
        self.ledger.leave_untested(requirement, reason, fault_class)

    def doubt(self, requirement: str, reason: str, fault_class: FaultClass = "configuration") -> None:
        """Says what leaves a requirement undecided, whatever held elsewhere."""
        self.claim(requirement)
        self.ledger.doubt(requirement, reason, fault_class)

    def leave(self, reason: str, fault_class: FaultClass) -> None:
        """Leaves everything that is still undecided untested, for one reason."""
        for requirement in self.declared:
            if requirement not in self.decided:
                self.ledger.touch(requirement, self.case)
                self.ledger.leave_untested(requirement, reason, fault_class)

    def leave_unbegun(self, reason: str) -> None:
        """Leaves everything untested, as the case lacks what it needs to be begun."""
        for requirement in self.declared:
            self.ledger.touch(requirement, self.case)
            self.ledger.leave_unbegun(requirement, reason)

    def claim(self, requirement: str) -> None:
        """Takes a requirement for decided. ValueError: the case does not declare it."""
        if requirement not in self.declared:
            raise ValueError(
                f"{self.case} decides {requirement} without declaring it. Name it in @mark.requirement"
            )
        self.decided.add(requirement)
