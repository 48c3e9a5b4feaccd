"""The share of one worker of a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.replay.options import ReplayOptions
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.shares import Share, SharedPlan
from conformance.target.profile.model import Profile
from conformance.traffic.redaction.redact import Secrets

PLACEHOLDERS = 1_000_000
"""How many placeholders of a kind a worker has of its own."""

OnShare = Callable[[Share], None]


def own_placeholders(secrets: Secrets, options: ReplayOptions) -> None:
    """Gives what a worker is about to see other placeholders than any other worker's. What the profile holds
    has the same ones with all."""
    if options.worker is not None:
        secrets.number_after(options.worker.index * PLACEHOLDERS)


def of_worker(plan: ReplayPlan, profile: Profile, options: ReplayOptions, on_share: OnShare) -> ReplayOptions:
    """Has a plan send the worker's share alone. The options, with its share of the rate."""
    worker = options.worker
    if worker is None:
        return options
    context = RebuildContext(plan, profile, Correlation(used=plan.sources), chosen=options.accounts)
    shared = SharedPlan(plan, context.accounts)
    shares = shared.shares(worker.workers)
    share = shares[worker.index] if worker.index < len(shares) else Share({})
    on_share(share)
    shared.keep_only(share, is_first=worker.index == 0)
    if options.rate is None:
        return options
    whole = sum(each.exchanges for each in shares)
    return replace(options, rate=options.rate * share.exchanges / max(1, whole))
