"""Changes that are put back: written into the ledger before they are made, undone when the case is over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress

from conformance.cases import (
    KINDS,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    are_different,
    take_away,
    undo_key,
    with_result,
)

MOVES_BY_ITSELF = frozenset(
    {"updatedAt", "updatedBy", "accountStatus", "channelStatus", "typeStatus", "enabled"}
)
"""What a change leaves behind, and states: what is changed may have to be enabled anew."""

TOGETHER = (
    frozenset({"typeCode", "typeValue"}),
    frozenset({"channelHost", "emailConfig"}),
)
"""Fields of which one follows from the other."""


def changed_beside(
    kind: str,
    before: Mapping[str, Json],
    after: Mapping[str, Json],
    *,
    named: Collection[str],
    elsewhere: bool = False,
) -> dict[str, Json]:
    """What a record shows otherwise after a change, beside the fields that the change named.

    ``kind`` is the requirement by which such records agree with each other. ``elsewhere``: it is shown at
    another endpoint afterwards, where what is null need not have changed.
    """
    groups = [group for group in TOGETHER if group & set(named)]
    spared = MOVES_BY_ITSELF.union(named, *groups)
    return {
        name: after[name]
        for name in KINDS[kind].fields
        if name not in spared
        and name in before
        and name in after
        and (
            are_different(before[name], after[name])
            or (not elsewhere and (before[name] is None) != (after[name] is None))
        )
    }


class Change:
    """Something that is being changed by an account; ``accepted`` is None until it was asked for."""

    def __init__(self, portal: Portal, key: str, by: Account) -> None:
        self._portal, self._key, self._by = portal, key, by
        self.accepted: bool | None = None

    def ask(self, body: Json) -> Exchange:
        exchange = self._portal.call(self._key, json=body, token=self._by.token)
        self.accepted = bool(self.accepted) or exchange.success
        return exchange


@contextmanager
def put_back(
    portal: Portal,
    key: str,
    undo_body: Json,
    *,
    by: Account,
    left: Callable[[], str | None] = lambda: None,
) -> Iterator[Change]:
    """A change by the endpoint ``key``; afterwards its way back gets ``undo_body``.

    Not so where the change was refused. Where the undoing is refused it stays in the ledger: the run's end
    tries again. ``left`` reads back what the undoing, although accepted, has left changed.
    """
    by.signed_in()  # first: of what was never asked for nothing is to be put back
    undo_body = portal.changes.originals.of(key, undo_body, account=by.name)
    number = portal.changes.changed(key, undo_body, account=by.name)
    change = Change(portal, key, by)
    try:
        yield change
    finally:
        if portal.changes.is_unsent(number):
            portal.changes.undone(number)
        elif change.accepted is False or portal.call(undo_key(key), json=undo_body, token=by.token).success:
            reason = None
            if change.accepted is not False:
                with suppress(Untestable):
                    reason = left()
            if reason is None:
                portal.changes.undone(number)
            else:
                portal.changes.stays(number, reason)


class Creation:
    """A record that an account may make by ``key``: ``id`` once it is known. ``undo_body`` has
    ``{result_id}`` where the id goes; ``name`` is what a listing shows the record by."""

    def __init__(
        self, portal: Portal, key: str, undo_body: Json, *, by: Account, name: str | None = None
    ) -> None:
        by.signed_in()  # first: what was never asked for leaves nothing behind
        self._portal, self._by = portal, by
        self._undo_key, self._undo_body = undo_key(key), undo_body
        self._number = portal.changes.creating(key, undo_body, name=name, account=by.name)
        self.id: str | None = None
        self.is_open = True

    def came_to(self, id: str) -> None:
        self.id = id
        self._portal.changes.created(self._number, id)

    def settled(self) -> None:
        """There is nothing to take away: the request was refused, or what it made is away."""
        self._portal.changes.undone(self._number)
        self.is_open = False

    def stays(self, reason: str) -> None:
        """What was made cannot be taken away any more."""
        self._portal.changes.stays(self._number, reason)
        self.is_open = False

    def undo(self) -> Exchange:
        """Takes the record away, by the body that the ledger has."""
        body = with_result(self._undo_body, self.id)
        exchange = self._portal.call(self._undo_key, json=body, token=self._by.token)
        if exchange.success:
            self.settled()
        return exchange

    def take_away(self) -> None:
        """Takes the record away by whatever shows its id."""
        take_away(self._portal, self._number)

    def end(self) -> None:
        """Takes away what was made, where anything was."""
        if self.is_open and self.id is not None:
            self.undo()
        elif self.is_open and self._portal.changes.is_unsent(self._number):
            self.settled()
        elif self.is_open and self._portal.changes.is_accepted(self._number):
            self.take_away()


@contextmanager
def creation(
    portal: Portal, key: str, undo_body: Json, *, by: Account, name: str | None = None
) -> Iterator[Creation]:
    """Within it ``key`` may be called by an account; what it made is taken away afterwards."""
    making = Creation(portal, key, undo_body, by=by, name=name)
    try:
        yield making
    finally:
        making.end()
