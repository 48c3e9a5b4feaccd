"""Which cases a run has: by options, and by the marks by which pytest selects them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from conformance.rules.registry import OwnRules, rules_named_by
from conformance.run import marks
from conformance.run.catalogue import ids_of, row_of
from conformance.run.hooks.stash import DESELECTED, RULES
from conformance.run.options import value_of
from conformance.run.outlook.plan import PlanChoice
from conformance.run.rerun import failed_rules, rerun_requirements, rerun_selection
from conformance.spec import REQUIREMENTS
from conformance.spec.requirements import Level
from conformance.verdicts.selection import RuleSelection, select_rules

BY_OPTION = {
    "keyword": "-k",
    "lf": "--lf",
    "markexpr": "-m",
    "ignore": "--ignore",
    "ignore_glob": "--ignore-glob",
}
"""pytest's own options that leave cases out, by the attribute that holds each."""


def selection_of(config: pytest.Config) -> str:
    """The options that select some of the cases, as they were written; empty where all are run."""
    return ", ".join(_selectors(config))


def refuse_parallel_cases(config: pytest.Config) -> None:
    """pytest.UsageError: the cases are to run in several processes, which would sign in at the same time."""
    workers = getattr(config.option, "numprocesses", None) or getattr(config.option, "tx", None)
    if workers and any(place.is_relative_to(_cases()) for place in _arguments(config)):
        raise pytest.UsageError(
            "The cases run one after the other, as they share sign-ins: leave out -n (or add -n 0)."
        )


def _arguments(config: pytest.Config) -> Iterator[Path]:
    """The files and folders that the arguments name."""
    for argument in config.args:
        name = argument.partition("::")[0]
        package = name.split(".")
        if config.option.pyargs and package[0] == "cases":
            yield _cases().joinpath(*package[1:])
        else:
            yield (config.invocation_params.dir / name).resolve()


def _cases() -> Path:
    return Path(str(files("cases"))).resolve()


def own_rules_by_options(config: pytest.Config) -> OwnRules:
    """The user's own rules, of ``--rules`` and of the profile. RuleError: one is wrong. ProfileError."""
    profile = value_of(config, "profile")
    return rules_named_by(map(Path, value_of(config, "rules")), Path(profile) if profile else None)


def rules_by_options(config: pytest.Config, own: OwnRules) -> RuleSelection | None:
    """The rules that ``--only``, ``--skip`` and ``--failed`` select; None without them. UsageError."""
    failed = failed_rules(value_of(config, "out")) if value_of(config, "failed") else None
    only, skip = value_of(config, "only"), value_of(config, "skip")
    return select_rules(only, skip, failed=failed, rows=own.requirements)


def counted_rules(config: pytest.Config, rules: RuleSelection | None) -> RuleSelection | None:
    """Of the rules that other options select those that a ``--rerun`` names. UsageError: none."""
    rerun = value_of(config, "rerun")
    return rerun_selection(rerun, rules) if rerun else rules


def keep_chosen(
    config: pytest.Config, items: list[pytest.Item], rules: RuleSelection | None
) -> frozenset[str]:
    """Keeps the cases that the options choose, and returns the requirements that a ``--rerun`` is about.
    UsageError: no case is left."""
    rerun = value_of(config, "rerun")
    if not rerun and rules is None:
        return frozenset()
    chosen = {row.id for row in PlanChoice(rules, rerun).chosen(list(map(row_of, items)))}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
    items[:] = [item for item in items if item.nodeid in chosen]
    if not rerun:
        return frozenset()
    return rerun_requirements(rerun) or frozenset(rule for item in items for rule in ids_of(item))


def _selectors(config: pytest.Config) -> Iterator[str]:
    rerun = value_of(config, "rerun")
    rules = config.stash.get(RULES, None)
    if rules is not None:
        yield rules.text
    elif rerun:
        yield f"--rerun {rerun}"
    own = ((getattr(config.option, attribute, None), name) for attribute, name in BY_OPTION.items())
    by_option = [f"{name} {_written(value)}".rstrip() for value, name in own if value]
    yield from by_option
    deselected = config.stash.get(DESELECTED, 0)
    if deselected and not (rerun or rules or by_option):
        yield f"{deselected} cases deselected"
    named = list(zip(config.args, _arguments(config), strict=True))
    if not any("::" not in argument and _cases().is_relative_to(place) for argument, place in named):
        yield from (argument for argument, _ in named)  # a part of the cases


def _written(value: object) -> str:
    if value is True:
        return ""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


MARKS = (marks.requirement, marks.needs, marks.impact, marks.sign_ins, marks.waits, marks.pauses)


def declared_marks() -> Iterator[str]:
    """Every mark of the cases, as pytest wants it declared."""
    for mark in MARKS:
        yield f"{mark.__name__}: {' '.join((mark.__doc__ or '').split())}"
    for level in get_args(Level):
        yield f"{level}: cases that decide a requirement of the level {level}"
    for chapter in sorted({row.chapter for row in REQUIREMENTS.values()}):
        yield f"{chapter.lower()}: cases that decide a requirement {chapter}-…"


def mark_by_rules(item: pytest.Item) -> None:
    """Marks a case with the levels and chapters of its rules: ``-m "login and must"`` selects by them."""
    rules = [REQUIREMENTS[id] for id in ids_of(item) if id in REQUIREMENTS]
    for name in dict.fromkeys([*(rule.level for rule in rules), *(rule.chapter.lower() for rule in rules)]):
        item.add_marker(name)
