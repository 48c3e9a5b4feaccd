"""The factors of a recording's sign-ins: the authenticators and backup codes that it sets up, whose live ones
are in the replayed responses."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.checks.records import sent_fields
from conformance.replay.rebuild.actions import CannotRebuild
from conformance.replay.rebuild.context import RebuildContext
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.values import leaves
from conformance.spec import endpoints as op
from conformance.spec.tables import INVALID_PARAMETER
from conformance.target.portal.login import METHODS
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.hidden import KIND, NUMBER

MOST_STEPS = 20
"""How many exchanges after it a refused code is sought for in."""


@dataclass
class Client:
    """The state of one session: the account that signed in, its token, an authenticator that was set up."""

    account: str | None = None
    token: str | None = None
    setup_secret: str | None = None
    has_setup: bool = False
    last: int | None = None
    signed_out: bool = False


@dataclass
class OwnFactors:
    """``authenticators`` are the secrets of those that the replay set up, by account."""

    context: RebuildContext
    authenticators: dict[str, str] = field(default_factory=dict)
    _expected: set[str] = field(default_factory=set)
    """The accounts of which the recording sets an authenticator up."""

    def expect(self, key: str, recorded: Exchange, client: Client) -> None:
        """Takes a request that sets an authenticator up, before it is sent."""
        if key in (op.OTP_SETUP, op.OTP_VERIFY) and recorded.success and client.account is not None:
            self._expected.add(client.account)

    def check(self, account: str) -> None:
        """CannotRebuild: the recording set up the account's authenticator, and the replay did not."""
        if account in self._expected:
            raise CannotRebuild(
                f"the authenticator of [accounts.{account}] was set up when recorded, not here"
            )

    def secret_of(self, key: str, account: str, client: Client, *, is_right: bool) -> str | None:
        """The secret of the authenticator whose code a request sends; None where it is the profile's.

        CannotRebuild: a right code is needed of one whose secret the setup did not show.
        """
        if key != op.OTP_VERIFY:
            return self.authenticators.get(account)
        lacks_own = client.has_setup or self.context.profile.accounts[account].otp_secret is None
        if client.setup_secret is None and lacks_own and is_right:
            raise CannotRebuild(
                "the replayed setup of the authenticator shows no secret: name its place as secret of "
                f'[operations."{op.OTP_SETUP}"]'
            )
        return client.setup_secret

    def was_number(self, recorded: Exchange, value: str) -> bool:
        form = self.context.form(value) if recorded.code in INVALID_PARAMETER else None
        return form is not None and form.get(KIND) == NUMBER

    def backup_code(self, key: str, sent: dict[str, Json]) -> str | None:
        """The live code that the target returned for the backup code of a sign-in."""
        code = sent.get("code") if key == op.LOGIN_COMPLETE else None
        return self.context.correlation.live.get(code) if isinstance(code, str) else None

    def learn(self, key: str, recorded: Exchange, live: Exchange, client: Client) -> None:
        """Takes secrets and codes from a successful response."""
        if key == op.OTP_SETUP:
            client.setup_secret, client.has_setup = self._setup_secret(live), True
        elif key == op.OTP_VERIFY and client.account and client.setup_secret:
            self.authenticators[client.account] = client.setup_secret
        elif key == op.OTP_REVOKE and client.account:
            self.authenticators.pop(client.account, None)
            self._expected.discard(client.account)
        elif key == op.BACKUP_CODES_GENERATE:
            self._pair_backup_codes(recorded, live)

    def _setup_secret(self, live: Exchange) -> str | None:
        settings = self.context.profile.operations.get(op.OTP_SETUP)
        path = (settings.secret if settings else None) or "data.secret"
        secret = live.at(path)
        if isinstance(secret, str):
            return secret
        texts = (text for _, text in leaves(live.data, ""))
        return next((text for text in texts if text.startswith("otpauth://totp/")), None)

    def _pair_backup_codes(self, recorded: Exchange, live: Exchange) -> None:
        returned = dict(leaves(live.data, ""))
        for place, code in leaves(recorded.data, ""):
            if code in self.context.plan.sources and place in returned:
                self.context.correlation.set(code, returned[place])


def is_mailed(plan: ReplayPlan, position: int, recorded: Exchange, value: str) -> bool:
    """Whether a code that was refused for another method is the mailed one: the client sent it as that
    afterwards, and it was accepted."""
    if recorded.sent.get("method") == METHODS["EMAIL"]:
        return False
    login, after = recorded.sent.get("sessionId"), plan.number_of(position)
    for later in plan.order[after : after + MOST_STEPS]:
        exchange = plan.store.exchange(later)
        sent = sent_fields(exchange)
        if exchange.success and sent.get("code") == value and sent.get("sessionId") == login:
            return bool(sent.get("method") == METHODS["EMAIL"])
    return False
