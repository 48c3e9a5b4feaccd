"""The recording of a replay, analysed once, and the share of one worker of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from conformance.replay.options import ReplayOptions
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.needs import leave_out, refuse_changes
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.shares import Share, SharedPlan
from conformance.replay.recording.store import Store
from conformance.target.profile.model import Profile
from conformance.traffic.redaction.redact import Secrets

PLACEHOLDERS = 1_000_000
"""How many placeholders of a kind a worker has of its own."""

OnShare = Callable[[Share], None]


def own_placeholders(secrets: Secrets, options: ReplayOptions) -> None:
    """Gives a worker's new secrets placeholders that no other worker uses. Secrets of the profile have equal
    placeholders in all workers."""
    if options.worker is not None:
        secrets.number_after(options.worker.index * PLACEHOLDERS)


class AnalysedRecording:
    """An analysed recording."""

    def __init__(self, files: Sequence[str | Path], profile: Profile, options: ReplayOptions) -> None:
        """CaptureError, UsageError: as for ``planned``."""
        self._profile, self._accounts = profile, options.accounts
        self.store = Store(files, salvage=options.salvage)
        try:
            self.plan = planned(self.store, options.selection)
            leave_out(self.plan, options.accounts)
            refuse_changes(self.plan, _context(self.plan, profile, options.accounts).assumed)
        except BaseException:
            self.store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()

    @cached_property
    def shared(self) -> SharedPlan:
        return SharedPlan(self.plan, accounts_of(self.plan, self._profile, self._accounts))

    def shares(self, workers: int) -> list[Share]:
        return self.shared.shares(workers)


def accounts_of(plan: ReplayPlan, profile: Profile, chosen: Mapping[str, str]) -> Mapping[str, str]:
    """The accounts of the profile by recorded email; ``chosen`` are those that the user names."""
    return _context(plan, profile, chosen).accounts


def _context(plan: ReplayPlan, profile: Profile, chosen: Mapping[str, str]) -> RebuildContext:
    return RebuildContext(plan, profile, Correlation(used=plan.sources), chosen=chosen)


def keep_share(recording: AnalysedRecording, options: ReplayOptions, on_share: OnShare) -> None:
    """Has the plan of a recording send the worker's share alone."""
    worker = options.worker
    if worker is None:
        return
    shares = recording.shares(worker.workers)
    share = shares[worker.index] if worker.index < len(shares) else Share({})
    on_share(share)
    recording.shared.keep_only(share, is_first=worker.index == 0)
