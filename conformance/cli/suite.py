"""Commands about the suite itself: selftest, completion."""

from __future__ import annotations

from conformance.cli.command import Choice, Options, argument, command, flag, option
from conformance.cli.options import OUT
from conformance.cli.program import completion_script


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
    )


@command(
    "completion",
    argument("shell", "SHELL", type=Choice(("bash", "zsh", "fish"))),
    examples=(
        "portal-conformance completion zsh > ~/.zfunc/_portal-conformance",
        "portal-conformance completion fish > ~/.config/fish/completions/portal-conformance.fish",
    ),
)
def print_completion(options: Options) -> int:
    """Prints the completion script of a shell."""
    print(completion_script(options.shell))
    return 0


COMMANDS = {each.name: each for each in (test_the_suite, print_completion)}
