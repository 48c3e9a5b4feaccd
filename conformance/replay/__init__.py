"""Replays recorded traffic against a target, and reports every regression (``replay FILE…``)."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.errors import TargetUnreachable, UsageError
from conformance.judging import watch
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import Past
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.noise import load as load_noise
from conformance.replay.engine.actions import Secret
from conformance.replay.engine.evidence import Evidence
from conformance.replay.engine.lookup import Desk
from conformance.replay.engine.machine import Machine
from conformance.replay.options import Options, Replayed
from conformance.replay.rebuild.channels import Channels
from conformance.replay.rebuild.correlation import Identities
from conformance.replay.rebuild.rebuild import Renewal
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.plan import Choice, Plan
from conformance.replay.recording.store import Store
from conformance.replay.result import Played, finish_replay
from conformance.report.across.baseline import initial_baseline
from conformance.spec import REQUIREMENTS
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Ledger

__all__ = ["Options", "Replayed", "replay"]

MADE = 20_000
"""Objects more than there were, after which the collector looks for those that nobody needs."""


def replay(files: Sequence[str | Path], profile: Profile, options: Options) -> Replayed:
    """Replays the recorded exchanges against the profile's portal, and writes the reports.

    CaptureError: a recording cannot be read. UsageError: an option, or nothing to replay.
    A target that does not answer, or not any more, ends it with exit code 6, an interrupt with 2: what was
    judged until then is written.
    """
    if profile.portal.proxy is not None:
        raise UsageError(
            f"{profile.source}: [portal] proxy: a replay reaches the portal itself. Take the proxy out."
        )
    drive = _drive()
    started = datetime.now(UTC)
    scale = options.scale
    baseline = initial_baseline(options.baseline, is_updated=options.baseline_update)
    secrets = Secrets()
    for value, kind in profile.secrets():
        secrets.add(value, kind)
    with _undisturbed(), Store(files, salvage=options.salvage) as store:
        plan = planned(store, Choice(options.only, options.skip, options.impact))
        clock = clock_of(profile)
        if isinstance(clock, SimulatedClock):
            clock.move(0)
        ledger = Ledger(REQUIREMENTS)
        machine = machine_of(plan, profile, clock, secrets, ledger, options, scale)
        evidence = Evidence(options.out / "exchanges.jsonl", secrets)
        desk = Desk(profile, clock, secrets)
        driver = drive.Driver(machine, profile, desk, evidence, concurrency=max(1, options.concurrency))
        gone: TargetUnreachable | None = None
        interrupted = False
        try:
            _to_the_end(driver.run(sessions_of(plan, options.concurrency)), clock)
        except TargetUnreachable as error:
            gone = error
        except KeyboardInterrupt:
            interrupted = True
        finally:
            evidence.close()
        played = Played(
            plan,
            machine,
            ledger,
            driver.lag,
            secrets,
            evidence,
            started,
            gone=gone,
            interrupted=interrupted,
        )
        return finish_replay(played, profile, options, baseline=baseline)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps the collector from going through what was there before, and what is there but for a moment."""
    before = gc.get_threshold()
    gc.set_threshold(MADE, *before[1:])
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def machine_of(
    plan: Plan,
    profile: Profile,
    clock: Clock,
    secrets: Secrets,
    ledger: Ledger,
    options: Options,
    scale: float | None,
) -> Machine:
    """The machine for a plan, with nothing sent yet."""

    def keep(secret: Secret) -> None:
        secrets.add(secret.value, secret.kind)

    identities = Identities(used=plan.given)
    noise = load_noise(options.noise) if options.noise else Noise()
    renewal = Renewal(plan, profile, identities, keep=keep)
    renewal.appoint(dict(options.accounts))
    past = Past(plan.exchanges(), identities)
    assessor = Assessor(Comparer(identities, noise), watch(ledger), past, learns=options.learn is not None)
    return Machine(
        plan,
        renewal,
        assessor,
        Channels(profile.secure_channel, keep=keep),
        now=clock.now,
        scale=scale,
        movable=clock.is_simulated,
    )


def sessions_of(plan: Plan, concurrency: int) -> list[list[int]]:
    """The positions of each session, in order; all as one where nothing goes side by side."""
    wanted = [position for position in plan.order if plan.session_of[position] >= 0]
    if concurrency <= 1:
        return [wanted]
    sessions: dict[int, list[int]] = {}
    for position in wanted:
        sessions.setdefault(plan.session_of[position], []).append(position)
    return list(sessions.values())


def _to_the_end(work: Coroutine[Any, Any, None], clock: Clock) -> None:
    """Runs to the end, on uvloop where that is installed. Nobody waits any more where it ends early."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None
    try:
        import uvloop  # an extra: asyncio does as well, slower

        factory = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        try:
            runner.run(work)
        except BaseException:
            clock.stop()
            raise


def _drive() -> Any:
    """The driver. UsageError: its HTTP parser is not installed, with the extra that brings it."""
    try:
        from conformance.replay.engine import driver as drive  # needs the extra
    except ImportError as error:
        raise UsageError(f"replay needs {error.name}: pip install 'portal-conformance[replay]'.") from error
    return drive
