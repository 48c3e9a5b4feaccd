"""What the profile lacks for a replay: secrets that the target refuses and never accepted are held against
the profile, not against the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE
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
    """Accounts, and codes that certainly came for their sign-in."""
    _accepted: set[tuple[str, str]] = field(default_factory=set)

    def problem(self, pair: ReplayedExchange) -> str | None:
        """Why a refusal is the profile's: a secret in it was accepted when recorded, and is not here."""
        live = pair.live
        if live.response is None:
            return None
        secrets = list(self._secrets(pair))
        if live.success:
            self._accepted.update(secrets)
            return None
        problem = self._lacking_permission(pair)
        for kind, owner in secrets:
            if self._is_new(kind, owner, live):
                sentence = self._sentence(kind, owner, live)
                if owner:
                    self.refused[owner] = sentence
                if not self.has_certain_code(pair):
                    problem = sentence
        if problem is not None:
            self.problems[problem] = None
        return problem

    def has_certain_code(self, pair: ReplayedExchange) -> bool:
        """Whether a request sends a code that certainly came for it."""
        code = pair.live.request.body.get("code") if isinstance(pair.live.request.body, dict) else None
        return (pair.account, code) in self.certain

    def _secrets(self, pair: ReplayedExchange) -> Iterator[tuple[str, str]]:
        """The kinds of secrets that a request of the recording sends and that were accepted, each with its
        owner. A bot token may have been accepted where something else was refused."""
        recorded = pair.recorded
        if recorded.success and pair.account is not None and pair.operation == LOGIN_INITIATE:
            yield "password", pair.account
        if recorded.success and pair.account is not None and pair.operation == LOGIN_COMPLETE:
            yield "code", pair.account
        sent = recorded.sent if isinstance(recorded.sent, dict) else {}
        is_sent = "turnstileToken" in sent or recorded.request.header(self.bot_challenge.header.lower())
        if is_sent and recorded.code != CHALLENGE_FAILED:
            yield "bot token", ""

    def _lacking_permission(self, pair: ReplayedExchange) -> str | None:
        """Why another account than the recorded one may not do what that one did."""
        email = self.stand_ins.get(pair.account or "")
        if email is None or not pair.recorded.success or pair.live.code != PERMISSION_DENIED:
            return None
        return f"[accounts.{pair.account}] signs in for {email} and lacks a permission ({refusal(pair.live)})"

    def _is_new(self, kind: str, owner: str, live: Exchange) -> bool:
        return live.code == REFUSED_BY[kind] and (kind, owner) not in self._accepted

    def _sentence(self, kind: str, owner: str, live: Exchange) -> str:
        if kind == "bot token":
            if self.bot_challenge.token is None:
                return "the profile has no [bot_challenge] token, and the target asks for one"
            return f"[bot_challenge] token is refused ({refusal(live)})"
        if kind == "password":
            return f"[accounts.{owner}] password is refused ({refusal(live)})"
        method = live.request.body.get("method") if isinstance(live.request.body, dict) else None
        source = "otp_secret" if method == METHODS["OTP"] else "inbox"
        return f"[accounts.{owner}] {source}: its code is refused ({refusal(live)})"


REFUSED_BY = {
    "password": "AUTH.INVALID_CREDENTIALS",
    "code": WRONG_CODE,
    "bot token": CHALLENGE_FAILED,
}
"""By kind of secret, the code by which the specification refuses one."""
