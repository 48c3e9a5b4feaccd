"""The sessions of a replay: each takes the steps of its exchanges in order, and counts their outcomes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from conformance.replay.compare.outcome import OutcomeTally
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.step import ReplayStep, Stepper
from conformance.replay.rebuild.actions import Actions, Await
from conformance.replay.recording.plan import REPLAYED, ReplayPlan


def ignore(step: ReplayStep) -> None:
    """Takes no notice of a step."""


@dataclass
class Sessions:
    """``stepper`` takes the steps: the machine itself, or a fast lane before it. ``on_step`` is called after
    each."""

    machine: ReplayMachine
    stepper: Stepper
    tally: OutcomeTally = field(default_factory=OutcomeTally)
    on_step: Callable[[ReplayStep], None] = ignore
    turns: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By position, those of other sessions that must have ended before."""

    def session(self, positions: Iterable[int]) -> Actions:
        """One recorded client from its first exchange to its last, or several in the order given."""
        machine, turns = self.machine, self.turns
        counted = machine.plan.counted
        refused, progress, is_movable = machine.plan.refused, machine.progress, machine.timing.movable
        for position in positions:
            refusal = refused.get(position)
            if refusal is None:
                for earlier in turns.get(position, ()):
                    yield Await(earlier)
                if is_movable:
                    yield from machine.timing.pass_time(position)
                step = yield from self.stepper.step(position)
            elif refusal is REPLAYED:
                progress.end(position)
                continue
            else:
                step = machine.refuse(position, refusal)
            if position not in counted:
                self.tally.add(step.outcome)
            progress.end(position)
            self.on_step(step)
            del step  # what it holds is freed while it is at hand, not when the session's turn comes again


def sessions_of(plan: ReplayPlan, concurrency: int) -> list[array[int]]:
    """The positions of each session, in order; all in one array where nothing goes side by side."""
    wanted = array("i", (position for position in plan.order if plan.session_of[position] >= 0))
    if concurrency <= 1:
        return [wanted]
    sessions: dict[int, array[int]] = {}
    for position in wanted:
        sessions.setdefault(plan.session_of[position], array("i")).append(position)
    return list(sessions.values())
