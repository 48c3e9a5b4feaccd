"""Commands about cases and requirements: run, plan, requirements, openapi, selftest."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from conformance.cli.options import (
    Commands,
    bundled_profile,
    command,
    format_option,
    out_option,
    profile_of,
)
from conformance.run.catalogue import deciders, pytest_arguments
from conformance.run.options import BY_NAME, add_to_command, as_arguments
from conformance.run.plan import as_json, as_text, plan
from conformance.spec import REQUIREMENTS, Requirement
from conformance.spec.openapi import document


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    run = command(commands, "run", run_cases, "run the cases and write the reports")
    add_to_command(run)
    planned = command(
        commands, "plan", plan_run, "show what a run would do: requests, sign-ins, mails, changes and waits"
    )
    add_to_command(planned)
    format_option(planned)
    rows = command(
        commands, "requirements", list_requirements, "list every requirement with the cases that test it"
    )
    format_option(rows)
    command(commands, "openapi", print_openapi, "print the specification as OpenAPI 3.1")
    tested = command(
        commands,
        "selftest",
        test_the_suite,
        "run the suite against every fault and variant of the reference portal",
    )
    out_option(tested)
    tested.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="run only this fault or variant; may be repeated",
    )
    tested.add_argument(
        "--jobs", metavar="N", type=int, help="number of parallel workers (default: one per core)"
    )
    tested.add_argument("--thorough", action="store_true", help="run every case for every variant")
    tested.add_argument(
        "--update",
        action="store_true",
        help="record the proofs of this run as those that later runs must reach",
    )


def run_cases(options: argparse.Namespace) -> int:
    """Runs ``pytest`` on the cases, with the same options."""
    out = options.out or BY_NAME["out"].default
    out.mkdir(parents=True, exist_ok=True)
    arguments = [
        *pytest_arguments(), "-q", "--tb=short", "--no-header", "--disable-warnings",
        "-p", "pytest_metadata.plugin", "-p", "pytest_html.plugin",
        f"--html={out / 'cases.html'}", "--self-contained-html", *options.further, *as_arguments(options),
    ]  # fmt: skip
    return int(pytest.main(arguments))


def plan_run(options: argparse.Namespace) -> int:
    """Prints what a run with these options would do; sends nothing."""
    profile = profile_of(options)
    planned = plan(profile or bundled_profile(), options.impact or ("read-only" if profile else "disruptive"))
    print(as_json(planned) if options.format == "json" else as_text(planned))
    return 0


def list_requirements(options: argparse.Namespace) -> int:
    """Lists every requirement with its level, its place and the cases that test it."""
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


def print_openapi(options: argparse.Namespace) -> int:
    """Prints the OpenAPI document as JSON."""
    print(json.dumps(document(), indent=2, ensure_ascii=False))
    return 0


def test_the_suite(options: argparse.Namespace) -> int:
    """Proves the suite against faults and variants; exit code 1 where something is not proven."""
    from conformance.selftest import run  # the reference portal: only this command needs it

    return run(
        out=Path(options.out),
        only=options.only,
        jobs=options.jobs,
        update=options.update,
        thorough=options.thorough,
    )
