"""Commands about a target: serve, doctor, init, cleanup.

What a command needs is imported when it runs, so that its help is quick.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.cli.command import PATH, Options, argument, command, flag, option
from conformance.cli.options import FORMAT, IMPACT, PROFILE, TARGET, WAIT, profile_of
from conformance.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from conformance.spec import Impact
    from conformance.target.doctor import Diagnosis
    from conformance.target.profile.model import Profile

LEEWAY = 50
"""One must in so many may stay untested for reasons that only a run shows."""

WAYS_IN = ("admin", "spare", "limited")
"""The accounts that a run expects to be given a token."""

SERVED = (
    option("--port", metavar="N", help="port to listen on; 0 takes a free one (default: 8000)"),
    option("--host", help="address to listen on (default: 127.0.0.1)"),
    option("--fault", metavar="NAME", multiple=True, help="contradict the specification so; may be repeated"),
    option("--variant", metavar="NAME", multiple=True, help="differ lawfully so; may be repeated"),
    option("--profile-out", metavar="FILE", type=PATH, help="write the profile that fits this portal"),
    flag("--no-clock", help="its time cannot be advanced"),
    flag("--no-inbox", help="its mails cannot be read"),
    option("--limit", metavar="NAME=VALUE", multiple=True, help="another limit, such as login_window=5"),
    option("--seed", metavar="N", help="ids, passwords and codes that repeat"),
    flag("--list-faults", help="list the faults, and the requirements that each breaks"),
    flag("--list-variants", help="list the variants, and the gap that permits each"),
)
"""The options of the reference portal, which reads their values."""


@command("serve", *SERVED)
def serve_portal(options: Options) -> int:
    """Runs the bundled portal until it is interrupted."""
    from conformance.target.bundled import serve  # starts the reference portal: no other command needs it

    return serve(list(_served_words(options)), prog="portal-conformance serve")


def _served_words(options: Options) -> Iterator[str]:
    """The options of ``serve`` as the reference portal reads them."""
    for each in SERVED:
        spelling, value = each.opts[0], getattr(options, str(each.name))
        if each.is_flag and value:
            yield spelling
        elif each.multiple:
            yield from (f"{spelling}={item}" for item in value)
        elif not each.is_flag and value is not None:
            yield f"{spelling}={value}"


@command("doctor", TARGET, PROFILE, IMPACT, FORMAT)
def examine(options: Options) -> int:
    """Probes a target; exit code 4, 6 or 1 where the profile, the connection or the target is wrong."""
    from conformance.target import doctor

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


def _expectation(profile: Profile, impact: Impact, results: list[Diagnosis]) -> str:
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


def _works(part: str, results: list[Diagnosis]) -> bool:
    return any(result.part == part and result.state == "works" for result in results)


@command("init")
def print_profile(options: Options) -> int:
    """Prints the commented profile."""
    from conformance.target.profile import template as init_profile

    print(init_profile.text(), end="")
    return 0


@command(
    "cleanup",
    argument("ledger", "LEDGER", help="the changes.jsonl of that run"),
    TARGET,
    PROFILE,
    WAIT,
)
def clean_up(options: Options) -> int:
    """Restores what the ledger lists; exit code 7 where something could not be restored."""
    from conformance.report.model.visible import one_line
    from conformance.target.cleanup import cleanup

    profile = profile_of(options)
    if profile is None:
        raise UsageError("cleanup needs --profile FILE, the profile of the portal that the run changed.")
    left = cleanup(options.ledger, profile, on_wait=print if options.wait else None)
    for line in left:
        print(f"not restored: {one_line(line, 600)}")
    if not left:
        print("Restored everything.")
    return ExitCode.LEFT_BEHIND if left else ExitCode.CONFORMANT


COMMANDS = {each.name: each for each in (serve_portal, examine, print_profile, clean_up)}
