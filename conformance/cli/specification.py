"""Commands about the specification: requirements, explain, openapi.

The cases are imported when a command names them: they take longer to load than help may take.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from conformance.cli import options as opt
from conformance.cli.command import TEXT, Options, argument, command, flag
from conformance.cli.layout import print_blocks
from conformance.spec import REQUIREMENTS, Requirement
from conformance.spec.requirements import left_open
from conformance.verdicts.selection import rules_of, select_rules


@command(
    "requirements",
    opt.ONLY,
    opt.SKIP,
    flag("--short", help="a line for each, without the cases"),
    opt.FORMAT,
    examples=("portal-conformance requirements --only 'LOGIN-*' --skip open --short",),
)
def list_requirements(options: Options) -> int:
    """Lists the requirements with their level, their place and the cases that test them."""
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
    row = {name: value for name, value in asdict(requirement).items() if name != "aliases"}
    return {**row, "cases": cases}


@command(
    "explain",
    argument("ids", "ID", nargs=-1, required=True, type=TEXT, help="a rule, or a pattern such as PAGE-*"),
    opt.RULES,
    opt.EXTENDED,
    opt.FORMAT,
)
def explain_rules(options: Options) -> int:
    """Explains rules: their place and level, what decides them, and how to see both verdicts."""
    from conformance.rules.registry import rules_named_by
    from conformance.run.outlook.explanation import as_json, as_lines, explain

    own = rules_named_by(options.rules, options.profile)
    explanations = explain(
        (
            rule
            for name in options.ids
            for rule in left_open(name) or rules_of(name, own.requirements, option="explain")
        ),
        own,
    )
    if options.format == "json":
        print(as_json(explanations))
    else:
        print_blocks(as_lines(each) for each in explanations)
    return 0


@command("openapi")
def print_openapi(options: Options) -> int:
    """Prints the OpenAPI document as JSON."""
    from conformance.spec.openapi import document  # no other command needs it

    print(json.dumps(document(), indent=2, ensure_ascii=False))
    return 0
