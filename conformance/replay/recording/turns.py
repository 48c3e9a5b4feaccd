"""The order between sessions: which exchanges must have ended before one is sent, at any concurrency.

Sessions side by side may overtake each other, but not where they touch the same account or the same records:
what one of them writes, the others read as they did when recorded. A record that is changed shows elsewhere
too, by its id or its name: an invitation names the accounts of both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.replay.recording.lineage import RETURNED, SIGN_IN_STEPS
from conformance.replay.recording.lines import endpoint_in, impact_in, returned_in
from conformance.replay.recording.needs import signing_in
from conformance.replay.recording.plan import CHANNEL_HEADER, ReplayPlan, area_of
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Exchange, Json, dig

OWN_AREAS = frozenset({"auth", "security", "profile"})
"""The areas that show and change the caller's own account."""

BY_MAIL = frozenset({op.PASSWORD_INIT, op.PASSWORD_RESET})
BY_EMAIL = BY_MAIL | {op.LOGIN_INITIATE, op.PASSWORD_FORGOT}
WRITES_ACCOUNT = SIGN_IN_STEPS | {op.TOKEN_REFRESH}

ACCOUNTS, INVITATIONS = "accounts", "invitations"


@dataclass(frozen=True, slots=True)
class Touch:
    """The accounts and areas that a request reads and writes, by name."""

    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(slots=True)
class _Subject:
    """An account or an area: the last position that wrote it, and by session the last that read it since."""

    written: int = -1
    writer: int = -1
    readers: dict[int, int] = field(default_factory=dict)


def turns_of(plan: ReplayPlan) -> Mapping[int, tuple[int, ...]]:
    """Maps each position to earlier positions of other sessions that must end before it is sent."""
    turns: dict[int, tuple[int, ...]] = {}
    subjects: dict[str, _Subject] = {}
    touches, sent = _Touches(plan), list(plan.sent())
    touched = [touches.of(position) for position in sent]
    for position, touch in zip(sent, touched, strict=True):
        session, shown = plan.session_of[position], touches.marks.shown_at(position)
        if not shown <= touch.reads:
            touch = replace(touch, reads=touch.reads | shown)
        waits = _waits(touch, session, position, subjects)
        if waits:
            turns[position] = tuple(sorted(waits))
    return turns


def _waits(touch: Touch, session: int, position: int, subjects: dict[str, _Subject]) -> set[int]:
    """The positions that one waits for; takes note of it in the subjects."""
    waits: set[int] = set()
    for name in touch.reads - touch.writes if touch.writes else touch.reads:
        subject = subjects.get(name) or subjects.setdefault(name, _Subject())
        if subject.written >= 0 and subject.writer != session and session not in subject.readers:
            waits.add(subject.written)
        subject.readers[session] = position
    for name in touch.writes:
        subject = subjects.get(name) or _Subject()
        if subject.written >= 0 and subject.writer != session:
            waits.add(subject.written)
        waits.update(last for reader, last in subject.readers.items() if reader != session)
        subjects[name] = _Subject(position, session)
    return waits


class _Marks:
    """By what the records that are changed are known where other areas show them: ids, names, emails."""

    def __init__(self, plan: ReplayPlan) -> None:
        self._plan = plan
        self._subjects: dict[str, frozenset[str]] = {}
        """By mark, what its record belongs to."""
        self._names: dict[str, set[str]] = {}
        """By account, its names as they were shown."""
        self._shown: dict[int, frozenset[str]] = {}
        """By the fingerprint of a response."""

    def note(self, exchange: Exchange, key: str, written: frozenset[str]) -> None:
        """Takes the marks of the record that a request changes, in subjects beside its caller's own account;
        or the names of the account that a response shows."""
        if not written and key not in (op.PROFILE, op.ACCOUNT):
            return
        shown, sent = exchange.data, exchange.sent
        id = _id_of(shown, sent)
        names = {*_names_in(shown), *(_names_in(sent) if written else ())}
        if id is not None:
            known = self._names.setdefault(id, set())
            known |= names
            names = {id, *known}
        for mark in names if written else ():
            self._subjects[mark] = self._subjects.get(mark, frozenset()) | written

    def shown_at(self, position: int) -> frozenset[str]:
        """The subjects of the changed records that a response shows."""
        if not self._subjects:
            return frozenset()
        response = self._plan.responses[position]
        if response not in self._shown:
            marks = self._subjects.keys() & returned_in(self._plan.exchange(position))
            self._shown[response] = frozenset().union(*(self._subjects[mark] for mark in marks))
        return self._shown[response]


def _id_of(shown: Json, sent: Json) -> str | None:
    """Finds the changed record's id in the answer, or else the only id in the request."""
    id = dig(shown, ["bizId"])
    if not isinstance(id, str) and isinstance(sent, dict):
        ids = [value for name, value in sent.items() if name == "bizId" or name.endswith("BizId")]
        id = ids[0] if len(ids) == 1 else None
    return id if isinstance(id, str) and id else None


def _names_in(record: Json) -> Iterator[str]:
    for name, value in record.items() if isinstance(record, dict) else ():
        if name.lower().endswith(("name", "email")) and isinstance(value, str) and value:
            yield value


class _Touches:
    """What each exchange touches. Follows whose login session or token a request carries."""

    def __init__(self, plan: ReplayPlan) -> None:
        self._plan = plan
        self.marks = _Marks(plan)
        self._owners: dict[str, str] = {}
        """By login session or token, the email of its account."""
        self._latest: dict[int, str] = {}
        """By session, the email that signed in last."""
        self._known: dict[tuple[int, int, int], Touch] = {}
        """Those of requests that only read, by session and fingerprints, until somebody signs in."""

    def of(self, position: int) -> Touch:
        plan, session = self._plan, self._plan.session_of[position]
        key = session, plan.requests[position], plan.responses[position]
        touch = self._known.get(key)
        if touch is None:
            touch = self._anew(position, session)
            if not touch.writes:
                self._known[key] = touch
        return touch

    def _anew(self, position: int, session: int) -> Touch:
        exchange = self._plan.exchange(position)
        key = endpoint_in(exchange)
        email = self._email(position, exchange, key)
        self._follow(exchange, key, session, email)
        touch = _touch(exchange, key, email)
        self.marks.note(exchange, key, touch.writes - {_own(email)})
        return touch

    def _email(self, position: int, exchange: Exchange, key: str) -> str:
        if key in BY_EMAIL:
            email = dig(exchange.sent, ["email"])
            if not isinstance(email, str) and key in BY_MAIL:
                email = signing_in(self._plan, position)
            if isinstance(email, str):
                return email
        token = (exchange.request.header("authorization") or "").partition(" ")[2]
        for value in (*_carried(exchange), token):
            if value in self._owners:
                return self._owners[value]
        return self._latest.get(self._plan.session_of[position], "")

    def _follow(self, exchange: Exchange, key: str, session: int, email: str) -> None:
        if key in (op.LOGIN_INITIATE, op.LOGIN_MFA_SEND, op.LOGIN_COMPLETE):
            self._latest[session] = email
            self._known.clear()
        if key not in RETURNED or not email:
            return
        data = exchange.data
        for name in RETURNED[key]:
            value = dig(data, [name])
            if isinstance(value, str):
                self._owners[value] = email
                self._known.clear()


def _carried(exchange: Exchange) -> list[str]:
    """The login session and the refresh token in a request, which say whose it is."""
    carried = (dig(exchange.sent, [name]) for name in ("sessionId", "refreshToken"))
    return [value for value in carried if isinstance(value, str)]


def _own(email: str) -> str:
    return f"account {email}"


def _channel(exchange: Exchange, key: str) -> frozenset[str]:
    """The secure channel that a request uses or closes, whoever does."""
    closed = dig(exchange.sent, ["sessionId"]) if key == op.SECURE_SESSION_CLOSE else None
    session = closed if isinstance(closed, str) else exchange.request.header(CHANNEL_HEADER)
    return frozenset([f"channel {session}"] if session else [])


def _touch(exchange: Exchange, key: str, email: str) -> Touch:
    """An unknown caller counts as an account of its own name."""
    area, account = area_of(exchange.request.path), _own(email)
    reads = {account} if area in OWN_AREAS else {account, area}
    if area in OWN_AREAS:
        reads.add(ACCOUNTS)
    if INVITATIONS in exchange.request.path:
        reads.add(INVITATIONS)
    channel = _channel(exchange, key)
    reads.update(channel)
    if key == op.SECURE_SESSION_CLOSE:
        return Touch(frozenset(reads), channel)
    if impact_in(exchange) == "read-only" and key not in WRITES_ACCOUNT:
        return Touch(frozenset(reads), frozenset())
    writes = {account} if area in OWN_AREAS else {area}
    if key == op.PROFILE_UPDATE:
        writes.add(ACCOUNTS)
    if INVITATIONS in exchange.request.path:
        writes.add(INVITATIONS)
    return Touch(frozenset(reads), frozenset(writes))
