"""The result of a replay: its regressions, what could not be compared and why, and the judge's verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from conformance.errors import TargetUnreachable
from conformance.replay.compare.noise import save as save_noise
from conformance.replay.compare.outcome import Outcome, State, Tally
from conformance.replay.engine.evidence import Evidence
from conformance.replay.engine.machine import Machine
from conformance.replay.options import Lag, Replayed
from conformance.replay.options import Options as ReplayOptions
from conformance.replay.recording.plan import Plan
from conformance.report.across.baseline import Baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.clip import clipped
from conformance.report.model.run import Ending, Regression
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import ABSENT, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger


@dataclass(frozen=True, slots=True)
class Played:
    """A replay whose last exchange has ended: the recording's plan, the machine that replayed it, and what
    it was judged and written with."""

    plan: Plan
    machine: Machine
    ledger: Ledger
    lag: Lag
    secrets: Secrets
    evidence: Evidence
    started: datetime
    gone: TargetUnreachable | None = None
    interrupted: bool = False


def finish_replay(
    played: Played, profile: Profile, options: ReplayOptions, *, baseline: Baseline | None
) -> Replayed:
    """Writes the reports of a replay that is over, and returns what it came to."""
    plan, machine = played.plan, played.machine
    tally, noise = machine.assessor.tally, machine.assessor.comparer.noise
    notes = list(_notes(played))
    if options.learn is not None:
        save_noise(noise, options.learn)
        notes.append(f"{len(noise.rules)} places that differ were learned as noise: {options.learn}.")
    finished = datetime.now(UTC)
    run = finish_run(
        played.ledger,
        _outputs(played, options, baseline),
        details={"replay": _details(plan, machine, tally)},
        target_url=profile.portal.url,
        target_profile=options.profile_name or None,
        started=played.started,
        finished=finished,
        impact=options.impact,
        strict=options.strict,
        command="replay",
        ending=_ending(played, options),
        regressions=list(regressions(tally)),
        notes=notes,
    )
    return Replayed(
        plan=plan,
        tally=tally,
        identities=machine.renewal.identities,
        noise=noise,
        notes=notes,
        lag=played.lag,
        seconds=(finished - played.started).total_seconds(),
        run=run,
    )


def _outputs(played: Played, options: ReplayOptions, baseline: Baseline | None) -> Outputs:
    path, update = played.evidence.path, options.baseline_update
    return Outputs(options.out, path, played.secrets, baseline, baseline_update=update)


def _ending(played: Played, options: ReplayOptions) -> Ending:
    """How the replay ended; too little compared is inconclusive, never green."""
    tally = played.machine.assessor.tally
    enough = tally.compared and tally.share >= options.min_share
    return Ending(
        interrupted=played.interrupted,
        unreachable=str(played.gone or ""),
        inconclusive="" if enough else _too_little(tally, options),
    )


def _too_little(tally: Tally, options: ReplayOptions) -> str:
    share = f"{tally.compared} of {tally.wanted} exchanges were compared"
    return f"{share}, fewer than {options.min_share:.0%}; the notes say why."


def regressions(tally: Tally) -> Iterator[Regression]:
    """Every difference that is held against the target, in the order of the recording."""
    for outcome in sorted(tally.kept, key=lambda one: one.number):
        if outcome.state is not State.REGRESSED:
            continue
        stated = dict(outcome.requirements)
        for difference in outcome.differences:
            more: dict[str, Any] = {"recorded_exchange": outcome.number}
            if difference.path in stated:
                more["requirement"] = stated[difference.path]
            yield Regression(
                exchange=outcome.line or 0,
                endpoint=outcome.endpoint,
                path=difference.path,
                kind=difference.kind,
                recorded=clipped(_plain(difference.recorded)),
                replayed=clipped(_plain(difference.replayed)),
                **more,
            )


def _details(plan: Plan, machine: Machine, tally: Tally) -> dict[str, Json]:
    """The part of ``results.json`` that a replay alone has, beside the regressions."""
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
        "others": [_outcome(outcome) for outcome in tally.kept if outcome.state is not State.REGRESSED][
            :2000
        ],
        "root_causes": [
            {"recorded_exchange": root, "skipped": times} for root, times in tally.roots.most_common()
        ],
        "noise": [
            {"operation": operation, "path": path, "kind": kind, "times": times}
            for (operation, path, kind), times in machine.assessor.comparer.noise.excused.most_common()
        ],
        "ambiguous": len(machine.renewal.identities.ambiguous),
    }


def _outcome(outcome: Outcome) -> dict[str, Json]:
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
                "recorded": clipped(_plain(difference.recorded)),
                "replayed": clipped(_plain(difference.replayed)),
            }
            for difference in outcome.differences
        ],
    }


def _notes(played: Played) -> Iterator[str]:
    plan, machine, tally = played.plan, played.machine, played.machine.assessor.tally
    if played.interrupted:
        left = len(plan.store) - tally.counts.total() - plan.set_aside.total()
        yield f"Interrupted: {left} of the recorded exchanges were not replayed."
    if played.gone is not None:
        yield str(played.gone)
    states = ", ".join(f"{tally.counts[state]} {state.value}" for state in State if tally.counts[state])
    yield f"{len(plan.store)} recorded exchanges of {plan.sessions} clients: {states or 'none'}."
    yield from plan.notes
    yield from machine.renewal.notes
    for why, times in plan.set_aside.most_common():
        yield f"{times} entries were set aside: {why}."
    reasons = Counter((outcome.state, outcome.reason) for outcome in tally.kept if outcome.state in REASONED)
    for (state, reason), times in reasons.most_common(20):
        yield f"{times} {state.value}: {reason}."
    excused = machine.assessor.comparer.noise.excused
    if excused:
        yield f"{excused.total()} differences at {len(excused)} places were noise, compared more weakly."
    for value, lives in list(machine.renewal.identities.ambiguous.items())[:10]:
        yield f"{value!r} is ambiguous: {len(lives)} live values stand for it, and the first was sent."
    yield from _lateness(played.lag)


def _lateness(lag: Lag) -> Iterator[str]:
    if lag.count:
        yield f"Requests went out {lag.total / lag.count:.3f} s late on average, {lag.most:.3f} s at most."


REASONED = frozenset({State.NOT_COMPARABLE, State.NOT_REPLAYABLE, State.SKIPPED, State.UNWANTED})


def _plain(value: Json) -> Json:
    return None if value is ABSENT else value
