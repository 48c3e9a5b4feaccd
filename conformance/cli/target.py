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
)
from conformance.errors import UsageError
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
        commands, "doctor", examine, "what of a profile works, and what cannot be tested and why"
    )
    target_options(examined)
    impact_option(examined)
    format_option(examined)
    command(commands, "init", print_profile, "a commented profile to fill in")
    tidied = command(commands, "cleanup", clean_up, "put back what an interrupted run left")
    tidied.add_argument("ledger", metavar="LEDGER", type=path, help="the changes.jsonl of that run")
    target_options(tidied)


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
    if options.format == "text":
        print(f"\n{_expectation(profile, options.impact or 'read-only', found)}")
    wrong = {one.fault_class for one in found if one.state == "wrong"}
    if "environment" in wrong:
        return 6
    return 4 if wrong & {"configuration", "credentials"} else int(bool(wrong))


def _expectation(profile: Profile, impact: Impact, found: list[doctor.Diagnosis]) -> str:
    """The ``[expect]`` table that fits what was found, ready to paste into the profile."""
    from conformance.run.plan import plan  # collects the cases, with pytest: no other command here needs it

    works = [name for name in WAYS_IN if _works(f"accounts.{name}", found)]
    if not works:
        return "No [expect] table is proposed: no account can sign in."
    testable = plan(profile, impact).testable
    return "\n".join(
        (
            f"# What a run with --impact {impact} is to test at the least; below it, exit code 5.",
            "[expect]",
            f"musts = {testable - testable // LEEWAY}",
            f"accounts = {json.dumps(works)}",
        )
    )


def _works(part: str, found: list[doctor.Diagnosis]) -> bool:
    return any(diagnosis.part == part and diagnosis.state == "works" for diagnosis in found)


def print_profile(options: argparse.Namespace) -> int:
    """The commented profile."""
    print(init_profile.text(), end="")
    return 0


def clean_up(options: argparse.Namespace) -> int:
    """Puts back what the ledger lists; exit code 7 where something is left."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError("cleanup needs --profile FILE: the portal that the run changed")
    left = cleanup(options.ledger, profile)
    for line in left:
        print(f"left behind: {line}")
    if not left:
        print("Everything is as it was.")
    return 7 if left else 0
