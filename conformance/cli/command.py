"""What every command shares: how it is declared, its help, its options, and how wrong usage is reported."""

from __future__ import annotations

import difflib
import os
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import rich_click as click
from click.shell_completion import CompletionItem

from conformance.cli.commands import BY_COMMAND, EXIT_CODES, PROGRAM
from conformance.run.settings import path, text

Options = SimpleNamespace
"""The values of a command's options and arguments, by name; ``further`` holds what it passes on."""

PREFIX = "PORTAL_CONFORMANCE"
"""What the environment variables of the options begin with, whatever the command."""

NEAR = 0.75
"""How alike an unknown option of ``run`` and one of its own must be to be taken for a slip."""

USUAL_GROUPS = ("Arguments", "Options")
"""The titles of help that stand before those of further groups of options."""

HELP_STYLE: dict[str, Any] = {
    "theme": "default-slim",
    "enable_theme_env_var": False,
    "text_markup": None,
    "show_arguments": True,
}
SETTINGS: dict[str, Any] = {
    "help_option_names": ["-h", "--help"],
    "auto_envvar_prefix": PREFIX,
    "allow_extra_args": True,
    "rich_help_config": HELP_STYLE,
}


class Value(click.ParamType[Any]):
    """The value of an option or argument, as a function reads it. An empty value is an error, and so is the
    next option in the place of a value: both come from a variable that is not set."""

    envvar_list_splitter = ","

    def __init__(self, name: str, read: Callable[[str], Any] = text) -> None:
        self.name = name
        self._read = read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if value.startswith("--") and ctx is not None and value.partition("=")[0] in _spellings(ctx.command):
            self.fail(f"a value is missing before {value}. Is the variable that it comes from set?")
        try:
            return self._read(value)
        except (ArgumentTypeError, ValueError) as wrong:
            return self.fail(f"{wrong}")


class FileValue(Value):
    """A path; a shell completes it."""

    def __init__(self, read: Callable[[str], Any] = path) -> None:
        super().__init__("file", read)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class Choice(click.Choice[str]):
    """One of some words."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        return f"invalid choice: {value!r}. Choose {self.listed}."

    @property
    def listed(self) -> str:
        """``read-only, mutating or disruptive``."""
        words = [str(choice) for choice in self.choices]
        return f"{', '.join(words[:-1])} or {words[-1]}"


TEXT = Value("text")
PATH = FileValue()
ADDRESS = FileValue(text)
"""A path, a pattern or an address, as it is typed."""


class CommandOption(click.RichOption):
    """An option that an environment variable can set; an empty variable is an error, as an empty value is."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        variable = self.variable(ctx)
        if variable is not None and os.environ.get(variable, "set").strip() == "":
            raise click.BadParameter(
                f"the value is empty: {variable} is set to nothing. Unset it.", ctx, self
            )
        if variable is not None and variable in os.environ:
            return os.environ[variable]
        return super().resolve_envvar_value(ctx)  # also by the option's own name: PORTAL_CONFORMANCE_BRIEF

    def variable(self, ctx: click.Context) -> str | None:
        """The environment variable of the option, named after its spelling; None where it has none."""
        if not self.allow_from_autoenv or ctx.auto_envvar_prefix is None or self.name is None:
            return None
        return f"{ctx.auto_envvar_prefix}_{self.opts[0].lstrip('-').replace('-', '_').upper()}"


WITH_EXIT_CODES = ("run", "check", "replay")
"""Commands whose help lists the exit codes; they are in the reference for all."""


class DocumentedCommand(click.RichCommand):
    """A command whose help ends with examples and exit codes."""

    def __init__(self, *arguments: Any, examples: Sequence[str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.examples = examples

    def format_epilog(self, ctx: click.RichContext, formatter: click.RichHelpFormatter) -> None:  # type: ignore[override]
        has_codes = self.name in WITH_EXIT_CODES
        write_closing(formatter, self.examples, list(self._notes(ctx)), has_codes=has_codes)

    def _notes(self, ctx: click.Context) -> Iterator[str]:
        options = [each for each in self.params if isinstance(each, CommandOption) and not each.is_flag]
        named = [each for each in options if each.variable(ctx) is not None]
        shown = next((each for each in named if each.name == "time_budget"), next(iter(named), None))
        if shown is not None:
            yield f"Each option has an environment variable: {shown.opts[0]} is {shown.variable(ctx)}."


class OneCommand(DocumentedCommand):
    """A command whose unknown options and arguments are errors that name the nearest option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise click.UsageError(f"unknown option or argument: {' '.join(ctx.args)}.", ctx)
        return rest


class PassingCommand(DocumentedCommand):
    """A command that passes options which it does not have itself to pytest."""

    def _notes(self, ctx: click.Context) -> Iterator[str]:
        yield from super()._notes(ctx)
        yield "Other options are those of pytest, such as -k WORD, -x and -v."

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, ["--help" if word == "-h" else word for word in args])
        own = _spellings(self)
        profiles = [word for word in ctx.args if word.endswith(".toml") and not word.startswith("-")]
        if profiles and not ctx.resilient_parsing:
            raise click.UsageError(f"unknown argument: {profiles[0]}. Write --profile {profiles[0]}.", ctx)
        for word in ctx.args:
            near = difflib.get_close_matches(word.partition("=")[0], own, n=1, cutoff=NEAR)
            if word.startswith("--") and near and not ctx.resilient_parsing:
                raise click.NoSuchOption(word, possibilities=near, ctx=ctx)
        return rest


def option(*names: str, **settings: Any) -> click.RichOption:
    """One option; without a type it takes a text that is not empty."""
    if not settings.get("is_flag"):
        settings.setdefault("type", TEXT)
    if settings.get("type") is PATH:
        settings.setdefault("metavar", "FILE")
    if isinstance(choice := settings.get("type"), Choice):
        what, default, rest = str(settings["help"]).partition(" (default")
        settings |= {"metavar": "WORD", "help": f"{what}: {choice.listed}{default}{rest}"}
    return CommandOption(names, **settings)


def flag(*names: str, **settings: Any) -> click.RichOption:
    return option(*names, is_flag=True, **settings)


def repeated(*names: str, **settings: Any) -> click.RichOption:
    """An option that takes several values."""
    return option(*names, multiple=True, **{**settings, "help": f"{settings['help']}; may be repeated"})


def argument(name: str, metavar: str, **settings: Any) -> click.RichArgument:
    """A positional argument: a path, unless ``type`` says another."""
    settings.setdefault("type", PATH)
    shape = metavar if settings.get("required", settings.get("nargs") != -1) else f"[{metavar}]"
    shown = f"{shape}..." if settings.get("nargs") == -1 else shape
    parameter = click.RichArgument([name], metavar=shown, **settings)
    parameter.opts = [metavar]  # the name in the help; the value goes by ``name``
    return parameter


Declared = Callable[[Callable[[Options], int]], click.RichCommand]


def command(
    name: str, *parameters: click.Parameter, passes_on: bool = False, examples: Sequence[str] = ()
) -> Declared:
    """Makes a function a command: it gets the options, and returns the exit code. ``passes_on``: options that
    the command does not have are not errors, and stand in ``further``."""

    def declare(function: Callable[[Options], int]) -> click.RichCommand:
        def call(**values: Any) -> int:
            context = click.get_current_context()
            further = list(context.args) if context is not None else []
            return int(function(Options(**values, command=name, further=further)))

        row, kind = BY_COMMAND[name], PassingCommand if passes_on else OneCommand
        settings = SETTINGS | (
            {"ignore_unknown_options": True, "help_option_names": ["--help"]} if passes_on else {}
        )
        options = [each for each in parameters if isinstance(each, CommandOption)]
        groups = dict.fromkeys([*USUAL_GROUPS, *(str(each.panel) for each in options if each.panel)])
        return kind(
            name,
            callback=call,
            params=list(parameters),
            panels=[click.RichOptionPanel(each) for each in groups],
            help=f"{row.summary[0].upper()}{row.summary[1:]}.",
            examples=[row.example, *examples],
            context_settings=dict(settings),
        )

    return declare


def write_closing(
    formatter: click.RichHelpFormatter,
    examples: Sequence[str],
    notes: Sequence[str],
    *,
    has_codes: bool = False,
) -> None:
    from rich.table import Table  # only help needs it
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    for code, meaning in EXIT_CODES.items():
        table.add_row(f"  {int(code)}", Text(meaning))
    width = formatter.console.width
    shown = (folded(example, width) for example in examples)
    parts: list[object] = [Text("\n".join(("Examples:", *shown, "")))] if examples else []
    parts += [Text("Exit codes:"), table] if has_codes else []
    parts += [Text(f"\n{note}" if parts else note) for note in notes]
    for part in parts:
        formatter.write(part)


def folded(example: str, width: int) -> str:
    """An example as a terminal of this width shows it: what a shell reads as one line, ready to be copied."""
    lines, room = [""], width - len("  ") - len(" \\")
    for word in example.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room and len(example) + 2 > width:
            lines.append(f"    {word}")
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return " \\\n".join(f"  {line}" for line in lines)


def _spellings(command: click.Command) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts if name.startswith("--")]


def usage_line(wrong: click.ClickException) -> str:
    """A usage error in a line: the command, what is wrong, and what was probably meant."""
    context = getattr(wrong, "ctx", None)
    place = context.command_path if context is not None else PROGRAM
    return f"{place}: {_problem(wrong)} `{place} --help` shows what there is."


def _problem(wrong: click.ClickException) -> str:
    if isinstance(wrong, click.NoSuchOption):
        is_first = wrong.ctx is not None and isinstance(wrong.ctx.command, click.Group)
        place = " Options come after the command." if is_first and not wrong.possibilities else ""
        near = f" Did you mean {' or '.join(wrong.possibilities)}?" if wrong.possibilities else ""
        return f"unknown option or argument: {wrong.option_name}.{near}{place}"
    if isinstance(wrong, click.MissingParameter):
        return f"{_hint(wrong.param)} is missing."
    if isinstance(wrong, click.BadParameter):
        return f"{_hint(wrong.param)}: {wrong.message}{'' if wrong.message[-1:] in '.?' else '.'}"
    return wrong.format_message()


def _hint(parameter: click.Parameter | None) -> str:
    if parameter is None:
        return "the value"
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.removesuffix("...")
    return parameter.opts[-1]
