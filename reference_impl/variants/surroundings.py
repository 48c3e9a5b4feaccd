"""What goes on beside a request: others at work, replicas that lag, and another clock."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Scope

from reference_impl.changes import Change, rewritten, together, wrapped
from reference_impl.faults import operations as op
from reference_impl.fields import instant, seconds
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import around, deep, is_time, keeping, may, permitted
from reference_impl.wrappers import Answer, BeforeEach, Seen

FIRST_VALUE_OF_OTHERS = 80_100_000
OWN = ("bizId", "createdAt", "updatedAt")


@dataclass
class OthersAtWork:
    """Between the requests other users make records, and take away what they have made."""

    every: int = 5
    count: int = 0
    made: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, scope: Scope, portal: Portal) -> None:
        self.count += 1
        turn, rest = divmod(self.count, self.every)
        if rest:
            return
        if turn % 2:
            for kind in ("channel", "channel type", "invitation", "role"):
                self._make(portal, kind, f"OF_OTHERS_{turn}")
            if portal.records["transfer order"]:
                newest = portal.newest("transfer order")[0]
                portal.add("transfer order", _without_own(newest) | {"completedAt": portal.now()})
        elif turn % 4 == 0:
            for kind, id in self.made:
                portal.records[kind].pop(id, None)
            self.made.clear()

    def _make(self, portal: Portal, kind: str, name: str) -> None:
        newest = next(iter(portal.newest(kind)), None)
        if newest is None:
            return
        value = FIRST_VALUE_OF_OTHERS + self.count
        own = {"inviteeEmail": f"{name}@example.test".lower(), "typeCode": name, "typeValue": value}
        copied = _without_own(newest)
        added = portal.add(kind, copied | {key: value for key, value in own.items() if key in copied})
        self.made.append((kind, added["bizId"]))


def _without_own(record: Record) -> Record:
    return {key: value for key, value in record.items() if key not in OWN}


@dataclass
class OthersEdit:
    """From second to second another user writes a remark of an account, and of a channel."""

    every: float = 1.5
    last: float = 0.0
    count: int = 0
    ids: dict[str, str] = field(default_factory=dict)

    def __call__(self, scope: Scope, portal: Portal) -> None:
        """Edits an existing account without a sign-in, and an existing channel."""
        if portal.now() - self.last < self.every:
            return
        self.count, self.last = self.count + 1, portal.now()
        for kind in ("account", "channel"):
            ids = (record["bizId"] for record in portal.newest(kind))
            self.ids.setdefault(kind, next((id for id in ids if id not in portal.passwords), ""))
        account, channel = self.ids["account"], self.ids["channel"]
        if account in portal.records["account"]:
            portal.change("account", account, accountRemark=f"Call {self.count}")
        if channel in portal.records["channel"]:
            portal.change("channel", channel, channelRemark=f"Test {self.count}", updatedBy=account)


REPLICATION_SECONDS = 2.0
QUEUE_SECONDS = 8.0
INDEXING_SECONDS = 3.0

Kept = Callable[[Portal], dict[str, Any]]
"""What a change may touch, by name, as it is now."""

Put = Callable[[Portal, str, Any], None]


Replicated = tuple[Kept, Put]
PASSWORDS: Replicated = (
    lambda portal: dict(portal.passwords),
    lambda portal, id, password: portal.passwords.update({id: password}),
)
SESSION_STATES: Replicated = (
    lambda portal: {id: session.state for id, session in portal.sessions.items()},
    lambda portal, id, state: setattr(portal.sessions[id], "state", state),
)


def _records(kind: str) -> Replicated:
    return (
        lambda portal: {id: dict(record) for id, record in portal.records[kind].items()},
        lambda portal, id, record: portal.records[kind].get(id, {}).update(record),
    )


def _heard_of_later(seconds: float, *changes: tuple[Replicated, tuple[str, ...]]) -> Change:
    """What operations change takes effect some seconds later."""
    due: list[tuple[float, Put, str, Any]] = []

    def take_effect(scope: Scope, portal: Portal) -> None:
        now = portal.now()
        come = [item for item in due if item[0] <= now]
        due[:] = [item for item in due if item[0] > now]
        for _, put, name, value in come:
            put(portal, name, value)

    def delayed(kept: Kept, put: Put, *operations: str) -> Change:
        def changing(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
            before = kept(portal)
            data = handler(portal, caller, body)
            for name, value in kept(portal).items():
                if name in before and before[name] != value:
                    put(portal, name, before[name])
                    due.append((portal.now() + seconds, put, name, value))
            return data

        return around(changing, *operations)

    return together(
        *(delayed(*replicated, *operations) for replicated, operations in changes),
        wrapped(lambda app: BeforeEach(app, take_effect, below="/")),
    )


ON_REPLICAS = (
    (PASSWORDS, (op.CHANGE, op.RESET, op.INIT)),
    (SESSION_STATES, (op.LOGOUT,)),
    (_records("invitation"), (op.ACCEPT, op.DECLINE, op.CANCEL)),
    (_records("channel"), (op.CHANNEL_DEACTIVATE,)),
    (_records("channel type"), (op.TYPE_DISABLE,)),
)
"""A password, the end of a session, and the state of a record, with what changes them."""


def _time_here(portal: Portal) -> float:
    return time.monotonic()


def _indexed_later(
    operation: str,
    kind: str,
    *,
    seconds: float = INDEXING_SECONDS,
    clock: Callable[[Portal], float] = Portal.now,
) -> Change:
    """The query looks at a copy of the records, which is made anew some seconds after a change."""

    def indexing() -> Change:
        copies: list[tuple[float, dict[str, Record]]] = []

        def querying(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
            records, now = portal.records[kind], clock(portal)
            if not copies or copies[-1][1] != records:
                copies.append((now, copy.deepcopy(records)))
            ripe = [each for each in copies if each[0] <= now - seconds]
            del copies[: max(0, len(ripe) - 1)]
            portal.records[kind] = copies[0][1]
            try:
                return handler(portal, caller, body)
            finally:
                portal.records[kind] = records

        return around(querying, operation)

    return keeping(indexing)


BEHIND_SECONDS = 240


def _behind(seen: Seen, answer: Answer) -> None:
    """Whatever an answer says of a moment is some minutes earlier."""
    if isinstance(answer.body, dict) and "success" in answer.body:
        answer.body = deep(answer.body, _earlier)
        if "timestamp" in answer.body:
            answer.body["timestamp"] -= BEHIND_SECONDS * 1000


def _earlier(value: Any) -> Any:
    if is_time(value):
        return instant(seconds(value) - BEHIND_SECONDS, 3)
    if isinstance(value, dict) and isinstance(value.get("expiresAt"), int):
        return value | {"expiresAt": value["expiresAt"] - BEHIND_SECONDS * 1000}
    return value


VARIANTS = permitted(
    "others use the portal at the same time",
    may("others-at-work: others", wrapped(lambda app: BeforeEach(app, OthersAtWork()))),
    may("others-edit: others", wrapped(lambda app: BeforeEach(app, OthersEdit()))),
    "when a change shows is not stated",
    may(
        "changes-are-heard-of-later: consistency logout",
        keeping(lambda: _heard_of_later(REPLICATION_SECONDS, *ON_REPLICAS)),
    ),
    may(
        "acceptances-are-worked-off-a-queue: consistency",
        keeping(lambda: _heard_of_later(QUEUE_SECONDS, (_records("invitation"), (op.ACCEPT,)))),
    ),
    "when a list shows a change is not stated",
    may(
        "invitations-are-listed-by-a-replica: consistency",
        _indexed_later(op.INVITATIONS, "invitation", seconds=1.0, clock=_time_here),
        _indexed_later(op.OWN_INVITATIONS, "invitation", seconds=1.0, clock=_time_here),
        departs="INVITE-002",
    ),
    "when a search finds what was written is not stated",
    may(
        "searches-lag: consistency",
        _indexed_later(op.ACCOUNTS_QUERY, "account"),
        _indexed_later(op.TYPES_QUERY, "channel type"),
        _indexed_later(op.CHANNELS_QUERY, "channel"),
    ),
    "that a portal's clock agrees with its client's is not stated",
    may("clock-minutes-behind: clock", rewritten(_behind)),
)
