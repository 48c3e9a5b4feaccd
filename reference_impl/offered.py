"""What only a test deployment offers: its clock, its mail, a dump of its state, a log of what it received."""

from collections.abc import Callable
from typing import Any, NamedTuple

from reference_impl import wire
from reference_impl.asked import Asked
from reference_impl.portal import Portal, Record

SECRETS = frozenset({"otpSecret", "otpOffered", "backupCodes", "usedCodes", "password"})
# What any change leaves behind, also one that was put back.
TRACES = frozenset({"updatedAt", "updatedBy", "passwordChangedAt", "lastLoginAt", "lastLoginIp"})
CLOSED_INVITATIONS = frozenset({"ACCEPTED", "DECLINED", "EXPIRED", "CANCELLED"})
RECEIVED_KEPT = 20_000
INITIATE = "/web/v1/system/auth/login/initiate"


class Told(NamedTuple):
    data: Any
    status: int = 200


class Tools:
    def __init__(self, portal: Portal, *, clock: bool, inbox: bool) -> None:
        self._portal = portal
        self._tools: dict[tuple[str, str], Callable[[Asked], Told]] = {
            ("GET", "/dump"): lambda asked: Told(dump(portal)),
            ("GET", "/received"): lambda asked: Told(received(portal)),
        }
        if clock:
            self._tools["POST", "/clock/advance"] = self._advance
        if inbox:
            self._tools["GET", "/inbox"] = self._inbox

    def answer(self, asked: Asked) -> Told | None:
        """Answer of the addressed tool; None if the request addresses no tool."""
        path = "/inbox" if asked.path.startswith("/inbox/") else asked.path
        tool = self._tools.get((asked.method, path))
        return tool(asked) if tool else None

    def _advance(self, asked: Asked) -> Told:
        try:
            seconds = float(wire.decoded(asked.octets or b"")["seconds"])
        except (ValueError, TypeError, KeyError, IndexError):
            return Told({"error": 'Send {"seconds": 61}.'}, 400)
        self._portal.clock.advance(min(max(seconds, 0.0), 1e9))
        return Told({"now": self._portal.now()})

    def _inbox(self, asked: Asked) -> Told:
        return Told(self._portal.outbox.get(asked.path.removeprefix("/inbox/").casefold(), []))


def log(portal: Portal, asked: Asked, *, status: int, changed: bool) -> None:
    portal.received.append(
        {
            "method": asked.method,
            "path": asked.path,
            "status": status,
            "changed": changed,
            "at": portal.now(),
            "clientIp": asked.client_ip,
        }
    )
    if len(portal.received) > RECEIVED_KEPT:
        del portal.received[: RECEIVED_KEPT // 2]


def received(portal: Portal) -> Record:
    initiations = [entry["at"] for entry in portal.received if entry["path"] == INITIATE]
    return {"requests": portal.received, "initiations": {"count": len(initiations), "at": initiations}}


def dump(portal: Portal) -> Record:
    """The state without secrets; what only ever grows stands apart from what can be put back."""
    kept = {kind: _kept(kind, records) for kind, records in portal.records.items()}
    return {
        "state": {kind: {id: _without(TRACES, record) for id, record in kept[kind].items()} for kind in kept},
        "histories": {
            "sign-ins": portal.history,
            "traces": {
                kind: {id: _only(TRACES, record) for id, record in kept[kind].items()} for kind in kept
            },
            "closed": {
                kind: {id: _public(record) for id, record in records.items() if id not in kept[kind]}
                for kind, records in portal.records.items()
            },
            "mails": {
                to: [_without({"code"}, mail) for mail in mails] for to, mails in portal.outbox.items()
            },
            "queued": portal.queued,
        },
        "sessions": {
            id: {"account": s.account_id, "state": s.state, "loginTime": s.login_time}
            for id, s in sorted(portal.sessions.items())
        },
    }


def _kept(kind: str, records: dict[str, Record]) -> dict[str, Record]:
    return {id: _public(record) for id, record in sorted(records.items()) if not _is_closed(kind, record)}


def _is_closed(kind: str, record: Record) -> bool:
    """Ended for good: no endpoint brings it back, and none removes it."""
    if kind == "invitation":
        return record["invitationStatus"] in CLOSED_INVITATIONS
    return kind == "currency grant" and record["grantStatus"] == "DISABLED"


def _public(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _public(inner) for name, inner in value.items() if name not in SECRETS}
    return value


def _without(names: frozenset[str] | set[str], record: Record) -> Record:
    return {name: value for name, value in record.items() if name not in names}


def _only(names: frozenset[str], record: Record) -> Record:
    return {name: value for name, value in record.items() if name in names}
