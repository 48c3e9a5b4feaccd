"""Commands that run the cases: run, plan.

What a command needs is imported when it runs: pytest and the cases take longer to load than help may take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from conformance.cli import options as opt
from conformance.cli.command import Options, command
from conformance.cli.layout import print_line
from conformance.errors import UsageError
from conformance.run.options import BY_NAME

SELECTING = ("-k", "-m", "--lf", "--last-failed", "--deselect", "--ignore")
"""How options of pytest begin that leave cases out."""


@command("run", *opt.RUN_OPTIONS, opt.formats_of("sarif", "badge", "cases"), opt.WATCH, passes_on=True)
def run_cases(options: Options) -> int:
    """Runs ``pytest`` on the cases, with the same options."""
    _refuse(options)
    from conformance.cli.live.running import run  # with pytest: what is wrong is said before it is loaded

    if options.watch:
        return _watch(options, run)
    return run(options, _folder(options))


def _refuse(options: Options) -> None:
    """UsageError: an option is wrong, whatever cases there are."""
    from conformance.cli.profile import refuse_wrong_target
    from conformance.rules.registry import rules_named_by
    from conformance.run.rerun import rerun_selection, signature_of
    from conformance.verdicts.selection import select_rules

    opt.use_default_profile(options)
    refuse_wrong_target(options)
    rules = select_rules(
        options.only, options.skip, rows=rules_named_by(options.rules, options.profile).requirements
    )
    if options.rerun:
        options.rerun = signature_of(options.rerun, Path(options.out or BY_NAME["out"].default))
        rerun_selection(options.rerun, rules)
    if any(word.startswith("--") for word in options.further) and "-p" not in options.further:
        _refuse_unknown_to_pytest(options.further)


def _refuse_unknown_to_pytest(words: Sequence[str]) -> None:
    """UsageError: one of the options that are passed on is none of pytest's, nor of our plugin."""
    from _pytest.config import UsageError as WrongValue
    from _pytest.config import get_config  # pytest has no public way to its options without a run

    try:
        unknown = get_config()._parser.parse_known_and_unknown_args(list(words))[1]  # noqa: SLF001 (see above)
    except WrongValue:  # which pytest reports by itself
        return
    unknown = [word for word in unknown if word.startswith("--") and not word.startswith("--conformance-")]
    if unknown:
        shown = f"unrecognized arguments: {' '.join(unknown)}"
        raise UsageError(f"run: {shown}. `portal-conformance run --help` shows what there is.")


def _watch(options: Options, run: Callable[..., int]) -> int:
    from conformance.cli.live.watching import wait_for_restart, watch
    from conformance.cli.profile import profile_of

    profile = profile_of(options)
    if profile is None:
        raise UsageError("--watch needs a portal that can restart. Give --profile FILE or --target URL.")
    if options.failed or options.rerun:
        raise UsageError("--watch itself begins with what failed. Leave out --failed and --rerun.")

    def run_round(selected: Sequence[str], out: Path) -> int:
        return run(Options(**{**vars(options), "only": selected or options.only}), out, is_round=True)

    return watch(run_round, _folder(options), restarted=lambda: wait_for_restart(profile), show=print_line)


def _folder(options: Options) -> Path:
    """Where the reports go. Those of a run of some cases go beside those of the whole run, which stay."""
    from conformance.run.rerun import AGAIN, holds_whole_report, repeat_folder

    out = Path(options.out or BY_NAME["out"].default)
    if options.failed:
        opt.note_what_failed(out)
        return repeat_folder(out)
    if options.rerun and not options.out:
        return repeat_folder(out)
    is_selected = options.rerun or options.only or options.skip
    is_selected = is_selected or any(word.startswith(SELECTING) for word in options.further)
    if is_selected and holds_whole_report(out):
        return opt.beside_whole_run(out, out / AGAIN, "rerun" if options.rerun else "selection")
    return out


@command("plan", *opt.PLAN_OPTIONS, opt.FORMAT)
def plan_run(options: Options) -> int:
    """Prints what a run with these options would do; sends nothing."""
    _refuse(options)
    from conformance.cli.outlook import show_plan

    return show_plan(options)
