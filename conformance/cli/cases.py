"""Commands about cases and requirements: run, plan, requirements, openapi.

What a command needs is imported when it runs: pytest and the cases take longer to load than help may take.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.command import TEXT, Options, argument, command, flag
from conformance.cli.layout import print_blocks, print_text
from conformance.cli.options import (
    FORMAT,
    ONLY,
    RUN_OPTIONS,
    SKIP,
    bundled_profile,
    profile_of,
    use_default_profile,
)
from conformance.run.options import BY_NAME, as_arguments
from conformance.spec import REQUIREMENTS, Impact, Requirement

if TYPE_CHECKING:
    from conformance.run.outlook.plan import RunPlan


@command("run", *RUN_OPTIONS, passes_on=True)
def run_cases(options: Options) -> int:
    """Runs ``pytest`` on the cases, with the same options."""
    from conformance.cli.annotations import annotated
    from conformance.cli.live.running import run

    use_default_profile(options)
    out = options.out = _folder(options)
    arguments = as_arguments(options)
    return annotated(lambda: run(arguments, further=options.further, out=out, quiet=options.brief), Path(out))


def _folder(options: Options) -> Path:
    """Where the reports go. Those of a repeated run go beside those of the whole run, which stay."""
    from conformance.run.rerun import repeat_folder

    out = Path(options.out or BY_NAME["out"].default)
    is_beside = options.failed or (options.rerun and not options.out)
    return repeat_folder(out) if is_beside else out


@command("plan", *RUN_OPTIONS, FORMAT)
def plan_run(options: Options) -> int:
    """Prints what a run with these options would do; sends nothing."""
    from conformance.run.outlook.plan import as_json, as_text

    planned = _plan(options)
    print_text(as_json(planned) if options.format == "json" else as_text(planned), form=options.format)
    return 0


def _plan(options: Options) -> RunPlan:
    from conformance.run.outlook.plan import PlanChoice, plan
    from conformance.run.rerun import failed_rules
    from conformance.run.settings import seconds_of
    from conformance.verdicts.selection import select_rules

    failed = failed_rules(options.out or BY_NAME["out"].default) if options.failed else None
    budget = inf if options.time_budget is None else seconds_of(str(options.time_budget))
    choice = PlanChoice(select_rules(options.only, options.skip, failed=failed), options.rerun, budget)
    profile = profile_of(options)
    impact: Impact = options.impact or ("read-only" if profile else "disruptive")
    return plan(profile or bundled_profile(), impact, choice)


@command(
    "requirements",
    ONLY,
    SKIP,
    flag("--short", help="a line for each, without the cases"),
    FORMAT,
    examples=("portal-conformance requirements --only 'LOGIN-*' --skip open --short",),
)
def list_requirements(options: Options) -> int:
    """Lists the requirements with their level, their place and the cases that test them."""
    from conformance.verdicts.selection import select_rules

    selection = select_rules(options.only, options.skip)
    rows = [row for row in REQUIREMENTS.values() if selection is None or row.id in selection.rules]
    if options.short and options.format == "text":
        print_blocks([map(_line, rows)])
    else:
        _print_with_cases(rows, form=options.format)
    return 0


def _print_with_cases(rows: list[Requirement], *, form: str) -> None:
    from conformance.run.catalogue import deciders

    cases = deciders()
    if form == "json":
        print(json.dumps([_row(row, cases[row.id]) for row in rows], indent=2, ensure_ascii=False))
        return
    print_blocks([[line for row in rows for line in _lines(row, cases[row.id])]])


def _lines(row: Requirement, cases: list[str]) -> Iterator[str]:
    yield _line(row)
    yield from (f"{'':24} {case}" for case in cases or [row.untestable or "no case yet"])


def _line(row: Requirement) -> str:
    return f"{row.id:16} {row.level:7} {row.section}: {row.statement}"


def _row(requirement: Requirement, cases: list[str]) -> dict[str, object]:
    return {
        "id": requirement.id,
        "section": requirement.section,
        "level": requirement.level,
        "statement": requirement.statement,
        "operations": list(requirement.operations),
        "reading": requirement.reading,
        "untestable": requirement.untestable,
        "cases": cases,
    }


@command(
    "explain",
    argument("rules", "ID", nargs=-1, required=True, type=TEXT, help="a rule, or a pattern such as PAGE-*"),
    FORMAT,
)
def explain_rules(options: Options) -> int:
    """Explains rules: their place and level, what decides them, and how to see both verdicts."""
    from conformance.run.outlook.explanation import as_json, as_lines, explain
    from conformance.verdicts.selection import rules_of

    explanations = explain(rule for name in options.rules for rule in rules_of(name, option="explain"))
    if options.format == "json":
        print(as_json(explanations))
    else:
        print_blocks(as_lines(each) for each in explanations)
    return 0


@command("openapi")
def print_openapi(options: Options) -> int:
    """Prints the OpenAPI document as JSON."""
    from conformance.spec.openapi import document

    print(json.dumps(document(), indent=2, ensure_ascii=False))
    return 0


COMMANDS = {
    each.name: each for each in (run_cases, plan_run, list_requirements, explain_rules, print_openapi)
}
