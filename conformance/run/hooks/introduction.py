"""The first lines of a run, before anything is sent: the target, the impact, and what can be tested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

import conformance
from conformance.report.model.visible import one_line
from conformance.report.model.words import ALLOWED
from conformance.run.options import RunOptions
from conformance.run.planning import ids_of, why_not
from conformance.run.testable import TESTABLE, reachable
from conformance.spec import REQUIREMENTS
from conformance.target.profile.model import Profile

BUNDLED = "No --profile and no --target: this judges the bundled reference portal, and no other."
ANONYMOUS = "No --profile: without [accounts] nothing can be judged that needs a token."


def introduction(
    profile: Profile, options: RunOptions, items: Iterable[pytest.Item], *, selection: str
) -> Iterator[str]:
    """The version, target, profile, impact, rules and cases of a run, a line each. ``selection``: the options
    that select some of the cases."""
    if options.bundled:
        yield BUNDLED
    elif not profile.accounts:
        yield ANONYMOUS
    yield f"portal-conformance {conformance.__version__}"
    yield f"target    {one_line(profile.portal.url)}"
    yield f"profile   {one_line(options.profile_name) or 'none'}"
    yield f"impact    {ALLOWED[options.impact]}"
    cases = list(items)
    yield f"rules     {_rules(profile, options, cases, is_selection=bool(selection))}"
    yield f"cases     {_cases(profile, options, cases)}"


def _cases(profile: Profile, options: RunOptions, items: list[pytest.Item]) -> str:
    """How many cases the run counts, and how many of them, as in its plan, are tried."""
    left = sum(why_not(item, profile, options.impact) is not None for item in items)
    counts = f"{len(items):,} selected, {len(items) - left:,} of them can be tried"
    return f"{counts}; the other {left:,} end at once" if left else counts


def _rules(profile: Profile, options: RunOptions, items: list[pytest.Item], *, is_selection: bool) -> str:
    """How many rules are selected, and how many of them can be tried."""
    possible = [item for item in items if why_not(item, profile, options.impact) is None]
    declared = {requirement for item in possible for requirement in ids_of(item)}
    selected = _selected(options, items) if is_selection else TESTABLE
    tried = selected & reachable(profile, options.impact, declared)
    counts = f"{len(selected)} selected, {len(tried)} of them can be tried"
    left = len(selected) - len(tried)
    why = "`plan` says by case, and `explain ID` by rule, what it needs"
    counts += f"; the other {left} are left out: {why}" if left else ""
    hidden = 0 if is_selection else len(REQUIREMENTS) - len(TESTABLE)
    return f"{counts}; {hidden} more cannot be seen from outside" if hidden else counts


def _selected(options: RunOptions, items: list[pytest.Item]) -> frozenset[str]:
    """The rules of a selection: those that options name, else those of the cases that are left."""
    if options.rules is not None:
        return TESTABLE & options.rules.rules
    return TESTABLE.intersection(rule for item in items for rule in ids_of(item))
