"""Commands about a target: serve, doctor, init, cleanup."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.options import Commands, command, format_option, profile_of, target_options, wait_option
from conformance.errors import UsageError
from conformance.report.model.visible import one_line
from conformance.target import doctor
from conformance.target.cleanup import cleanup
from conformance.target.profile import template as init_profile


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    served = commands.add_parser("serve", help="run the bundled reference portal", add_help=False)
    served.set_defaults(run=serve_portal)
    examined = command(
        commands, "doctor", examine, "probe a target: what of its profile works, and what cannot be tested"
    )
    target_options(examined)
    format_option(examined)
    command(commands, "init", print_profile, "print a commented profile to fill in")
    tidied = command(commands, "cleanup", clean_up, "restore what an interrupted run changed")
    tidied.add_argument("ledger", metavar="LEDGER", type=Path, help="the changes.jsonl of that run")
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
    wrong = {result.fault_class for result in results if result.state == "wrong"}
    if "environment" in wrong:
        return 6
    return 4 if wrong & {"configuration", "credentials"} else int(bool(wrong))


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
    return 7 if left else 0
