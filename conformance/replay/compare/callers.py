"""What a caller has, by earlier answers: sessions, an authenticator, the endpoints offered; and the secrets
that a replay lacks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.report.model.words import listed
from conformance.spec import BY_KEY
from conformance.spec import endpoints as op
from conformance.spec.tables import CHALLENGE_FAILED, PERMISSION_DENIED, WRONG_CODE
from conformance.target.portal.login import METHODS, offered_factors, refusal
from conformance.target.profile.tables import BotChallenge
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig

IDS = {op.SESSIONS: "sessionId", op.SESSIONS_HISTORY: "bizId"}
"""The lists, and the field that identifies an entry."""

SHORTEST_ID = 16
"""A shorter id may be counted for each account, and says nothing of another one's."""

BASIS = "a list of the caller's own sessions shows one that another account was shown"


def foreign_sessions(pair: ReplayedExchange, owners: dict[str, str]) -> Iterator[Difference]:
    """Yields the entries of a live list of sessions that belong to another account. ``owners`` gets, by id of
    a session, the account that was shown it first."""
    name = IDS.get(pair.operation)
    if name is None or pair.account is None or not pair.live.success:
        return
    data: Json = pair.live.data
    place: tuple[str, ...] = ("data",)
    if isinstance(data, dict):
        data, place = data.get("items"), ("data", "items")
    for at, entry in enumerate(data if isinstance(data, list) else ()):
        id = dig(entry, [name])
        is_telling = isinstance(id, str) and len(id) >= SHORTEST_ID
        if is_telling and owners.setdefault(id, pair.account) != pair.account:
            yield Difference("value", (*place, at, name), None, id)


NOT_OFFERED_ANY_MORE = "MFA-012"
NOT_OFFERED_YET = "MFA-015"
NOT_ENABLED = "initiate gives the methods that are available, and this authenticator is shown as not enabled"


NONE_OFFERED = "no authenticator was offered at the last sign-in"


@dataclass
class Authenticators:
    """Why an account's authenticator is not to be offered, as recording and replay both show it. One that is
    verified at the target alone may be offered."""

    _reasons: defaultdict[str | None, set[str]] = field(default_factory=lambda: defaultdict(set))

    def note(self, pair: ReplayedExchange) -> None:
        if pair.account is None or not (pair.recorded.success and pair.live.success):
            return
        reasons = self._reasons[pair.account]
        if pair.operation == op.OTP_REVOKE:
            reasons.add(NOT_OFFERED_ANY_MORE)
            reasons.discard(NOT_OFFERED_YET)
        elif pair.operation == op.OTP_SETUP and NONE_OFFERED in reasons:
            reasons.add(NOT_OFFERED_YET)
        elif pair.operation == op.OTP_VERIFY:
            reasons &= {NONE_OFFERED}
        elif pair.operation == op.MFA:
            _keep(reasons, NOT_ENABLED, _is_off(pair.recorded.data) and _is_off(pair.live.data))
        elif pair.operation == op.LOGIN_INITIATE:
            _keep(reasons, NONE_OFFERED, not (_is_offered(pair.recorded) or _is_offered(pair.live)))

    def offered(self, pair: ReplayedExchange, difference: Difference) -> str | None:
        """Explains, by requirement or sentence, why a newly offered authenticator must not be offered. None:
        the offer is allowed, or the difference shows no new offer."""
        if pair.operation != op.LOGIN_INITIATE or not difference.path.startswith("data.mfaMethods"):
            return None
        if _is_offered(pair.recorded) or not _is_offered(pair.live):
            return None
        reasons = self._reasons[pair.account]
        gravest_first = (NOT_OFFERED_ANY_MORE, NOT_OFFERED_YET, NOT_ENABLED)
        return next((why for why in gravest_first if why in reasons), None)


def _keep(reasons: set[str], reason: str, holds: bool) -> None:
    (reasons.add if holds else reasons.discard)(reason)


def _is_offered(initiated: Exchange) -> bool:
    return AUTHENTICATOR in offered_factors(initiated)


def _is_off(settings: Json) -> bool:
    listed = settings if isinstance(settings, list) else []
    own = [each for each in listed if dig(each, ["mfaMethod", "value"]) == METHODS[AUTHENTICATOR]]
    return len(own) == 1 and dig(own[0], ["isEnabled"]) is False


AUTHENTICATOR = "OTP"


OF_EVERY_CALLER = frozenset({op.PROFILE, op.SESSIONS})
"""What whoever is signed in surely has: a profile, and the session itself. Limits, factors or a history there
may be none of yet, and how a portal says so is not stated."""
CONSTANTS = "/constants/"
NOT_FOUND = "RESOURCE.NOT_FOUND"
NOT_OFFERED = "the endpoint is no longer offered here"
STATUSES = frozenset({404, 405, 501})
OF_A_REFUSAL = frozenset({"status", "code", "success"})


@dataclass
class ServedCallers:
    """Operations that the target served, by account."""

    operations: dict[str | None, set[str]] = field(default_factory=dict)

    def note(self, pair: ReplayedExchange) -> None:
        if pair.live.success and pair.operation in BY_KEY:
            self.operations.setdefault(pair.account, set()).add(pair.operation)

    def misses(
        self, pair: ReplayedExchange, difference: Difference, stand_ins: Container[str | None]
    ) -> str | None:
        """Names the requirement of an endpoint that a difference shows as no longer offered: the target
        serves the caller elsewhere, and answers "not found" where every caller has a record."""
        if difference.path not in OF_A_REFUSAL or not _is_not_found(pair) or pair.live.code != NOT_FOUND:
            return None
        if pair.operation in OF_EVERY_CALLER:
            is_served = pair.account not in stand_ins and self._is_served(pair)
        else:
            is_served = CONSTANTS in pair.operation and any(
                operations - {pair.operation} for operations in self.operations.values()
            )
        return BY_KEY[pair.operation].requirement if is_served else None

    def _is_served(self, pair: ReplayedExchange) -> bool:
        others = self.operations.get(pair.account, set()) - {pair.operation}
        return pair.account is not None and any(
            key == op.LOGIN_COMPLETE or not (BY_KEY[key].is_prelogin or CONSTANTS in key) for key in others
        )


def is_not_offered(pair: ReplayedExchange) -> bool:
    """Whether a read that succeeded is now answered as where no endpoint is. Whether it is of a record that
    is missing is told by the ids that it names."""
    return _is_not_found(pair) and pair.live.code in (None, ABSENT, NOT_FOUND, "404", 404, 405, "405")


def _is_not_found(pair: ReplayedExchange) -> bool:
    """Whether a read that names no record succeeded when recorded, and now has such a status."""
    operation, request = BY_KEY.get(pair.operation), pair.recorded.request
    if operation is None or operation.method != "GET" or operation.parameters or request.query:
        return False
    return bool(pair.recorded.success) and pair.live.status in STATUSES


@dataclass
class CredentialCheck:
    """Takes each pair of responses once. ``problems`` are those of the profile, each once, in order."""

    bot_challenge: BotChallenge = field(default_factory=BotChallenge)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """The accounts that stand for another recorded one, and its email."""
    problems: dict[str, None] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    """The accounts whose password or code is refused and never was accepted, and the problem."""
    certain: set[tuple[str, str]] = field(default_factory=set)
    """Accounts, and codes that certainly came for their request."""
    unset: dict[str, str] = field(default_factory=dict)
    """The accounts whose password the recording sets by a mailed code and the replay did not, and why."""
    _accepted: set[tuple[str, str]] = field(default_factory=set)

    def problem(self, pair: ReplayedExchange) -> str | None:
        """Names the profile's problem: the target refuses a secret that the recorded portal accepted."""
        live = pair.live
        if live.response is None:
            return None
        secrets = list(self._secrets(pair))
        if live.success:
            row = BY_KEY.get(pair.operation)
            is_asked_for = row is not None and row.bot_challenge  # elsewhere any bot token may do
            self._accepted.update(each for each in secrets if is_asked_for or each[0] != "bot token")
            return None
        problem = self._lacking_permission(pair)
        for kind, owner in secrets:
            if not self._is_new(kind, owner, live):
                continue
            if kind == "password" and owner in self.unset:
                self.refused[owner] = self.unset[owner]
                return self.unset[owner]
            problem = self._refused(kind, owner, pair) or problem
        if problem is not None:
            self.problems[problem] = None
        return problem

    def _refused(self, kind: str, owner: str, pair: ReplayedExchange) -> str | None:
        """The problem of the profile where a secret is refused; None where it certainly is the right one."""
        is_certain = self.has_certain_code(pair)
        sentence = self._sentence(kind, owner, pair.live)
        if is_certain:
            sentence = f"a code that certainly came for a sign-in of [accounts.{owner}] was refused"
        if owner and kind != MAILED_CODE:
            self.refused[owner] = sentence
        return None if is_certain else sentence

    def has_certain_code(self, pair: ReplayedExchange) -> bool:
        """Whether a request sends a code that certainly came for it."""
        return any((pair.account, value) in self.certain for value in sent_fields(pair.live).values())

    def _secrets(self, pair: ReplayedExchange) -> Iterator[tuple[str, str]]:
        """The kinds of secrets that a request of the recording sends and that were accepted, each with its
        owner. A bot token may have been accepted where something else was refused."""
        recorded, kind = pair.recorded, KIND_OF_SECRET.get(pair.operation)
        if recorded.success and pair.account is not None and kind is not None:
            yield kind, pair.account
        sent = recorded.sent if isinstance(recorded.sent, dict) else {}
        is_sent = "turnstileToken" in sent or recorded.request.header(self.bot_challenge.header.lower())
        if is_sent and recorded.code != CHALLENGE_FAILED:
            yield "bot token", ""

    def _lacking_permission(self, pair: ReplayedExchange) -> str | None:
        """Reason of a refusal for an account that stands in for the recorded account."""
        email = self.stand_ins.get(pair.account or "")
        if email is None or not pair.recorded.success or pair.live.code != PERMISSION_DENIED:
            return None
        return f"[accounts.{pair.account}] signs in for {email} and lacks a permission ({refusal(pair.live)})"

    def _is_new(self, kind: str, owner: str, live: Exchange) -> bool:
        if kind == MAILED_CODE:
            return live.status in REFUSED_STATUSES
        return live.code == REFUSED_BY[kind] and (kind, owner) not in self._accepted

    def _sentence(self, kind: str, owner: str, live: Exchange) -> str:
        if kind == "bot token":
            if self.bot_challenge.token is None:
                return "the profile has no [bot_challenge] token, and the target asks for one"
            return f"[bot_challenge] token is refused ({refusal(live)})"
        if kind == "password":
            return f"[accounts.{owner}] password is refused ({refusal(live)})"
        if kind == MAILED_CODE:
            return f"[accounts.{owner}] inbox: its code for a password is refused ({refusal(live)})"
        method = live.request.body.get("method") if isinstance(live.request.body, dict) else None
        source = "otp_secret" if method == METHODS["OTP"] else "inbox"
        return f"[accounts.{owner}] {source}: its code is refused ({refusal(live)})"


MAILED_CODE = "mailed code"
"""The kind of a code or token by which a password is set."""

KIND_OF_SECRET = {
    op.LOGIN_INITIATE: "password",
    op.LOGIN_COMPLETE: "code",
    op.PASSWORD_RESET: MAILED_CODE,
    op.PASSWORD_INIT: MAILED_CODE,
}
"""By operation, the secret that its request proves an account by."""

REFUSED_STATUSES = frozenset({400, 401, 403, 404, 410, 422})
"""By which a code for a password may be refused: the specification names no code for it."""

REFUSED_BY = {
    "password": "AUTH.INVALID_CREDENTIALS",
    "code": WRONG_CODE,
    "bot token": CHALLENGE_FAILED,
}
"""By kind of secret, the code by which the specification refuses one."""

WRONG_ANYHOW = frozenset(REFUSED_BY.values())
"""The codes by which the recorded portal said that the secret was wrong: so is a made-up one."""

PROVING = frozenset({"token", "refresh-token", "code"})
"""Kinds of secrets that prove who sends a request: that a made-up one is accepted where the recorded one was
refused is held against the target."""


SERVER_ERROR = 500
"""The status from which on an answer says that the portal failed, whatever was sent."""


def why_nothing_is_shown(pair: ReplayedExchange) -> str | None:
    """Why two responses are not comparable: the secret that the replay does not have may decide them."""
    if not pair.made_up or (pair.recorded.success and pair.live.success):
        return None
    if pair.live.response is None or pair.recorded.response is None:
        return None
    if pair.live.response.status >= SERVER_ERROR > pair.recorded.response.status:
        return None
    is_taken_for_right = pair.live.success and not PROVING.isdisjoint(pair.made_up)
    if not pair.recorded.success and (pair.recorded.code in WRONG_ANYHOW or is_taken_for_right):
        return None
    kinds = listed(dict.fromkeys(f"a {kind}" for kind in pair.made_up))
    verb = "accepted" if pair.recorded.success else "refused, maybe for it"
    return (
        f"it sends {kinds} that the recording redacts and no response returned: a made-up one was sent, and "
        f"the recorded request was {verb}"
    )
