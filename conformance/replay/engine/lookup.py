"""What a replay looks up elsewhere than at the portal: codes, inboxes, the time."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.errors import Untestable
from conformance.replay.engine.actions import Code, Mark, Pass, Reply
from conformance.target.clock import Clock
from conformance.target.portal.codes import Codes, wrong_code
from conformance.target.portal.inboxes import InboxReader, reader
from conformance.target.portal.inboxes import Mark as InboxMark
from conformance.target.profile.model import FixedInbox, Profile
from conformance.traffic.redaction.redact import Secrets


@dataclass
class Desk:
    """Looks up what is not asked of the portal: codes, inboxes, the time. It may block, in a thread."""

    profile: Profile
    clock: Clock
    secrets: Secrets
    marks: dict[str, InboxMark] = field(default_factory=dict)
    readers: dict[str, InboxReader] = field(default_factory=dict)
    mailed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._codes = Codes(self.clock, self.secrets)

    def answers_at_once(self, action: Code | Mark | Pass) -> bool:
        """Whether nothing is asked of others, nor waited for."""
        if isinstance(action, Pass) or (isinstance(action, Code) and action.factor == "OTP"):
            return False
        inbox = self.profile.accounts[action.account].inbox
        return inbox is None or isinstance(self.profile.inboxes[inbox], FixedInbox)

    def answer(self, action: Code | Mark | Pass) -> Reply:
        """What an action wants back. Raises Untestable where it cannot be had."""
        if isinstance(action, Pass):
            self.clock.wait(action.seconds, action.why)
            return None
        if isinstance(action, Mark):
            self.marks[action.account] = self._reader(action.account).mark()
            return None
        return self._code(action)

    def _code(self, action: Code) -> str:
        secret = action.secret or self.profile.accounts[action.account].otp_secret
        if action.factor == "OTP" and secret is not None:
            return self._codes.totp(secret) if action.is_right else self._codes.wrong_totp(secret)
        if not action.is_right:
            return wrong_code({self.mailed.get(action.account, "")})
        code = self._reader(action.account).code_after(self.marks.get(action.account), self.clock)
        self.secrets.add(code, "code")
        self.mailed[action.account] = code
        return code

    def _reader(self, account: str) -> InboxReader:
        if account not in self.readers:
            settings = self.profile.accounts[account]
            if settings.inbox is None:
                raise Untestable(f"[accounts.{account}] has no inbox")
            inbox = self.profile.inboxes[settings.inbox]
            self.readers[account] = reader(inbox, settings.email, settings.inbox)
        return self.readers[account]
