"""Which requests of a replay change something that is noted before they are sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.replay.changes.reading import id_in
from conformance.replay.rebuild.actions import NoteChange
from conformance.replay.rebuild.own_factors import Client
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.plan import ReplayPlan
from conformance.spec.endpoints import INVITE
from conformance.target.portal.restoring.ways import CREATIONS, NO_WAY_BACK, OF_A_RECORD, PASSWORDS, UNDO
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
    """Yields the changes that a replay would make: restored afterwards, or permanent with the reason."""
    changes = Counter(plan.changing[position] for position in _changing(plan))
    losses = Counter(plan.changing[position] for position in _losing(plan))
    for key, times in sorted((changes - losses).items()):
        own = "on records that the replay itself makes" if key in NO_WAY_BACK else "restored afterwards"
        yield f"{times:7} {key}: {own}{'; the mail that it sends stays' if key == INVITE else ''}."
    yield from losses_foreseen(plan)


def losses_foreseen(plan: ReplayPlan) -> Iterator[str]:
    """Yields the permanent changes of a replay, and why nothing restores them."""
    for key, times in sorted(Counter(plan.changing[position] for position in _losing(plan)).items()):
        yield f"{times:7} {key}: cannot be restored: {NO_WAY_BACK[key]}."


def _changing(plan: ReplayPlan) -> Iterator[int]:
    """The positions of what would be sent and changes something that outlives the replay."""
    for position in plan.changing:
        is_sent = plan.session_of[position] >= 0 and position not in plan.refused
        if is_sent and is_noted(plan.changing[position]):
            yield position


def _losing(plan: ReplayPlan) -> Iterator[int]:
    """Positions of permanent changes, without changes to records that the recording created."""
    for position in _changing(plan):
        key = plan.changing[position]
        if key in NO_WAY_BACK and not (key in OF_A_RECORD and _is_own(plan, position)):
            yield position


def _is_own(plan: ReplayPlan, position: int) -> bool:
    """Whether a request is about a record that another request of the recording created, whatever the name
    of its id."""
    sent = plan.line(position).sent
    named = id_in(sent)
    values = sent.values() if named is None and isinstance(sent, dict) else [named]
    sources = (plan.sources.get(value) for value in values if isinstance(value, str))
    return any(source is not None and plan.changing.get(source) in CREATIONS for source in sources)
