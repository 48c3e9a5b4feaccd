"""What the profile lacks for a replay: secrets that the target refuses and never accepted are held against
the profile, not against the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE
from conformance.target.portal.login import METHODS, refusal
from conformance.target.profile.model import BotChallenge
from conformance.traffic.exchange import Exchange

CHALLENGE_FAILED = "4030"


@dataclass
class CredentialCheck:
    """Takes each pair of responses once. ``problems`` are those of the profile, each once, in order."""

    bot_challenge: BotChallenge = field(default_factory=BotChallenge)
    problems: dict[str, None] = field(default_factory=dict)
    _accepted: set[tuple[str, str]] = field(default_factory=set)

    def problem(self, pair: ReplayedExchange) -> str | None:
        """Why a refusal is the profile's: a secret in it was accepted when recorded, and is not here."""
        recorded, live = pair.recorded, pair.live
        if not recorded.success or live.response is None:
            return None
        secrets = list(self._secrets(pair))
        if live.success:
            self._accepted.update(secrets)
            return None
        problem = next(
            (self._sentence(kind, owner, live) for kind, owner in secrets if self._is_new(kind, owner, live)),
            None,
        )
        if problem is not None:
            self.problems[problem] = None
        return problem

    def _secrets(self, pair: ReplayedExchange) -> Iterator[tuple[str, str]]:
        """The kinds of secrets that a request of the recording sends, each with its owner."""
        recorded = pair.recorded
        if pair.account is not None and pair.operation == LOGIN_INITIATE:
            yield "password", pair.account
        if pair.account is not None and pair.operation == LOGIN_COMPLETE:
            yield "code", pair.account
        sent = recorded.sent if isinstance(recorded.sent, dict) else {}
        if "turnstileToken" in sent or recorded.request.header(self.bot_challenge.header.lower()) is not None:
            yield "bot token", ""

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
    "code": "AUTH.MFA_CODE_INVALID",
    "bot token": CHALLENGE_FAILED,
}
"""By kind of secret, the code by which the specification refuses one."""
