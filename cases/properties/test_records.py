"""Channels and their types in any order of changes: each is as it was last made, and no other is touched."""

from __future__ import annotations

import pytest

from cases.properties.records import CHANNELS, TYPES, Kind, Records, verbs_of
from conformance.cases import Account, Portal, Search, mark


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind,
            id=name,
            marks=[
                mark.requirement(*kind.ids.values(), *more),
                mark.needs(kind.family.verb("create"), kind.family.verb("delete")),
            ],
        )
        for name, kind, more in (
            ("types", TYPES, ("CHANNELTYPE-025",)),
            ("channels", CHANNELS, ("CHANNEL-030", "CHANNEL-046", "CHANNEL-055")),
        )
    ],
)
@mark.impact("mutating")
def test_a_record_is_as_it_was_last_changed(
    portal: Portal, admin: Account, search: Search, kind: Kind
) -> None:
    verbs = verbs_of(portal, kind)

    search.through(lambda trial: Records(trial, portal, admin, kind, verbs))
