"""Commands about a target: serve, doctor, init, cleanup."""

from __future__ import annotations

import argparse
import json

from conformance.cli.options import (
    Commands,
    command,
    format_option,
    impact_option,
    profile_of,
    target_options,
    wait_option,
)
from conformance.errors import ExitCode, UsageError
from conformance.report.model.visible import one_line
from conformance.run.settings import path
from conformance.spec import Impact
from conformance.target import doctor
from conformance.target.cleanup import cleanup
from conformance.target.profile import template as init_profile
from conformance.target.profile.model import Profile

LEEWAY = 50
"""One must in so many may stay untested for reasons that only a run shows."""

WAYS_IN = ("admin", "spare", "limited")
"""The accounts that a run expects to be given a token."""


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    served = commands.add_parser("serve", help="run the bundled reference portal", add_help=False)
    served.set_defaults(run=serve_portal)
    examined = command(
        commands, "doctor", examine, "probe a target: what of its profile works, and what cannot be tested"
    )
    target_options(examined)
    impact_option(examined)
    format_option(examined)
    command(commands, "init", print_profile, "print a commented profile to fill in")
    tidied = command(commands, "cleanup", clean_up, "restore what an interrupted run changed")
    tidied.add_argument("ledger", metavar="LEDGER", type=path, help="the changes.jsonl of that run")
    target_options(tidied)
    wait_option(tidied)


def serve_portal(options: argparse.Namespace) -> int:
    """Runs the bundled portal until it is interrupted."""
    from conformance.target.bundled import serve  # starts the reference portal: no other command needs it

    return serve(options.further, prog="portal-conformance serve")


def examine(options: argparse.Namespace) -> int:
    """Probes a target; exit code 4, 6 or 1 where the profile, the connection or the target is wrong."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError("doctor needs --profile FILE. `portal-conformance init` prints one to fill in.")
    results = doctor.examine(profile)
    print(doctor.as_json(results) if options.format == "json" else doctor.as_text(results))
    if options.format == "text":
        print(f"\n{_expectation(profile, options.impact or 'read-only', results)}")
    wrong = {result.fault_class for result in results if result.state == "wrong"}
    if "environment" in wrong:
        return ExitCode.UNREACHABLE
    if wrong & {"configuration", "credentials"}:
        return ExitCode.USAGE
    return ExitCode.FAILED if wrong else ExitCode.CONFORMANT


def _expectation(profile: Profile, impact: Impact, results: list[doctor.Diagnosis]) -> str:
    """The ``[expect]`` table that fits what was found, ready to paste into the profile."""
    from conformance.run.plan import plan  # collects the cases, with pytest: no other command here needs it

    works = [name for name in WAYS_IN if _works(f"accounts.{name}", results)]
    if not works:
        return "No [expect] table is proposed: no account can sign in."
    testable = plan(profile, impact).testable
    return "\n".join(
        (
            f"# What a run with --impact {impact} must test at least; below it, exit code 5.",
            "[expect]",
            f"musts = {testable - testable // LEEWAY}",
            f"accounts = {json.dumps(works)}",
        )
    )


def _works(part: str, results: list[doctor.Diagnosis]) -> bool:
    return any(result.part == part and result.state == "works" for result in results)


def print_profile(options: argparse.Namespace) -> int:
    """Prints the commented profile."""
    print(init_profile.text(), end="")
    return 0


def clean_up(options: argparse.Namespace) -> int:
    """Restores what the ledger lists; exit code 7 where something could not be restored."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError("cleanup needs --profile FILE, the profile of the portal that the run changed.")
    left = cleanup(options.ledger, profile, on_wait=print if options.wait else None)
    for line in left:
        print(f"not restored: {one_line(line, 600)}")
    if not left:
        print("Restored everything.")
    return ExitCode.LEFT_BEHIND if left else ExitCode.CONFORMANT
