"""Result of a replay: regressions, exchanges left uncompared with reasons, and the judge's verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from conformance.replay.accepted import ComparedPlaces, acceptance_of
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.differences import groups_of, held_from, none_if_absent, weighed_differences
from conformance.replay.notes import FinishedReplay, notes_of, skipped_for_the_profile
from conformance.replay.options import ReplayOptions, ReplayResult
from conformance.replay.recording.plan import ReplayPlan
from conformance.report.across.baseline import Baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.latency import Spread
from conformance.report.model.run import ChangesMade, Ending, Regression
from conformance.spec import Operation
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.portal.availability import is_poor
from conformance.target.portal.ingress import unusable_profile
from conformance.target.profile.model import Profile
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import Json


def finish_replay(
    finished: FinishedReplay, profile: Profile, options: ReplayOptions, *, baseline: Baseline | None
) -> ReplayResult:
    """Writes the reports of a replay that is over, and returns its result."""
    replay, tally = finished.replay, finished.tally
    ending = _ending(finished, options)
    ended = datetime.now(UTC)
    differences = list(weighed_differences(tally))
    weighty = held_from(differences, options.fail_on)
    acceptance = acceptance_of(weighty, baseline, ended.date())
    compared = baseline and _compared(finished, ending, differences, baseline)
    groups = groups_of(differences, acceptance, replay.drift)
    notes = [*notes_of(finished), *acceptance.notes()]
    run = finish_run(
        replay.ledger,
        Outputs(options.out, replay.log.path, replay.secrets, compared),
        details={"replay": _overview(finished, options) | {"differences": groups}},
        target_url=profile.portal.url,
        target_profile=options.profile_name or None,
        started=finished.started,
        finished=ended,
        impact=options.impact,
        fail_on="should" if options.strict else "security",
        command="replay",
        ending=ending,
        changes=_changes(finished, options),
        regressions=acceptance.held,
        notes=notes,
    )
    return ReplayResult(
        plan=finished.plan,
        tally=tally,
        correlation=replay.correlation,
        drift=replay.drift,
        notes=notes,
        lag=finished.lag,
        seconds=(ended - finished.started).total_seconds(),
        run=run,
        groups=groups,
    )


def _changes(finished: FinishedReplay, options: ReplayOptions) -> ChangesMade | None:
    """What the replay changed; None where it could change nothing."""
    if options.impact == "read-only":
        return None
    return ChangesMade(**asdict(finished.replay.machine.changes.counts))


def _compared(
    finished: FinishedReplay, ending: Ending, differences: Sequence[Regression], baseline: Baseline
) -> Baseline:
    """The baseline with what the replay says of its rows."""
    is_complete = finished.is_whole and not ending.inconclusive
    drift = finished.replay.drift.keys()
    return ComparedPlaces.of(finished.tally, differences, drift, is_complete=is_complete).within(baseline)


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


SHOWN_SESSIONS = 200
LINES_OF_SIGN_INS = 20
"""Exchanges of a session that are searched for its sign-in."""

MOST_TIMES = 5_000
"""Exchanges of a recording whose durations count; of a larger one every second, third and so on."""


def session_rows(plan: ReplayPlan, accounts: Mapping[str, str], *, worker: int | None) -> list[Json]:
    """The first sessions: the number of the first exchange of each, how many it has, which accounts of the
    profile sign in, and the worker. ``accounts`` are the profile's by recorded email."""
    sessions: dict[int, list[int]] = {}
    for position in plan.wanted():
        session = plan.session_of[position]
        if session in sessions or len(sessions) < SHOWN_SESSIONS:
            sessions.setdefault(session, []).append(position)
    return [
        {
            "first": plan.number_of(positions[0]),
            "exchanges": len(positions),
            "accounts": _accounts(plan, positions[:LINES_OF_SIGN_INS], accounts),
            "worker": worker,
        }
        for positions in sessions.values()
    ]


def _accounts(plan: ReplayPlan, positions: list[int], accounts: Mapping[str, str]) -> list[Json]:
    names: dict[str, None] = {}
    for position in positions:
        request = plan.exchange(position).request
        sent = request.body
        if request.operation_key == LOGIN_INITIATE and isinstance(sent, dict):
            name = accounts.get(str(sent.get("email")))
            if name is not None:
                names[name] = None
    return list(names)


def recorded_latencies(plan: ReplayPlan) -> dict[str, Json]:
    """The spread of the recorded durations by endpoint, of the exchanges that a replay sends."""
    sent = list(plan.wanted())
    spreads: dict[str, Spread] = {}
    operations: dict[int, Operation | None] = {}
    """By the fingerprint of a request."""
    for position in sent[:: 1 + len(sent) // MOST_TIMES]:
        request, seconds = plan.requests[position], plan.elapsed[position]
        if request not in operations:
            operations[request] = plan.exchange(position).request.operation
        operation = operations[request]
        if operation is not None and seconds > 0:
            spreads.setdefault(operation.key, Spread()).note(seconds * 1000)
    return {endpoint: {"counts": spread.as_json()} for endpoint, spread in spreads.items()}
