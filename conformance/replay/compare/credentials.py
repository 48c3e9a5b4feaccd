"""What a replay lacks: secrets of the profile that the target refuses and never accepted, and those that the
recording hides, are not held against the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.compare.outcome import ReplayedExchange
from conformance.report.model.words import listed
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, PASSWORD_INIT, PASSWORD_RESET
from conformance.spec.tables import CHALLENGE_FAILED, PERMISSION_DENIED, WRONG_CODE
from conformance.target.portal.login import METHODS, refusal
from conformance.target.profile.tables import BotChallenge
from conformance.traffic.exchange import Exchange


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
            self._accepted.update(secrets)
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
        recorded = pair.recorded
        if recorded.success and pair.account is not None and pair.operation == LOGIN_INITIATE:
            yield "password", pair.account
        if recorded.success and pair.account is not None and pair.operation == LOGIN_COMPLETE:
            yield "code", pair.account
        if (
            recorded.success
            and pair.account is not None
            and pair.operation in (PASSWORD_RESET, PASSWORD_INIT)
        ):
            yield MAILED_CODE, pair.account
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


def why_nothing_is_shown(pair: ReplayedExchange) -> str | None:
    """Why two responses are not comparable: the secret that the replay does not have may decide them."""
    if not pair.made_up or (pair.recorded.success and pair.live.success):
        return None
    if pair.live.response is None or pair.recorded.response is None:
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
