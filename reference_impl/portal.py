"""The state of a portal, and the few verbs through which it changes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reference_impl import fields as shown_fields
from reference_impl.choices import Choices
from reference_impl.clock import Clock
from reference_impl.draw import Draw
from reference_impl.enumerations import Lists, enumeration
from reference_impl.errors import INVALID, Error, Refusal
from reference_impl.limits import Limits
from reference_impl.passwords import Password
from reference_impl.states import Moves
from reference_impl.tokens import Tokens

Record = dict[str, Any]

KINDS = (
    "account",
    "security",
    "institution",
    "workspace",
    "role",
    "permission",
    "invitation",
    "channel type",
    "channel",
    "file",
    "transfer order",
    "currency grant",
)


@dataclass(slots=True)
class LoginSession:
    """Between initiate and complete."""

    id: str
    account_id: str
    client_hash: str
    expires: float
    state: str


@dataclass(slots=True)
class MfaCode:
    text: str = field(repr=False)
    expires: float
    sent: float
    state: str = "SENT"


@dataclass(slots=True)
class Session:
    """A signed-in client."""

    id: str
    account_id: str
    client_ip: str
    user_agent: str
    login_time: float
    last_activity: float
    state: str = "ACTIVE"


@dataclass(slots=True)
class RefreshToken:
    session_id: str
    expires: float
    state: str = "VALID"


@dataclass(slots=True)
class SecureKey:
    id: str
    created: float


@dataclass(slots=True)
class SecureSession:
    id: str
    request_key: bytes = field(repr=False)
    response_key: bytes = field(repr=False)
    expires: float
    state: str = "OPEN"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: what is known from headers, and the session where the endpoint asks for one."""

    client_ip: str
    user_agent: str
    client_hash: str
    language: str
    workspace_id: str | None = None
    secure_session_id: str | None = None
    session: Session | None = None
    known_account: Record | None = None

    @property
    def account(self) -> Record:
        if self.known_account is None:
            raise Refusal("ACCESS.TOKEN_MISSING")
        return self.known_account

    @property
    def account_id(self) -> str:
        return str(self.account["bizId"])

    @property
    def session_id(self) -> str | None:
        return self.session.id if self.session else None


@dataclass
class Portal:
    limits: Limits
    choices: Choices
    clock: Clock
    draw: Draw
    moves: Moves
    lists: Lists
    fields: shown_fields.Fields
    errors: dict[str, Error]
    tokens: Tokens
    access_code: str
    bot_token: str
    other_access_code: str
    api_key: str

    records: dict[str, dict[str, Record]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    passwords: dict[str, Password] = field(default_factory=dict)
    password_codes: dict[str, MfaCode] = field(default_factory=dict)
    mfa_codes: dict[str, MfaCode] = field(default_factory=dict)
    login_sessions: dict[str, LoginSession] = field(default_factory=dict)
    initiations: dict[str, list[float]] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    refresh_tokens: dict[str, RefreshToken] = field(default_factory=dict)
    secure_keys: list[SecureKey] = field(default_factory=list)
    secure_sessions: dict[str, SecureSession] = field(default_factory=dict)
    history: dict[str, list[Record]] = field(default_factory=dict)
    outbox: dict[str, list[Record]] = field(default_factory=dict)
    queued: dict[str, list[Record]] = field(default_factory=dict)
    received: list[Record] = field(default_factory=list)
    changes: int = 0

    def now(self) -> float:
        return self.clock.now()

    def new_id(self, kind: str) -> str:
        return self.draw.id(self.choices.ids, kind)

    # Records.

    def find(self, kind: str, id: str) -> Record:
        """Raises Refusal where there is none."""
        record = self.records[kind].get(id)
        if record is None:
            raise Refusal("RESOURCE.NOT_FOUND")
        return record

    def newest(self, kind: str) -> list[Record]:
        return list(reversed(self.records[kind].values()))

    def add(self, kind: str, record: Record) -> Record:
        now = self.now()
        stored: Record = {"bizId": self.new_id(kind), "createdAt": now, "updatedAt": now} | record
        self.records[kind][stored["bizId"]] = stored
        self.changes += 1
        return stored

    def change(self, kind: str, id: str, **values: Any) -> Record:
        record = self.find(kind, id)
        record.update(updatedAt=self.now(), **values)
        self.changes += 1
        return record

    def remove(self, kind: str, id: str) -> Record:
        record = self.find(kind, id)
        del self.records[kind][id]
        self.changes += 1
        return record

    def next_state(self, family: str, state: str, trigger: str) -> str | None:
        """Where the move leads, or None where no row allows it."""
        return self.moves[family].get((state, trigger))

    # What the wire shows.

    def view(self, resource: str, record: Record) -> Record:
        return {name: self._shown(kind, record.get(name)) for name, kind in self.fields[resource]}

    def views(self, resource: str, records: Iterable[Record]) -> list[Record]:
        return [self.view(resource, record) for record in records]

    def _shown(self, kind: str, value: Any) -> Any:
        if kind == shown_fields.PLAIN or value is None:
            return value
        if kind == shown_fields.INSTANT:
            return shown_fields.instant(value, self.choices.fraction_digits)
        return self.enumeration(kind, value)

    def enumeration(self, name: str, symbol: str) -> Record:
        return enumeration(self.lists, name, symbol, self.choices)

    def symbol(self, name: str, value: str | int) -> str:
        """The symbolic code of a code given by symbol or number; raises Refusal."""
        for code in self.lists[name]:
            if value in (code.code, code.value):
                return code.code
        raise Refusal(INVALID)

    # Accounts.

    def account_of(self, email: str) -> Record | None:
        wanted = email.casefold()
        accounts = self.records["account"].values()
        return next((account for account in accounts if account["accountEmail"].casefold() == wanted), None)

    def security(self, account_id: str) -> Record:
        return self.find("security", account_id)

    def permissions(self, account: Record) -> set[str]:
        roles = self.records["role"]
        return {code for role in account["roleBizIds"] for code in roles[role]["permissionCodes"]}

    def sessions_of(self, account_id: str) -> list[Session]:
        """Those that have not ended, oldest first."""
        return [s for s in self.sessions.values() if s.account_id == account_id and s.state == "ACTIVE"]

    def end(self, session: Session, trigger: str) -> bool:
        session.state = self.next_state("session", session.state, trigger) or session.state
        return session.state == "ENDED"

    def record_sign_in(self, account_id: str, caller: Caller, *, failure: str | None = None) -> None:
        self.history.setdefault(account_id, []).append(
            {
                "bizId": self.new_id("login history"),
                "loginTime": self.now(),
                "clientIp": caller.client_ip,
                "userAgent": caller.user_agent,
                "loginResult": 0 if failure else 1,
                "failureReason": failure,
            }
        )

    # Mail.

    def mail(self, to: str, subject: str, *, code: str | None = None, text: str = "") -> None:
        """Into the outbox, newest first."""
        sent_at = shown_fields.instant(self.now(), 3)
        message = {"code": code, "to": to, "subject": subject, "text": text, "sentAt": sent_at}
        box = self.outbox.setdefault(to.casefold(), [])
        box.insert(0, message)
        del box[self.limits.mails_kept :]
