"""Commands about recorded traffic and finished runs, without a target: check, compare, matrix, history."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.check import CheckOptions, run
from conformance.cli.options import (
    Commands,
    baseline_options,
    cache_option,
    command,
    format_option,
    out_option,
    redaction_options,
)
from conformance.errors import ExitCode, UsageError
from conformance.report.across import compare, compare_pages, history, matrix
from conformance.report.model.run import Run
from conformance.run.settings import path, text

RUN = "a results.json, or the folder of a run"


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    """Adds the commands that need no target."""
    _add_check(commands)
    _add_commands_about_runs(commands)


def _add_check(commands: Commands[argparse.ArgumentParser]) -> None:
    checked = command(commands, "check", check_files, "judge recorded traffic without a target")
    checked.add_argument("files", metavar="FILE", nargs="+", type=path, help="a capture or a HAR file")
    checked.add_argument(
        "--target",
        metavar="URL",
        type=text,
        help="the portal's base URL, if the files hold traffic of several hosts",
    )
    checked.add_argument(
        "--salvage", action="store_true", help="use the exchanges before the place where a file breaks"
    )
    checked.add_argument("--strict", action="store_true", help="a WARN counts as a FAIL")
    baseline_options(checked)
    out_option(checked)
    checked.add_argument(
        "--model", action="store_true", help="also compare what several answers say of one thing; slower"
    )
    redaction_options(checked)
    cache_option(checked)
    format_option(checked)


def _add_commands_about_runs(commands: Commands[argparse.ArgumentParser]) -> None:
    compared = command(commands, "compare", compare_runs, "compare two runs or two replays")
    compared.add_argument("old", metavar="OLD", type=path, help=RUN)
    compared.add_argument("new", metavar="NEW", type=path, help=RUN)
    compared.add_argument(
        "--out",
        metavar="DIR",
        type=path,
        help="also write compare.html, compare.json and compare.md to this folder",
    )
    format_option(compared)
    side_by_side = command(commands, "matrix", show_matrix, "show several runs side by side")
    side_by_side.add_argument("runs", metavar="RUN", nargs="+", type=path, help=RUN)
    side_by_side.add_argument(
        "--out",
        metavar="DIR",
        type=path,
        help="also write matrix.html, matrix.json and a badge per run to this folder",
    )
    format_option(side_by_side)
    trend = command(commands, "history", show_history, "show the trend of the runs in a history database")
    trend.add_argument("--history", metavar="FILE", type=path, required=True, help="the history database")
    trend.add_argument("--out", metavar="DIR", type=path, help="also write history.html to this folder")
    format_option(trend)


def check_files(options: argparse.Namespace) -> int:
    """Judges the exchanges of captures and HAR files."""
    asked = CheckOptions(
        out=options.out,
        salvage=options.salvage,
        strict=options.strict,
        target=options.target,
        baseline=options.baseline,
        baseline_update=options.baseline_update,
        no_cache=options.no_cache,
        model=options.model,
        redact=options.redact,
        keep=options.keep,
    )
    return run(options.files, asked, output=options.format)


def compare_runs(options: argparse.Namespace) -> int:
    """Prints how two runs differ; exit code 1 where something fails that did not fail before."""
    comparison = compare.compare(Run.read(_results(options.old)), Run.read(_results(options.new)))
    if options.out:
        compare_pages.write_all(comparison, options.out)
    print(
        compare_pages.as_json(comparison) if options.format == "json" else compare_pages.as_text(comparison)
    )
    return ExitCode.FAILED if comparison.is_worse else ExitCode.CONFORMANT


def show_matrix(options: argparse.Namespace) -> int:
    """Prints targets or releases against requirements."""
    runs = [Run.read(_results(path)) for path in options.runs]
    names = [path.parent.name if path.is_file() else path.name for path in options.runs]
    runs_matrix = matrix.write_all(runs, options.out, names) if options.out else matrix.matrix(runs, names)
    print(matrix.as_json(runs_matrix) if options.format == "json" else matrix.as_text(runs_matrix))
    return 0


def show_history(options: argparse.Namespace) -> int:
    """Prints the trend, flaky requirements, and since when each failure lasts."""
    if not options.history.exists():
        raise UsageError(
            f"{options.history}: there is no such database."
            f" `portal-conformance run --history {options.history}` creates it."
        )
    trends = history.trend(options.history)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "history.html").write_text(history.as_html(trends), encoding="utf-8")
    print(history.as_json(trends) if options.format == "json" else history.as_text(trends))
    return 0


def _results(path: Path) -> Path:
    return path / "results.json" if path.is_dir() else path
