"""Commands about a target: serve, doctor, setup, validate, init, cleanup.

What a command needs is imported when it runs, so that its help is quick.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.command import PATH, Options, argument, command, flag, option
from conformance.cli.layout import print_blocks, print_error, print_line, status_line
from conformance.cli.options import (
    DEFAULT_PROFILE,
    FORMAT,
    IMPACT,
    PROFILE,
    TARGET,
    TIME_BUDGET,
    WAIT,
    alone,
    profile_of,
)
from conformance.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from conformance.run.outlook.plan import PlanChoice, RunPlan
    from conformance.spec import Impact
    from conformance.target.doctor import Diagnosis
    from conformance.target.profile.learned import Learned
    from conformance.target.profile.model import Profile

USUAL_BUDGET = "10m"
"""The time budget of the run for which the doctor proposes [expect], as in the guides. A longer run tests no
less."""

SERVED = (
    option("--port", metavar="N", help="port to listen on; 0 takes a free one (default: 8000)"),
    option("--host", help="address to listen on (default: 127.0.0.1)"),
    option(
        "--fault",
        metavar="NAME",
        multiple=True,
        help="a fault by its name, see --list-faults; may be repeated",
    ),
    option(
        "--variant",
        metavar="NAME",
        multiple=True,
        help="a lawful variant by its name, see --list-variants; may be repeated",
    ),
    option("--profile-out", metavar="FILE", type=PATH, help="write the profile that fits this portal"),
    flag("--no-clock", help="offer no clock: its time cannot be advanced"),
    flag("--no-inbox", help="offer no inbox: its mails cannot be read"),
    option(
        "--limit",
        metavar="NAME=VALUE",
        multiple=True,
        help="set a limit, such as login_window=5; may be repeated",
    ),
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
    TARGET,
    PROFILE,
    IMPACT,
    TIME_BUDGET,
    flag("--write", help="write what was learned into the profile"),
    WAIT,
    FORMAT,
    examples=("portal-conformance doctor --profile portal.toml --write",),
)
def examine(options: Options) -> int:
    """Probes a target; exit code 4, 6 or 1 where the profile, the connection or the target is wrong."""
    return diagnose(options)


def diagnose(options: Options) -> int:
    """Probes a target, prints what works, and writes what was learned where the options ask for it."""
    from conformance.run.outlook.plan import plan  # collects the cases, with pytest
    from conformance.run.outlook.unlocking import unlocked  # as above
    from conformance.target.doctor import examine as examine_profile
    from conformance.target.doctor.diagnosis import as_json, proposed, usable

    profile = profile_of(options)
    if profile is None:
        raise UsageError(
            "doctor needs --profile FILE or --target URL. `portal-conformance init` prints a profile to fill "
            "in."
        )
    if options.write and not options.profile:
        raise UsageError("--write needs --profile FILE, the file that it writes to.")
    impact: Impact = options.impact or "read-only"
    with alone(profile, is_waiting=options.wait), status_line() as show:
        results = examine_profile(profile, on_check=lambda part: show(f"trying {part} …"))
        show("adding up what a run could test …")
        missing = [result.part for result in results if result.state == "missing"]
        choice, run = _expected_run(profile, options)
        gains, planned = unlocked(profile, impact, missing), plan(usable(profile, results), impact, choice)
        learned = proposed(results, testable=planned.testable, run=run)
    ordered = sorted(gains, key=lambda part: (-gains[part].rules, -gains[part].most, part))
    unlocks = {part: gains[part].spoken for part in ordered}
    most = [f"{part} would add most: {gains[part].spoken_with_musts}." for part in ordered[:1]]
    if options.format == "json":
        print(as_json(results, unlocks))
    else:
        _print_results(profile, results, unlocks, [_reach(planned, run), *most])
        _print_learned(learned, path=options.profile, is_written=bool(options.write))
    if options.write:
        _write_learned(options.profile, learned)
    if options.format != "json":
        print_blocks([(), [_next_step(results, options, budget=_budget(profile, options))]])
    return _exit_code(results)


def _expected_run(profile: Profile, options: Options) -> tuple[PlanChoice, str]:
    """The run for which [expect] is proposed, also as its options. Where the clock can be moved no budget is
    needed."""
    from conformance.run.outlook.plan import PlanChoice
    from conformance.run.settings import seconds_of

    words = f"--impact {options.impact or 'read-only'}"
    budget = _budget(profile, options)
    if budget is None:
        return PlanChoice(), words
    return PlanChoice(budget=seconds_of(budget)), f"{words} --time-budget {budget}"


def _budget(profile: Profile, options: Options) -> str | None:
    """The time budget of that run, as it is written; None where it has none."""
    if options.time_budget is None and profile.clock.advance is not None:
        return None
    return str(options.time_budget or USUAL_BUDGET)


def _reach(planned: RunPlan, run: str) -> str:
    """How far a run with these options reaches."""
    can = f"can test {planned.testable} of the {planned.musts} musts that an answer can show"
    return f"A run with {run} {can}."


def _print_results(
    profile: Profile, results: list[Diagnosis], unlocks: Mapping[str, str], reach: Sequence[str]
) -> None:
    """Prints what matters most in a few lines, and then each part. ``reach``: what a run could test, where
    any account can sign in."""
    from conformance.target.doctor.diagnosis import as_text, counts_in_words, ways_in

    lines = [f"{profile.portal.url}: {counts_in_words(results)}."]
    if ways_in(results):
        lines += reach
    print_blocks([lines, as_text(results, unlocks).splitlines()])


def _next_step(results: list[Diagnosis], options: Options, *, budget: str | None) -> str:
    """Suggests the next command after the doctor, with the same options."""
    chosen = {name: getattr(options, name) for name in ("profile", "target", "impact", "time_budget")}
    if any(result.state == "wrong" for result in results):
        return f"Next: correct what is wrong, and call `portal-conformance doctor{_words(chosen)}` again."
    words = _words(chosen | {"time_budget": budget})
    return f"Next: `portal-conformance plan{words}` shows what a run would do."


def _words(chosen: Mapping[str, object]) -> str:
    """Command-line words of all options with a value."""
    written = {name.replace("_", "-"): str(value) for name, value in chosen.items() if value is not None}
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in written.items())


def _exit_code(results: list[Diagnosis]) -> ExitCode:
    """Exit code of the doctor: 6 for an unreachable portal; 4 for errors in the profile or its files; 1 for
    problems of the target, and leftovers of earlier runs."""
    wrong = [result for result in results if result.state == "wrong"]
    if any(result.part == "portal.url" and result.fault_class == "environment" for result in wrong):
        return ExitCode.UNREACHABLE
    if {result.fault_class for result in wrong} & {"configuration", "credentials", "environment"}:
        return ExitCode.USAGE
    return ExitCode.FAILED if wrong else ExitCode.CONFORMANT


def _print_learned(learned: Learned, *, path: Path | None, is_written: bool) -> None:
    """Prints what was learned and the profile does not say, ready to paste unless it is written there."""
    from conformance.target.profile.learned import as_toml, differing, unsaid
    from conformance.traffic.replacing import text_of

    text = "" if path is None else text_of(path)
    new, others = unsaid(text, learned), list(differing(text, learned))
    if "expect" not in learned.tables:
        print_blocks([(), ["No [expect] table is proposed: no account can sign in."]])
    if new:
        advice = "Written into the profile:" if is_written else "To paste into the profile, or use --write:"
        print(f"\n# {advice}")
        print(as_toml(new), end="")  # no line is broken: it is read as TOML
    elif path is not None and not is_written and not others:
        print_blocks([(), [f"{path} has everything that was learned already."]])
    for key, present, value in others:
        remedy = "To take it, delete that line and call `doctor --write` again."
        print_blocks([(), [f"{key} stays {json.dumps(present)}; doctor found {json.dumps(value)}. {remedy}"]])


def _write_learned(path: Path, learned: Learned) -> None:
    from conformance.target.profile.learned import differing, written
    from conformance.traffic.replacing import replace_file, text_of

    before = text_of(path)
    after = written(before, learned)
    if after == before:
        if not any(differing(before, learned)):
            print_error(f"{path} has everything that was learned already.")
        return
    try:
        replace_file(path, after)
    except OSError as refused:
        raise UsageError(f"{path}: cannot be written ({refused.strerror}). Check its permissions.") from None
    print_error(f"Wrote what was learned to {path}.")


@command(
    "setup",
    option(
        "--profile",
        metavar="FILE",
        type=PATH,
        default=DEFAULT_PROFILE,
        help="the profile to write (default: portal.toml); an existing file is not overwritten",
    ),
)
def set_up(options: Options) -> int:
    """Asks for a profile on a terminal, writes it, and runs the doctor on it."""
    from conformance.cli.conversation import hold
    from conformance.target.doctor.address import problem_at

    return hold(options, is_terminal=sys.stdin.isatty(), try_out=_try_out, problem_at=problem_at)


def _try_out(path: Path) -> int:
    """Runs the doctor on a new profile, and writes what it learns into it."""
    values = Options(
        profile=path,
        target=None,
        impact=None,
        time_budget=None,
        format="text",
        write=True,
        wait=False,
        command="doctor",
        further=[],
    )
    return diagnose(values)


@command(
    "validate",
    argument("profiles", "FILE", nargs=-1, help="a profile (default: portal.toml of this folder)"),
)
def validate_profiles(options: Options) -> int:
    """Validates profiles without their secrets and without a target; exit code 4 where one has a mistake."""
    from conformance.target.profile.validation import validate

    has_mistake = False
    for path in options.profiles or (DEFAULT_PROFILE,):
        validation = validate(path)
        for problem in validation.problems:
            print_error(problem)
        has_mistake = has_mistake or bool(validation.problems)
        if not validation.problems:
            print_line(f"{path} is valid.{_unread(validation.references)}")
    return ExitCode.USAGE if has_mistake else ExitCode.CONFORMANT


def _unread(references: Sequence[str]) -> str:
    """Which values were not read."""
    return f" Values that were not read: {', '.join(references)}." if references else ""


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


COMMANDS = {
    each.name: each for each in (serve_portal, examine, set_up, validate_profiles, print_profile, clean_up)
}
