"""Requests made anew from recorded ones: what was handed over is live, what nobody returned is made again."""

from __future__ import annotations

import re
import secrets as random
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from conformance.replay.compare.kinds import ISO, TAKEN_OUT, kind_of
from conformance.replay.engine.actions import Secret
from conformance.replay.rebuild.correlation import Identities
from conformance.replay.recording.plan import Plan
from conformance.replay.recording.values import LEAST_NUMBER, packed_json, packed_text
from conformance.spec import Operation
from conformance.spec.endpoints import PORTAL_PATH
from conformance.spec.tables import INVALID_PARAMETER, RECORD_OF_PARAMETER
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Exchange, Json, parameters

RECORDS = {**RECORD_OF_PARAMETER, "workspaceBizId": "workspace", "x-workspace-id": "workspace"}
"""The profile's records that stand for ids that no answer gave, by the names under which those are sent."""

BROKEN_RULES = frozenset(INVALID_PARAMETER)
CHALLENGE_FAILED = "4030"
EPOCH_MILLISECONDS = range(1_000_000_000_000, 10_000_000_000_000)


class Lost(Exception):
    """A value is needed that the answer at this position did not give."""

    def __init__(self, value: str, position: int) -> None:
        super().__init__(value)
        self.value, self.position = value, position


class Pending(Exception):
    """A value is needed that the answer at this position has yet to give."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CannotBeMade(Exception):
    """Nothing recorded, and nothing in the profile, says what is to be sent; the text says why."""


@dataclass
class Renewal:
    """What all sessions of a replay know together.

    ``passwords`` are the live ones by recorded value; ``emails`` the accounts that stand for recorded ones.
    ``done`` tells whether the exchange at a position has ended. A ``shift``, in seconds, is added to
    recorded times.
    """

    plan: Plan
    profile: Profile
    identities: Identities
    keep: Callable[[Secret], None] = lambda secret: None
    done: Callable[[int], bool] = lambda position: True
    accounts: dict[str, str] = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict)
    invented: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    succeeded: bool = False
    """Whether the exchange that is made anew succeeded when it was recorded."""
    refused: str | None = None
    """The code with which it was refused."""
    unknown: list[str] = field(default_factory=list)
    """The values in it for which no live one was known: they were sent as recorded."""
    has_shifted: bool = False
    """Whether a time in it was moved by the clocks' difference."""
    strange: list[str] = field(default_factory=list)
    """The ids in it that worked, and that neither an answer nor the profile gave."""

    def __post_init__(self) -> None:
        self.appoint({})

    def appoint(self, chosen: dict[str, str]) -> None:
        """Decides which account of the profile stands for each recorded email that signed in."""
        by_email = {one.email.lower(): name for name, one in self.profile.accounts.items()}
        for email in self.plan.emails:
            name = chosen.get(email) or by_email.get(email.lower())
            if name is None and email in self.plan.passwords:
                name = self._only_account_left()
                if name is not None:
                    self.notes[f"{email} was recorded; [accounts.{name}] signs in in its place."] = None
            if name is not None:
                self.accounts[email] = name
                account = self.profile.accounts[name]
                self.identities.set(email, account.email)
                password = self.plan.passwords.get(email)
                if password is not None:
                    self.passwords[password] = account.password

    def _only_account_left(self) -> str | None:
        """The account to sign in with where one person was recorded, of an address that nobody knows."""
        return "admin" if len(self.plan.passwords) == 1 and "admin" in self.profile.accounts else None

    def account_of(self, email: Json) -> str | None:
        return self.accounts.get(email) if isinstance(email, str) else None

    def live(self, value: str) -> str:
        """What stands for a recorded value. Raises Lost, Pending."""
        known = self.identities.live.get(value)
        if known is not None:
            return known
        if value not in self.plan.handles:
            self.unknown.append(value)
            return value
        position = self.plan.given[value]
        if not self.done(position):
            raise Pending(position)
        raise Lost(value, position)

    def url(self, exchange: Exchange, operation: Operation | None, shift: float) -> str:
        """The target of a request, from the portal's address on."""
        path = exchange.request.path
        path = path[path.find(PORTAL_PATH) :]
        if operation is not None and operation.parameters:
            match = operation.pattern.match(path)
            found = match.groupdict() if match else {}
            live = {name: quote(self._path_value(name, value), safe="") for name, value in found.items()}
            path = operation.url(**live) if match else path
        query = exchange.request.parts.query
        return f"{path}?{self.query(query, shift)}" if query else path

    def _path_value(self, name: str, value: str) -> str:
        live = self.live(value)
        return self._record(name, value) if live == value else live

    def _record(self, name: str, value: str) -> str:
        """The profile's record in place of an id that worked when recorded, and that no answer gave."""
        if not self.succeeded or name not in RECORDS or value in self.plan.given:
            return value
        known: str | None = getattr(self.profile.records, RECORDS[name])
        if known is None:
            self.strange.append(value)
            return value
        self.identities.set(value, known)
        return known

    def query(self, query: str, shift: float) -> str:
        """A query, made anew. Raises Lost, Pending."""
        pairs = parameters(query)
        renewed = [(name, str(self.value(name, value, shift))) for name, value in pairs]
        return query if renewed == [*pairs] else urlencode(renewed)

    def value(self, name: str, value: Json, shift: float) -> Json:
        """A JSON value of a request, made anew. Raises Lost, Pending."""
        if type(value) is str:
            return self._text(name, value, shift)
        if type(value) is dict:
            return {key: self.value(key, inner, shift) for key, inner in value.items()}
        if type(value) is list:
            return [self.value(name, inner, shift) for inner in value]
        if type(value) is int and value >= LEAST_NUMBER:
            return self._number(name, value, shift)
        return value

    def _text(self, name: str, value: str, shift: float) -> str:
        if len(value) < 4:
            return value
        live = self.live(value)
        if live != value or value in self.plan.given:
            return live
        if name in RECORDS:
            return self._record(name, value)
        lower = name.lower()
        if lower.endswith("password"):
            return self.password(value)
        if lower == "turnstiletoken":
            return self.bot_token(value)
        if ISO.match(value):
            self.has_shifted = True
            return shifted(value, shift)
        if "[" in value and TAKEN_OUT.search(value):
            return TAKEN_OUT.sub(lambda found: self._stand_in(found[0]), value)
        return self._packed(name, value, shift)

    def unique(self, name: str) -> str:
        """A name like this one that nobody has used."""
        local, at, host = name.partition("@")
        return f"{local}-{random.token_hex(3)}{at}{host}"

    def password(self, value: str) -> str:
        """The live password for a recorded one; made up, once, where the recording does not tell it.

        CannotBeMade: it may be what broke the rules, in a way that nobody knows.
        """
        known = self.passwords.get(value)
        if known is not None or not TAKEN_OUT.fullmatch(value):
            return known or value
        if self.refused in BROKEN_RULES and value not in self.plan.accepted:
            raise CannotBeMade(f"it was refused ({self.refused}), maybe for a password that was taken out")
        return self._stand_in(value)

    def bot_token(self, value: str) -> str:
        """The profile's; one that nobody knows where the recorded one was refused."""
        if self.refused != CHALLENGE_FAILED:
            return self.profile.bot_challenge.token or value
        return "not-a-token" if TAKEN_OUT.fullmatch(value) else value

    def _stand_in(self, placeholder: str) -> str:
        known = self.identities.live.get(placeholder) or self.passwords.get(placeholder)
        if known is not None:
            return known
        if placeholder not in self.invented:
            self.invented[placeholder] = made = f"Made-{random.token_hex(8)}"
            self.keep(Secret(made, placeholder.strip("[]").rpartition("-")[0]))
        return self.invented[placeholder]

    def _packed(self, name: str, value: str, shift: float) -> str:
        """JSON or base64 in a text is opened, made anew, and packed again, where that changes anything."""
        inner = packed_json(value)
        if isinstance(inner, dict | list):
            renewed = self.value(name, inner, shift)
            return value if renewed == inner else msgspec.json.encode(renewed).decode()
        text = packed_text(value)
        if text is None:
            return value
        renewed = self._text(name, text, shift)
        return value if renewed == text else _base64_like(value, renewed)

    def _number(self, name: str, value: int, shift: float) -> Json:
        live = self.live(str(value))
        if live != str(value):
            return int(live) if live.isdigit() else live
        if value in EPOCH_MILLISECONDS and kind_of(name) == "time":
            self.has_shifted = True
            return value + round(shift * 1000)
        return value


def shifted(value: str, seconds: float) -> str:
    """An ISO 8601 time moved by the clocks' difference, in the form in which it was."""
    try:
        time = datetime.fromisoformat(value) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return value
    fraction = re.search(r"[.,](\d+)", value)
    digits = len(fraction[1]) if fraction else 0
    text = time.strftime("%Y-%m-%dT%H:%M:%S")
    if digits:
        text += "." + f"{time.microsecond:06d}".ljust(digits, "0")[:digits]
    zone = re.search(r"(?:[Zz]|[+-]\d\d:?\d\d)\Z", value)
    return text + (zone[0] if zone else "")


def _base64_like(recorded: str, text: str) -> str:
    encode = urlsafe_b64encode if re.search(r"[-_]", recorded) else b64encode
    packed = encode(text.encode()).decode()
    return packed if recorded.endswith("=") or len(recorded) % 4 == 0 else packed.rstrip("=")
