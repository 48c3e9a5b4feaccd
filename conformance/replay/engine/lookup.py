"""Looks up what the portal itself does not return: codes, mails, the time; and notes what it changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.errors import Untestable
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.rebuild.actions import (
    Code,
    FindKey,
    Lookup,
    MarkInbox,
    NoteChange,
    OnlyCode,
    PassTime,
)
from conformance.target.clock import Clock
from conformance.target.portal.codes import Codes, wrong_code
from conformance.target.portal.inboxes import FixedReader, Mark, ProfileInboxReader, reader
from conformance.target.portal.secure import SecureChannel
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import FixedInbox
from conformance.traffic.redaction.redact import Secrets

ON_ITS_WAY = 1.0
"""Seconds in which another code may follow one that came."""


@dataclass
class Lookups:
    """Answers the lookups of a replay. It may block, in a thread."""

    profile: Profile
    clock: Clock
    secrets: Secrets
    codes: Codes
    secure: SecureChannel
    changes: ReplayChanges
    marks: dict[str, Mark] = field(default_factory=dict)
    sent: dict[str, Mark] = field(default_factory=dict)
    """The marks before the last requests for a mail that were accepted when recorded."""
    readers: dict[str, ProfileInboxReader] = field(default_factory=dict)
    mailed: dict[str, str] = field(default_factory=dict)

    def is_immediate(self, action: Lookup) -> bool:
        """Whether nobody else is asked, and nothing waited for."""
        if isinstance(action, PassTime | NoteChange | FindKey) or (
            isinstance(action, Code) and action.factor == "OTP"
        ):
            return False
        inbox = self.profile.accounts[action.account].inbox
        return inbox is None or isinstance(self.profile.inboxes[inbox], FixedInbox)

    def answer(self, action: Lookup) -> str | None:
        """The result of a lookup. Raises Untestable where there is none."""
        if isinstance(action, PassTime):
            self.clock.wait(action.seconds, action.why)
            return None
        if isinstance(action, NoteChange):
            self.changes.note(action)
            return None
        if isinstance(action, FindKey):
            self.secure.open()
            action.take(self.secure.found_key(self.secure.public_key()), self.secure.wrap)
            return None
        if isinstance(action, MarkInbox):
            mark = self.marks[action.account] = self._reader(action.account).mark()
            if action.is_accepted:
                self.sent[action.account] = mark
            return None
        if isinstance(action, OnlyCode):
            return self._only_code(action.account)
        return self._code(action)

    def _only_code(self, account: str) -> str | None:
        """The only new code, some time after it came: another mail may be on its way."""
        mark = self.sent.get(account)
        if mark is None or self._reader(account).only_code_after(mark) is None:
            return None
        self.clock.pause(ON_ITS_WAY, "another mail that may be on its way")
        return self._reader(account).only_code_after(mark)

    def _code(self, action: Code) -> str:
        secret = action.secret or self.profile.accounts[action.account].otp_secret
        if action.factor == "OTP" and secret is not None:
            return self.codes.totp(secret) if action.is_right else self.codes.wrong_totp(secret)
        if not action.is_right:
            return wrong_code({self.mailed.get(action.account, "")})
        inbox = self._reader(action.account)
        if action.account not in self.marks and not isinstance(inbox, FixedReader):
            raise Untestable(
                f"the inbox of [accounts.{action.account}] was not read before its code was mailed"
            )
        code = inbox.code_after(self.marks.get(action.account), self.clock)
        self.secrets.add(code, "code")
        self.mailed[action.account] = code
        return code

    def _reader(self, account: str) -> ProfileInboxReader:
        if account not in self.readers:
            settings = self.profile.accounts[account]
            if settings.inbox is None:
                raise Untestable(f"[accounts.{account}] has no inbox")
            inbox = self.profile.inboxes[settings.inbox]
            self.readers[account] = reader(inbox, settings.email, settings.inbox)
        return self.readers[account]
