"""How an account's sign-ins have gone, and when the account is given up: another try could lock it.
What to look at where the target refuses a sign-in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from conformance.errors import CannotSignIn, FaultClass
from conformance.spec.tables import LIMITS
from conformance.target.portal.channel import clock_offset, clock_problem
from conformance.traffic.exchange import Exchange

REFUSED_SIGN_INS = 2
"""Sign-ins in a row that end without a token, after which an account that never held one begins no other."""

REFUSED_IN_ONE = 3
"""Right codes in a row that are refused, after which an account that never held a token signs in no more."""

REFUSED_CODES = 5
"""Right codes in a row that are refused, after which an account that never held a token is given up."""


class PasswordRefused(CannotSignIn):
    """The target refused an email with a password that it never accepted."""


class Attempts:
    """Counts the refused sign-ins of one account; a successful one begins the counts anew.

    ``limit`` is the profile's ``max_failed_sign_ins``. An account whose sign-ins were ``stopped`` may still
    take the single steps; one that is ``given_up`` takes none.
    """

    def __init__(self, account: str, limit: int, on_stopped: Callable[[], None] = lambda: None) -> None:
        self.has_held_token = False
        self.is_password_accepted = False
        self.stopped: CannotSignIn | None = None
        self.given_up: CannotSignIn | None = None
        self.refusal = ""
        """Why the last sign-in ended without a token."""
        self._account = account
        self._on_stopped = on_stopped
        self._limit = max(1, limit)
        self._sign_ins = 0
        self.codes_refused = 0
        self._own_codes: deque[str] = deque(maxlen=8)

    @property
    def is_stopped(self) -> bool:
        return self.stopped is not None or self.given_up is not None

    def check(self) -> None:
        """Raises CannotSignIn where the account is given up."""
        if self.given_up is not None:
            raise self.given_up.again()

    def check_session(self) -> None:
        """Raises CannotSignIn where no session can be begun."""
        self.check()
        if self.stopped is not None:
            raise self.stopped.again()

    def check_password(self) -> None:
        """Raises CannotSignIn where the password may not be sent: it was never accepted."""
        self.check()
        if self.stopped is not None and not self.is_password_accepted:
            raise self.stopped.again()

    def token_received(self) -> None:
        self.has_held_token = self.is_password_accepted = True
        self._sign_ins = self.codes_refused = 0

    def password_refused(self, answer: str, advice: str) -> CannotSignIn:
        """Gives the account up at the first refusal of a password that was never accepted."""
        self._sign_ins += 1
        self.refusal = f"email or password is refused ({answer}). {advice}"
        refused = PasswordRefused(f"[accounts.{self._account}]: {self.refusal}")
        self.given_up = self.given_up or refused
        self._on_stopped()
        return refused

    def sign_in_refused(self, message: str, fault_class: FaultClass) -> CannotSignIn:
        """Counts a sign-in that ended without a token."""
        self._sign_ins += 1
        if self._sign_ins >= self._limit:
            return self._give_up(message, fault_class)
        reason = self._reason(message, fault_class)
        is_hopeless = self._sign_ins >= REFUSED_SIGN_INS or self.codes_refused >= REFUSED_IN_ONE
        if is_hopeless and not self.has_held_token:
            self.stopped = reason
            self._on_stopped()
        return reason

    def code_issued(self, code: str) -> None:
        """Notes a code that is right: its refusal counts."""
        self._own_codes.append(code)

    def code_refused(self, code: str, message: str) -> None:
        """Counts the refusal of a code; one that was meant to be wrong does not count."""
        if self.is_right(code):
            self.code_failed(message)

    def is_right(self, code: str) -> bool:
        """Whether a code is one that was issued, and none that was meant to be wrong."""
        return code in self._own_codes

    def code_failed(self, message: str) -> None:
        """Counts a right code that was refused, or that did not come."""
        self.codes_refused += 1
        if self.codes_refused >= (self._limit if self.has_held_token else min(REFUSED_CODES, self._limit)):
            self._give_up(message)

    def _give_up(self, message: str, fault_class: FaultClass = "credentials") -> CannotSignIn:
        reason = self._reason(message, fault_class)
        if self.given_up is None:
            self.given_up = reason
            self._on_stopped()
        return reason

    def _reason(self, message: str, fault_class: FaultClass) -> CannotSignIn:
        self.refusal = message
        return CannotSignIn(f"[accounts.{self._account}]: {message}", fault_class)


def password_problem(password: str) -> str | None:
    """What of a password's length the specification does not allow; None where it allows it."""
    least, most = LIMITS.password_min, LIMITS.password_max
    if least <= len(password) <= most:
        return None
    return f"it has {len(password)} characters, and the specification allows {least} to {most}"


def password_advice(account: str, password: str) -> str:
    """Advice after a refused password, which the suite never resends."""
    problem = password_problem(password)
    if problem is not None:
        return f"Check [accounts.{account}] password: {problem}."
    return f"Check [accounts.{account}] email and password; no run sends this password twice."


def otp_advice(account: str, refused: Exchange, *, is_simulated: bool) -> str:
    """What to do where an authenticator's codes were refused: its secret is wrong, or a clock is off."""
    secret = f"[accounts.{account}] otp_secret"
    offset = 0.0 if is_simulated else clock_offset(refused)
    if offset is None:
        return f"Check {secret}, and this machine's clock."
    problem = clock_problem(offset)
    if problem is not None:
        return f"{problem[0].upper()}{problem[1:]}: set the clock that is wrong. Then check {secret}."
    return f"The clocks agree, so {secret} is not the secret of its authenticator: write the right one."


def mail_advice(account: str, inbox: str) -> str:
    return (
        f"Check that [inboxes.{inbox}] gives the code of the newest mail to [accounts.{account}], "
        "and that its pattern matches no other number."
    )
