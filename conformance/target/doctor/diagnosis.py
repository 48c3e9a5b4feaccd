"""Diagnoses of profile parts, printed as lines or JSON, and profile settings learned by them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from conformance.errors import FaultClass
from conformance.target.portal import Portal
from conformance.target.profile.learned import Learned
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import WAYS_IN, BotChallenge
from conformance.traffic.exchange import Json

State = Literal["works", "missing", "wrong"]


@dataclass(frozen=True)
class Diagnosis:
    """One part of a profile: ``works``; ``missing``, so that what needs it stays untested; or ``wrong``.

    ``message`` says what was found and what to do. ``fault_class`` is None for what works. ``learned`` are
    values that the profile does not have, by their key in the part's table.
    """

    part: str
    state: State
    message: str
    fault_class: FaultClass | None = None
    learned: Mapping[str, Json] = field(default_factory=dict)


Check = Callable[[Portal], Iterator[Diagnosis]]
"""Tries one part of a profile, or several of a kind."""


MUSTS_PER_GAP = 20
"""One must in so many may stay untested for reasons that only a run shows."""


def ways_in(results: Sequence[Diagnosis]) -> list[str]:
    """Accounts that work and whose sign-in yields a token."""
    works = {result.part for result in results if result.state == "works"}
    return [name for name in WAYS_IN if f"accounts.{name}" in works]


def wrong_accounts(results: Sequence[Diagnosis]) -> list[str]:
    """Accounts of the profile that do not work: a floor without them would be too low."""
    return [row.part for row in results if row.part.startswith("accounts.") and row.state == "wrong"]


def usable(profile: Profile, results: Sequence[Diagnosis]) -> Profile:
    """The profile without broken accounts and a broken bot challenge, as a run uses it."""
    wrong = {result.part for result in results if result.state == "wrong"}
    accounts = {
        name: account for name, account in profile.accounts.items() if f"accounts.{name}" not in wrong
    }
    challenge = BotChallenge() if "bot_challenge" in wrong else profile.bot_challenge
    return profile.model_copy(update={"accounts": accounts, "bot_challenge": challenge})


def proposed(results: Sequence[Diagnosis], *, testable: int, run: str) -> Learned:
    """What the diagnoses teach of a target. ``testable``: how many musts such a ``run`` can test."""
    records: dict[str, str] = {}
    tables: dict[str, dict[str, Json]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    for result in results:
        table = result.part.partition(".")[0]
        if table == "records":
            records |= {name: str(value) for name, value in result.learned.items()}
        elif result.learned:
            tables.setdefault(table, {}).update(result.learned)
    accounts = ways_in(results)
    if accounts and not wrong_accounts(results):
        tables["expect"] = {"musts": testable - testable // MUSTS_PER_GAP, "accounts": list(accounts)}
        notes["expect"] = (
            f"By `doctor`, for {run}:",
            f"such a run can test {testable} musts, and a twentieth of them",
            "may stay untested. Below that: exit code 5.",
        )
    return Learned(tables, records, notes)


CAUSES: Mapping[FaultClass, str] = {
    "target": "the portal",
    "configuration": "the profile",
    "credentials": "an account or a secret",
    "environment": "this machine or the way to the portal",
    "suite": "an earlier run",
}
"""Where the cause of what is wrong lies."""

MOST_NAMED_OPERATIONS = 4
"""How many operations that unlock as much are named."""

ORDER: tuple[State, ...] = ("wrong", "missing", "works")


def as_text(diagnoses: list[Diagnosis], unlocks: Mapping[str, str] | None = None) -> str:
    """The diagnoses as lines: what is wrong first, then what is missing, then what works. What is missing
    is only counted where something is wrong, which is to be mended first. ``unlocks`` says by part what
    a missing part would make testable; what would most comes first."""
    gains = unlocks or {}
    width = max((len(diagnosis.part) for diagnosis in diagnoses if len(diagnosis.part) <= 24), default=0)
    places = {part: number for number, part in enumerate(gains)}
    ordered = sorted(diagnoses, key=lambda row: (ORDER.index(row.state), places.get(row.part, len(places))))
    has_wrong = any(row.state == "wrong" for row in ordered)
    shown = [row for row in ordered if row.state != "missing"] if has_wrong else ordered
    lines = [line for group in _grouped(shown) for line in _lines(group, width, gains)]
    left_out = len(ordered) - len(shown)
    if left_out:
        parts = "1 part" if left_out == 1 else f"{left_out} parts"
        lines.append(
            f"missing  {parts}, listed when nothing is wrong any more (--format json lists them now)"
        )
    return "\n".join(lines)


def counts_in_words(diagnoses: Sequence[Diagnosis]) -> str:
    """``1 part is wrong, 2 are missing, 9 work``."""
    numbers = Counter(diagnosis.state for diagnosis in diagnoses)
    wrong, missing, working = (numbers[state] for state in ORDER)
    return ", ".join(
        (
            f"{wrong or 'no'} {'part is' if wrong < 2 else 'parts are'} wrong",
            f"{missing or 'none'} {'is' if missing < 2 else 'are'} missing",
            f"{working or 'none'} {'works' if working < 2 else 'work'}",
        )
    )


def _grouped(diagnoses: Sequence[Diagnosis]) -> list[list[Diagnosis]]:
    """The diagnoses in their order; many operations with one message are a group."""
    groups: dict[object, list[Diagnosis]] = {}
    for number, row in enumerate(diagnoses):
        is_operation = row.part.startswith("operations.")
        groups.setdefault((row.state, row.message) if is_operation else number, []).append(row)
    return list(groups.values())


def _lines(group: Sequence[Diagnosis], width: int, gains: Mapping[str, str]) -> Iterator[str]:
    first = group[0]
    if len(group) == 1:
        yield _line(first, width, gains.get(first.part))
        return
    yield f"{first.state:<8} {'operations':<{width}}  {len(group)} of them: {first.message}"
    by_gain: dict[str, list[str]] = {}
    for row in group:
        by_gain.setdefault(gains.get(row.part, ""), []).append(row.part.removeprefix("operations."))
    for gain, keys in by_gain.items():
        if gain:
            yield f"{'':<8} {gain}{', each' if len(keys) > 1 else ''}:"
        indent = " " * (10 if gain else 8)
        yield from (f"{indent} {key}" for key in keys[:MOST_NAMED_OPERATIONS])
        if len(keys) > MOST_NAMED_OPERATIONS:
            yield f"{indent} and {len(keys) - MOST_NAMED_OPERATIONS} more (--format json names each)"


def _line(diagnosis: Diagnosis, width: int, gain: str | None) -> str:
    blame = (
        f"(cause: {CAUSES[diagnosis.fault_class]}) "
        if diagnosis.state == "wrong" and diagnosis.fault_class
        else ""
    )
    more = f" ({gain})" if gain else ""
    return f"{diagnosis.state:<8} {diagnosis.part:<{width}}  {blame}{diagnosis.message}{more}"


def as_json(diagnoses: list[Diagnosis], unlocks: Mapping[str, str] | None = None) -> str:
    """The diagnoses as a JSON array, in the order in which they were made."""
    rows = []
    for diagnosis in diagnoses:
        row = asdict(diagnosis)
        learned, gain = row.pop("learned"), (unlocks or {}).get(diagnosis.part)
        rows.append(row | ({"learned": learned} if learned else {}) | ({"unlocks": gain} if gain else {}))
    return json.dumps(rows, indent=2, ensure_ascii=False)
