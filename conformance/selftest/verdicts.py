"""What the fault runs prove: which fault turned which requirement, by what, and what is not proven."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from conformance.selftest.fault_run import FaultOutcome, Turned
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS, Fault
from conformance.traffic.replacing import write_report

TURNS = {"must": "fail", "should": "warn"}
FEW_UNTESTED = 80
"""So many more rules may be untested under a group of variants than without any."""
MANY_UNTESTED = 400
"""So many rules are untested where a variant of a combination keeps the suite out."""


@dataclass
class ProofMatrix:
    """Requirement × fault, the variants, and everything that is wrong with them.

    ``alone``: faults tried again with one case only, that others had always forestalled. ``problems`` are
    sentences; with none the suite is proven.
    """

    clean: FaultOutcome
    faults: dict[str, FaultOutcome] = field(default_factory=dict)
    variants: dict[str, FaultOutcome] = field(default_factory=dict)
    combinations: dict[str, FaultOutcome] = field(default_factory=dict)
    alone: list[tuple[str, FaultOutcome]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def proofs(self) -> dict[str, list[str]]:
        """For each requirement the checks and cases that a fault has shown able to contradict it."""
        by_id: dict[str, set[str]] = {}
        for name, outcome in (*self.faults.items(), *self.alone):
            for requirement, turned in outcome.turned.items():
                if requirement in listed(FAULTS[name]):
                    by_id.setdefault(requirement, set()).update(turned.sources)
        return {
            requirement: sorted(by_id[requirement]) for requirement in REQUIREMENTS if requirement in by_id
        }

    def breaking(self, requirement: str) -> list[str]:
        """Names of the faults that broke a requirement as declared."""
        return [
            name
            for name in self.faults
            if requirement in FAULTS[name].breaks and _broke(self.faults[name], requirement)
        ]

    @property
    def totals(self) -> dict[str, int]:
        musts = [row.id for row in REQUIREMENTS.values() if row.level == "must" and not row.untestable]
        shoulds = [row.id for row in REQUIREMENTS.values() if row.level == "should" and not row.untestable]
        return {
            "faults": len(self.faults),
            "variants": len(self.variants),
            "combinations": len(self.combinations),
            "testable musts": len(musts),
            "musts proven": sum(bool(self.breaking(row)) for row in musts),
            "testable shoulds": len(shoulds),
            "shoulds proven": sum(bool(self.breaking(row)) for row in shoulds),
        }


def listed(fault: Fault) -> set[str]:
    """What a fault may turn."""
    return {*fault.breaks, *fault.also}


def judge(matrix: ProofMatrix, *, deciders: Collection[str], whole: bool) -> ProofMatrix:
    """Fills in the problems. ``deciders``: every check and case that can contradict something, which are
    looked at only where the ``whole`` matrix was run."""
    matrix.problems = [
        *(
            f"without a fault {requirement} is {turned.verdict.upper()}: {_seen(turned)}"
            for requirement, turned in matrix.clean.turned.items()
        ),
        *_errors("without a fault", matrix.clean),
        *(line for name, outcome in matrix.faults.items() for line in _of_fault(FAULTS[name], outcome)),
        *(
            line
            for name, outcome in matrix.variants.items()
            for line in _of_variant(f"variant {name}", outcome)
        ),
        *(line for name, outcome in matrix.combinations.items() for line in _of_combination(name, outcome)),
    ]
    if whole:
        matrix.problems += [
            f"no fault breaks {row.id}: {row.statement}"
            for row in REQUIREMENTS.values()
            if row.level in TURNS and not row.untestable and not matrix.breaking(row.id)
        ]
        proven = {source for sources in matrix.proofs.values() for source in sources}
        matrix.problems += [
            f"no fault shows that {decider} can contradict anything"
            for decider in sorted(set(deciders) - proven - OF_RECORDINGS - OF_DESCRIPTIONS)
        ]
    return matrix


def is_clear(outcome: FaultOutcome, clean: FaultOutcome) -> bool:
    """Whether variants that were tried together need no run of their own: nothing is held against them, and
    the suite tested about as much as without them."""
    is_held = any(True for _ in _of_variant("", outcome))
    return not is_held and len(outcome.untested) <= len(clean.untested) + FEW_UNTESTED


def is_doubted(fault: Fault, outcome: FaultOutcome) -> bool:
    """Whether a fault run shows a problem: which a run of more cases may not show."""
    return any(True for _ in _of_fault(fault, outcome))


def _broke(outcome: FaultOutcome, requirement: str) -> bool:
    turned = outcome.turned.get(requirement)
    return turned is not None and turned.verdict == TURNS[REQUIREMENTS[requirement].level]


def _of_fault(fault: Fault, outcome: FaultOutcome) -> Iterator[str]:
    for requirement in fault.breaks:
        if not _broke(outcome, requirement):
            wanted = TURNS[REQUIREMENTS[requirement].level].upper()
            yield f"fault {fault.name} survives: {requirement} is not {wanted}"
    for requirement in sorted(outcome.turned.keys() - listed(fault)):
        turned = outcome.turned[requirement]
        also = f"also turns {requirement} to {turned.verdict.upper()}, not listed in its `also`"
        yield f"fault {fault.name} {also}: {_seen(turned)}"
    yield from _errors(f"fault {fault.name}", outcome)


def _of_variant(name: str, outcome: FaultOutcome) -> Iterator[str]:
    for requirement, turned in outcome.turned.items():
        if turned.verdict == "fail" or requirement not in outcome.departs:
            yield f"{name}: {requirement} is {turned.verdict.upper()}: {_seen(turned)}"
    yield from _errors(name, outcome)


def _of_combination(name: str, outcome: FaultOutcome) -> Iterator[str]:
    """The problems of a portal of many variants, which together may depart from more than each alone."""
    departs = frozenset(rule for rule, turned in outcome.turned.items() if turned.verdict == "warn")
    yield from _of_variant(name, msgspec.structs.replace(outcome, departs=departs))
    if len(outcome.untested) >= MANY_UNTESTED:
        yield f"{name}: {len(outcome.untested)} rules are untested; run one of the variants alone"


def _seen(turned: Turned) -> str:
    return f"{turned.endpoint}: {turned.message} ({', '.join(turned.sources)})"


def _errors(name: str, outcome: FaultOutcome) -> Iterator[str]:
    for place, error in outcome.errors.items():
        yield f"{name}: the suite itself fails in {place}: {error.strip().splitlines()[-1]}"


OF_RECORDINGS = frozenset(
    {
        "check changed.the_number_that_was_set_is_shown",
        "check claims.no_hidden_claim_is_profile_data",
        "check required.initiate_refuses_what_it_does_not_know",
        "check secure_channel.a_body_in_the_clear_is_refused",
        "check secure_channel.no_key_is_returned",
        "check whose_tokens.what_is_not_verified_is_not_offered",
    }
)
"""Checks of what a run never sends or sees, as its secrets are not hidden and its mistakes come with wrong
credentials: recordings show it, and tests prove the checks."""


OF_DESCRIPTIONS = {"cases/every_endpoint/test_described.py::test_what_a_description_adds_is_guarded"}
"""The case of what a description adds, which the bundled profile has none of: tests prove it."""


def by_name(outcomes: Iterable[FaultOutcome], order: Iterable[str]) -> dict[str, FaultOutcome]:
    index = {outcome.name: outcome for outcome in outcomes}
    return {name: index[name] for name in order if name in index}


def write(matrix: ProofMatrix, folder: Path) -> None:
    text = json.dumps(as_json(matrix), indent=1, ensure_ascii=False)
    write_report(folder / "selftest.json", text + "\n")


def as_json(matrix: ProofMatrix) -> dict[str, Any]:
    """``{"schema", "totals", "seconds", "problems", "proofs", "requirements", "faults", "variants"}``."""
    return {
        "schema": 1,
        "totals": matrix.totals,
        "seconds": round(matrix.seconds, 1),
        "problems": matrix.problems,
        "proofs": matrix.proofs,
        "requirements": [
            {
                "id": row.id,
                "level": row.level,
                "untestable": row.untestable,
                "faults": matrix.breaking(row.id),
            }
            for row in REQUIREMENTS.values()
            if row.level != "open"
        ],
        "faults": [
            {
                "name": name,
                "breaks": list(FAULTS[name].breaks),
                "also": list(FAULTS[name].also),
                "operations": list(FAULTS[name].operations),
                "turned": _turned(outcome),
                "seconds": outcome.seconds,
            }
            for name, outcome in matrix.faults.items()
        ],
        "variants": [
            {
                "name": name,
                "gap": VARIANTS[name].gap if name in VARIANTS else "several together",
                "turned": _turned(outcome),
                "verdicts": outcome.verdicts,
                "seconds": outcome.seconds,
            }
            for name, outcome in {**matrix.variants, **matrix.combinations}.items()
        ],
    }


def _turned(outcome: FaultOutcome) -> dict[str, Any]:
    return {
        requirement: {"verdict": turned.verdict, "by": turned.sources, "message": turned.message}
        for requirement, turned in outcome.turned.items()
    }
