"""What a replay reports: regressions, what could not be compared and why, and the verdicts of the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from conformance.errors import TargetUnreachable
from conformance.replay.compare.noise import save as save_noise
from conformance.replay.compare.outcome import Outcome, State, Tally
from conformance.replay.engine.evidence import Evidence
from conformance.replay.engine.machine import Machine
from conformance.replay.options import Lag, Options, Replayed
from conformance.replay.recording.plan import Plan
from conformance.report.across.baseline import Baseline, held_against
from conformance.report.formats.write import write_all
from conformance.report.model.clip import clipped
from conformance.report.model.run import Regression, Run
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import ABSENT, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger


def finished(
    plan: Plan,
    machine: Machine,
    ledger: Ledger,
    lag: Lag,
    secrets: Secrets,
    evidence: Evidence,
    profile: Profile,
    options: Options,
    *,
    started: datetime,
    gone: TargetUnreachable | None,
    interrupted: bool,
    known: Baseline | None,
) -> Replayed:
    """Writes the reports of a replay that is over, and gives what it came to."""
    tally, noise = machine.assessor.tally, machine.assessor.comparer.noise
    notes = list(_notes(plan, machine, lag, tally))
    if gone is not None:
        notes.insert(0, str(gone))
    if interrupted:
        left = len(plan.store) - tally.counts.total() - plan.set_aside.total()
        notes.insert(0, f"It was interrupted: {left} of the recorded exchanges were not replayed.")
    if options.learn is not None:
        save_noise(noise, options.learn)
        notes.append(f"{len(noise.rules)} places that differ were learned as noise: {options.learn}.")
    finished_at = datetime.now(UTC)
    run = Run.of(
        ledger.results(),
        ledger.findings,
        ledger.observations,
        target_url=profile.portal.url,
        target_profile=options.profile_name or None,
        started=started,
        finished=finished_at,
        impact=options.impact,
        strict=options.strict,
        exit_code=2 if interrupted else exit_code(tally, ledger, options, gone),
        command="replay",
        regressions=list(regressions(tally)),
        notes=notes,
    ).model_copy(update={"replay": _replay(plan, machine, tally)})
    if known is not None:
        run = held_against(run, known, is_updated=options.baseline_update)
    run = write_all(run, options.out, exchanges=evidence.path, secrets=secrets)
    return Replayed(
        plan=plan,
        tally=tally,
        identities=machine.renewal.identities,
        noise=noise,
        notes=notes,
        lag=lag,
        seconds=(finished_at - started).total_seconds(),
        run=run,
    )


def exit_code(tally: Tally, ledger: Ledger, options: Options, gone: TargetUnreachable | None) -> int:
    """The contract's exit codes; too little compared is inconclusive, never green."""
    failed = {finding.verdict for finding in ledger.findings}
    if gone is not None:
        return 6
    if ledger.errors:
        return 3
    if tally.counts[State.REGRESSED] or "fail" in failed or (options.strict and "warn" in failed):
        return 1
    return 0 if tally.compared and tally.share >= options.min_share else 5


def regressions(tally: Tally) -> Iterator[Regression]:
    """Every difference that is held against the target, in the order of the recording."""
    for outcome in sorted(tally.kept, key=lambda one: one.number):
        if outcome.state is not State.REGRESSED:
            continue
        stated = dict(outcome.requirements)
        for one in outcome.differences:
            more: dict[str, Any] = {"recorded_exchange": outcome.number}
            if one.path in stated:
                more["requirement"] = stated[one.path]
            yield Regression(
                exchange=outcome.line or 0,
                endpoint=outcome.endpoint,
                path=one.path,
                kind=one.kind,
                recorded=clipped(_plain(one.recorded)),
                replayed=clipped(_plain(one.replayed)),
                **more,
            )


def _replay(plan: Plan, machine: Machine, tally: Tally) -> dict[str, Json]:
    """What ``results.json`` holds of a replay beside the regressions."""
    return {
        "recorded": len(plan.store),
        "sessions": plan.sessions,
        "states": {state.value: tally.counts[state] for state in State},
        "endpoints": {
            endpoint: {state.value: times for state, times in counts.items()}
            for endpoint, counts in tally.endpoints.items()
        },
        "compared": tally.compared,
        "share": round(tally.share, 4),
        "set_aside": dict(plan.set_aside),
        "others": [_told(one) for one in tally.kept if one.state is not State.REGRESSED][:2000],
        "root_causes": [
            {"recorded_exchange": root, "skipped": times} for root, times in tally.roots.most_common()
        ],
        "noise": [
            {"operation": operation, "path": path, "kind": kind, "times": times}
            for (operation, path, kind), times in machine.assessor.comparer.noise.excused.most_common()
        ],
        "ambiguous": len(machine.renewal.identities.ambiguous),
    }


def _told(outcome: Outcome) -> dict[str, Json]:
    return {
        "recorded_exchange": outcome.number,
        "exchange": outcome.line,
        "endpoint": outcome.endpoint,
        "state": outcome.state.value,
        "reason": outcome.reason,
        "differences": [
            {
                "path": one.path,
                "kind": one.kind,
                "recorded": clipped(_plain(one.recorded)),
                "replayed": clipped(_plain(one.replayed)),
            }
            for one in outcome.differences
        ],
    }


def _notes(plan: Plan, machine: Machine, lag: Lag, tally: Tally) -> Iterator[str]:
    told = ", ".join(f"{tally.counts[state]} {state.value}" for state in State if tally.counts[state])
    yield f"{len(plan.store)} recorded exchanges of {plan.sessions} clients: {told or 'none'}."
    yield from plan.notes
    yield from machine.renewal.notes
    for why, times in plan.set_aside.most_common():
        yield f"{times} entries were set aside: {why}."
    reasons = Counter((one.state, one.reason) for one in tally.kept if one.state in REASONED)
    for (state, reason), times in reasons.most_common(20):
        yield f"{times} {state.value}: {reason}."
    excused = machine.assessor.comparer.noise.excused
    if excused:
        yield f"{excused.total()} differences at {len(excused)} places were noise, compared more weakly."
    for value, lives in list(machine.renewal.identities.ambiguous.items())[:10]:
        yield f"{value!r} is ambiguous: {len(lives)} live values stand for it, and the first was sent."
    if lag.count:
        yield f"Requests went out {lag.total / lag.count:.3f} s late on average, {lag.most:.3f} s at most."


REASONED = frozenset({State.NOT_COMPARABLE, State.NOT_REPLAYABLE, State.SKIPPED, State.UNWANTED})


def _plain(value: Json) -> Json:
    return None if value is ABSENT else value
