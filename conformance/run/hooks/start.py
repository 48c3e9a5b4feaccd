"""The start of a run under pytest: its session from the options, its scope, and what it says first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import conformance
from conformance.errors import TargetUnreachable, UsageError
from conformance.report.across import history
from conformance.report.across.baseline import baseline_of
from conformance.report.formats.write import refuse_foreign_files
from conformance.report.model.run import Scope
from conformance.report.model.visible import one_line
from conformance.report.model.words import ALLOWED, listed
from conformance.rules.registry import NO_OWN_RULES
from conformance.run.catalogue import CaseRow, row_of
from conformance.run.hooks.selection import selection_of
from conformance.run.hooks.stash import OWN, RULES
from conformance.run.hooks.terminal import say, wait_announcer
from conformance.run.options import BY_NAME, set_value, value_of
from conformance.run.outlook.unlocking import next_steps
from conformance.run.planning import declared_by, why_not
from conformance.run.rerun import AGAIN, UNREACHED, holds_verdicts, holds_whole_report, stays
from conformance.run.session import RunOptions, RunSession
from conformance.run.settings import seconds_of
from conformance.run.testable import TESTABLE, reachable, reachable_musts
from conformance.spec import REQUIREMENTS, Impact
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.locks import held, locks_of
from conformance.target.portal.changes import LEDGER
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile, load, of_target
from conformance.target.waiting import is_answering, is_portal_there, wait_for_target


def open_session(config: pytest.Config, items: Sequence[pytest.Item]) -> RunSession:
    """The session that the options ask for, introduced by its first lines. Raises SuiteError, OSError.

    With neither target nor profile the bundled portal is started, and ends with pytest.
    """
    stack = ExitStack()
    config.add_cleanup(stack.close)
    profile, name, is_bundled = _profile(config, stack)
    impact = cast(Impact, value_of(config, "impact") or ("disruptive" if is_bundled else "read-only"))
    options = RunOptions(
        out=value_of(config, "out"),
        impact=impact,
        fail_on="should" if value_of(config, "strict") else value_of(config, "fail_on"),
        known=value_of(config, "known"),
        profile_name=name,
        min_tested=value_of(config, "min_tested"),
        history=value_of(config, "history"),
        rerun=value_of(config, "rerun"),
        rules=config.stash.get(RULES, None),
        own=config.stash.get(OWN, NO_OWN_RULES),
        keep_ledger=not is_bundled,
        bundled=is_bundled,
    )
    if profile.extend.rules and not options.own.files:
        raise UsageError(f"{name}: [extend] is not read from a pipe. Name the files with rules by --rules.")
    _check(config, profile, options)
    refuse_foreign_files(options.out, force=value_of(config, "force"))
    rows = list(map(row_of, items))
    for line in introduction(profile, options, rows, is_selection=bool(selection_of(config))):
        say(config, line)
    say(config, f"examples  --effort {value_of(config, 'effort')} --seed {value_of(config, 'seed')}")
    patience = _seconds(config, "wait_for_target")
    if patience is not None:
        wait_for_target(profile, patience, on_wait=lambda line: say(config, line))
    _tried(_clock(config, profile), profile)  # before a folder is created
    options = _beside_whole_run(config, profile, options)
    locks = locks_of(profile, out=options.out, history=options.history)
    on_wait = (lambda line: say(config, line)) if value_of(config, "wait") else None
    stack.enter_context(held(locks, on_wait=on_wait, note=str((options.out / LEDGER).absolute())))
    clock = _tried(_clock(config, profile), profile)  # another run may have moved it meanwhile
    return RunSession.open(profile, clock, options)


BUNDLED = "No --profile and no --target: this judges the bundled reference portal, and no other."
ANONYMOUS = "No --profile: without [accounts] nothing can be judged that needs a token."


def introduction(
    profile: Profile, options: RunOptions, rows: Sequence[CaseRow], *, is_selection: bool
) -> Iterator[str]:
    """The version, target, profile, impact, rules and cases of a run, a line each."""
    if options.bundled:
        yield BUNDLED
    elif not profile.accounts:
        yield ANONYMOUS
    yield f"portal-conformance {conformance.__version__}"
    yield f"target    {one_line(profile.portal.url)}"
    yield f"profile   {one_line(options.profile_name) or 'none'}"
    yield f"impact    {ALLOWED[options.impact]}"
    yield f"rules     {_rules(profile, options, rows, is_selection=is_selection)}"
    if options.own.rules:
        yield f"own rules {listed(rule.id for rule in options.own.rules)}"
    left = sum(why_not(row, profile, options.impact) is not None for row in rows)
    counts = f"{len(rows):,} selected, {len(rows) - left:,} of them can be tried"
    yield f"cases     {counts}{f'; the other {left:,} end at once' if left else ''}"


def _rules(profile: Profile, options: RunOptions, rows: Sequence[CaseRow], *, is_selection: bool) -> str:
    """Counts the rules that options, or else the remaining cases, select, and the rules that can be tried."""
    selected = TESTABLE
    if is_selection and options.rules is not None:
        selected = TESTABLE & options.rules.rules
    elif is_selection:
        selected = TESTABLE.intersection(rule for row in rows for rule in row.requirements)
    declared = declared_by(rows, profile, options.impact)
    tried = selected & reachable(profile, options.impact, declared)
    counts = f"{len(selected)} selected, {len(tried)} of them can be tried"
    left = len(selected) - len(tried)
    why = "`plan` says by case, and `explain ID` by rule, what it needs"
    counts += f"; the other {left} are left out: {why}" if left else ""
    hidden = 0 if is_selection else len(REQUIREMENTS) - len(TESTABLE)
    return f"{counts}; {hidden} more cannot be seen from outside" if hidden else counts


def _beside_whole_run(config: pytest.Config, profile: Profile, options: RunOptions) -> RunOptions:
    """The options with another folder, which the run has from now on, where its report is not to replace that
    of a whole run: it selects some of the cases, or no portal answers."""
    if holds_verdicts(options.out) and not is_portal_there(profile):
        folder, what = options.out / UNREACHED, "run, which reaches no portal,"
    elif selection_of(config) and holds_whole_report(options.out):
        folder, what = options.out / AGAIN, "selection"
    else:
        return options
    say(config, stays(options.out, folder, what))
    set_value(config, "out", folder)
    return replace(options, out=folder)


def _check(config: pytest.Config, profile: Profile, options: RunOptions) -> None:
    """Raises UsageError where an option cannot be followed, before anything is said, sent or written."""
    _seconds(config, "time_budget")
    _seconds(config, "wait_for_target")
    if value_of(config, "level") and not value_of(config, "edition"):
        raise UsageError("--level is a level of an edition. Name the edition by --edition.")
    profile.extend.described()
    baseline_of(options.known, is_strict=options.fail_on == "should")
    if options.history is not None:
        folder = options.history.parent
        if folder.exists() or folder.resolve() != options.out.resolve():  # else the run creates it
            history.check(options.history)


def _tried(clock: Clock, profile: Profile) -> Clock:
    """The clock, moved by nothing where it can be moved; this machine's where the target does not answer
    either, which the run reports. SuiteError: the profile's clock is none, so that nothing is begun."""
    if not isinstance(clock, SimulatedClock):
        return clock
    try:
        clock.move(0)
    except TargetUnreachable:
        if is_answering(profile):
            raise
        return Clock()
    return clock


def scope_of(config: pytest.Config, run: RunSession, items: Iterable[pytest.Item]) -> Scope:
    """What the run sets out to test, with the cases that are to run."""
    rows, selection = list(map(row_of, items)), selection_of(config)
    declared = declared_by(rows, run.profile, run.options.impact)
    return Scope(
        selection=selection,
        bundled=run.options.bundled,
        testable=len(reachable_musts(run.profile, run.options.impact, declared)),
        time_budget=str(value_of(config, "time_budget") or ""),
        effort=value_of(config, "effort"),
        more=[] if selection else next_steps(rows, run.profile, run.options.impact),
        rules=list(map(str, value_of(config, "rules"))),
        seed=value_of(config, "seed"),
        profile=run.profile.redacted(run.secrets),
        edition=value_of(config, "edition") or "",
        edition_level=value_of(config, "level") or "full" if value_of(config, "edition") else "",
    )


def _profile(config: pytest.Config, stack: ExitStack) -> tuple[Profile, str, bool]:
    """The profile, what reports call it, and whether it is the bundled portal's."""
    target, path = value_of(config, "target"), value_of(config, "profile")
    described = [Path(path) for path in value_of(config, "description")]
    if path:
        return load(Path(path), target=target).describing(described), str(path), False
    if target:
        return of_target(target).describing(described), "", False
    from conformance.target.bundled import (
        running_portal,  # the reference portal: nobody with a target needs it
    )

    return stack.enter_context(running_portal()).describing(described), "bundled", True


def _clock(config: pytest.Config, profile: Profile) -> Clock:
    return clock_of(profile, time_budget=_seconds(config, "time_budget"), on_wait=wait_announcer(config))


def _seconds(config: pytest.Config, name: str) -> float | None:
    """The seconds of an option; None where it is not given."""
    limit = value_of(config, name)
    return None if limit is None else seconds_of(str(limit), option=BY_NAME[name].spelling)
