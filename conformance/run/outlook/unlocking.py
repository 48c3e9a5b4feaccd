"""What a part that a profile lacks would unlock: the rules that a run could test with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from conformance.report.model.words import MUSTS, plural
from conformance.run.catalogue import CaseRow, collect
from conformance.run.outlook.plan import why_left_out
from conformance.run.testable import reachable, reachable_endpoints
from conformance.spec import BY_KEY, IMPACTS, REQUIREMENTS, Impact
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import (
    ACCOUNTS,
    AccountSettings,
    BotChallenge,
    ClockSettings,
    FixedInbox,
    OperationSettings,
    ProfileTable,
)

Table = TypeVar("Table", bound=ProfileTable)

ADDRESS = "http://127.0.0.1:1"
"""Stands for an address in a profile that is only compared, and never used."""


@dataclass(frozen=True, slots=True)
class Unlocked:
    """Number of additional testable rules, ``musts`` of them musts, with the least impact that unlocks any;
    ``most`` with the greatest. ``needs`` is that least impact, empty where it is allowed."""

    rules: int
    musts: int
    most: int
    needs: Impact | Literal[""] = ""

    @property
    def order(self) -> tuple[bool, int, int]:
        """What unlocks most with the allowed impact comes first."""
        return self.needs != "", -self.rules, -self.most

    @property
    def words(self) -> str:
        """``+2 rules, 1 must with --impact mutating; +85 in all with --impact disruptive``."""
        gain = f"+{plural(self.rules, 'rule')}, {plural(self.musts, 'must')}"
        gain += f" with --impact {self.needs}" if self.needs else ""
        return gain + f"; +{self.most} in all with --impact {DISRUPTIVE}" * (self.most > self.rules)


def unlocked(profile: Profile, impact: Impact, parts: Iterable[str]) -> Mapping[str, Unlocked]:
    """What each missing part would unlock; without those that unlock nothing."""
    rows = collect()
    before = {level: _rules(rows, profile, level) for level in IMPACTS[IMPACTS.index(impact) :]}
    gains: dict[str, Unlocked] = {}
    for part in parts:
        table, _, name = part.partition(".")
        add = PARTS.get(part) or PARTS.get(table)
        fuller = profile if add is None else add(profile, name)
        more = {level: _rules(rows, fuller, level) - rules for level, rules in before.items()}
        if least := next((level for level, rules in more.items() if rules), None):
            rules, needs = more[least], "" if least == impact else least
            gains[part] = Unlocked(len(rules), len(rules.intersection(MUSTS)), len(more[DISRUPTIVE]), needs)
    return gains


def next_steps(rows: Sequence[CaseRow], profile: Profile, impact: Impact) -> list[str]:
    """What the next impact, and each account that the profile lacks, would have a run test beside."""
    before = _rules(rows, profile, impact)
    higher = IMPACTS[IMPACTS.index(impact) + 1 :][:1]
    steps = {f"--impact {level}": _rules(rows, profile, level) - before for level in higher}
    for name in ACCOUNTS:
        if name not in profile.accounts:
            steps[f"[accounts.{name}]"] = _rules(rows, _account(profile, name), impact) - before
    return [f"{step} tests {plural(len(rules), 'rule')} more" for step, rules in steps.items() if rules]


DISRUPTIVE: Impact = "disruptive"


def _rules(rows: Iterable[CaseRow], profile: Profile, impact: Impact) -> frozenset[str]:
    """The rules that can be tested, without those whose endpoints answer with errors only."""
    keys = reachable_endpoints(profile, impact)
    possible = (row for row in rows if why_left_out(row, profile, impact) is None)
    rules = reachable(profile, impact, {rule for row in possible for rule in row.requirements})
    if not profile.accounts:  # what it decides it decides by errors
        return rules
    return frozenset(rule for rule in rules if not keys.isdisjoint(REQUIREMENTS[rule].operations))


def _with(table: Table, **values: object) -> Table:
    return table.model_copy(update=values)


def _account(profile: Profile, name: str) -> Profile:
    account = AccountSettings(email=f"{name}@example.test", password="a password")
    return _with(profile, accounts={**profile.accounts, name: account})


def _record(profile: Profile, name: str) -> Profile:
    return _with(profile, records=_with(profile.records, **{name: "an id"}))


def _operation(profile: Profile, name: str) -> Profile:
    key = name.strip('"')
    if key not in BY_KEY:
        return profile
    return _with(profile, operations={**profile.operations, key: OperationSettings(body={})})


def _inbox(profile: Profile, name: str) -> Profile:
    accounts = {role: _with(each, inbox=each.inbox or "mail") for role, each in profile.accounts.items()}
    inboxes = {"mail": FixedInbox(kind="fixed", code="000000"), **profile.inboxes}
    return _with(profile, accounts=accounts, inboxes=inboxes)


PARTS: Mapping[str, Callable[[Profile, str], Profile]] = {
    "accounts": _account,
    "records": _record,
    "operations": _operation,
    "inboxes": _inbox,
    "bot_challenge": lambda profile, name: _with(profile, bot_challenge=BotChallenge(token="a token")),
    "clock": lambda profile, name: _with(profile, clock=ClockSettings(advance=ADDRESS)),
    "limits.login_window": lambda profile, name: _with(
        profile, limits=_with(profile.limits, login_window=60.0)
    ),
}
