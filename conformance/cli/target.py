"""Commands about a target: serve, doctor, setup, cleanup.

What a command needs is imported when it runs, so that its help is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.cli import options as opt
from conformance.cli.command import PATH, Options, argument, command, flag, option, repeated
from conformance.cli.layout import print_error, print_line
from conformance.cli.program import invoke
from conformance.errors import ExitCode, ProfileError, RuleError, UsageError

SERVED = (
    option("--port", metavar="N", help="port to listen on; 0 takes a free one (default: 8000)"),
    option("--host", help="address to listen on (default: 127.0.0.1)"),
    repeated("--fault", metavar="NAME", help="a fault by its name, see --list-faults"),
    repeated("--variant", metavar="NAME", help="a lawful variant by its name, see --list-variants"),
    option("--profile-out", type=PATH, help="write the profile that fits this portal"),
    flag("--no-clock", help="offer no clock: its time cannot be advanced"),
    flag("--no-inbox", help="offer no inbox: its mails cannot be read"),
    repeated("--limit", metavar="NAME=VALUE", help="set a limit, such as login_window=5"),
    option("--seed", metavar="N", help="a number that makes ids, passwords and codes the same at each start"),
    flag("--list-faults", help="list the faults, with the requirements that each breaks and the endpoints"),
    flag("--list-variants", help="list the variants, with the gap of the specification that permits each"),
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


@command(
    "doctor",
    opt.TARGET,
    opt.PROFILE,
    opt.IMPACT,
    opt.TIME_BUDGET,
    flag("--write", help="write what was learned into the profile"),
    argument("profiles", "FILE", nargs=-1, help="with --offline: the profiles (default: portal.toml)"),
    flag("--offline", help="find mistakes of profiles without their secrets and without a target"),
    opt.RULES,
    opt.WAIT,
    opt.FORMAT,
    examples=("portal-conformance doctor --profile portal.toml --write",),
)
def examine(options: Options) -> int:
    """Probes a target; exit code 4, 6 or 1 where the profile, the connection or the target is wrong."""
    if options.offline:
        profiles = [*options.profiles, *filter(None, [options.profile])]
        return _validate(profiles or ([] if options.rules else [opt.DEFAULT_PROFILE]), options.rules)
    if options.profiles:
        raise UsageError(f"doctor: write --profile {options.profiles[0]}, or --offline.")
    if options.rules:
        raise UsageError("doctor: --rules needs --offline, which tries the rules on their examples.")
    from conformance.cli.outlook import diagnose  # collects the cases, with pytest

    return diagnose(options)


@command(
    "setup",
    option(
        "--profile",
        type=PATH,
        default=opt.DEFAULT_PROFILE,
        help="the profile to write (default: portal.toml); an existing file is not overwritten",
    ),
    flag("--print", "prints", help="ask nothing, and print a commented profile to fill in"),
)
def set_up(options: Options) -> int:
    """Asks for a profile on a terminal, writes it, and runs the doctor on it."""
    if options.prints:
        from conformance.target.profile import template

        print(template.text(), end="")
        return ExitCode.CONFORMANT
    from conformance.cli.conversation import hold
    from conformance.target.doctor.address import problem_at

    def try_out(path: Path) -> int:
        return invoke(["doctor", "--profile", str(path), "--write"])

    return hold(options, is_terminal=sys.stdin.isatty(), try_out=try_out, problem_at=problem_at)


def _validate(profiles: Sequence[Path], rules: Sequence[Path]) -> int:
    from conformance.target.profile.validation import validate

    has_mistake = False
    for path in profiles:
        validation = validate(path)
        for problem in validation.problems:
            print_error(problem)
        has_mistake = has_mistake or bool(validation.problems)
        if not validation.problems:
            unread = ", ".join(validation.references)
            print_line(f"{path} is valid.{f' Values that were not read: {unread}.' if unread else ''}")
    places: Sequence[Path | None] = profiles or (None,)
    for place in places:
        has_mistake |= not _prove_rules(rules, place)
    return ExitCode.USAGE if has_mistake else ExitCode.CONFORMANT


def _prove_rules(files: Sequence[Path], profile: Path | None) -> bool:
    """Tries the user's own rules on their examples, and prints the result; False where one is wrong."""
    from conformance.report.model.words import listed, plural
    from conformance.rules.registry import rules_named_by

    try:
        own = rules_named_by(files, profile)
    except ProfileError:  # which is named with the other mistakes of the profile
        return True
    except RuleError as wrong:
        print_error(str(wrong))
        return False
    if own.rules:
        count, ids = plural(len(own.rules), "own rule"), listed(rule.id for rule in own.rules)
        print_line(f"{count} ({ids}): each holds for its lawful example and rejects its unlawful one.")
    return True


@command(
    "cleanup",
    argument("ledger", "LEDGER", help="the changes.jsonl of that run"),
    opt.TARGET,
    opt.PROFILE,
    opt.WAIT,
)
def clean_up(options: Options) -> int:
    """Restores what the ledger lists; exit code 7 where something could not be restored."""
    from conformance.cli.profile import profile_of
    from conformance.report.model.visible import one_line
    from conformance.target.cleanup import cleanup

    profile = profile_of(options)
    if profile is None:
        raise UsageError("cleanup needs --profile FILE, the profile of the portal that the run changed.")

    shown: list[str] = []

    def show_left(sentence: str) -> None:
        shown.append(sentence)
        print_line(f"cannot be restored: {one_line(sentence, 600)}. The next run with this --out removes it.")

    done = cleanup(options.ledger, profile, on_wait=print if options.wait else None, on_left=show_left)
    for line in done.problems:
        print_line(f"not restored: {one_line(line, 600)}")
    for line in done.otherwise:
        print_line(f"restored, but shown otherwise: {one_line(line, 600)}")
    if not done.changes:
        nothing = "Nothing else" if shown else "Nothing"
        print_line(f"{nothing} to restore: {options.ledger} lists no change, or all are restored.")
    elif not done.problems:
        count = "1 change" if done.changes == 1 else f"{done.changes} changes"
        print_line(f"Restored everything: {count}.")
    return ExitCode.LEFT_BEHIND if done.problems else ExitCode.CONFORMANT
