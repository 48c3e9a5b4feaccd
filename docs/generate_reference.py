"""The pages ``profile.md`` and ``options.md`` of the reference, from the models and tables of options."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from conformance.cli.command import PREFIX, Choice, CommandOption
from conformance.cli.commands import COMMANDS, EXIT_CODES, GROUPS, CommandRow
from conformance.cli.program import loaded
from conformance.run.options import INI, OPTIONS
from conformance.spec import REQUIREMENTS
from conformance.target.profile.model import Profile
from conformance.target.profile.placeholders import PLACEHOLDERS
from conformance.target.profile.tables import ACCOUNTS, CODE

PROFILE_INTRODUCTION = """\
# The profile

A TOML file with what is known of a target. `[portal]` and one account are needed; whatever is missing leaves
the rules that need it UNTESTED, by name. `portal-conformance setup` asks for what it needs, and with
`--print` prints a profile with comments; `doctor` tries it out, and with `--offline` finds its mistakes
without a target. An unknown key is an error.

In each text `${NAME}` stands for an environment variable and `${file:PATH}` for the content of a file, so
that no secret needs to stand in the profile; `$${` stands for `${`. A path is looked for from the folder of
the profile.

This page is generated from the models in `conformance/target/profile/` by `docs/generate_reference.py`.
"""

OPTIONS_INTRODUCTION = """\
# Commands and options

Each option has an environment variable: where the command line does not give the option, the variable does.
In the tables `…` stands for `PORTAL_CONFORMANCE`: the variable of `--time-budget` is
`PORTAL_CONFORMANCE_TIME_BUDGET`.
An option that may be repeated takes several values from its variable, separated by commas. Without
`--profile` and `--target`, `portal.toml` of the folder is the profile.

This page is generated from the tables of commands and options by `docs/generate_reference.py`.
"""

PYTEST = f"""\
## pytest and its ini file

With `--pyargs cases`, pytest takes the options of `run` by the names below. Where another plugin of pytest
has an option of the same name, that of the cases is meant; the prefix `--conformance-` says so in any case.
An ini file of pytest gives them as `{INI}NAME`:

```ini
[pytest]
{INI}profile = portal.toml
{INI}impact = read-only
```

| option | in the ini file | value |
| --- | --- | --- |
"""

NAMES = {str: "text", bool: "true or false", int: "whole number", float: "number", date: "date"}
BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most", "min_length": "length at least"}
MULTIPLE = {"accounts": "NAME", "inboxes": "NAME", "operations": '"METHOD PATH"'}
"""Tables of the profile that have a table for each name."""


def profile_page() -> str:
    """The reference of the profile: each table, and each key with its type, its default and its meaning."""
    blocks = [PROFILE_INTRODUCTION]
    for name, field in Profile.model_fields.items():
        blocks.extend(_of_profile(name, field))
    return "\n".join(blocks)


def _of_profile(name: str, field: FieldInfo) -> Iterator[str]:
    models = list(_models(field.annotation))
    if name in MULTIPLE:
        for model in models:
            kind = (
                f', kind = "{get_args(model.model_fields["kind"].annotation)[0]}"' if len(models) > 1 else ""
            )
            yield from _table(f"[{name}.{MULTIPLE[name]}]{kind}", model)
    elif models:
        yield from _table(f"[{name}]", models[0])
    else:
        heading = f"[{name}]" if get_origin(field.annotation) is dict else name
        yield f"## `{heading}`\n"
        yield f"{field.description}\n"
        if get_origin(field.annotation) is not dict:
            yield f"A key above all tables; type: {_type(field)}, default: {_default(field)}.\n"
    yield from _further(name)


def _table(heading: str, model: type[BaseModel]) -> Iterator[str]:
    yield f"## `{heading}`\n"
    yield f"{' '.join((model.__doc__ or '').split())}\n"
    yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
    for key, field in sorted(model.model_fields.items(), key=lambda item: item[0] != "kind"):
        cells = (f"`{key}`", _type(field), _default(field), field.description or "")
        yield f"| {' | '.join(map(_cell, cells))} |"
    yield ""
    for key, field in model.model_fields.items():
        for inner in _models(field.annotation):
            yield from _table(f"[[{heading.strip('[]')}.{key}]]", inner)


def _further(name: str) -> Iterator[str]:
    """Describes table values that the models do not describe."""
    if name == "accounts":
        yield "The cases ask for these accounts; a replay signs in with any other name too.\n"
        yield "| account | what it is |\n| --- | --- |"
        yield from (f"| `{account}` | {purpose} |" for account, purpose in ACCOUNTS.items())
        yield ""
    elif name == "operations":
        yield "Placeholders of a body. Of channels, types and grants a run changes only those that it made:\n"
        yield "| placeholder | what it stands for | where it may be used |\n| --- | --- | --- |"
        yield from (
            f"| `{{{each}}}` | {meaning} | {place} |" for each, (meaning, place) in PLACEHOLDERS.items()
        )
        yield ""
    elif name == "readings":
        yield "| reading | requirement | what it is about |\n| --- | --- | --- |"
        for row in REQUIREMENTS.values():
            if row.reading:
                yield f"| `{row.reading}` | {row.id} | {_cell(row.statement)} |"
        yield ""


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The tables that a key holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _type(field: FieldInfo) -> str:
    bounds = [
        f"{words} {getattr(bound, name)}"
        for bound in field.metadata
        for name, words in BOUNDS.items()
        if hasattr(bound, name)
    ]
    return ", ".join((_type_name(field.annotation), *bounds))


def _type_name(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_name(inner[0])
    if annotation in NAMES:
        return NAMES[annotation]
    if origin is Literal:
        return _words(f'"{value}"' if isinstance(value, str) else value for value in inner)
    if origin in (Union, types.UnionType):
        names = [_type_name(arm) for arm in inner if arm is not type(None)]
        is_plain = all(
            arm in (*NAMES, type(None)) or get_origin(arm) in (Literal, Annotated) for arm in inner
        )
        return " or ".join(names) if is_plain else "any value"
    if origin is list:
        return "list of tables" if any(_models(annotation)) else f"list of {_type_name(inner[0])}s"
    if origin is dict:
        return f"table of {_type_name(inner[1])}s"
    return "any value"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.default
    if value is None or value == "" or value in ({}, []):
        return "none"
    if value == CODE:
        return "six digits that stand by themselves"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return f"`{text.lower() if isinstance(value, bool) else text}`"


def options_page() -> str:
    """The reference of the command line: each command with its options, arguments and variables."""
    blocks = [OPTIONS_INTRODUCTION]
    for group in GROUPS:
        for row in COMMANDS:
            if row.group == group:
                blocks.extend(_command(row))
    blocks.append("\n".join((PYTEST.rstrip("\n"), *_ini_rows(), "")))
    blocks.append("## Exit codes\n\n| code | meaning |\n| --- | --- |")
    blocks.extend(f"| {int(code)} | {meaning} |" for code, meaning in EXIT_CODES.items())
    return "\n".join(blocks) + "\n"


def _command(row: CommandRow) -> Iterator[str]:
    command = loaded(row.name)
    context = click.Context(
        command, info_name=row.name, auto_envvar_prefix=command.context_settings["auto_envvar_prefix"]
    )
    yield f"## {row.name}\n"
    yield f"{command.help}\n"
    examples = getattr(command, "examples", [row.example])
    yield "```sh\n" + "\n".join(examples) + "\n```\n"
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    if arguments:
        yield "| argument | meaning |\n| --- | --- |"
        yield from (f"| `{each.make_metavar(context)}` | {_cell(_argument(each))} |" for each in arguments)
        yield ""
    options = [each for each in command.params if isinstance(each, CommandOption)]
    if options:
        yield "| option | meaning | default | variable |\n| --- | --- | --- | --- |"
        yield from (_option(each, context) for each in options)
        yield ""


def _argument(argument: click.Argument) -> str:
    if isinstance(argument.type, click.Choice):
        return _words(argument.type.choices)
    return _plain(getattr(argument, "help", "") or "")


def _option(option: CommandOption, context: click.Context) -> str:
    meaning, default = _meaning(option)
    variable = (option.variable(context) or "").replace(PREFIX, "…")
    cells = (_spelling(option, context), _plain(meaning), default, f"`{variable}`" if variable else "none")
    return f"| {' | '.join(map(_cell, cells))} |"


def _spelling(option: CommandOption, context: click.Context) -> str:
    """Spells an option with a placeholder for its value, or with its permitted words."""
    if option.is_flag:
        return f"`{option.opts[0]}`"
    if isinstance(option.type, click.Choice):
        return f"`{option.opts[0]}` {_words(option.type.choices)}"
    return f"`{option.opts[0]} {option.make_metavar(context)}`"


def _words(words: Iterable[object]) -> str:
    *first, last = (f"`{word}`" for word in words)
    return f"{', '.join(first)} or {last}" if first else last


def _meaning(option: CommandOption) -> tuple[str, str]:
    """An option's effect and default, read from the end of its help or from the run options."""
    text = option.help or ""
    if isinstance(option.type, Choice):
        text = text.replace(f": {option.type.listed}", "", 1)  # they stand beside the option's name
    match = re.fullmatch(r"(.*?) \(default: ([^()]*)\)(.*)", text)
    if match:
        return match[1] + match[3], match[2] if " " in match[2] else f"`{match[2]}`"
    row = next((row for row in OPTIONS if row.help == text), None)
    return text, f"`{row.default}`" if row is not None and row.default else ""


def _ini_rows() -> Iterable[str]:
    for option in OPTIONS:
        value = "true or false" if option.is_flag else _words(option.choices or (option.metavar,))
        lines = ", one a line" if option.repeats else ""
        yield f"| `{option.spelling}` | `{INI}{option.name}` | {value}{lines} |"


def _plain(text: str) -> str:
    """Escapes Markdown and HTML characters in a text."""
    return text.replace("*", "\\*").replace("<", "&lt;")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
