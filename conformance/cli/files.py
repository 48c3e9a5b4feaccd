"""Commands about recorded traffic and finished runs: check, describe, compare, merge, verify and history.

What a command needs is imported when it runs, so that its help is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from conformance.cli import options as opt
from conformance.cli.command import PATH, Options, argument, command, flag, option, repeated
from conformance.cli.layout import print_blocks, print_line, print_text, status_until_shown
from conformance.errors import ExitCode, UsageError
from conformance.report.model.run import Run

RUN = "a results.json, the folder of a run, or a zip of one that `verify --zip` wrote"


@command(
    "check",
    opt.CAPTURES,
    opt.ONE_PORTAL,
    opt.ONLY,
    opt.SKIP,
    opt.SALVAGE,
    opt.FAIL_ON,
    opt.STRICT,
    opt.KNOWN,
    opt.RULES,
    opt.EXTENDED,
    opt.OUT_BESIDE,
    opt.FORCE,
    opt.FORMATS,
    flag("--model", help="also compare answers that show the same thing; slower"),
    opt.DESCRIPTION,
    *opt.REDACTION,
    opt.NO_CACHE,
    opt.WORKERS,
    opt.SCHEDULER,
    opt.FORMAT,
)
def check_files(options: Options) -> int:
    """Judges the exchanges of captures and HAR files."""
    from conformance.check import CheckOptions, check
    from conformance.rules.registry import rules_named_by
    from conformance.target.profile.model import extension_of
    from conformance.traffic.capture.places import matching
    from conformance.verdicts.selection import select_rules

    opt.refuse_both_kinds_of_workers(options)
    own = rules_named_by(options.rules, options.profile)
    files = [path for text in options.files for path in matching(str(text))]
    asked = CheckOptions(
        out=opt.folder_beside_run(options, "check"),
        salvage=options.salvage,
        fail_on="should" if options.strict else options.fail_on,
        target=options.target,
        known=options.known,
        no_cache=options.no_cache,
        model=options.model,
        rules=select_rules(options.only, options.skip, rows=own.requirements),
        own=own,
        redact=options.redact,
        keep=options.keep,
        workers=options.workers,
        scheduler=options.scheduler or "",
        described=extension_of(options.profile).described(options.description),
    )
    if options.format == "json":
        return _shown(check(files, asked).run, asked.out, options)
    with status_until_shown("judging the recorded traffic …") as show:
        return _shown(check(files, asked).run, asked.out, options, show=show)


def _shown(run: Run, out: Path, options: Options, *, show: Callable[[str], None] = print_line) -> int:
    """Prints a finished run, and adds the reports of ``--formats``; the exit code."""
    from conformance.report.formats.closing import ended_lines
    from conformance.report.formats.terminal import wants_colour
    from conformance.report.formats.write import write_further

    write_further(out, options.formats)
    if options.format == "json":
        print(run.text(), end="")
    for line in ended_lines(run, out, colour=wants_colour(sys.stdout)) if options.format == "text" else ():
        show(line)
    return run.exit_code


@command(
    "compare",
    argument("runs", "RUN", nargs=-1, required=True, help=RUN),
    option(
        "--out",
        metavar="DIR",
        type=PATH,
        help="also write compare.html and compare.json to this folder, or matrix.html and matrix.json "
        "of three or more runs",
    ),
    opt.KNOWN,
    repeated(
        "--accept",
        metavar="ID",
        allow_from_autoenv=False,
        help="write a row to --known for what one RUN shows under this id; all: what fails it; noise: what "
        "differs, where a replay had the recorded build as its target",
    ),
    flag(
        "--prune",
        help="remove the rows of --known that list nothing in one RUN any more",
        allow_from_autoenv=False,
    ),
    opt.FORMAT,
)
def compare_runs(options: Options) -> int:
    """Prints how two runs differ, the older one first; exit code 1 where something fails that did not fail
    before. Of three or more runs it prints the verdicts side by side, with exit code 0. One run is compared
    with what is known, to accept what it shows or to prune what it shows no more."""
    if options.accept or options.prune:
        return _change_known(options)
    if len(options.runs) < 2:
        raise UsageError("compare needs at least two runs. Give each by its results.json or its folder.")
    if options.known and len(options.runs) > 2:
        raise UsageError("--known says what is accepted of the second of two runs. Leave it out.")
    return (_compare_two if len(options.runs) == 2 else _compare_several)(options)


def _change_known(options: Options) -> int:
    from conformance.replay.accepted import has_stable_values
    from conformance.report.across.baseline import accept

    if options.known is None or len(options.runs) != 1:
        raise UsageError("--accept and --prune change the rows of --known FILE, by one RUN. Give both.")
    run = Run.read(options.runs[0])
    sentences = accept(
        run, options.known, options.accept, is_pruned=options.prune, is_stable=has_stable_values
    )
    for sentence in sentences:
        print_line(sentence)
    return ExitCode.CONFORMANT


def _compare_two(options: Options) -> int:
    from conformance.report.across import compare, compare_pages
    from conformance.report.across.baseline import baseline_of
    from conformance.report.across.models import as_json

    old, new = map(_run_of, options.runs)
    comparison = compare.compare(old, new, baseline_of(options.known, is_strict=new.strict))
    files = {"compare.html": compare_pages.as_html, "compare.json": as_json}
    _answer(options, comparison, compare_pages.as_text, files)
    return ExitCode.FAILED if comparison.is_worse else ExitCode.CONFORMANT


def _compare_several(options: Options) -> int:
    from conformance.report.across import matrix
    from conformance.report.across.models import as_json

    places = [place.parent if place.is_file() and place.suffix != ".zip" else place for place in options.runs]
    names = [place.name.removesuffix(".zip") for place in places]
    runs_matrix = matrix.matrix(list(map(_run_of, options.runs)), names)
    files = {"matrix.html": matrix.as_html, "matrix.json": as_json}
    _answer(options, runs_matrix, matrix.as_text, files)
    return ExitCode.CONFORMANT


def _run_of(place: Path) -> Run:
    """The run of a folder, a zip or a results.json. UsageError: it is none, or was changed."""
    from conformance.attest.folder import opened, refuse_changed_results

    if place.suffix != ".zip":
        return Run.read(place)
    with opened(place) as folder:
        refuse_changed_results(folder, place)
        return Run.read(folder)


def _answer(
    options: Options, value: Any, as_text: Callable[[Any], str], files: Mapping[str, Callable[[Any], str]]
) -> None:
    """Prints what a command about several runs found, and writes it to ``--out``, the page first."""
    from conformance.report.across.models import as_json
    from conformance.traffic.replacing import write_report

    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, document in files.items():
            write_report(options.out / name, document(value))
    print_text(as_json(value) if options.format == "json" else as_text(value), form=options.format)
    if options.out and options.format == "text":
        print_blocks([(), [f"report     {options.out / next(iter(files))}"]])


@command(
    "merge",
    argument(
        "runs", "RUN", nargs=-1, required=True, help="the report folder of the check or replay of a part"
    ),
    opt.OUT,
    opt.FORCE,
    opt.FORMATS,
    opt.FORMAT,
)
def merge_runs(options: Options) -> int:
    """Writes the reports of the whole that several checks, or replays, are parts of."""
    from conformance.report.formats.write import refuse_foreign_files
    from conformance.work.merge import merge

    refuse_foreign_files(options.out, force=options.force)
    return _shown(merge([Path(place) for place in options.runs], options.out), options.out, options)


@command(
    "verify",
    argument("report", "REPORT", required=True, help="a report folder, or a zip of one"),
    option("--key", type=PATH, help="the public key, in PEM, that must have signed it"),
    option("--sign", type=PATH, help="sign it, where nothing is other, with this private key (Ed25519, PEM)"),
    option("--zip", "archive", type=PATH, help="write this zip for others, where nothing is other"),
    option("--product", type=PATH, help="a TOML file with name and version of the product, for --zip"),
)
def verify_report(options: Options) -> int:
    """Compares a report with its manifest, with itself, and with what its exchanges show; exit code 1 where
    something is other, 5 where another build of the suite wrote it. Needs no portal."""
    from conformance.attest import verify
    from conformance.attest.folder import opened
    from conformance.attest.signature import sign
    from conformance.attest.submission import submit
    from conformance.run.recorded_run import cases_on_record

    if bool(options.archive) != bool(options.product):
        raise UsageError("--zip and --product belong together: the zip says what product it is about.")
    if (options.sign or options.archive) and options.report.is_file():
        raise UsageError(f"{options.report}: only a folder is signed or packed. Name the folder.")
    with opened(options.report) as folder:
        verification = verify(folder, cases=cases_on_record, key=options.key, is_zip=options.report.is_file())
        for line in verification.lines():
            print_line(line)
        if verification.other:
            return ExitCode.FAILED
        if not verification.is_of_this_suite:
            return ExitCode.INCONCLUSIVE
        if options.sign:
            sign(folder, options.sign)
        if options.archive:
            submit(verification.run, folder, options.archive, options.product)
    return ExitCode.CONFORMANT


@command(
    "history",
    option("--history", type=PATH, required=True, help="the history database"),
    option("--out", metavar="DIR", type=PATH, help="also write history.html to this folder"),
    opt.FORMAT,
)
def show_history(options: Options) -> int:
    """Prints the trend, flaky requirements, and since when each failure lasts."""
    from conformance.report.across import history, trends

    files = {"history.html": partial(trends.as_html, folder=options.out)}
    _answer(options, history.trend(options.history), trends.as_text, files)
    return 0


@command(
    "describe",
    opt.CAPTURES,
    option("--out", type=PATH, allow_from_autoenv=False, help="the OpenAPI file to write"),
    repeated(
        "--against",
        type=PATH,
        allow_from_autoenv=False,
        help="an OpenAPI file to compare with (extra describe): what traffic shows that it lacks, and the "
        "reverse",
    ),
    opt.ONE_PORTAL,
    opt.SALVAGE,
    flag("--force", help="write --out also where a file has its name"),
)
def describe_traffic(options: Options) -> int:
    """Learns a description of the endpoints that the specification does not describe. It has names, types and
    counts, and no value of the traffic."""
    from conformance.cli.describing import describe

    describe(options)
    return ExitCode.CONFORMANT
