"""Options that mean the same wherever they occur."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from conformance.spec import IMPACTS
from conformance.target.profile.model import Profile, load, of_target

Commands = argparse._SubParsersAction
Run = Callable[[argparse.Namespace], int]


def command(
    commands: Commands[argparse.ArgumentParser], name: str, run: Run, text: str
) -> argparse.ArgumentParser:
    """One command; ``text`` says what it does, in a line."""
    added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    added.set_defaults(run=run)
    return added


def target_options(added: argparse.ArgumentParser) -> None:
    added.add_argument("--target", metavar="URL", help="the portal's base URL; overrides the profile's")
    added.add_argument("--profile", metavar="FILE", type=Path, help="what is known of the target")


def impact_option(added: argparse.ArgumentParser) -> None:
    added.add_argument("--impact", choices=IMPACTS, help="the most that may be done to the target")


def out_option(added: argparse.ArgumentParser, what: str = "where the reports go (default: reports)") -> None:
    added.add_argument("--out", metavar="DIR", type=Path, default=Path("reports"), help=what)


def baseline_options(added: argparse.ArgumentParser) -> None:
    added.add_argument("--baseline", metavar="FILE", type=Path, help="known failures")
    added.add_argument(
        "--baseline-update", action="store_true", help="write the failures that are seen into the baseline"
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
    added.add_argument("--format", choices=("text", "json"), default="text", help="what is printed")


def profile_of(options: argparse.Namespace) -> Profile | None:
    """The profile asked for; None where neither profile nor target is given. Raises ProfileError."""
    if options.profile:
        return load(options.profile, target=options.target)
    return of_target(options.target) if options.target else None


def bundled_profile() -> Profile:
    """The profile of a bundled portal, which has ended again: for what is only to be planned."""
    from conformance.target.bundled import (
        running_portal,  # the reference portal: nobody with a target needs it
    )

    with running_portal() as profile:
        return profile
