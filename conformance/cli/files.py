"""Commands about recorded traffic and finished runs, without a target: check, compare, matrix, history."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance import check as passive
from conformance.cli.options import (
    Commands,
    baseline_options,
    cache_option,
    command,
    format_option,
    out_option,
)
from conformance.errors import UsageError
from conformance.report.across import compare, history, matrix
from conformance.report.model.run import Run

RUN = "a results.json, or the folder of a run"


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    checked = command(commands, "check", check_files, "judge recorded traffic, with no target at all")
    checked.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a capture or a HAR file")
    checked.add_argument("--target", metavar="URL", help="the portal's address, where several are mixed")
    checked.add_argument("--salvage", action="store_true", help="use what stands before a break in a file")
    checked.add_argument("--strict", action="store_true", help="a WARN counts as a FAIL")
    baseline_options(checked)
    out_option(checked)
    cache_option(checked)
    format_option(checked)
    compared = command(commands, "compare", compare_runs, "what changed between two runs or two replays")
    compared.add_argument("old", metavar="OLD", type=Path, help=RUN)
    compared.add_argument("new", metavar="NEW", type=Path, help=RUN)
    compared.add_argument(
        "--out", metavar="DIR", type=Path, help="also write compare.html, .json and .md there"
    )
    format_option(compared)
    side = command(commands, "matrix", show_matrix, "several runs side by side")
    side.add_argument("runs", metavar="RUN", nargs="+", type=Path, help=RUN)
    side.add_argument(
        "--out", metavar="DIR", type=Path, help="also write matrix.html, .json and badges there"
    )
    format_option(side)
    past = command(commands, "history", show_history, "the trend of the runs kept in a database")
    past.add_argument("--history", metavar="FILE", type=Path, required=True, help="where runs were kept")
    past.add_argument("--out", metavar="DIR", type=Path, help="also write history.html there")
    format_option(past)


def check_files(options: argparse.Namespace) -> int:
    """Judges captures."""
    return passive.run(
        options.files,
        out=options.out,
        salvage=options.salvage,
        strict=options.strict,
        target=options.target,
        known_failures=options.baseline,
        baseline_update=options.baseline_update,
        output=options.format,
        no_cache=options.no_cache,
    )


def compare_runs(options: argparse.Namespace) -> int:
    """Newly failing, fixed, changed readings; exit code 1 where something fails that did not."""
    found = compare.compare(Run.read(_results(options.old)), Run.read(_results(options.new)))
    if options.out:
        compare.write_all(found, options.out)
    print(compare.as_json(found) if options.format == "json" else compare.as_text(found))
    return 1 if found.is_worse else 0


def show_matrix(options: argparse.Namespace) -> int:
    """Targets or releases against requirements."""
    runs = [Run.read(_results(path)) for path in options.runs]
    names = [path.parent.name if path.is_file() else path.name for path in options.runs]
    found = matrix.write_all(runs, options.out, names) if options.out else matrix.matrix(runs, names)
    print(matrix.as_json(found) if options.format == "json" else matrix.as_text(found))
    return 0


def show_history(options: argparse.Namespace) -> int:
    """Trend, flaky requirements, and since when something fails."""
    if not options.history.exists():
        hint = f"`portal-conformance run --history {options.history}` begins one"
        raise UsageError(f"{options.history}: there is no such database. {hint}")
    trends = history.trend(options.history)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "history.html").write_text(history.as_html(trends), encoding="utf-8")
    print(history.as_json(trends) if options.format == "json" else history.as_text(trends))
    return 0


def _results(path: Path) -> Path:
    return path / "results.json" if path.is_dir() else path
