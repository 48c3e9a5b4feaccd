"""Requests in which a made-up value stands for a redacted one: when their responses can be compared."""

from __future__ import annotations

from conformance.replay.compare.credentials import REFUSED_BY
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.report.model.words import listed

WRONG_ANYHOW = frozenset(REFUSED_BY.values())
"""The codes by which the recorded portal said that the secret was wrong: so is a made-up one."""

PROVING = frozenset({"token", "refresh-token", "code"})
"""Kinds of secrets that prove who sends a request: that a made-up one is accepted where the recorded one was
refused is held against the target."""


def why_nothing_is_shown(pair: ReplayedExchange) -> str | None:
    """Why two responses are not comparable: the secret that the replay does not have may decide them."""
    if not pair.made_up or (pair.recorded.success and pair.live.success):
        return None
    if pair.live.response is None or pair.recorded.response is None:
        return None
    is_taken_for_right = pair.live.success and not PROVING.isdisjoint(pair.made_up)
    if not pair.recorded.success and (pair.recorded.code in WRONG_ANYHOW or is_taken_for_right):
        return None
    kinds = listed(dict.fromkeys(f"a {kind}" for kind in pair.made_up))
    verb = "accepted" if pair.recorded.success else "refused, maybe for it"
    return (
        f"it sends {kinds} that the recording redacts and no response returned: a made-up one was sent, and "
        f"the recorded request was {verb}"
    )
