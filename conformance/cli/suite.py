"""Commands about the suite itself: selftest, completion, mcp."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from threading import Thread
from typing import TextIO

from conformance.cli.command import Choice, Options, argument, command, flag, option
from conformance.cli.layout import print_error, print_line
from conformance.cli.options import IMPACT, OUT, PROFILE, TARGET, use_default_profile
from conformance.cli.output import give_up
from conformance.cli.program import completion_script
from conformance.errors import UsageError


@command(
    "selftest",
    OUT,
    option(
        "--only",
        metavar="NAME",
        multiple=True,
        allow_from_autoenv=False,
        help="run only this fault or variant; may be repeated",
    ),
    option("--jobs", metavar="N", type=int, help="number of parallel workers (default: one per core)"),
    flag("--thorough", help="run every case for every variant"),
    flag("--grouped", help="try several variants in one run, and each alone only where it tells more"),
    flag("--update", help="record the proofs of this run as those that later runs must reach"),
)
def test_the_suite(options: Options) -> int:
    """Proves the suite against faults and variants; exit code 1 where something is not proven."""
    from conformance.selftest import run  # the reference portal: only this command needs it

    return run(
        out=options.out,
        only=list(options.only),
        jobs=options.jobs,
        update=options.update,
        thorough=options.thorough,
        grouped=options.grouped,
        tell=print_line,
    )


@command(
    "completion",
    argument("shell", "SHELL", type=Choice(("bash", "zsh", "fish")), help="bash, zsh or fish"),
    examples=(
        "portal-conformance completion zsh > ~/.zfunc/_portal-conformance",
        "portal-conformance completion fish > ~/.config/fish/completions/portal-conformance.fish",
    ),
)
def print_completion(options: Options) -> int:
    """Prints the completion script of a shell."""
    print(completion_script(options.shell))
    return 0


FOR_ASSISTANTS = (
    "mcp speaks the Model Context Protocol on stdin and stdout: an assistant starts it, with this line in "
    "its settings. Ctrl-C ends it."
)


def _check_target(options: Options) -> None:
    """Raises UsageError where each run of the assistant would fail, whatever the environment holds then."""
    from conformance.target.profile.model import of_target  # models take a moment to load
    from conformance.target.profile.validation import validate  # as above

    problems = validate(options.profile).problems if options.profile is not None else ()
    if problems:
        raise UsageError("\n".join(problems))
    if options.target is not None:
        of_target(options.target)


@command("mcp", TARGET, PROFILE, IMPACT, OUT)
def serve_assistant(options: Options) -> int:
    """Serves an assistant by MCP on stdin and stdout; no tool goes beyond --impact (default: read-only)."""
    from conformance.embed.mcp_server import Assistant, server_of  # needs the extra

    use_default_profile(options)
    _check_target(options)
    assistant = Assistant(options.out, options.impact or "read-only", options.profile, options.target)
    if sys.stdin is not None and sys.stdin.isatty():
        print_error(FOR_ASSISTANTS)
    call_on_interrupt(assistant.leave)
    # The protocol needs the bytes of stdout; what it carries is redacted already, as the reports are.
    with redirect_stdout(sys.__stdout__):
        while_read(sys.stdout, lambda: server_of(assistant).run("stdio"))
    return 0


def while_read(stream: TextIO, serve: Callable[[], None]) -> None:
    """Serves until the assistant leaves, by closing its end of stdin or that of the stream."""
    try:
        serve()
    except* BrokenPipeError:
        give_up(stream)


def call_on_interrupt(leave: Callable[[], object]) -> None:
    """Has Ctrl-C call a function, in a thread of its own."""
    signal.signal(signal.SIGINT, lambda number, frame: Thread(target=leave, daemon=True).start())


COMMANDS = {each.name: each for each in (test_the_suite, print_completion, serve_assistant)}
