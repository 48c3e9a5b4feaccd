"""The result of a replay: its regressions, what could not be compared and why, and the judge's verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.errors import TargetUnreachable
from conformance.replay.assembly import Replay
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.noise import save as save_noise
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.options import Lag, ReplayOptions, ReplayResult
from conformance.replay.recording.plan import ReplayPlan
from conformance.report.across.baseline import Baseline
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import Ending, Regression
from conformance.target.profile.model import Profile
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Json


@dataclass(frozen=True, slots=True)
class FinishedReplay:
    """A replay whose last exchange has ended."""

    replay: Replay
    lag: Lag
    started: datetime
    gone: TargetUnreachable | None = None
    interrupted: bool = False

    @property
    def plan(self) -> ReplayPlan:
        return self.replay.plan

    @property
    def tally(self) -> OutcomeTally:
        return self.replay.sessions.tally


def finish_replay(
    finished: FinishedReplay, profile: Profile, options: ReplayOptions, *, baseline: Baseline | None
) -> ReplayResult:
    """Writes the reports of a replay that is over, and returns its result."""
    replay, tally = finished.replay, finished.tally
    notes = list(_notes(finished))
    if options.learn is not None:
        notes.append(_learned(replay.noise, options.learn))
    ended = datetime.now(UTC)
    run = finish_run(
        replay.ledger,
        _outputs(replay, options, baseline),
        details={"replay": _details(finished)},
        target_url=profile.portal.url,
        target_profile=options.profile_name or None,
        started=finished.started,
        finished=ended,
        impact=options.impact,
        strict=options.strict,
        command="replay",
        ending=_ending(finished, options),
        regressions=list(regressions(tally)),
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
    )


def _learned(noise: Noise, path: Path) -> str:
    save_noise(noise, path)
    return f"{len(noise.rules)} places that differ were learned as noise: {path}."


def _outputs(replay: Replay, options: ReplayOptions, baseline: Baseline | None) -> Outputs:
    path, update = replay.log.path, options.baseline_update
    return Outputs(options.out, path, replay.secrets, baseline, baseline_update=update)


def _ending(finished: FinishedReplay, options: ReplayOptions) -> Ending:
    """How the replay ended; too little compared is inconclusive, never green."""
    tally = finished.tally
    enough = tally.compared and tally.share >= options.min_share
    return Ending(
        interrupted=finished.interrupted,
        unreachable=str(finished.gone or ""),
        inconclusive="" if enough else _too_little(tally, options),
    )


def _too_little(tally: OutcomeTally, options: ReplayOptions) -> str:
    share = f"{tally.compared} of {tally.wanted} exchanges were compared"
    return f"{share}, fewer than {options.min_share:.0%}; the notes say why."


def regressions(tally: OutcomeTally) -> Iterator[Regression]:
    """Every difference that is held against the target, in the order of the recording."""
    for outcome in sorted(tally.kept, key=lambda outcome: outcome.number):
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


def _details(finished: FinishedReplay) -> dict[str, Json]:
    """The part of ``results.json`` that a replay alone has, beside the regressions."""
    plan, tally, replay = finished.plan, finished.tally, finished.replay
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
    }


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
                "recorded": clipped(_plain(difference.recorded)),
                "replayed": clipped(_plain(difference.replayed)),
            }
            for difference in outcome.differences
        ],
    }


def _notes(finished: FinishedReplay) -> Iterator[str]:
    plan, tally, replay = finished.plan, finished.tally, finished.replay
    if finished.interrupted:
        left = len(plan.store) - tally.counts.total() - plan.ignored.total()
        yield f"Interrupted: {left} of the recorded exchanges were not replayed."
    if finished.gone is not None:
        yield str(finished.gone)
    states = ", ".join(f"{tally.counts[state]} {state.value}" for state in State if tally.counts[state])
    yield f"{len(plan.store)} recorded exchanges of {plan.sessions} clients: {states or 'none'}."
    yield from plan.notes
    yield from replay.machine.rebuilder.context.notes
    for why, times in plan.ignored.most_common():
        yield f"{times} entries were ignored: {why}."
    reasons = Counter((outcome.state, outcome.reason) for outcome in tally.kept if outcome.state in REASONED)
    for (state, reason), times in reasons.most_common(20):
        yield f"{times} {state.value}: {reason}."
    excused = replay.noise.excused
    if excused:
        yield f"{excused.total()} differences at {len(excused)} places were noise, compared more weakly."
    for value, lives in list(replay.correlation.ambiguous.items())[:10]:
        yield f"{value!r} is ambiguous: {len(lives)} live values stand for it, and the first was sent."
    yield from _lateness(finished.lag)


def _lateness(lag: Lag) -> Iterator[str]:
    if lag.count:
        yield f"Requests went out {lag.total / lag.count:.3f} s late on average, {lag.most:.3f} s at most."


REASONED = frozenset({State.NOT_COMPARABLE, State.NOT_REPLAYABLE, State.SKIPPED, State.UNWANTED})


def _plain(value: Json) -> Json:
    return None if value is ABSENT else value
