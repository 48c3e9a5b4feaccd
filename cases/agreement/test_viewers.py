"""Two accounts read the same records, in turn: what a record shows does not depend on its reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cases import surroundings
from cases.premises import settle
from cases.surroundings import SERVED, Place, Reading
from conformance.cases import (
    HELD,
    Account,
    Comparison,
    Portal,
    Untestable,
    Verify,
    are_different,
    contradicts,
    mark,
    op,
    records,
)

SHARED = (*surroundings.SHARED, op.ROLE, op.ROLE_PERMISSIONS, op.WORKSPACES_CURRENT)
"""What shows records that are nobody's own."""

OF_THE_READER = frozenset({"canAccept", "extraConfig", "extraData"})
"""Fields that tell what the reader may do, or may hold what is the reader's own."""


@mark.requirement("AGREE-008")
@mark.needs("accounts.spare")
def test_a_record_does_not_depend_on_its_reader(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    readers = admin.token, spare.token
    first, other = (Reading(portal, token, SHARED) for token in readers)
    if not any(place[0] in other.answers for place in first.values if place[1]):
        raise Untestable("the two accounts can read no record of the same endpoint", "environment")
    again = Reading(portal, admin.token, SHARED)
    found = set(_differences(first, other, again))
    if found:
        # What is another a moment later was changed, or comes from a cache.
        settle(portal, why="a change to be seen by everybody")
        first, other, again = (Reading(portal, token, SHARED) for token in (*readers, readers[0]))
        found &= set(_differences(first, other, again))
    for key in SHARED:
        if key in again.answers and key in other.answers and other.answers[key].success:
            place = min((place for place in found if place[0] == key), default=None)
            verify("AGREE-008", HELD if place is None else _contradiction(other, again, place))


def _differences(first: Reading, other: Reading, again: Reading) -> Iterator[Place]:
    """Where the other reader is shown another value than the first one, before and afterwards."""
    for place in first.values.keys() & other.values.keys() & again.values.keys():
        value, shown = first.values[place], other.values[place]
        if not place[1] or place[2] in OF_THE_READER or [] in (value, shown):
            continue
        if are_different(value, shown) and not are_different(value, again.values[place]):
            yield place
    if other.count(op.ROLE_PERMISSIONS):
        for place in (first.values.keys() & again.values.keys()) - other.values.keys():
            if place[0] == op.ROLE_PERMISSIONS and place[1] and place[2] == SERVED:
                yield place


def _contradiction(other: Reading, again: Reading, place: Place) -> Comparison:
    key, id, name = place
    answer = other.answers[key]
    path = next((path for path, record in records(answer) if record.get("bizId") == id), "data")
    shown = f"{name} of {id} is another for" if name else f"{id} is not listed for"
    message = f"{key}: {shown} another account, which read it between two equal answers"
    at = f"{path}.{name}" if name else path
    odd = contradicts(answer, at, again.values[place], other.values.get(place), message)
    return replace(odd, also=(again.answers[key],))
