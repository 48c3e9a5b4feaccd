"""Everything that goes wrong on our side of the wire, as one tree.

SuiteError                 a message for the user; no traceback
 ├─ UsageError             exit code 4
 │   ├─ ProfileError       the profile
 │   ├─ CaptureError       a recorded file
 │   ├─ RuleError          a rule of the user's own
 │   └─ LedgerError        the ledger of changes
 ├─ TargetUnreachable      exit code 6: nothing answers
 │   ├─ NotTls             something does, but not by TLS
 │   └─ TargetRestarted    exit code 5: it refused connections for a while, and answers again
 └─ LeftBehind             exit code 7: not everything is restored, and no report can say so

Untestable                 something cannot be tried, and why; never held against the target
 ├─ NotAllowed             above the allowed impact
 ├─ NoAnswer               the request went out, no answer came
 ├─ CannotSignIn           an account cannot be used
 ├─ OutOfBudget            sign-ins that fail, or mails, are used up
 ├─ OutOfTime              a wait is longer than the time budget leaves
 └─ RateLimited            the target keeps refusing for its rate limit

BrokenRule                 a rule of the user's own raised; held against nobody
PutOff                     a sign-in would wait for a code, and other cases can go on meanwhile
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Literal

FaultClass = Literal["target", "configuration", "credentials", "environment", "suite"]
"""Where the cause lies: the portal, the profile, what it signs in with, what lies between, or this suite."""


class ExitCode(IntEnum):
    """The exit codes of every command; pytest's as far as pytest has them."""

    CONFORMANT = 0
    FAILED = 1
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    USAGE = 4
    INCONCLUSIVE = 5
    UNREACHABLE = 6
    LEFT_BEHIND = 7


class SuiteError(Exception):
    """Ends the run with a message that names the place, the cause and the next step."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL_ERROR


class UsageError(SuiteError):
    """What the user wrote cannot be followed."""

    exit_code = ExitCode.USAGE


class ProfileError(UsageError):
    """The profile cannot be read, or says something that cannot be."""


class CaptureError(UsageError):
    """A recorded file cannot be read."""


class RuleError(UsageError):
    """A rule of the user's own has a mistake."""


class LedgerError(UsageError):
    """A ledger of changes cannot be read or written."""


class TargetUnreachable(SuiteError):
    """Nothing answers at the target, also on a second try."""

    exit_code = ExitCode.UNREACHABLE


class NotTls(TargetUnreachable):
    """The address has https, and what answers there speaks no TLS."""


class TargetRestarted(TargetUnreachable):
    """The target refused connections during the run, and answers again: it may be another build."""

    exit_code = ExitCode.INCONCLUSIVE


class LeftBehind(SuiteError):
    """What was changed at the target is not all restored, and the reports cannot be written."""

    exit_code = ExitCode.LEFT_BEHIND


class Untestable(Exception):
    """Something cannot be tried. ``reason`` completes the sentence "untested: …"."""

    default_class: ClassVar[FaultClass] = "configuration"

    def __init__(self, reason: str, fault_class: FaultClass | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fault_class: FaultClass = fault_class or self.default_class


class NotAllowed(Untestable):
    """The request was not sent: its impact may exceed the impact that the run allows."""


class NoAnswer(Untestable):
    """The request went out, and no answer came: a time-out, or a connection that broke."""

    default_class = "environment"


class CannotSignIn(Untestable):
    """An account cannot be signed in."""

    default_class = "credentials"

    def again(self) -> CannotSignIn:
        """The same reason, to be raised once more: what is raised twice keeps all that led to the first."""
        return CannotSignIn(self.reason, self.fault_class)


class OutOfBudget(Untestable):
    """The profile's ``[limits]`` allow no more of this."""


class OutOfTime(Untestable):
    """The time budget leaves less than the wait would take."""


class BrokenRule(Exception):
    """A rule of the user's own raised on an exchange. The text has its file and line."""


class PutOff(Exception):
    """A sign-in would wait for a code where time is short: the case begins anew, when others are done. No
    case catches it."""


class RateLimited(Untestable):
    """The target refused for its rate limit, again and again."""

    default_class = "environment"
