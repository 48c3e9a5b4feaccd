"""Options that mean the same wherever they occur."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rich_click as click

from conformance.cli.command import ADDRESS, PATH, Choice, Options, Value, argument, flag, option, repeated
from conformance.cli.layout import print_error
from conformance.errors import UsageError
from conformance.impacts import FAIL_ON as WEIGHED
from conformance.impacts import IMPACTS
from conformance.run.options import BY_NAME, OPTIONS, Option
from conformance.run.settings import path, seconds_of

DEFAULT_PROFILE = Path("portal.toml")
"""The profile of a command that is called with neither ``--profile`` nor ``--target``, where it exists."""

TARGET = option("--target", metavar="URL", help="the portal's base URL; overrides the profile's")
PROFILE = option("--profile", type=PATH, help="the target's profile, a TOML file")
IMPACT = option(
    "--impact",
    type=Choice(IMPACTS),
    help="the most that the command may do to the target (default: read-only)",
)
OUT = option(
    "--out", metavar="DIR", type=PATH, default=Path("reports"), help="where the reports go (default: reports)"
)
OUT_BESIDE = option(
    "--out",
    metavar="DIR",
    type=PATH,
    help="where the reports go (default: reports; a subfolder, if a whole run's report is there)",
)
"""Of commands whose reports are not to replace those of a run, unless the user names a folder."""

STRICT = flag("--strict", help="a WARN counts as a FAIL: the same as --fail-on should")
FAIL_ON = option(
    "--fail-on",
    type=click.Choice(WEIGHED),
    default="security",
    help="what fails it: a contradicted must; also a should where that may let someone in, shows a secret "
    "or may lose data (the default); or any",
)
SALVAGE = flag("--salvage", help="use the part of a damaged file that stands before the damage")
WAIT = flag("--wait", help="wait until no other run uses this target, --out or --history")
NO_CACHE = flag("--no-cache", help="judge every exchange anew; slower, with the same result")
WATCH = flag(
    "--watch",
    help="run again when the portal restarts: what failed, then its endpoints, then the rest",
    allow_from_autoenv=False,
)
MOST_WORKERS = 256


def _workers(text: str) -> int:
    """ValueError: it is no number of processes."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise ValueError(f"{text!r} is no number of processes. Give one from 1 to {MOST_WORKERS}.")
    return int(text)


WORKERS = option(
    "--workers",
    metavar="N",
    type=Value("number", _workers),
    default=1,
    help="number of processes that share the work, with the same result (default: 1; more: extra scale)",
)
SCHEDULER = option(
    "--scheduler",
    metavar="ADDRESS",
    help="share the work with the workers of a Dask cluster, with the same result: tcp://HOST:PORT "
    "(extra scale)",
)
REDACTION = (
    repeated(
        "--redact",
        metavar="NAME",
        help="a header or field whose values are secrets, or a /pattern/ of secrets",
    ),
    repeated("--keep", metavar="NAME", help="a header or field whose values only look like secrets"),
)
"""Which headers and fields of a deployment's own hold secrets, and which only look so."""

FORMAT = option(
    "--format", type=Choice(("text", "json")), default="text", help="output format (default: text)"
)


def formats_of(*names: str) -> click.RichOption:
    """``--formats`` of a command that can write these reports beside the usual ones."""

    def read(text: str) -> tuple[str, ...]:
        asked = tuple(name.strip() for name in text.split(","))
        if unknown := [name for name in asked if name not in names]:
            raise ValueError(f"there is no report {unknown[0]!r}. Choose of {', '.join(names)}.")
        return asked

    help_text = f"further reports, separated by commas: {', '.join(names)}"
    return option("--formats", metavar="NAMES", type=Value("names", read), default=(), help=help_text)


FORMATS = formats_of("sarif", "badge")


def run_option(row: Option) -> click.RichOption:
    """An option of ``portal-conformance run`` from its row in ``OPTIONS``."""
    spelling = row.cli or row.spelling
    if row.type is None:
        return flag(spelling, f"{row.name}", help=row.help)
    settings = _value_of(row)
    return option(spelling, row.name, help=row.help, multiple=row.repeats, **settings)


def _value_of(row: Option) -> Mapping[str, Any]:
    if row.choices:
        return {"type": Choice(row.choices)}
    if row.type is path:
        return {"type": PATH, "metavar": row.metavar}
    return {"type": click.INT if row.type is int else Value("text", row.type or str), "metavar": row.metavar}


RUN_OPTIONS = tuple(run_option(row) for row in OPTIONS)
PLANNED = (
    "target", "profile", "impact", "out", "time_budget", "rerun", "only", "skip", "failed", "min_tested",
    "rules", "brief",
)  # fmt: skip
"""The options of a run by which a plan differs."""

PLAN_OPTIONS = tuple(run_option(row) for row in OPTIONS if row.name in PLANNED)


def _duration(text: str) -> str:
    """Validates the text of a duration. UsageError: it is invalid."""
    seconds_of(text)
    return text


TIME_BUDGET = option(
    "--time-budget",
    metavar="TIME",
    type=Value("text", _duration),
    help="the time budget of the run for which [expect] is proposed: 90s, 10m, 1h (default: 10m)",
)
"""Of the doctor, which is quick itself."""

ONLY, SKIP, FORCE = (run_option(BY_NAME[name]) for name in ("only", "skip", "force"))
CAPTURES = argument(
    "files",
    "FILE",
    nargs=-1,
    required=True,
    type=ADDRESS,
    help="a capture or a HAR file, a pattern, or an address (s3://…, extra scale)",
)
ONE_PORTAL = option(
    "--target", metavar="URL", help="the base URL or host of the portal to judge, if the files hold several"
)
"""Of commands that read recordings and need no target."""

RULES, DESCRIPTION = (run_option(BY_NAME[name]) for name in ("rules", "description"))
EXTENDED = option("--profile", type=PATH, help="a profile, of which [extend] alone is read")
"""Of commands that need no target."""
KNOWN = option("--known", type=PATH, help="a file of what is known, which fails nothing")


def use_default_profile(options: Options) -> None:
    """Sets ``--profile`` to ``portal.toml`` in this folder, and says so, where no target is named."""
    if options.profile is None and options.target is None and DEFAULT_PROFILE.is_file():
        options.profile = DEFAULT_PROFILE
        print_error(f"No --profile and no --target: {DEFAULT_PROFILE} of this folder is the profile.")


def folder_beside_run(options: Options, command: str) -> Path:
    """The report folder of a check or replay: the user's choice, else the default folder; a subfolder if the
    default holds a whole run's report. UsageError: it has files of others."""
    from conformance.report.formats.write import refuse_foreign_files
    from conformance.run.rerun import holds_whole_run

    usual = Path(BY_NAME["out"].default)
    if options.out is not None or not holds_whole_run(usual):
        out = options.out or usual
        refuse_foreign_files(out, force=options.force)
        return out
    return beside_whole_run(usual, usual / command, command)


def beside_whole_run(out: Path, folder: Path, what: str) -> Path:
    """Says that reports go to another folder, as a whole run's are in the usual one. Returns that folder."""
    from conformance.run.rerun import stays

    print_error(stays(out, folder, what))
    return folder


def note_what_failed(out: Path) -> None:
    """Says where ``--failed`` reads no report of a whole run."""
    from conformance.run.rerun import what_failed_is_of

    note = what_failed_is_of(out)
    if note:
        print_error(note)


def refuse_both_kinds_of_workers(options: Options) -> None:
    """UsageError: workers of this machine and of a cluster are asked for."""
    if options.scheduler and options.workers > 1:
        raise UsageError("--scheduler: the cluster says how many workers there are. Leave out --workers.")
