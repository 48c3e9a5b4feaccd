"""The only door to a target: everything that is sent to a portal is sent by a ``Portal``."""

from __future__ import annotations

import secrets as random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Unpack

from conformance.errors import TargetUnreachable, Untestable
from conformance.spec import BY_KEY
from conformance.spec.endpoints import LOGOUT, PROFILE, PUBLIC_KEY
from conformance.spec.operations import Impact
from conformance.spec.requests import UNFILTERED
from conformance.target.clock import Clock
from conformance.target.portal.accounts import ProfileAccount, SignInMeans
from conformance.target.portal.availability import silent
from conformance.target.portal.budget import Budget
from conformance.target.portal.calls.bodies import Bodies
from conformance.target.portal.calls.caller import Caller, CallOptions
from conformance.target.portal.changes import ChangeLedger, TargetChange
from conformance.target.portal.codes import Codes, UsedSteps, step_files
from conformance.target.portal.login import refusal
from conformance.target.portal.records import Lookup
from conformance.target.portal.restoring.password_history import PasswordHistory
from conformance.target.portal.restoring.sessions import OwnSessions
from conformance.target.portal.secure import SecureChannel
from conformance.target.portal.sign_ins.calls import Login
from conformance.target.portal.sign_ins.session import SignedIn
from conformance.target.portal.transport import Transport, clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json
from conformance.traffic.http_library import httpx
from conformance.traffic.redaction.redact import Secrets

__all__ = ["Portal", "ProfileAccount", "SignedIn", "clock_of"]

PROBED = BY_KEY[PUBLIC_KEY].path
GUARDED = BY_KEY[PROFILE].path
ELSEWHERE = "{url} redirects to {place}. Enter the portal's own address."
NO_PORTAL = "{url} answers ({answer}), but not as a portal. Check the address and [portal] access_code."
RESTORING_SECONDS = 10.0
"""Seconds of the time budget that are kept for the requests that restore what a run changed."""


class Portal:
    """A target, with all that a run knows of it. Make one with ``connect``.

    ``run_id`` begins the name of everything that the run creates.
    """

    def __init__(
        self,
        profile: Profile,
        transport: Transport,
        *,
        clock: Clock,
        secrets: Secrets,
        ledger: Path | None,
        used_steps: UsedSteps | None = None,
    ) -> None:
        self.profile = profile
        self.transport = transport
        self.clock = clock
        self.secrets = secrets
        self.run_id = f"suite-{random.token_hex(3)}"
        secrets.make_public(self.run_id)
        self.client_hash = random.token_hex(16)
        self.is_reading_beside = False
        """Whether what is read now only shows what other requests left as it was."""
        self.budget = Budget(profile.limits, clock)
        self.codes = Codes(clock, secrets, used_steps)
        self.secure = SecureChannel(profile.secure_channel, self.call, clock=clock, secrets=secrets)
        self.puts_off: float | None = None
        self.records = Lookup(profile.records, self._listed)
        self.bodies = Bodies(profile, self.records, self.unique)
        self.changes = self._ledger(ledger)
        self._password_history = PasswordHistory(profile, self.bodies, self.secure, self.changes)
        self._numbers, self.own_sessions = count(1), OwnSessions()
        self.calls = Caller(
            profile, transport, self.client_hash, clock=clock, budget=self.budget, changes=self.changes
        )
        self.login = Login(self.calls, clock, self.budget, self.account_of, self.wrong_password)
        parts = profile, clock, secrets, self.codes, self.budget, self.calls, self.login, self.run_id
        means = SignInMeans(*parts, lambda: self.puts_off, self.account_stopped)
        self._accounts = {
            name: ProfileAccount(means, name, settings) for name, settings in profile.accounts.items()
        }
        self._by_email = {account.email.lower(): account for account in self._accounts.values()}

    def _ledger(self, path: Path | None) -> ChangeLedger:
        return ChangeLedger(
            path,
            run_id=self.run_id,
            clock=self.clock,
            target=self.url,
            secrets=self.secrets,
            check_way_back=self._check_way_back,
            result_ids={key: settings.result_id for key, settings in self.profile.operations.items()},
        )

    @contextmanager
    def putting_off(self, left: float | None) -> Iterator[None]:
        """Within it a sign-in raises PutOff instead of a wait for its code; not with None. ``left``: the
        seconds of the time budget."""
        self.puts_off = left
        try:
            yield
        finally:
            self.puts_off = None

    @contextmanager
    def reading_beside(self) -> Iterator[None]:
        """Context in which requests only read unchanged state of the portal."""
        self.is_reading_beside = True
        try:
            yield
        finally:
            self.is_reading_beside = False

    @classmethod
    def connect(
        cls,
        profile: Profile,
        *,
        impact: Impact,
        clock: Clock | None = None,
        secrets: Secrets | None = None,
        on_exchange: Callable[[Exchange], None] = lambda exchange: None,
        handler: httpx.BaseTransport | None = None,
        ledger: Path | None = None,
    ) -> Portal:
        """A portal ready to be called; nothing is sent yet.

        ``on_exchange`` is called with every exchange, one at a time. ``handler`` takes the place of the
        network. ``ledger`` is where changes are noted before they are made. Raises ProfileError, LedgerError.
        """
        secrets = Secrets() if secrets is None else secrets
        for secret in profile.secrets():
            secrets.add(*secret)
        clock, own_sessions = clock or clock_of(profile), OwnSessions()

        def noticed(exchange: Exchange) -> None:
            own_sessions.notice(exchange)
            on_exchange(exchange)

        transport = Transport(
            profile, clock=clock, impact=impact, secrets=secrets, on_exchange=noticed, handler=handler
        )
        authenticators = {
            account.otp_secret: account.email for account in profile.accounts.values() if account.otp_secret
        }
        is_real = handler is None and not clock.is_simulated
        used_steps = UsedSteps(step_files(profile.portal.url, authenticators) if is_real else None)
        portal = cls(profile, transport, clock=clock, secrets=secrets, ledger=ledger, used_steps=used_steps)
        portal.own_sessions = own_sessions
        return portal

    def __enter__(self) -> Portal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def end_sessions(self, *, logged_out: Collection[str] = ()) -> str | None:
        """Logs out the sessions that the run began, as ``OwnSessions.end`` does, at the impact that ends
        sessions. What stays open, as a sentence."""
        if self.impact == "disruptive":
            self.own_sessions.end(lambda token: self.call(LOGOUT, token=token), logged_out=logged_out)
        return self.own_sessions.left

    def close(self) -> None:
        self.transport.close()
        self.changes.close()

    @property
    def impact(self) -> Impact:
        return self.transport.impact

    @property
    def url(self) -> str:
        return self.profile.portal.url

    @property
    def bot_token(self) -> str:
        """The profile's bot-challenge token. Raises Untestable where it has none."""
        token = self.profile.bot_challenge.token
        if token is None:
            raise Untestable("the profile has no [bot_challenge] token")
        return token

    def recognise(self) -> None:
        """A harmless request, and where what answers may be no portal another. Raises TargetUnreachable where
        nothing answers, or what does is a page for people, say, or an address that was left."""
        first = self._probed(PROBED)
        for is_other, message in ((_is_elsewhere, ELSEWHERE), (_is_no_portals, NO_PORTAL)):
            if is_other(first) and is_other(self._probed(GUARDED)):
                raise TargetUnreachable(
                    message.format(url=self.url, place=first.at("headers.location"), answer=refusal(first))
                )

    def probe(self) -> None:
        """One harmless request, whatever the answer. Raises TargetUnreachable where none comes."""
        self._probed(PROBED)

    def _probed(self, path: str) -> Exchange:
        try:
            return self.get(path)
        except Untestable as problem:
            raise TargetUnreachable(silent(self.url, problem.reason)) from None

    def left(self, name: str) -> int:
        """How many login sessions of an account were begun, and left to whoever needs one."""
        return self.login.left.count(self._accounts[name].email) if name in self._accounts else 0

    def unique(self) -> str:
        """A name nobody has used, beginning with the run's id."""
        return f"{self.run_id}-{next(self._numbers)}"

    def wrong_password(self) -> str:
        return self.secrets.made_up(f"Wrong-{random.token_hex(8)}!")

    def account(self, name: str) -> ProfileAccount:
        """One of the profile's accounts. Raises Untestable where it is missing."""
        if name not in self._accounts:
            raise Untestable(f"the profile has no [accounts.{name}]")
        return self._accounts[name]

    def account_stopped(self, account: ProfileAccount) -> None:
        """Ends all waiting where the account that most cases need never held a token: the run is inconclusive
        whatever is waited for."""
        if account.name == "admin" and not account.attempts.has_held_token:
            self.clock.refuse_waits("[accounts.admin] cannot sign in, and the run stays inconclusive")

    def has_account(self, name: str) -> bool:
        return name in self._accounts

    def account_of(self, email: str) -> ProfileAccount | None:
        return self._by_email.get(email.lower())

    def record(self, name: str) -> str:
        """The id of a record that exists: the profile's, else one that a listing shows. Raises Untestable."""
        return self.records.id_of(name)

    def operation_body(self, key: str, **placeholders: Json) -> Json:
        """The profile's body of an endpoint, filled in. Raises Untestable naming what is missing."""
        return self.bodies.filled(key, placeholders)

    def _listed(self, key: str) -> Exchange:
        """The whole listing of an endpoint, as the admin sees it."""
        body = UNFILTERED.get(key, ABSENT)
        return self.call(key, json=body, token=self.account("admin").token)

    def _check_way_back(self, change: TargetChange) -> None:
        """A change is made only where its author can sign in to restore it, in time. Raises Untestable."""
        account = self.account(change.account)
        account.signed_in()
        # A new sign-in may be needed, where the account's sessions may be ended meanwhile.
        signs_in_again = not self.clock.is_simulated and account.name != "admin"
        seconds = self.budget.window + account.code_seconds if signs_in_again else 0.0
        self.clock.reserve(RESTORING_SECONDS + seconds)
        if change.kind == "password":
            self._password_history.check(account)

    # --- requests

    def call(self, key: str, **options: Unpack[CallOptions]) -> Exchange:
        """Calls one of the 88 endpoints, named by method and path template.

        ``json`` or ``raw`` is the body. In ``headers`` None takes a default header away. ``method`` sends
        another method to the same path. A sign-in waits for its place in the window, and it and a mail that
        are refused for the rate limit are tried again, unless ``within_budget`` is False.
        Raises KeyError (no such endpoint, a parameter is missing) and what ``Transport.send`` raises.
        """
        return self.calls.call(key, options)

    def get(
        self,
        path: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        method: str = "GET",
        client_hash: str | None = None,
    ) -> Exchange:
        """A request to any path, with the common headers: for paths that are none of the 88."""
        options = CallOptions(token=token, headers=headers, client_hash=client_hash)
        return self.calls.send(self.calls.addressed(method, path, options))


def _is_elsewhere(answer: Exchange) -> bool:
    return answer.status in range(300, 400) and isinstance(answer.at("headers.location"), str)


def _is_no_portals(answer: Exchange) -> bool:
    """Whether an answer is a text that is no JSON, and no refusal of the missing token either."""
    return (
        answer.response is not None
        and answer.response.state == NOT_JSON
        and answer.status not in (401, 429, 503)
    )
