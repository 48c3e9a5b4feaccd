"""Commands before a run: the doctor examines the target, and the plan previews the run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from pathlib import Path

from conformance.cli.command import Options
from conformance.cli.layout import print_blocks, print_error, print_line, print_text, status_line
from conformance.cli.options import note_what_failed
from conformance.cli.profile import alone, profile_of
from conformance.errors import ExitCode, UsageError
from conformance.rules.registry import rules_named_by
from conformance.run.options import BY_NAME
from conformance.run.outlook import plan_text
from conformance.run.outlook.plan import PlanChoice, RunPlan, plan
from conformance.run.outlook.unlocking import unlocked
from conformance.run.rerun import failed_rules
from conformance.run.settings import seconds_of
from conformance.spec import Impact
from conformance.target.doctor import Diagnosis, diagnosis
from conformance.target.doctor import examine as examine_profile
from conformance.target.portal.ingress import EMPTY_CODE, NO_CODE
from conformance.target.profile.learned import Learned, differing, renewed, unsaid, written
from conformance.target.profile.model import NO_PROFILE, Profile
from conformance.traffic.replacing import replace_file, text_of
from conformance.verdicts.selection import select_rules

USUAL_BUDGET = "10m"
"""The time budget of the run for which the doctor proposes [expect], as in the guides. A longer run tests no
less."""


def diagnose(options: Options) -> int:
    """Probes a target, prints what works, and writes what was learned where the options ask for it."""
    profile = profile_of(options)
    if profile is None:
        raise UsageError(
            "doctor needs --profile FILE or --target URL. `portal-conformance setup --print` prints a "
            "profile to fill in."
        )
    if options.write and not options.profile:
        raise UsageError("--write needs --profile FILE, the file that it writes to.")
    impact: Impact = options.impact or "read-only"
    with alone(profile, is_waiting=options.wait), status_line() as show:
        results = examine_profile(profile, on_check=lambda part: show(f"trying {part} …"))
        show("adding up what a run could test …")
        missing = [result.part for result in results if result.state == "missing"]
        choice, run = _expected_run(profile, options)
        gains = unlocked(profile, impact, missing)
        planned = plan(diagnosis.usable(profile, results), impact, choice)
        learned = diagnosis.proposed(results, testable=planned.testable, run=run)
    ordered = sorted(gains, key=lambda part: (gains[part].order, part))
    unlocks = {part: gains[part].words for part in ordered}
    most = [f"{part} would add most: {gains[part].words}." for part in ordered[:1]]
    if options.format == "json":
        print(diagnosis.as_json(results, unlocks))
    else:
        lines = [f"{profile.portal.url}: {diagnosis.counts_in_words(results)}."]
        if diagnosis.ways_in(results):
            can = f"can test {planned.testable} of the {planned.musts} musts that an answer can show"
            lines += [f"A run with {run} {can}.", *most]
        print_blocks([lines, diagnosis.as_text(results, unlocks).splitlines()])
        if "expect" not in learned.tables:
            wrong = ", ".join(diagnosis.wrong_accounts(results))
            why = f"correct {wrong} first" if diagnosis.ways_in(results) else "no account can sign in"
            print_blocks([(), [f"No [expect] table is proposed: {why}."]])
        _print_learned(learned, path=options.profile, is_written=bool(options.write))
    if options.write:
        _write_learned(options.profile, learned)
    if options.format != "json":
        print_blocks([(), [_next_step(results, options, budget=_budget(profile, options))]])
    return _exit_code(results)


def _expected_run(profile: Profile, options: Options) -> tuple[PlanChoice, str]:
    """The run for which [expect] is proposed, also as its options. Where the clock can be moved no budget is
    needed."""
    words = f"--impact {options.impact or 'read-only'}"
    budget = _budget(profile, options)
    if budget is None:
        return PlanChoice(), words
    return PlanChoice(budget=seconds_of(budget)), f"{words} --time-budget {budget}"


def _budget(profile: Profile, options: Options) -> str | None:
    """The time budget of that run, as it is written; None where it has none."""
    if options.time_budget is None and profile.clock.advance is not None:
        return None
    return str(options.time_budget or USUAL_BUDGET)


def _next_step(results: list[Diagnosis], options: Options, *, budget: str | None) -> str:
    """Suggests the next command after the doctor, with the same options."""
    chosen = {name: getattr(options, name) for name in ("profile", "target", "impact", "time_budget")}
    if any(result.state == "wrong" for result in results):
        return f"Next: correct what is wrong, and call `portal-conformance doctor{_words(chosen)}` again."
    words = _words(chosen | {"time_budget": budget})
    return f"Next: `portal-conformance plan{words}` shows what a run would do."


def _words(chosen: Mapping[str, object]) -> str:
    """Command-line words of all options with a value."""
    written = {name.replace("_", "-"): str(value) for name, value in chosen.items() if value is not None}
    return "".join(f" --{name} {shlex.quote(value)}" for name, value in written.items())


def _exit_code(results: list[Diagnosis]) -> ExitCode:
    """Exit code of the doctor: 6 for an unreachable portal; 4 for errors in the profile or its files; 1 for
    problems of the target, and leftovers of earlier runs."""
    wrong = [result for result in results if result.state == "wrong"]
    if any(result.part == "portal.url" and result.fault_class == "environment" for result in wrong):
        return ExitCode.UNREACHABLE
    if {result.fault_class for result in wrong} & {"configuration", "credentials", "environment"}:
        return ExitCode.USAGE
    return ExitCode.FAILED if wrong else ExitCode.CONFORMANT


def _print_learned(learned: Learned, *, path: Path | None, is_written: bool) -> None:
    """Prints what was learned and the profile does not say, ready to paste unless it is written there."""
    before = "" if path is None else text_of(path)
    text = renewed(before, learned)
    new, others = unsaid(text, learned), list(differing(text, learned))
    if text != before and not is_written:
        print_blocks([(), ["[expect] is of an earlier doctor: --write renews it."]])
    if new:
        advice = "Written into the profile:" if is_written else "To paste into the profile, or use --write:"
        print(f"\n# {advice}")
        print(written("", new), end="")  # no line is broken: it is read as TOML
    elif path is not None and not is_written and not others and text == before:
        print_blocks([(), [f"{path} has everything that was learned already."]])
    for key, present, value in others:
        remedy = "To take it, delete that line and call `doctor --write` again."
        print_blocks([(), [f"{key} stays {json.dumps(present)}; doctor found {json.dumps(value)}. {remedy}"]])


def _write_learned(path: Path, learned: Learned) -> None:
    before = text_of(path)
    after = written(before, learned)
    if after == before:
        if not any(differing(before, learned)):
            print_error(f"{path} has everything that was learned already.")
        return
    try:
        replace_file(path, after)
    except OSError as refused:
        raise UsageError(f"{path}: cannot be written ({refused.strerror}). Check its permissions.") from None
    print_error(f"Wrote what was learned to {path}.")


def show_plan(options: Options) -> int:
    """Prints what a run with these options would do; sends nothing."""

    profile = profile_of(options)
    planned = _plan(options, profile)
    if options.format == "json":
        print(plan_text.as_json(planned))
    elif options.brief:
        print_line(plan_text.as_line(planned))
    else:
        print_text(plan_text.as_text(planned), form=options.format)
        if profile is not None and not profile.portal.access_code:  # the plan holds where it lets anybody in
            print_line(NO_CODE if profile.source == NO_PROFILE else EMPTY_CODE)
        if len(planned.rules) < (options.min_tested or 0):
            print_line(f"With --min-tested {options.min_tested} such a run is inconclusive, exit code 5.")
    return 0


def _plan(options: Options, profile: Profile | None) -> RunPlan:

    out = Path(options.out or BY_NAME["out"].default)
    failed = failed_rules(out) if options.failed else None
    if options.failed:
        note_what_failed(out)
    choice = PlanChoice(
        select_rules(
            options.only,
            options.skip,
            failed=failed,
            rows=rules_named_by(options.rules, options.profile).requirements,
        ),
        options.rerun,
        budget=inf if options.time_budget is None else seconds_of(str(options.time_budget)),
    )
    impact: Impact = options.impact or ("read-only" if profile else "disruptive")
    planned = plan(profile or _bundled_profile(), impact, choice)
    if profile is None:
        return replace(planned, target=BUNDLED)
    of_file = "" if profile.source == NO_PROFILE else profile.source
    return replace(planned, target=profile.portal.url, profile=of_file)


BUNDLED = "the bundled reference portal"


def _bundled_profile() -> Profile:
    """The profile of a bundled portal that has stopped already: enough to plan a run."""
    from conformance.target.bundled import running_portal  # starts the reference portal

    with running_portal() as profile:
        return profile
