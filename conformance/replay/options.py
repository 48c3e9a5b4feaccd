"""The options of a replay, and its result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from conformance.errors import UsageError
from conformance.replay.compare.outcome import OutcomeTally
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.needs import NO_ACCOUNT
from conformance.replay.recording.plan import ReplayPlan, ReplaySelection
from conformance.report.model.regressions import Place
from conformance.report.model.run import Run
from conformance.rules.registry import NO_OWN_RULES, OwnRules
from conformance.spec import Impact
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json

ALL_AT_ONCE = 10_000
"""Sessions that a load replays side by side at most: each has a connection of its own."""

FailOn = Literal["contradiction", "breaking", "permitted"]


@dataclass(frozen=True)
class Worker:
    """One of several workers that share a replay; ``index`` is from 0."""

    index: int
    workers: int


@dataclass
class Lag:
    """How late requests went out, in seconds behind their due time."""

    total: float = 0.0
    most: float = 0.0
    count: int = 0

    def note(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        self.most = max(self.most, seconds)


@dataclass(frozen=True)
class ReplayOptions:
    """The options that the user chose for a replay.

    ``pace`` is ``max``, ``recorded``, or how many times faster than recorded, such as ``10x``.
    ``accounts`` says which account of the profile stands for a recorded email; ``none`` leaves out what that
    email signed in for. ``min_share`` is the least share of the exchanges that must have been compared for a
    conclusive replay.
    ``cache``: repeated exchanges take the fast lane.
    """

    out: Path = Path("reports")
    impact: Impact = "read-only"
    pace: str = "max"
    concurrency: int = 1
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    recorded_host: Sequence[str] = ()
    """The hosts whose requests are replayed; none: all."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    salvage: bool = False
    strict: bool = False
    known: Path | None = None
    fail_on: FailOn = "breaking"
    """The least grave kind of difference that fails a replay."""
    min_share: float = 0.5
    profile_name: str = ""
    own: OwnRules = NO_OWN_RULES
    """Rules of the user's own."""
    cache: bool = True
    rate: float | None = None
    """Requests a second, whenever the answers come; None: as ``pace`` says."""
    ramp: float = 0.0
    """Seconds in which the rate is reached."""
    repeat: int = 1
    """How often a load is replayed at least."""
    duration: float = 0.0
    """Seconds in which a load is begun again each time it ends."""
    latency: Sequence[str] = ()
    """Limits such as ``p95 <= 1.2x``."""
    worker: Worker | None = None
    """Which share of the recording is replayed; None: all of it."""
    resume: bool = False
    """Goes on with the replay that left its journal under ``out``."""

    @property
    def selection(self) -> ReplaySelection:
        return ReplaySelection(self.only, self.skip, self.impact, frozenset(self.recorded_host))

    @property
    def sessions_at_once(self) -> int:
        """How many sessions replay side by side: all, where requests start when they are due."""
        return self.concurrency if self.rate is None else ALL_AT_ONCE

    @property
    def scale(self) -> float | None:
        """The factor of recorded seconds; None where nothing is waited for. UsageError."""
        if self.pace == "max":
            return None
        if self.pace == "recorded":
            return 1.0
        try:
            factor = float(self.pace.removesuffix("x"))
        except ValueError:
            factor = 0.0
        if not 0 < factor < math.inf:
            raise UsageError(f"--pace {self.pace}: give max, recorded, or a factor such as 10x.")
        return 1 / factor

    def check(self, profile: Profile) -> None:
        """UsageError: an option that this profile cannot fulfil, or a number that means nothing."""
        if self.concurrency < 1:
            raise UsageError(f"--concurrency {self.concurrency}: give 1 or more.")
        if self.rate is None and (self.ramp or self.latency or self.repeat != 1 or self.duration):
            raise UsageError(
                "--ramp, --repeat, --duration and --latency need --rate, the number of requests in a "
                "second, such as 200/s."
            )
        if self.repeat < 1:
            raise UsageError(f"--repeat {self.repeat}: give 1 or more.")
        if self.rate is not None and (self.pace != "max" or self.concurrency != 1 or self.resume):
            raise UsageError(
                "--rate starts each request when it is due: leave out --pace, --concurrency and --resume."
            )
        for email, name in self.accounts.items():
            if name != NO_ACCOUNT and name not in profile.accounts:
                present = ", ".join(sorted(profile.accounts))
                raise UsageError(
                    f"--account {email}={name}: the profile has no [accounts.{name}]; it has {present}."
                )


@dataclass
class ReplayResult:
    plan: ReplayPlan
    tally: OutcomeTally
    correlation: Correlation
    drift: Counter[Place]
    notes: list[str]
    lag: Lag
    seconds: float
    run: Run
    groups: list[dict[str, Json]]
    """The differences by meaning, a row for each place."""
