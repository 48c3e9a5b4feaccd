"""Rebuilds the values of one request: ids, tokens, passwords and times become their live counterparts."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

import msgspec

from conformance.replay.rebuild.actions import CannotRebuild
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.recording.kinds import ISO, is_counted, kind_of, record_of
from conformance.replay.recording.values import LEAST_NUMBER, packed_text
from conformance.spec import Operation
from conformance.spec.endpoints import LOGIN_INITIATE, PORTAL_PATH
from conformance.spec.requests import FILTERS
from conformance.spec.tables import CHALLENGE_FAILED, INVALID_PARAMETER, RECORD_OF_PARAMETER
from conformance.target.portal.restoring.ways import PASSWORDS
from conformance.traffic.capture.bodies import json_in
from conformance.traffic.exchange import Exchange, Json, Request, parameters
from conformance.traffic.values import REDACTED

ASKED_FOR_INSTEAD = "of [records] is asked for instead"
"""In the notes that say which record stands for a recorded one."""

RECORDS = {**RECORD_OF_PARAMETER, "workspaceBizId": "workspace", "x-workspace-id": "workspace"}
"""The profile's records that stand for ids without a source, by the names under which those are sent."""

TOTALS = ("data.totalElements", "data.pagination.totalRecords")
"""Where an answer to a query says how much it has found."""

NOT_SURELY = (
    "the record {!r} that it changes is not surely there: what stands in its place in the target's lists has "
    "another name, or is a session that the replay did not begin"
)
"""Why a change is not sent; it may be made to somebody else's record."""

PRESENT = ("old", "current", "present")
"""The beginnings of the names under which a change of the password sends the present one."""

VALIDATION_CODES = frozenset(INVALID_PARAMETER)
EPOCH_MILLISECONDS = range(1_000_000_000_000, 10_000_000_000_000)


@dataclass(slots=True)
class RequestValues:
    """Rebuilds the values of one recorded exchange's request, and collects how far that succeeded.

    ``shift``, in seconds, is the difference of the clocks; it is added to recorded times. ``account`` is the
    profile's account whose passwords the request holds.
    """

    recorded: Exchange
    context: RebuildContext
    shift: float
    account: str | None = None
    has_shifted: bool = False
    """Whether a time was moved by the clocks' difference."""
    uncorrelated: list[str] = field(default_factory=list)
    """The values without a live counterpart: they are sent as recorded."""
    unsourced: list[str] = field(default_factory=list)
    """The ids that worked when recorded, and that neither a response nor the profile contains."""
    made_up: list[str] = field(default_factory=list)
    """The kinds of redacted secrets in whose place a made-up one of unknown form is sent."""
    _operation: str = ""
    _changes: bool = False

    def __post_init__(self) -> None:
        operation = self.recorded.request.operation
        self._operation = self.recorded.request.operation_key or ""
        self._changes = operation is not None and operation.impact != "read-only"

    @property
    def _error_code(self) -> Json:
        return self.recorded.code if self.recorded.response and not self.recorded.success else None

    def substitute(self, placeholder: str) -> str:
        """A value in place of a redacted one. Raises LostValue, Pending."""
        live = self.context.substitute(placeholder)
        if self.context.is_made_up(placeholder):
            has_form = not self.recorded.success and self.context.form(placeholder) is not None
            self.made_up += [] if has_form else [kind_of_placeholder(placeholder)]
        return live

    def no_token(self, value: str) -> str:
        """What is sent in place of a token that no response returned: itself, else what no portal accepts."""
        if not REDACTED.fullmatch(value):
            return value
        self.made_up.append(kind_of_placeholder(value))
        return "not-a-token"

    def live(self, value: str) -> str:
        """The live counterpart of a recorded value, else the value itself. Raises LostValue, Pending, and
        CannotRebuild where a change might be made to somebody else's record."""
        live = self.context.counterpart(value)
        if live is None:
            self.uncorrelated.append(value)
            return value
        if self._changes and value in self.context.correlation.doubtful:
            raise CannotRebuild(NOT_SURELY.format(value))
        return live

    def _counted(self, name: str, value: str) -> str | None:
        """The live id of a record whose kind the field's name tells; None where it was not returned. Raises
        CannotRebuild as ``live`` does."""
        correlation, key = self.context.correlation, (record_of(name, self._operation) or "", value)
        if self._changes and key in correlation.doubtful:
            raise CannotRebuild(NOT_SURELY.format(value))
        return correlation.live.get(key)

    def target(self, request: Request, operation: Operation | None) -> str:
        """Path and query of a request, from the portal's address on."""
        path = request.path
        path = path[path.find(PORTAL_PATH) :]
        if operation is not None and operation.parameters:
            match = operation.pattern.match(path)
            recorded = match.groupdict() if match else {}
            live = {name: quote(self._path_value(name, value), safe="") for name, value in recorded.items()}
            path = operation.url(**live) if match else path
        elif operation is None and "[" in path:
            path = REDACTED.sub(lambda match: quote(self.substitute(match[0]), safe=""), path)
        query = request.parts.query
        return f"{path}?{self.query(query)}" if query else path

    def query(self, query: str) -> str:
        """A query with live values. Raises LostValue, Pending."""
        pairs = parameters(query)
        rebuilt = [(name, str(self.value(name, value))) for name, value in pairs]
        return query if rebuilt == [*pairs] else urlencode(rebuilt)

    def value(self, name: str, value: Json) -> Json:
        """A JSON value of a request with live values. Raises LostValue, Pending."""
        if type(value) is str:
            return self._text(name, value)
        if type(value) is dict:
            return {key: self.value(key, inner) for key, inner in value.items()}
        if type(value) is list:
            return [self.value(name, inner) for inner in value]
        if type(value) is int and value >= LEAST_NUMBER:
            return self._number(name, value)
        return value

    def bot_token(self, value: str) -> str:
        """The profile's bot challenge token; an invalid one where the recorded one was refused."""
        if self._error_code != CHALLENGE_FAILED:
            return self.context.profile.bot_challenge.token or value
        return "not-a-token" if REDACTED.fullmatch(value) else value

    def _path_value(self, name: str, value: str) -> str:
        counted = self._counted(name, value)
        if counted is not None:
            return counted
        if self.context.plan.counts_ids and is_counted(value):
            return self._record(name, value)  # the same id of another kind is no counterpart
        live = self.live(value)
        return self._record(name, value) if live == value else live

    def _record(self, name: str, value: str) -> str:
        """The profile's record in place of an id that worked when recorded, and that no response returned."""
        if not self.recorded.success or name not in RECORDS or value in self.context.plan.sources:
            return value
        if name in FILTERS.get(self._operation, ()) and any(self.recorded.at(at) == 0 for at in TOTALS):
            return value  # a filter by the id of nothing, maybe
        records = self.context.profile.records
        record: str | None = getattr(records, RECORDS[name])
        if value in records.model_dump().values():  # there: it need not be the first of its kind
            record = value
        if record is None:
            self.unsourced.append(value)
            return value
        if record != value:
            self._replace(name, value, record)
            return record
        kind = record_of(name, self._operation)
        if self.context.plan.counts_ids and kind is not None:
            self.context.correlation.pair((kind, value), record)
        else:
            self.context.correlation.set(value, record)
        return record

    def _replace(self, name: str, value: str, record: str) -> None:
        """Has a record of the profile asked for from now on: it is the user's wish, and whether the target
        has the recorded one is not tried."""
        named, kind = RECORDS[name], record_of(name, self._operation)
        self.context.replaced[
            f"{named} {value} was recorded; {record} of [records] is asked for instead, and its values are "
            f"its own. Take {named} out of [records] to ask for the recorded one."
        ] = None
        has_kind = kind is not None and (is_counted(value) or is_counted(record))
        self.context.correlation.replace((kind or "", value) if has_kind else value, record)

    def _text(self, name: str, value: str) -> str:
        counted = self._counted(name, value)
        if counted is not None:
            return counted
        if len(value) < 4:
            return value
        live = self.live(value)
        if live != value or value in self.context.plan.sources:
            return live
        if name in RECORDS:
            return self._record(name, value)
        return self._special(name, value)

    def _special(self, name: str, value: str) -> str:
        """A text without a source: a password, a bot token, a time, a placeholder, or packed text."""
        lower = name.lower()
        if lower.endswith("password"):
            return self._password(lower, value)
        if lower == "turnstiletoken":
            return self.bot_token(value)
        if ISO.match(value):
            self.has_shifted = True
            return shifted_time(value, self.shift)
        if "[" in value and REDACTED.search(value):
            return self._substituted(value)
        return self._packed(name, value)

    def _substituted(self, value: str) -> str:
        """A text with live secrets in place of recorded ones. One that holds more than a secret is shown as
        it is sent."""
        live = REDACTED.sub(lambda match: self.substitute(match[0]), value)
        if not REDACTED.fullmatch(value):
            self.context.correlation.set(value, live)
        return live

    def _accepted_password(self, name: str, value: str) -> str | None:
        """The password that the account has, or gets, where the recorded one was accepted."""
        is_sign_in = self._operation == LOGIN_INITIATE
        if self.account is None or not (
            self.recorded.success and (is_sign_in or self._operation in PASSWORDS)
        ):
            return None
        if is_sign_in or name.startswith(PRESENT):
            return self.context.present_password(self.account)
        own = self.context.own_password(value, self.account)
        present = self.context.present_password(self.account)
        return None if own is not None and own != present else self.context.set_password(value, self.account)

    def _password(self, name: str, value: str) -> str:
        """The live password for a recorded one; invented, once, where the recording redacts it.

        CannotRebuild: it may be what broke the rules, and its text is not recorded.
        """
        live = self._accepted_password(name, value) or self.context.password(value, self.account)
        if live is None and not self.recorded.success:
            live = self.context.mistaken_password(value, self.account)
        if live is not None or not REDACTED.fullmatch(value):
            return live or value
        is_invalid = self._error_code in VALIDATION_CODES and value not in self.context.plan.accepted
        if is_invalid and self.context.form(value) is None:
            raise CannotRebuild(f"it was refused ({self._error_code}), maybe for a redacted password")
        return self.substitute(value)

    def _packed(self, name: str, value: str) -> str:
        """JSON or base64 in a text is opened, rebuilt, and packed again, where that changes anything."""
        inner = json_in(value)
        if isinstance(inner, dict | list):
            rebuilt = self.value(name, inner)
            return value if rebuilt == inner else msgspec.json.encode(rebuilt).decode()
        text = packed_text(value)
        if text is None:
            return value
        rebuilt_text = self._text(name, text)
        return value if rebuilt_text == text else _base64_like(value, rebuilt_text)

    def _number(self, name: str, value: int) -> Json:
        live = self.live(str(value))
        if live != str(value):
            return int(live) if live.isdigit() else live
        if value in EPOCH_MILLISECONDS and kind_of(name) == "time":
            self.has_shifted = True
            return value + round(self.shift * 1000)
        return value


def kind_of_placeholder(placeholder: str) -> str:
    """What was redacted: ``token``, ``password``."""
    return placeholder.strip("[]").rpartition("-")[0]


def shifted_time(value: str, seconds: float) -> str:
    """An ISO 8601 time moved by the clocks' difference, in the same notation."""
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
