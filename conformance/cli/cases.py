"""Commands about cases and requirements: run, plan, requirements, openapi.

What a command needs is imported when it runs: pytest and the cases take longer to load than help may take.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.cli.command import Options, command
from conformance.cli.options import (
    FORMAT,
    RUN_OPTIONS,
    bundled_profile,
    profile_of,
    use_default_profile,
)
from conformance.run.options import BY_NAME, as_arguments
from conformance.spec import REQUIREMENTS, Requirement

if TYPE_CHECKING:
    from conformance.run.plan import RunPlan


@command("run", *RUN_OPTIONS, passes_on=True)
def run_cases(options: Options) -> int:
    """Runs ``pytest`` on the cases, with the same options."""
    from conformance.cli.running import run

    use_default_profile(options)
    return run(
        as_arguments(options),
        further=options.further,
        out=options.out or BY_NAME["out"].default,
        quiet=options.brief,
    )


@command("plan", *RUN_OPTIONS, FORMAT)
def plan_run(options: Options) -> int:
    """Prints what a run with these options would do; sends nothing."""
    from conformance.run.plan import as_json, as_text

    planned = _plan(options)
    print(as_json(planned) if options.format == "json" else as_text(planned))
    return 0


def _plan(options: Options) -> RunPlan:
    from conformance.run.plan import plan

    profile = profile_of(options)
    return plan(profile or bundled_profile(), options.impact or ("read-only" if profile else "disruptive"))


@command("requirements", FORMAT)
def list_requirements(options: Options) -> int:
    """Lists every requirement with its level, its place and the cases that test it."""
    from conformance.run.catalogue import deciders

    cases = deciders()
    if options.format == "json":
        rows = [_row(requirement, cases[requirement.id]) for requirement in REQUIREMENTS.values()]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    for requirement in REQUIREMENTS.values():
        print(f"{requirement.id:16} {requirement.level:7} {requirement.section}: {requirement.statement}")
        for case in cases[requirement.id] or [requirement.untestable or "no case yet"]:
            print(f"{'':24} {case}")
    return 0


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


@command("openapi")
def print_openapi(options: Options) -> int:
    """Prints the OpenAPI document as JSON."""
    from conformance.spec.openapi import document

    print(json.dumps(document(), indent=2, ensure_ascii=False))
    return 0


COMMANDS = {each.name: each for each in (run_cases, plan_run, list_requirements, print_openapi)}
