"""Commands about a target: serve, doctor, init, cleanup."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.options import Commands, command, format_option, profile_of, target_options, wait_option
from conformance.errors import UsageError
from conformance.target import doctor
from conformance.target.cleanup import cleanup
from conformance.target.profile import template as init_profile


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    served = commands.add_parser("serve", help="run the bundled reference portal", add_help=False)
    served.set_defaults(run=serve_portal)
    examined = command(
        commands, "doctor", examine, "what of a profile works, and what cannot be tested and why"
    )
    target_options(examined)
    format_option(examined)
    command(commands, "init", print_profile, "a commented profile to fill in")
    tidied = command(commands, "cleanup", clean_up, "restore what an interrupted run left")
    tidied.add_argument("ledger", metavar="LEDGER", type=Path, help="the changes.jsonl of that run")
    target_options(tidied)
    wait_option(tidied)


def serve_portal(options: argparse.Namespace) -> int:
    """The bundled portal, until interrupted."""
    from conformance.target.bundled import serve  # starts the reference portal: no other command needs it

    return serve(options.further, prog="portal-conformance serve")


def examine(options: argparse.Namespace) -> int:
    """Probes a target; exit code 4, 6 or 1 where profile, way or target are wrong."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError("doctor needs --profile FILE. `portal-conformance init` writes one to fill in")
    found = doctor.examine(profile)
    print(doctor.as_json(found) if options.format == "json" else doctor.as_text(found))
    wrong = {one.fault_class for one in found if one.state == "wrong"}
    if "environment" in wrong:
        return 6
    return 4 if wrong & {"configuration", "credentials"} else int(bool(wrong))


def print_profile(options: argparse.Namespace) -> int:
    """The commented profile."""
    print(init_profile.text(), end="")
    return 0


def clean_up(options: argparse.Namespace) -> int:
    """Restores what the ledger lists; exit code 7 where something is not restored."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError("cleanup needs --profile FILE: the portal that the run changed")
    left = cleanup(options.ledger, profile, on_wait=print if options.wait else None)
    for line in left:
        print(f"Not restored: {line}.")
    if not left:
        print("Everything is restored.")
    return 7 if left else 0
