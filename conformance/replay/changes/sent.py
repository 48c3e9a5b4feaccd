"""Which requests of a replay change something that is noted before they are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.replay.changes.ways import NO_WAY_BACK, PASSWORDS, UNDO
from conformance.replay.rebuild.actions import NoteChange
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.rebuild.sign_ins import Client
from conformance.replay.recording.plan import ReplayPlan
from conformance.traffic.exchange import ABSENT, Exchange


def is_noted(key: str) -> bool:
    """Whether an operation changes what outlives the replay."""
    return key in UNDO or key in NO_WAY_BACK or key in PASSWORDS


def change_of(position: int, recorded: Exchange, rebuilt: Rebuilt, client: Client) -> NoteChange | None:
    """The change that a request is about to make; None where it makes none that outlives the replay."""
    operation = recorded.request.operation
    if operation is None or not is_noted(operation.key):
        return None
    request = rebuilt.request
    body = rebuilt.plain.request if rebuilt.plain is not None else request.body
    scheme, _, token = (request.header("authorization") or "").partition(" ")
    return NoteChange(
        position,
        operation.key,
        None if body is ABSENT else body,
        rebuilt.account,
        token or scheme or client.token,
        request.header("x-client-hash"),
        is_expected=recorded.success,
    )


def changes_foreseen(plan: ReplayPlan) -> Iterator[str]:
    """What a replay would change: what is restored afterwards, and what cannot be, and why."""
    changes = Counter(_changing(plan))
    for key, times in sorted(changes.items()):
        if key not in NO_WAY_BACK:
            yield f"{times:7} {key}: restored afterwards."
    yield from losses_foreseen(plan)


def losses_foreseen(plan: ReplayPlan) -> Iterator[str]:
    """What a replay would change for good, and why nothing restores it."""
    for key, times in sorted(Counter(_changing(plan)).items()):
        if key in NO_WAY_BACK:
            yield f"{times:7} {key}: cannot be restored: {NO_WAY_BACK[key]}."


def _changing(plan: ReplayPlan) -> Iterator[str]:
    """The operations of what would be sent and changes something that outlives the replay."""
    for position in plan.changing:
        is_sent = plan.session_of[position] >= 0 and position not in plan.refused
        if is_sent and is_noted(plan.changing[position]):
            yield plan.changing[position]
