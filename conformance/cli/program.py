"""The program: its commands by groups, each imported when it is called, and its version."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import rich_click as click
from click.exceptions import Exit
from click.shell_completion import get_completion_class

import conformance
from conformance.cli.command import SETTINGS, write_closing
from conformance.cli.commands import BY_COMMAND, COMMANDS, GROUPS, PROGRAM
from conformance.errors import UsageError

DESCRIPTION = "Tests a portal against the System Portal Web API specification, with evidence."
COMPLETE_VARIABLE = "_PORTAL_CONFORMANCE_COMPLETE"
"""The environment variable by which a shell asks for completions."""


class Program(click.RichGroup):
    """All commands. Help and completion read their table; to call one imports its module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The entry of a command in the help; None where there is none."""
        row = BY_COMMAND.get(cmd_name)
        return None if row is None else click.RichCommand(name=row.name, help=row.summary, panel=row.group)

    def format_epilog(self, ctx: click.RichContext, formatter: click.RichHelpFormatter) -> None:  # type: ignore[override]
        write_closing(formatter, [], [f"`{PROGRAM} COMMAND --help` shows the options of a command."])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in BY_COMMAND:
            return name, loaded(name), args[1:]
        if ctx.resilient_parsing:
            return None, None, args[1:]
        near = difflib.get_close_matches(name, BY_COMMAND, n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise click.UsageError(f"unknown command: {name!r}.{hint}", ctx)


def loaded(name: str) -> click.RichCommand:
    """The command itself. KeyError: there is none of this name."""
    module = import_module(f"conformance.cli.{BY_COMMAND[name].module}")
    return next(
        each for each in vars(module).values() if isinstance(each, click.RichCommand) and each.name == name
    )


def _panels() -> list[click.RichPanel[Any, Any]]:
    examples = {
        group: min((row.example for row in COMMANDS if row.group == group), key=len) for group in GROUPS
    }
    return [click.RichCommandPanel(group, help=example) for group, example in examples.items()]


PROGRAM_GROUP = Program(
    name=PROGRAM,
    help=DESCRIPTION,
    context_settings={key: value for key, value in SETTINGS.items() if key != "allow_extra_args"},
    panels=_panels(),
    no_args_is_help=False,
)


PROGRAM_GROUP = click.version_option(conformance.__version__, message="%(version)s")(PROGRAM_GROUP)


def invoke(words: Sequence[str]) -> int:
    """Runs the command that the words name, and returns its exit code. ClickException: they name none."""
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        print(_completed(*instruction.partition("_")[::2]))
        return 0
    try:
        with PROGRAM_GROUP.make_context(PROGRAM, list(words)) as context:
            return int(PROGRAM_GROUP.invoke(context))
    except Exit as ended:
        return int(ended.exit_code)


def completion_script(shell: str) -> str:
    """What a shell runs so that it completes commands and options."""
    return _completed(shell, "source")


def _completed(shell: str, task: str) -> str:
    """What a shell asks for: the script (``source``), or what completes the words of its variables."""
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"There is no completion for {shell}. Choose bash, zsh or fish.")
    completion = kind(PROGRAM_GROUP, {}, PROGRAM, COMPLETE_VARIABLE)
    return completion.source() if task == "source" else completion.complete()
