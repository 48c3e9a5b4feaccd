"""The rules that a user selects by ``--only`` and ``--skip``: by id, prefix, chapter, endpoint or level.

``--only`` with an endpoint selects every rule that names it. A rule of endpoints of several groups counts at
this endpoint alone: of such a rule the cases of the endpoint run, and what others decide is left out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from conformance.errors import UsageError
from conformance.spec import BY_KEY, REQUIREMENTS, Requirement, present_id
from conformance.spec.requirements import PINNED, is_of_no_chapter, numbered_near

LEVELS = ("must", "should", "open")
CHAPTERS = tuple(dict.fromkeys(row.chapter for row in REQUIREMENTS.values()))
SECTIONS = {row.section.casefold(): row.section for row in REQUIREMENTS.values()}


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """Selected rules, with the selecting options as typed. ``limited``: the endpoints where alone a rule
    counts."""

    rules: frozenset[str]
    text: str
    limited: Mapping[str, frozenset[str]] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
    """The endpoints that a run calls for the selected rules that no case decides: those of the user's own."""

    def excludes(self, rule: str) -> bool:
        """Whether a rule is left out; a reading that the profile pins never is."""
        return rule not in self.rules and not rule.startswith(PINNED)

    def is_elsewhere(self, rule: str, endpoint: str) -> bool:
        """Whether an endpoint is none at which a rule counts."""
        return endpoint not in self.limited.get(rule, (endpoint,))

    def is_of(self, case: str, requirements: Iterable[str]) -> bool:
        """Whether a case is one of an endpoint at which a limited rule counts, and decides the rule; or of
        one that is called for the user's own rules."""
        endpoint = endpoint_in(case)
        return endpoint in self.called or any(endpoint in self.limited.get(rule, ()) for rule in requirements)


ENDPOINT = re.compile(r"\[([A-Z]+ /[^\s\]]+)")


def endpoint_in(case: str) -> str:
    """The endpoint in the name of a case that is run once for each; empty where it names none."""
    named = ENDPOINT.search(case)
    return named[1] if named else ""


def select_rules(
    only: Sequence[str],
    skip: Sequence[str],
    *,
    failed: Iterable[str] | None = None,
    rows: Mapping[str, Requirement] = REQUIREMENTS,
) -> RuleSelection | None:
    """The selected rules; None where nothing is left out. ``failed``: the rules of ``--failed``. ``rows``:
    every rule that there is, with those of the user's own.

    UsageError: a pattern names no rule, or no rule is left.
    """
    if not only and not skip and failed is None:
        return None
    only, skip = tuple(dict.fromkeys(only)), tuple(dict.fromkeys(skip))
    for option, patterns in (("--only", only), ("--skip", skip)):
        if len(patterns) > MOST_PATTERNS:
            raise UsageError(f"{option}: {len(patterns):,} patterns. Give at most {MOST_PATTERNS:,}.")
    named = selected(only, rows) if only else RuleSelection(frozenset(rows), "")
    rules = named.rules if failed is None else named.rules & frozenset(failed)
    rules -= frozenset(rule for pattern in skip for rule in rules_of(pattern, rows, option="--skip"))
    options = ["--failed"] if failed is not None else []
    options += [*(f"--only {pattern}" for pattern in only), *(f"--skip {pattern}" for pattern in skip)]
    text = ", ".join(options)
    if not rules:
        raise UsageError(f"{text}: no rule is left. `portal-conformance requirements` lists all rules.")
    own = (row for rule, row in rows.items() if rule in rules and rule not in REQUIREMENTS)
    called = frozenset(key for row in own for key in row.operations if only or failed is not None)
    limited = {rule: keys for rule, keys in named.limited.items() if rule in rules}
    return RuleSelection(rules, text, limited, called)


def selected(only: Sequence[str], rows: Mapping[str, Requirement] = REQUIREMENTS) -> RuleSelection:
    """The rules that ``--only`` names; by an endpoint also those of several groups, limited to the endpoint.
    UsageError: a pattern names no rule."""
    rules = frozenset(rule for pattern in only for rule in rules_of(pattern, rows))
    keys = frozenset(key for pattern in only if "/" in pattern for key in _keys(pattern.strip()))
    others = (row for row in rows.values() if row.id not in rules)
    limited = {row.id: at for row in others if (at := keys.intersection(row.operations))}
    return RuleSelection(rules | limited.keys(), ", ".join(f"--only {each}" for each in only), limited)


MOST_PATTERNS = 2 * len(REQUIREMENTS)
LONGEST_PATTERN = 300
LISTING = "`portal-conformance requirements` lists them all."


def rules_of(
    pattern: str, rows: Mapping[str, Requirement] = REQUIREMENTS, *, option: str = "--only"
) -> frozenset[str]:
    """The rules that a pattern names. UsageError: none; the message has the nearest pattern."""
    if len(pattern) > LONGEST_PATTERN:
        raise UsageError(f"{option}: a pattern of {len(pattern):,} characters names no rule. {LISTING}")
    rules = _named(pattern.strip(), rows)
    if not rules:
        near = numbered_near(pattern.strip())
        paths = dict.fromkeys(row.path for row in BY_KEY.values())
        chapters = [*CHAPTERS, *(f"{chapter}-*" for chapter in CHAPTERS)]
        names = [] if is_of_no_chapter(pattern.strip()) else [*rows, *chapters, *LEVELS, *paths, *BY_KEY]
        near = near or difflib.get_close_matches(pattern.strip(), names, n=3, cutoff=0.5)
        near = near or difflib.get_close_matches(pattern.strip().upper(), names, n=3, cutoff=0.5)
        nearest = f" The nearest are {', '.join(near)}." if near else f" {LISTING}"
        raise UsageError(
            f"{option} {pattern}: no rule matches this. Give an id, a prefix such as LOGIN-*, a chapter, an "
            f"endpoint or a level.{nearest}"
        )
    return rules


def _named(pattern: str, rows: Mapping[str, Requirement]) -> frozenset[str]:
    if pattern.lower() in LEVELS:
        return _rules(row for row in rows.values() if row.level == pattern.lower())
    if chapter := _rules(row for row in rows.values() if row.chapter == pattern.upper()):
        return chapter
    if pattern.casefold() in SECTIONS:
        return _rules(row for row in rows.values() if row.section == SECTIONS[pattern.casefold()])
    if "/" in pattern:
        keys = _keys(pattern)
        return _rules(row for row in rows.values() if keys.intersection(row.operations) and is_specific(row))
    if any(sign in pattern for sign in "*?["):
        return frozenset(rule for rule in rows if fnmatchcase(rule, pattern.upper()))
    return frozenset({present_id(pattern.upper())} & rows.keys())


def _keys(pattern: str) -> frozenset[str]:
    """The endpoints of a pattern: a key, or a path without its method, perhaps with wildcards."""
    named = (
        key for key, row in BY_KEY.items() if fnmatchcase(key, pattern) or fnmatchcase(row.path, pattern)
    )
    return frozenset(named)


def is_specific(row: Requirement) -> bool:
    """Whether a rule is about the endpoints of one group, and not about answers of all kinds."""
    return len({BY_KEY[key].group for key in row.operations}) == 1


def _rules(rows: Iterable[Requirement]) -> frozenset[str]:
    return frozenset(row.id for row in rows)
