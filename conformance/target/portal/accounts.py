"""Accounts of the profile: identity, sign-in, and shared sessions."""

from __future__ import annotations

import base64
import hmac
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf

from conformance.errors import CannotSignIn, PutOff, Untestable
from conformance.spec.endpoints import PROFILE
from conformance.spec.tables import CHALLENGE_FAILED, INVALID_PARAMETER
from conformance.target.clock import LONGEST_WAIT, Clock
from conformance.target.portal.budget import Budget, retry_after
from conformance.target.portal.calls.caller import Caller
from conformance.target.portal.codes import UNTOUCHED, Codes, wrong_code
from conformance.target.portal.inboxes import POLL_SECONDS, InboxReader, Mark, NothingArrived, reader
from conformance.target.portal.login import (
    CODE_INVALID,
    METHODS,
    SignInRefused,
    blame,
    chosen_factor,
    expires_in,
    refusal,
    text_at,
)
from conformance.target.portal.sign_ins.attempts import (
    Attempts,
    mail_advice,
    otp_advice,
    password_advice,
    password_problem,
)
from conformance.target.portal.sign_ins.calls import MAILED_BEFORE, Login
from conformance.target.portal.sign_ins.session import SignedIn, lifetime
from conformance.target.profile.authenticator import STEP
from conformance.target.profile.model import Profile
from conformance.target.profile.tables import AccountSettings, Factor
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.comparisons import is_cooldown

CODES_TRIED = 3
"""How many codes one sign-in tries: an authenticator's current one may have been used elsewhere, a clock be
off, or the mail of an earlier send come late. Three refusals stay below a usual lock-out."""

LONG_FROM, LONG_PASSWORD = 90, 100
"""From which of a run's passwords on they are long, and how long they are then."""

A_MOMENT = 2.0
"""Seconds that a sign-in waits for the authenticator's next code before it asks for a mail instead."""

AMPLE_BUDGET_SECONDS = 180.0
"""Seconds of a time budget with which a sign-in may meet a cooldown at any time."""

LATE_MAIL_SECONDS = 10.0
"""Seconds after which the late mail of an earlier send is no longer waited for."""

UNEXPECTED_MAIL_SECONDS = 0.1
"""Seconds that a mail which should not come is waited for at least."""

MAILS_KEPT = 3
"""Mails that are left for cases about mails."""


@dataclass(frozen=True)
class SignInMeans:
    """What the accounts of a portal sign in with. ``puts_off`` are the seconds of the time budget in which a
    sign-in raises PutOff; ``account_stopped`` is called with an account that cannot sign in any more."""

    profile: Profile
    clock: Clock
    secrets: Secrets
    codes: Codes
    budget: Budget
    calls: Caller
    login: Login
    run_id: str
    puts_off: Callable[[], float | None]
    account_stopped: Callable[[ProfileAccount], None]


class ProfileAccount:
    """One of ``[accounts]``. Cases share its session, which is refreshed when it nears its end."""

    def __init__(self, means: SignInMeans, name: str, settings: AccountSettings) -> None:
        self.name = name
        self.email = settings.email
        self.password = settings.password
        self._means = means
        self._settings = settings
        self._lock = threading.RLock()
        self._shared: SignedIn | None = None
        self._suspect = False
        self._limit = means.profile.limits.max_failed_sign_ins
        self.attempts = Attempts(name, self._limit, lambda: means.account_stopped(self))
        self._passwords = 0
        self._preferred: Factor | None = None
        self._is_otp_refused = False
        """Whether its authenticator's code was refused, while the profile has it sign in by mail."""
        self._reader: InboxReader | None = None
        self._mark: Mark = None
        self._is_awaited = False
        self._overdue = 0
        """How many sends there were whose mail had not come when the next one was asked for."""
        self._last_mailed: str | None = None
        self._slowest_mail: float | None = None

    def __repr__(self) -> str:
        return f"<ProfileAccount {self.name}>"

    @property
    def mfa(self) -> Factor | None:
        """The factor it prefers; None where it has none."""
        return next(iter(self.factors), None)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Available second factors, the preferred one first."""
        preferred = self._preferred or self._settings.mfa
        able: list[Factor] = [factor for factor in ("OTP", "EMAIL") if self.can(factor)]
        return tuple(sorted(able, key=lambda factor: factor != preferred))

    @property
    def ready_factors(self) -> tuple[Factor, ...]:
        """The factors it can do, the one first that needs the shortest wait now; else the preferred one."""
        secret, is_chosen = self._settings.otp_secret, self._preferred is not None
        if is_chosen or len(self.factors) < 2 or not secret:
            return self.factors
        if self._means.budget.mails_left() < MAILS_KEPT:
            return self.factors
        waits = self._means.codes.wait_for_totp(secret)
        return self.factors if waits < A_MOMENT else ("EMAIL", "OTP")

    def can(self, factor: str) -> bool:
        has_authenticator = self._settings.otp_secret and not self._is_otp_refused
        return bool({"OTP": has_authenticator, "EMAIL": self._settings.inbox}.get(factor))

    @property
    def is_otp_proven(self) -> bool:
        """Whether the target accepted an authenticator code of the profile's secret in this run."""
        return self._means.codes.is_proven(self._otp_secret)

    # --- codes

    @property
    def _otp_secret(self) -> str:
        return self._settings.otp_secret or ""

    def code(self, factor: Factor | None = None, since: Mark = None) -> str:
        """The code to give now: the authenticator's next unused one, or the one mailed since the last send.

        ``since``: what ``mark_inbox`` gave, in place of the last send's. Raises Untestable.
        """
        self.attempts.check()
        code = self._totp() if self._factor(factor) == "OTP" else self._mailed_code(since)
        self.attempts.code_issued(code)
        return code

    def _totp(self) -> str:
        """The current code; after a refusal one beside it, for which nothing is waited. Where waiting costs
        nothing, it is one that an earlier run cannot have used, and after that the next in its own time."""
        codes, refused = self._means.codes, self.attempts.codes_refused
        if refused == 0 or self.attempts.has_held_token:
            return codes.totp(self._otp_secret)
        if self._means.clock.is_simulated:
            return codes.totp(self._otp_secret, steps_ahead=UNTOUCHED if refused == 1 else 0)
        return codes.adjacent_totp(self._otp_secret, refused)

    def arrival(self, longest: float) -> float:
        """Seconds after which a mail that is not there does not come: ten times as long as the slowest code
        of this account took to be read, and no longer than ``longest``, which it is where none was read."""
        slowest = longest if self._slowest_mail is None else 10 * self._slowest_mail
        return min(longest, max(UNEXPECTED_MAIL_SECONDS, slowest))

    def _mailed_code(self, since: Mark) -> str:
        began = time.perf_counter()
        try:
            code = self._inbox().code_after(self._mark if since is None else since, self._means.clock)
        except NothingArrived as missing:
            self.attempts.code_failed(missing.reason)
            raise
        self._means.secrets.add(code, "code", f"mailed to accounts.{self.name}")
        self._slowest_mail = max(self._slowest_mail or 0.0, time.perf_counter() - began)
        self._last_mailed, self._is_awaited = code, False
        return code

    def _later_code(self, refused: str) -> str | None:
        """The code of a mail that came after one whose code was refused. None where none is overdue: only a
        late mail of an earlier send may have come in place of that of the last."""
        code = None
        if self._overdue:
            self._overdue -= 1
            with suppress(Untestable):
                code = self._code_after(refused)
        if code is not None:
            self._means.secrets.add(code, "code", f"mailed to accounts.{self.name}")
            self._last_mailed = code
            self.attempts.code_issued(code)
        return code

    def _code_after(self, refused: str) -> str | None:
        clock, why = self._means.clock, "a later mail"
        until = clock.ticks() + self.arrival(LATE_MAIL_SECONDS)
        while (code := self._inbox().code_after(self._mark, clock)) == refused:
            if clock.ticks() >= until:
                return None
            clock.pause(POLL_SECONDS, why)
        return code

    def advice(self, refused: Exchange, factor: Factor | None) -> str:
        """Advice after a refused code or bot challenge; empty for other refusals."""
        if refused.code == CHALLENGE_FAILED:
            return "Check [bot_challenge] token and header: the portal asks for the challenge at sign-in."
        if factor == "OTP":
            return otp_advice(self.name, refused, is_simulated=self._means.clock.is_simulated)
        return mail_advice(self.name, self._settings.inbox or "") if factor == "EMAIL" else ""

    def code_was_answered(self, code: Json, completed: Exchange) -> None:
        if not completed.success:
            factor: Factor = "EMAIL" if code == self._last_mailed else "OTP"
            message = f"the right codes are refused ({refusal(completed)})"
            if factor == "OTP" and self._settings.mfa == "EMAIL" and not self.is_otp_proven:
                self._is_otp_refused = self._is_otp_refused or self.attempts.is_right(str(code))
                return
            self.attempts.code_refused(str(code), f"{message}. {self.advice(completed, factor)}")
        elif text_at(completed, "data.accessToken") is not None:
            self.attempts.token_received()
            self._means.codes.was_accepted(self._otp_secret, str(code))

    @property
    def code_seconds(self) -> float:
        """The longest that a sign-in waits for its code."""
        if self.mfa == "OTP":
            return float(STEP)
        inbox = self._means.profile.inboxes.get(self._settings.inbox or "")
        return self._means.login.cooldown + getattr(inbox, "timeout", 0.0)

    def code_from(self, left: float) -> float:
        """The moment (epoch seconds) from which a sign-in waits for no code, as far as is known. ``left``:
        the seconds of the time budget; where they are plenty, no cooldown is feared."""
        factor = next(iter(self.ready_factors), None)
        if factor is None or self.attempts.is_stopped:
            return -inf
        if factor == "OTP":
            return self._means.clock.now() + self._means.codes.wait_for_totp(self._otp_secret)
        return self._means.login.sends_from(self.email) if left < AMPLE_BUDGET_SECONDS else -inf

    def wrong_code(self, factor: Factor | None = None) -> str:
        """A well-formed but wrong code. Its placeholder in records marks it as wrong."""
        if self._factor(factor) == "OTP":
            code = self._means.codes.wrong_totp(self._otp_secret)
        else:
            code = wrong_code({self._last_mailed or ""})
        self._means.secrets.add(code, "wrong-code", f"made up, no code of accounts.{self.name}")
        return code

    def mark_inbox(self) -> Mark:
        """Remembers what the inbox holds now; ``code`` takes what comes later."""
        if self.can("EMAIL"):
            before, self._mark = self._mark, self._inbox().mark()
            self._overdue += self._is_awaited and self._mark == before
            self._is_awaited = True
        return self._mark

    def has_mailed_code(self) -> bool:
        """Whether a code arrived since ``mark_inbox``, as far as the inbox shows now. Raises Untestable."""
        return self._inbox().has_code_after(self._mark)

    def _factor(self, factor: Factor | None) -> Factor:
        chosen = factor or self.mfa
        if chosen is None or not self.can(chosen):
            if chosen == "OTP" and self._is_otp_refused:
                raise CannotSignIn(f"the codes of the authenticator of [accounts.{self.name}] are refused")
            lacking = {"OTP": "otp_secret", "EMAIL": "inbox"}.get(chosen or "", "otp_secret and no inbox")
            raise CannotSignIn(f"[accounts.{self.name}] has no {lacking}", "configuration")
        return chosen

    def read_from(self, reader: InboxReader) -> None:
        """Takes the account's emailed codes from elsewhere than the profile's inbox."""
        self._reader = reader

    def _inbox(self) -> InboxReader:
        if self._reader is None:
            name = self._settings.inbox or ""
            self._reader = reader(self._means.profile.inboxes[name], self.email, name)
        return self._reader

    # --- sessions

    @property
    def token(self) -> str:
        """An access token of the shared session. Raises CannotSignIn, and what else keeps it out."""
        return self.signed_in().token

    def signed_in(self) -> SignedIn:
        """The shared session: begun once, refreshed near its end, begun again only where that fails."""
        with self._lock:
            shared = self._shared
            if shared is not None and self._suspect:
                self._suspect = False
                probe = self._means.calls.call(PROFILE, {"token": shared.token, "client": self.name})
                shared = shared if probe.status != 401 else self._refreshed(shared)
            if shared is not None and self._means.clock.now() >= shared.due:
                shared = self._refreshed(shared)
            self._shared = shared or self.another_session()
            self._means.calls.owns_token(self._shared.token, self.doubt)
            return self._shared

    def another_session(self) -> SignedIn:
        """A separate session: completes a pending login session, else signs in anew."""
        with self._lock:
            self._check_wait()
            left = self._means.login.left.oldest(self.email)
            if left is not None and not self.attempts.is_stopped:
                try:
                    return self._sign_in(left)
                except SignInRefused:
                    self._means.login.left.drop(self.email)
            return self.fresh_sign_in()

    def fresh_sign_in(self) -> SignedIn:
        """A session of its own, always begun anew. Raises CannotSignIn, RateLimited, OutOfTime, PutOff."""
        with self._lock:
            self.attempts.check_session()
            self._check_wait()
            try:
                return self._sign_in()
            except SignInRefused as refused:
                advice = self.advice(refused.exchange, refused.factor)
                message = f"{refused}. {advice}" if advice else f"{refused}"
                raise self.attempts.sign_in_refused(message, blame(refused)) from None
            except Untestable as reason:
                is_environment = reason.fault_class == "environment" and not isinstance(reason, CannotSignIn)
                if is_environment or isinstance(reason, NothingArrived):
                    self.attempts.sign_in_refused(reason.reason, reason.fault_class)
                raise

    def _check_wait(self) -> None:
        """Raises PutOff where a sign-in would wait for its code, and others can go on meanwhile."""
        left = self._means.puts_off()
        if left is not None and self.code_from(left) > self._means.clock.now() + A_MOMENT:
            raise PutOff(self.name)

    def sign_in_with(self, password: str) -> SignedIn:
        """Signs in with another password, which becomes the account's own."""
        with self._lock:
            before = self.password, self.attempts
            self.password = password
            self.attempts = Attempts(self.name, self._limit)
            try:
                return self.fresh_sign_in()
            except CannotSignIn:
                self.password, self.attempts = before
                raise

    def prefer(self, factor: Factor) -> None:
        """Prefers this factor for later sign-ins, if available; refusals of the other factor do not count."""
        self._preferred = factor
        if self.attempts.given_up is None:
            self.attempts = Attempts(self.name, self._limit)

    def forget(self) -> None:
        """Drops the shared session, where a case has ended it."""
        with self._lock:
            self._shared = None

    def doubt(self) -> None:
        """The shared token was refused: it is tried once before it is given to anyone again."""
        self._suspect = True

    def _sign_in(self, begun: Exchange | None = None) -> SignedIn:
        """``begun``: the answer to the first step, where that was taken before. Raises SignInRefused."""
        login, factors = self._means.login, self.ready_factors
        self.usable_password()
        if begun is None and factors[:1] == ("OTP",) and self.attempts.codes_refused == 0:
            self._means.codes.await_unused(self._otp_secret)  # a login session may be over by then
        refused = initiated = login.initiate(self) if begun is None else begun
        session = text_at(initiated, "data.sessionId")
        if session is None:
            raise SignInRefused("initiate", initiated)
        factor = chosen_factor(initiated, factors)
        if factor == "EMAIL":
            self._have_code_sent(session)
        code: str | None = None
        for _ in range(CODES_TRIED):
            code = self._later_code(code) if code is not None and factor == "EMAIL" else self.code(factor)
            if code is None:
                break
            refused = login.complete(session, method=METHODS[factor], code=code)
            if text_at(refused, "data.accessToken") is not None:
                return self._session(factor, initiated, refused)
            if refused.code != CODE_INVALID:
                break
        raise SignInRefused("complete", refused, factor if refused.code == CODE_INVALID else None)

    def _have_code_sent(self, session: str) -> None:
        """Sends a code, and retries. A cooldown counted per account may run since the previous sign-in: one
        retry follows it. Retry-After may belong to another refusal and be shorter: one retry follows the
        whole cooldown."""
        login, cooldown = self._means.login, self._means.login.cooldown
        sent = login.send(session)
        asked = retry_after(sent)
        first = cooldown if asked is None else min(asked, LONGEST_WAIT)
        for seconds in (first, cooldown - first):
            if is_cooldown(sent) and seconds > 0:
                is_from_before = login.is_first_send(self.email)
                self._means.clock.wait(seconds, MAILED_BEFORE if is_from_before else "the resend cooldown")
                sent = login.send(session)
        if not sent.success:
            raise SignInRefused("mfa/send", sent)

    def _session(self, factor: Factor, initiated: Exchange, completed: Exchange) -> SignedIn:
        now, seconds = self._means.clock.now(), expires_in(completed)
        access = str(text_at(completed, "data.accessToken"))
        self._means.calls.remember_token(access, self.name, None, seconds)
        return SignedIn(
            account=self.name,
            token=access,
            refresh_token=text_at(completed, "data.refreshToken"),
            issued_at=now,
            expires_at=now + lifetime(seconds, access, now),
            factor=factor,
            initiated=initiated,
            completed=completed,
        )

    def _refreshed(self, old: SignedIn) -> SignedIn | None:
        """The same session with new tokens; None where the target refuses."""
        if old.refresh_token is None:
            return None
        answer = self._means.login.refresh(old.refresh_token, client=self.name)
        access = text_at(answer, "data.accessToken")
        if access is None:
            return None
        now = self._means.clock.now()
        return replace(
            old,
            token=access,
            refresh_token=text_at(answer, "data.refreshToken") or old.refresh_token,
            issued_at=now,
            expires_at=now + lifetime(expires_in(answer), access, now),
        )

    # --- passwords

    @property
    def is_signed_in(self) -> bool:
        return self._shared is not None

    def usable_password(self) -> str:
        """Its password. Raises CannotSignIn where that was refused: another try could lock the account."""
        self.attempts.check_password()
        return self.password

    def was_answered(self, initiated: Exchange) -> None:
        """Takes note of the answer to the account's own password. Raises CannotSignIn where it is refused.

        Only a password of the profile that never worked counts as wrong: one that did, or that a case has
        set, is the target's to accept.
        """
        if initiated.success:
            self.attempts.is_password_accepted = True
            return
        is_too_long_or_short = password_problem(self.password) is not None
        wrong = ("AUTH.INVALID_CREDENTIALS", *(INVALID_PARAMETER if is_too_long_or_short else ()))
        if initiated.code in wrong and not self.attempts.is_password_accepted:
            advice = password_advice(self.name, self.password)
            raise self.attempts.password_refused(refusal(initiated), advice)

    def next_password(self, number: int | None = None) -> str:
        """A new password, made from the profile's and the run's id, so that a clean-up can make it again."""
        if number is None:
            self._passwords += 1
            number = self._passwords
        return self.password_of(self._means.run_id, number)

    def password_of(self, run_id: str, number: int) -> str:
        """The password that a run made as its ``number``-th for this account."""
        digest = hmac.digest(self._settings.password.encode(), f"{run_id}/{number}".encode(), "sha256")
        letters = base64.b32encode(digest).decode()[:16]
        password = "aZ7!" + (letters * 8)[: LONG_PASSWORD - 4 if number >= LONG_FROM else 16]
        self._means.secrets.add(password, "password", f"made up for accounts.{self.name}")
        return password

    @property
    def profile_password(self) -> str:
        return self._settings.password

    def password_changed_to(self, new: str) -> None:
        self._means.secrets.add(new, "password")
        self.password = new
        self.attempts.is_password_accepted = True
        self._means.login.left.drop(self.email)
        self.doubt()
