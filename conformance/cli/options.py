"""Options that mean the same wherever they occur."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from conformance.run.settings import path, text
from conformance.spec import IMPACTS
from conformance.target.profile.model import Profile, load, of_target

Parser_co = TypeVar("Parser_co", covariant=True)
Run = Callable[[argparse.Namespace], int]


class Commands(Protocol[Parser_co]):
    """What commands are added to: the subparsers of ``argparse``."""

    def add_parser(self, name: str, **keywords: Any) -> Parser_co: ...


def command(
    commands: Commands[argparse.ArgumentParser], name: str, run: Run, text: str
) -> argparse.ArgumentParser:
    """Adds a command; ``text`` says in a line what it does."""
    added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    added.set_defaults(run=run)
    return added


def target_options(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--target", metavar="URL", type=text, help="the portal's base URL; overrides the profile's"
    )
    added.add_argument("--profile", metavar="FILE", type=path, help="the target's profile, a TOML file")


def impact_option(added: argparse.ArgumentParser) -> None:
    added.add_argument("--impact", choices=IMPACTS, help="the most that the command may do to the target")


def out_option(added: argparse.ArgumentParser, what: str = "where the reports go (default: reports)") -> None:
    added.add_argument("--out", metavar="DIR", type=path, default=Path("reports"), help=what)


def baseline_options(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--baseline",
        metavar="FILE",
        type=path,
        help="a file of known failures, which do not fail the command",
    )
    added.add_argument(
        "--baseline-update", action="store_true", help="write the present failures to the baseline"
    )


def wait_option(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--wait", action="store_true", help="wait for another run on this target, --out or --history to end"
    )


def cache_option(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--no-cache", action="store_true", help="judge every exchange anew; slower, with the same result"
    )


def format_option(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )


def profile_of(options: argparse.Namespace) -> Profile | None:
    """The profile of the options; None without ``--profile`` and ``--target``. Raises ProfileError."""
    if options.profile:
        return load(options.profile, target=options.target)
    return of_target(options.target) if options.target else None


def bundled_profile() -> Profile:
    """The profile of a bundled portal that has stopped already: enough to plan a run."""
    from conformance.target.bundled import (
        running_portal,  # the reference portal: nobody with a target needs it
    )

    with running_portal() as profile:
        return profile


def redaction_options(parser: argparse.ArgumentParser) -> None:
    """Which headers and fields of a deployment's own hold secrets, and which only look so."""
    parser.add_argument(
        "--redact",
        action="append",
        default=[],
        metavar="NAME",
        help="a header or field that holds a secret, or a /pattern/ of one; may be repeated",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="NAME",
        help="a header or field whose values only look like secrets; may be repeated",
    )
