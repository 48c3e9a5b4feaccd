"""Commands about cases and requirements: run, plan, requirements, openapi.

What a command needs is imported when it runs: pytest and the cases take longer to load than help may take.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.cli.command import TEXT, Options, argument, command, flag
from conformance.cli.layout import print_blocks, print_line
from conformance.cli.options import (
    FORMAT,
    ONLY,
    PLAN_OPTIONS,
    RUN_OPTIONS,
    SKIP,
    WATCH,
    beside_whole_run,
    note_what_failed,
    profile_of,
    use_default_profile,
)
from conformance.errors import UsageError
from conformance.run.options import BY_NAME, as_arguments
from conformance.spec import REQUIREMENTS, Requirement

SELECTING = ("-k", "-m", "--lf", "--last-failed", "--deselect", "--ignore")
"""How options of pytest begin that leave cases out."""


@command("run", *RUN_OPTIONS, WATCH, passes_on=True)
def run_cases(options: Options) -> int:
    """Runs ``pytest`` on the cases, with the same options."""
    from conformance.cli.live.running import run

    use_default_profile(options)
    if options.watch:
        return _watch(options)
    out = options.out = _folder(options)
    return run(as_arguments(options), further=options.further, out=out, quiet=options.brief)


def _watch(options: Options) -> int:
    from conformance.cli.live.running import run
    from conformance.cli.live.watching import wait_for_restart, watch

    profile = profile_of(options)
    if profile is None:
        raise UsageError("--watch needs a portal that can restart. Give --profile FILE or --target URL.")
    if options.failed or options.rerun:
        raise UsageError("--watch itself begins with what failed. Leave out --failed and --rerun.")

    def run_with(selected: Sequence[str], out: Path) -> int:
        only = selected or options.only
        arguments = as_arguments(Options(**{**vars(options), "out": out, "only": only}))
        return run(arguments, further=options.further, out=out, quiet=options.brief)

    return watch(run_with, _folder(options), restarted=lambda: wait_for_restart(profile), show=print_line)


def _folder(options: Options) -> Path:
    """Where the reports go. Those of a run of some cases go beside those of the whole run, which stay."""
    from conformance.run.rerun import AGAIN, holds_whole_run, repeat_folder

    out = Path(options.out or BY_NAME["out"].default)
    if options.failed:
        note_what_failed(out)
        return repeat_folder(out)
    if options.rerun and not options.out:
        return repeat_folder(out)
    if (options.rerun or _selects(options)) and holds_whole_run(out):
        return beside_whole_run(out, out / AGAIN, "rerun" if options.rerun else "selection")
    return out


def _selects(options: Options) -> bool:
    return bool(options.only or options.skip) or any(word.startswith(SELECTING) for word in options.further)


@command("plan", *PLAN_OPTIONS, FORMAT)
def plan_run(options: Options) -> int:
    """Prints what a run with these options would do; sends nothing."""
    from conformance.cli.outlook import show_plan

    return show_plan(options)


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
    from conformance.spec.requirements import left_open
    from conformance.verdicts.selection import rules_of

    explanations = explain(
        rule for name in options.rules for rule in left_open(name) or rules_of(name, option="explain")
    )
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
