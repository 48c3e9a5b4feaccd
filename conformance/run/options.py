"""The options of a run, each declared once for ``portal-conformance run``, pytest and ``pytest.ini``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

from conformance.editions import EDITIONS, LEVELS
from conformance.impacts import FAIL_ON, IMPACTS
from conformance.run.settings import path, text

if TYPE_CHECKING:  # ``portal-conformance run --help`` needs the options and no pytest
    import pytest

INI = "conformance_"
"""What the names of the options begin with in ``pytest.ini``: ``conformance_target = http://…``."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``cli``: its spelling for ``portal-conformance`` where that is another than pytest's;
    ``repeats``: it may be given several times, and its value is a list."""

    name: str
    help: str
    metavar: str | None = None
    type: Callable[[str], Any] | None = text
    choices: Sequence[str] | None = None
    default: Any = None
    cli: str = ""
    repeats: bool = False

    @property
    def spelling(self) -> str:
        return f"--{self.name.replace('_', '-')}"

    @property
    def prefixed(self) -> str:
        """The option's spelling with a prefix that no other plugin uses."""
        return f"--{INI}{self.name}".replace("_", "-")

    @property
    def is_flag(self) -> bool:
        return self.type is None

    @property
    def ini_type(self) -> Literal["bool", "linelist", "string"]:
        """The type of its value in ``pytest.ini``."""
        if self.is_flag:
            return "bool"
        return "linelist" if self.repeats else "string"

    def arguments(self) -> dict[str, Any]:
        """What argparse and pytest are to know of it; its default is applied later."""
        if self.type is None:
            return {"action": "store_true", "help": self.help}
        common: dict[str, Any] = {"help": self.help, "default": None}
        if self.choices:
            return common | {"choices": self.choices}
        action = {"action": "append"} if self.repeats else {}
        return common | action | {"metavar": self.metavar, "type": self.type}


OPTIONS = (
    Option("target", "the portal's base URL; overrides the profile's", "URL"),
    Option("profile", "the target's profile, a TOML file", "FILE", path),
    Option(
        "impact",
        "the most a run may do to the target (default: read-only, of the bundled portal disruptive)",
        choices=IMPACTS,
    ),
    Option("out", "where the reports go (default: reports)", "DIR", path, default=Path("reports")),
    Option("force", "write reports also where other files have their names", type=None),
    Option(
        "fail_on",
        "what fails the run: a contradicted must; also a should where that may let someone in, shows a "
        "secret or may lose data; or any (default: security)",
        choices=FAIL_ON,
        default="security",
    ),
    Option("strict", "a WARN counts as a FAIL: the same as --fail-on should", type=None),
    Option("known", "a file of what is known, which does not fail the run (known.toml)", "FILE", path),
    Option(
        "description",
        "an OpenAPI file of further endpoints, to compare with (extra describe); may be repeated",
        "FILE",
        path,
        default=(),
        repeats=True,
    ),
    Option(
        "rules",
        "a file with rules of your own, .toml or .py; may be repeated",
        "FILE",
        path,
        default=(),
        repeats=True,
    ),
    Option("time_budget", "the longest a run may take: 90s, 10m, 1h", "TIME"),
    Option("wait_for_target", "the longest wait for the target to answer before the run: 60s, 5m", "TIME"),
    Option("rerun", "only the requirement, case or finding with this id; reports go to reports/again", "ID"),
    Option(
        "only",
        "only rules by id, prefix (LOGIN-*), chapter, level, or endpoint (those of many endpoints at this "
        "one alone); may be repeated",
        "PATTERN",
        default=(),
        repeats=True,
    ),
    Option(
        "skip", "leave out rules by the same patterns; may be repeated", "PATTERN", default=(), repeats=True
    ),
    Option(
        "failed",
        "only the rules that failed in the report in --out, that of a whole run if there is one; "
        "reports go to the subfolder again",
        type=None,
    ),
    Option(
        "effort",
        "how many requests the cases generate that search for failures (default: quick)",
        choices=("quick", "normal", "thorough"),
        default="quick",
    ),
    Option("seed", "the seed of the requests that cases generate (default: 0)", "N", int, default=0),
    Option("edition", "say whether the run conforms to this edition of the rules", choices=EDITIONS),
    Option("level", "the level of the edition (default: full)", choices=LEVELS),
    Option("min_tested", "exit code 5 if fewer requirements were tested", "N", int, default=0),
    Option("history", "store the run in this history database", "FILE", path),
    Option("wait", "wait until no other run uses this target, --out or --history", type=None),
    Option("brief", "print the verdict only", type=None, cli="--quiet"),
)
BY_NAME = {option.name: option for option in OPTIONS}


def add_to_pytest(parser: pytest.Parser) -> None:
    """Declares the options of ``pytest cases``, on its command line and in its ini file. They have a prefix:
    pytest itself and other plugins have options such as ``--strict`` and ``--profile``."""
    group = parser.getgroup("portal conformance", "portal conformance (--profile is --conformance-profile)")
    for option in OPTIONS:
        group.addoption(option.prefixed, dest=f"{INI}{option.name}", **option.arguments())
        parser.addini(f"{INI}{option.name}", option.help, type=option.ini_type)


def as_ours(arguments: Iterable[str]) -> Iterator[str]:
    """Arguments of ``pytest cases`` with the prefix of our options."""
    prefixed = {option.spelling: option.prefixed for option in OPTIONS}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        yield f"{prefixed.get(name, name)}{equals}{value}"


def value_of(config: pytest.Config, name: str) -> Any:
    """The value of an option: the command line's, else the ini file's, else the default.

    pytest.UsageError: the ini file gives it a value that it cannot have.
    """
    option = BY_NAME[name]
    value = config.getoption(f"{INI}{name}")
    if option.is_flag:
        return bool(value or config.getini(f"{INI}{name}"))
    if option.repeats:
        return tuple(value or config.getini(f"{INI}{name}"))
    return value if value is not None else _ini_value(config, option)


def set_value(config: pytest.Config, name: str, value: Any) -> None:
    """Gives an option another value, which ``value_of`` returns from now on."""
    setattr(config.option, f"{INI}{name}", value)


def _ini_value(config: pytest.Config, option: Option) -> Any:
    import pytest  # see above

    written = config.getini(f"{INI}{option.name}")
    if option.type is None or not written:
        return option.default
    try:
        value = option.type(written)
    except (argparse.ArgumentTypeError, ValueError) as wrong:
        raise pytest.UsageError(f"{INI}{option.name} = {written}: {wrong}") from None
    if option.choices and value not in option.choices:
        raise pytest.UsageError(f"{INI}{option.name} = {written}: choose {', '.join(option.choices)}")
    return value


def as_arguments(options: SimpleNamespace) -> Iterator[str]:
    """What ``portal-conformance run`` was called with, as pytest's arguments."""
    for option in OPTIONS:
        value = getattr(options, option.name)
        if option.repeats:
            yield from (f"{option.prefixed}={each}" for each in value)
        elif option.is_flag and value:
            yield option.prefixed
        elif not option.is_flag and value is not None:
            yield f"{option.prefixed}={value}"
