"""Notification channels and their types as state machines: made, changed and taken away in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from cases.changing import Creation
from cases.coded import state_of
from cases.dating import TRACES
from cases.notifications.making import CHANNEL, TYPE, Family, Found, differences, listed_id
from cases.notifications.queries import asked, ids, items, record_of
from cases.premises import authorized, change_accepted, settled, without
from cases.properties.signing_in import newest
from conformance.cases import (
    HELD,
    Account,
    Comparison,
    Exchange,
    Json,
    Machine,
    Portal,
    Trial,
    Untestable,
    equal,
    holds,
    move,
    op,
    told_id,
)

AT_ONCE = 3
MOST = 5
WHICH = st.integers(0, AT_ONCE - 1)


@dataclass(frozen=True)
class Kind:
    """Stated behaviour of a record family. ``on`` and ``off`` pair a verb with the state that it sets, if
    stated; ``only`` names the filter for active records."""

    family: Family
    status: str
    on: tuple[str, str | None]
    off: tuple[str, str | None]
    only: str
    ids: Mapping[str, str]


TYPES = Kind(
    TYPE,
    "typeStatus",
    ("enable", "ENABLED"),
    ("disable", "DISABLED"),
    "enabledOnly",
    {
        "create": "CHANNELTYPE-026",
        "update": "CHANNELTYPE-027",
        "disable": "CHANNELTYPE-028",
        "enable": "CHANNELTYPE-029",
        "delete": "CHANNELTYPE-030",
        "bizId": "CHANNELTYPE-020",
        "enabledOnly": "CHANNELTYPE-023",
    },
)
CHANNELS = Kind(
    CHANNEL,
    "channelStatus",
    ("activate", None),
    ("deactivate", "INACTIVE"),
    "activeOnly",
    {
        "create": "CHANNEL-047",
        "update": "CHANNEL-048",
        "deactivate": "CHANNEL-049",
        "delete": "CHANNEL-050",
        "command": "CHANNEL-031",
        "bizId": "CHANNEL-040",
        "activeOnly": "CHANNEL-044",
    },
)
"""What activating does to the status of a channel is not shown."""


@dataclass
class Kept:
    """A record of the run's own: what updates sent for it, and the state it was led to, as far as that is
    stated. ``switched`` is the verb that led there."""

    creation: Creation
    id: str
    steps: list[Exchange]
    fields: dict[str, Json] = field(default_factory=dict)
    state: str | None = None
    switched: str = ""
    is_gone: bool = False
    shown: dict[str, Json] = field(default_factory=dict)


def is_gone(record: Kept, shown: dict[str, Json] | None) -> bool:
    """Tells whether the listing lacks a deleted record, or shows it changed."""
    return shown is None or without(shown, *TRACES) != without(record.shown, *TRACES)


class Records(Machine):
    """Every change is read back at once, and again whenever the record is looked at later."""

    def __init__(self, trial: Trial, portal: Portal, by: Account, kind: Kind, verbs: frozenset[str]) -> None:
        super().__init__(trial)
        self.portal = portal
        self.by = by
        self.kind = kind
        self.verbs = verbs
        self.records: list[Kept] = []

    def clean_up(self) -> None:
        for record in self.living():
            if not record.creation.undo().success and self.kind.off[0] in self.verbs:
                # Some want a record switched off before they let it go.
                self._ask(record, self.kind.off[0])
                record.creation.undo()

    def living(self) -> list[Kept]:
        return [record for record in self.records if not record.is_gone]

    def able(self, verb: str) -> bool:
        return bool(self.living()) and verb in self.verbs

    @move(lambda self: len(self.living()) < AT_ONCE and len(self.records) < MOST)
    def create(self) -> None:
        portal, family, name = self.portal, self.kind.family, self.portal.unique()
        key = family.verb("create")
        body = portal.operation_body(key, unique=name)
        undo = portal.operation_body(family.verb("delete"), result_id="{result_id}", unique=name)
        creation = Creation(portal, key, undo, by=self.by, name=name)
        answer = portal.call(key, json=body, token=self.by.token)
        if 400 <= (answer.status or 0) < 500:
            creation.settled()
        change_accepted(answer)
        try:
            id = told_id(portal, key, answer) or listed_id(portal, self.by, family, name)
        except Untestable:
            creation.take_away()
            raise
        creation.came_to(id)
        self.records.append(Kept(creation, id, [answer]))
        self._look(self.records[-1], "create")

    @move(lambda self: self.able("update"), which=WHICH)
    def update(self, which: int) -> None:
        record = newest(self.living(), which)
        answer = self._ask(record, "update")
        if answer.success and isinstance(answer.sent, dict):
            record.fields |= {name: value for name, value in answer.sent.items() if value != record.id}
            self._look(record, "update")

    @move(lambda self: self.able(self.kind.on[0]), which=WHICH)
    def switch_on(self, which: int) -> None:
        self._switch(newest(self.living(), which), *self.kind.on)

    @move(lambda self: self.able(self.kind.off[0]), which=WHICH)
    def switch_off(self, which: int) -> None:
        self._switch(newest(self.living(), which), *self.kind.off)

    def _switch(self, record: Kept, verb: str, state: str | None) -> None:
        answer = self._ask(record, verb)
        # Which moves are possible in which state is not shown: a refusal may well be right.
        if answer.success:
            record.state, record.switched = state, verb
            self._look(record, verb)

    def commandable(self) -> bool:
        able = self.kind is CHANNELS and self.portal.profile.bot_challenge.token is not None
        return able and bool(self.living())

    @move(commandable, which=WHICH)
    def deactivate_by_command(self, which: int) -> None:
        record = newest(self.living(), which)
        answer = authorized(
            self.portal.call(op.CHANNEL_COMMAND_DEACTIVATE, json={"bizId": record.id}, token=self.by.token)
        )
        record.steps.append(answer)
        if answer.success:
            record.state, record.switched = "INACTIVE", "command"
            self._look(record, "command")

    @move(lambda self: bool(self.living()), which=WHICH)
    def delete(self, which: int) -> None:
        record = newest(self.living(), which)
        answer = authorized(record.creation.undo())
        record.steps.append(answer)
        if answer.success:
            record.is_gone = True
            self._look(record, "delete")

    @move(lambda self: bool(self.records), which=WHICH)
    def look(self, which: int) -> None:
        record = newest(self.records, which)
        self._look(record, "delete" if record.is_gone else record.switched or "create")

    @move(lambda self: bool(self.records), which=WHICH)
    def look_for_those_that_are_on(self, which: int) -> None:
        """Asked for one id: those beside it might fill a page."""
        record = newest(self.records, which)
        fields = {"bizId": record.id, self.kind.only: True}
        off = not record.is_gone and record.state == self.kind.off[1]
        listing = settled(
            self.portal,
            lambda: asked(self.portal, self.by, self.kind.family.query, **fields),
            lambda answer: not (off and answer.success and record.id in ids(answer)),
        )
        if listing.success and off:
            expected = f"no {record.id}, which is {record.state}"
            listed = sorted(map(str, ids(listing)))
            missing = record.id not in listed
            self._verify(
                self.kind.only, holds(listing, "data.items", missing, expected, *record.steps, actual=listed)
            )

    # --- what the moves are made of

    def _ask(self, record: Kept, verb: str) -> Exchange:
        key = self.kind.family.verb(verb)
        body = self.portal.operation_body(key, result_id=record.id, unique=self.portal.unique())
        answer = authorized(self.portal.call(key, json=body, token=self.by.token))
        record.steps.append(answer)
        return answer

    def _look(self, record: Kept, verb: str) -> None:
        """Reads a record by id, and verifies the known facts about it."""
        try:
            listing, shown = settled(
                self.portal, lambda: self._read(record), lambda one: self._fits(record, one[1])
            )
        except Untestable:
            if record.is_gone:
                # An id that is no more may be refused as well.
                return
            raise
        listed = sorted(map(str, ids(listing)))
        alone = holds(
            listing, "data.items", {*listed} <= {record.id}, f"nothing but {record.id}", actual=listed
        )
        if alone is not HELD:  # whether it leaves anything out does not show by what matches
            self._verify("bizId", alone)
        expected = f"no {record.id}, or one that is marked" if record.is_gone else record.id
        as_known = is_gone(record, shown) if record.is_gone else shown is not None
        there = holds(listing, "data.items", as_known, expected, *record.steps, actual=listed)
        if record.is_gone or not record.steps[1:]:
            self._verify(verb, there)
        if shown is None or record.is_gone:
            return
        record.shown = shown
        other = differences(shown, record.fields)
        self._verify(
            "update", holds(listing, "data.items", not other, record.fields, *record.steps, actual=other)
        )
        if record.state is not None and record.switched in self.kind.ids:
            at = f"data.items[{items(listing).index(shown)}].{self.kind.status}"
            at += ".code" if self.kind is TYPES else ""
            if state_of(shown, self.kind.status) is not None:
                self._verify(record.switched, equal(listing, at, record.state, *record.steps))

    def _read(self, record: Kept) -> Found:
        return record_of(self.portal, self.by, self.kind.family.query, record.id)

    def _fits(self, record: Kept, shown: dict[str, Json] | None) -> bool:
        """Whether every change shows that was made."""
        if record.is_gone:
            return is_gone(record, shown)
        if shown is None or differences(shown, record.fields):
            return False
        return record.state is None or state_of(shown, self.kind.status) in (None, record.state)

    def _verify(self, what: str, comparison: Comparison) -> None:
        if what in self.kind.ids:
            self.trial.verify(self.kind.ids[what], comparison)


def verbs_of(portal: Portal, kind: Kind) -> frozenset[str]:
    return frozenset(verb for verb in ("update", kind.on[0], kind.off[0]) if _has_body(portal, kind, verb))


def _has_body(portal: Portal, kind: Kind, verb: str) -> bool:
    try:
        portal.operation_body(kind.family.verb(verb), result_id="id", unique="name")
    except Untestable:
        return False
    return True
