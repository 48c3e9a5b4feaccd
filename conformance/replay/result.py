"""The result of a replay: its regressions, what could not be compared and why, and the judge's verdicts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from conformance.replay.compare.noise import Noise
from conformance.replay.compare.noise import save as save_noise
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.differences import DecidedDifferences, decided, groups_of, none_if_absent
from conformance.replay.notes import FinishedReplay, notes_of, skipped_for_the_profile
from conformance.replay.options import ReplayOptions, ReplayResult
from conformance.replay.recording.descriptions import recorded_latencies, session_rows
from conformance.report.across.baseline import Baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import Ending
from conformance.report.model.words import passive
from conformance.target.portal.availability import is_poor
from conformance.target.portal.ingress import unusable_profile
from conformance.target.profile.model import Profile
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Finding, Verdict

NO_DIFFERENCE = (
    "Rows accept differences. Requirements that fail are no differences: --baseline FILE --baseline-update "
    "takes these."
)


def _is_failure(finding: Finding) -> bool:
    return finding.verdict is Verdict.FAIL


def finish_replay(
    finished: FinishedReplay, profile: Profile, options: ReplayOptions, *, baseline: Baseline | None
) -> ReplayResult:
    """Writes the reports of a replay that is over, and returns its result."""
    replay, tally = finished.replay, finished.tally
    ending = _ending(finished, options)
    is_complete = finished.is_whole and not ending.inconclusive
    decision = _decision(finished, profile, options, baseline, is_complete=is_complete)
    groups = groups_of(decision, replay.noise.excused)
    notes = [*notes_of(finished), *decision.notes()]
    if decision.rows and baseline is None and any(_is_failure(each) for each in replay.ledger.findings):
        notes.append(NO_DIFFERENCE)
    if options.learn is not None:
        notes.append(_learned(replay.noise, options.learn))
    ended = datetime.now(UTC)
    run = finish_run(
        replay.ledger,
        _outputs(finished, options, decision.baseline),
        details={"replay": _overview(finished, options) | {"differences": groups}},
        target_url=profile.portal.url,
        target_profile=options.profile_name or None,
        started=finished.started,
        finished=ended,
        impact=options.impact,
        strict=options.strict,
        command="replay",
        ending=ending.model_copy(update={"outdated_rows": decision.outdated}),
        regressions=decision.regressions,
        notes=notes,
    )
    return ReplayResult(
        plan=finished.plan,
        tally=tally,
        correlation=replay.correlation,
        noise=replay.noise,
        notes=notes,
        lag=finished.lag,
        seconds=(ended - finished.started).total_seconds(),
        run=run,
        groups=groups,
    )


def _decision(
    finished: FinishedReplay,
    profile: Profile,
    options: ReplayOptions,
    baseline: Baseline | None,
    *,
    is_complete: bool,
) -> DecidedDifferences:
    return decided(
        finished.tally,
        options,
        [row.model_dump() for row in profile.replay.accept],
        baseline,
        drift=finished.replay.noise.excused.keys(),
        is_complete=is_complete,
    )


def _learned(noise: Noise, path: Path) -> str:
    save_noise(noise, path)
    return f"{passive(len(noise.rules), 'place')} learned as noise: {path}."


def _outputs(finished: FinishedReplay, options: ReplayOptions, baseline: Baseline | None) -> Outputs:
    return Outputs(
        options.out,
        finished.replay.log.path,
        finished.replay.secrets,
        baseline,
        baseline_update=options.baseline_update,
        baseline_prune=options.baseline_prune,
    )


def _ending(finished: FinishedReplay, options: ReplayOptions) -> Ending:
    """How the replay ended; too little compared is inconclusive. Of a share only the merge tells."""
    tally, changes = finished.tally, finished.replay.machine.changes
    enough = options.worker is not None or (tally.compared and tally.share >= options.min_share)
    too_little = "" if enough else _too_little(tally, options)
    reasons = (too_little, _too_silent(tally), *skipped_for_the_profile(finished))
    inconclusive = " ".join(filter(None, reasons))
    limits = [] if finished.meter is None else finished.meter.decided()
    blocked = finished.blocked
    return Ending(
        interrupted=finished.interrupted,
        unreachable=str(finished.gone or ""),
        left_behind=list(finished.left_behind),
        cleanup=changes.cleanup_command if finished.left_behind else "",
        unusable="" if finished.left_behind else finished.unusable or unusable_profile(blocked, ()),
        inconclusive=inconclusive if blocked is None else blocked.reason,
        too_slow=[str(result) for result in limits if result.decision == "exceeded"],
    )


def _too_little(tally: OutcomeTally, options: ReplayOptions) -> str:
    share = f"{tally.compared} of {tally.wanted} exchanges were compared"
    return f"{share}, fewer than {options.min_share:.0%}; the notes say why."


def _too_silent(tally: OutcomeTally) -> str:
    asked = tally.compared + tally.silent
    if not is_poor(tally.silent, asked):
        return ""
    return (
        f"The target is not available enough to be judged: {tally.silent} of {asked} requests had no answer."
    )


def _details(finished: FinishedReplay) -> dict[str, Json]:
    """The part of ``results.json`` that a replay alone has, beside the regressions."""
    plan, tally, replay = finished.plan, finished.tally, finished.replay
    return {
        "recorded": plan.size,
        "sessions": plan.sessions,
        "states": {state.value: tally.counts[state] for state in State},
        "endpoints": {
            endpoint: {state.value: times for state, times in counts.items()}
            for endpoint, counts in tally.endpoints.items()
        },
        "wanted": tally.wanted,
        "compared": tally.compared,
        "share": round(tally.share, 4),
        "set_aside": dict(plan.ignored),
        "others": [_outcome(outcome) for outcome in tally.kept if outcome.state is not State.REGRESSED][
            :2000
        ],
        "root_causes": [
            {"recorded_exchange": root, "skipped": times} for root, times in tally.roots.most_common()
        ],
        "noise": [
            {"operation": operation, "path": path, "kind": kind, "times": times}
            for (operation, path, kind), times in replay.noise.excused.most_common()
        ],
        "ambiguous": len(replay.correlation.ambiguous),
    } | ({} if finished.meter is None else {"load": finished.meter.as_json()})


def _overview(finished: FinishedReplay, options: ReplayOptions) -> dict[str, Json]:
    """The part of ``results.json`` that a replay alone has, with the plan, and with the recorded latencies
    where no load has them."""
    plan = finished.plan
    accounts = finished.replay.machine.rebuilder.context.accounts
    worker = None if options.worker is None else options.worker.index + 1
    overview = _details(finished) | {
        "fail_on": options.fail_on,
        "plan": session_rows(plan, accounts, worker=worker),
    }
    return overview if finished.meter else overview | {"recorded_latency": recorded_latencies(plan)}


def _outcome(outcome: ExchangeOutcome) -> dict[str, Json]:
    return {
        "recorded_exchange": outcome.number,
        "exchange": outcome.line,
        "endpoint": outcome.endpoint,
        "state": outcome.state.value,
        "reason": outcome.reason,
        "differences": [
            {
                "path": difference.path,
                "kind": difference.kind,
                "recorded": clipped(none_if_absent(difference.recorded)),
                "replayed": clipped(none_if_absent(difference.replayed)),
            }
            for difference in outcome.differences
        ],
    }
