"""Calls of the 88 endpoints: request contents, account, and request budgets."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import TypedDict
from urllib.parse import quote, urlencode

from conformance.errors import OutOfTime
from conformance.spec import endpoints as op
from conformance.spec.operations import operation
from conformance.target.clock import Clock
from conformance.target.portal.budget import LONGEST_PAUSE, MARGIN, Budget, retry_after
from conformance.target.portal.calls.headers import request_headers
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.sign_ins.session import lifetime
from conformance.target.portal.transport import Opener, Transport
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import ABSENT, Exchange, Header, Json
from conformance.verdicts.comparisons import is_rate_limited

PACED = frozenset({op.LOGIN_INITIATE, op.LOGIN_MFA_SEND})
"""The endpoints whose rate limit is waited for."""


class CallOptions(TypedDict, total=False):
    """What a call may say beyond its endpoint. The last five fill the braces of the path."""

    json: Json
    raw: bytes | None
    query: Mapping[str, str | Sequence[str]] | None
    token: str | None
    headers: Mapping[str, str | None] | None
    content_type: str | None
    client_hash: str | None
    bot_challenge: bool
    method: str | None
    client: str | None
    within_budget: bool
    open_answer: Opener | None
    workspaceId: str
    userBizId: str
    institutionBizId: str
    roleBizId: str
    fileBizId: str


@dataclass(frozen=True)
class Outgoing:
    """A request as the transport takes it. ``token`` is the one in its headers."""

    method: str
    path: str
    headers: Sequence[Header]
    body: bytes | None = None
    client: str = ""
    token: str | None = None
    open_answer: Opener | None = None


OF_PASSWORDS = frozenset({op.PASSWORD_FORGOT, op.PASSWORD_CHANGE, op.PASSWORD_RESET})
"""Endpoints of which the specification reports rate limits, and does not show them."""

A_MINUTE = 60.0
"""Seconds of such a limit that are waited for at most; of any where the portal's clock is moved instead."""

TOO_MANY = 429
MOST_PAUSES = 300.0
"""Seconds of such waits in all."""

UNASKED_PAUSES = 2.0, 10.0, 60.0
"""Seconds of waits for a limiter that does not say how soon it lets the next request pass."""

PASSES = "a rate limit to pass"


class Caller:
    """Sends requests. It knows whose each token is, and which client hash it was issued to."""

    def __init__(
        self,
        profile: Profile,
        transport: Transport,
        client_hash: str,
        *,
        clock: Clock,
        budget: Budget,
        changes: ChangeLedger,
    ) -> None:
        self._profile, self._transport = profile, transport
        self._clock, self._budget, self._changes = clock, budget, changes
        self._client_hash = client_hash
        self._tokens: dict[str, tuple[str, str | None]] = {}
        self._ends: dict[str, float] = {}
        """By access token, when its lifetime is over, on the target's clock."""
        self._shared: dict[str, Callable[[], None]] = {}
        """By shared token, what is called where it is refused."""
        self._pauses_left = MOST_PAUSES
        changes.follow_requests()

    def call(self, key: str, options: CallOptions) -> Exchange:
        """The answer of an endpoint. Raises KeyError where a parameter of its path is missing."""
        outgoing = self._outgoing(key, options)
        if options.get("method") is not None:
            return self._followed(key, outgoing)
        if not options.get("within_budget", True):
            return self._counted(key, outgoing, waits=False)
        return self._paced(key, outgoing)

    def _paced(self, key: str, outgoing: Outgoing) -> Exchange:
        """Sends within the budgets; once more after the rate limit where the endpoint has one."""
        for attempt in count():
            exchange = self._counted(key, outgoing, waits=True)
            if key not in PACED:
                return self._let_through(key, outgoing, exchange)
            if not is_rate_limited(exchange):
                return exchange
            self._budget.back_off(exchange, attempt)
        raise AssertionError("unreachable")

    def _let_through(self, key: str, outgoing: Outgoing, answer: Exchange) -> Exchange:
        """The answer; once more where the portal, or something before it, allows so many requests. Beside a
        clock that is moved what stands before may go by its own."""
        clock = self._clock
        longest = A_MINUTE if key in OF_PASSWORDS or clock.is_simulated else LONGEST_PAUSE
        waited: list[float] = []
        for seconds in _pauses(answer):
            if seconds > longest or self._pauses_left <= seconds or not _is_turned_away(answer):
                break
            waited.append(seconds)
            with suppress(OutOfTime):
                clock.wait(seconds + MARGIN, PASSES)
                answer = self._counted(key, outgoing, waits=True)
                if clock.is_simulated and _is_turned_away(answer) and seconds < LONGEST_PAUSE:
                    clock.pause(seconds + MARGIN, PASSES)
                    answer = self._counted(key, outgoing, waits=True)
        if _is_turned_away(answer) and waited:
            # A target that turns everything away is not to be waited for again and again.
            self._pauses_left -= MOST_PAUSES / 3
        elif not clock.is_simulated:
            self._pauses_left -= sum(waited)
        return answer

    def _counted(self, key: str, outgoing: Outgoing, *, waits: bool) -> Exchange:
        """Counts a sign-in or a mail. ``waits``: a sign-in waits for its place in the window."""
        if key == op.LOGIN_INITIATE:
            with self._budget.initiation(waits=waits):
                return self._followed(key, outgoing)
        if key not in op.MAILING:
            return self._followed(key, outgoing)
        self._budget.mail()
        answer: Exchange | None = None
        try:
            answer = self._followed(key, outgoing)
            return answer
        finally:
            if answer is None or not answer.success:
                self._budget.mail_not_sent()

    def _followed(self, key: str, outgoing: Outgoing) -> Exchange:
        """Sends it, and the ledger takes note: what was not sent is not to be restored."""
        self._changes.sends(key)
        exchange = self.send(outgoing)
        if _is_turned_away(exchange):
            self._changes.turned_away(key)
        return exchange

    def _outgoing(self, key: str, options: CallOptions) -> Outgoing:
        row, query, raw = operation(key), options.get("query"), options.get("raw")
        braces = {name: segment(str(value)) for name, value in options.items() if f"{{{name}}}" in row.path}
        path = row.url(**braces) + (f"?{urlencode(query, doseq=True)}" if query else "")
        # Which further endpoints want the challenge is not shown: the token goes to all but the one whose
        # body has a place for it.
        is_challenged = options.get("bot_challenge", True) and key != op.PASSWORD_FORGOT
        return self.addressed(
            options.get("method") or row.method,
            path,
            options,
            body=raw if raw is not None else encoded(options.get("json", ABSENT)),
            bot_token=self._profile.bot_challenge.token if is_challenged else None,
        )

    def addressed(
        self,
        method: str,
        path: str,
        options: CallOptions,
        *,
        body: bytes | None = None,
        bot_token: str | None = None,
    ) -> Outgoing:
        """A request with the common headers, of the client whose token it carries."""
        token, content_type = options.get("token"), options.get("content_type")
        owner, hash_of_token = self._tokens.get(token or "", ("", None))
        client = options.get("client")
        headers = request_headers(
            self._profile,
            client_hash=options.get("client_hash") or hash_of_token or self._client_hash,
            token=token,
            content_type=content_type or ("application/json" if body is not None else None),
            bot_token=bot_token,
            own=options.get("headers") or {},
        )
        return Outgoing(
            method,
            path,
            headers,
            body=body,
            client=owner if client is None else client,
            token=token,
            open_answer=options.get("open_answer"),
        )

    def send(self, outgoing: Outgoing) -> Exchange:
        """Sends one request. An account whose shared token is refused tries that before it is used again."""
        exchange = self._transport.send(
            outgoing.method,
            outgoing.path,
            headers=outgoing.headers,
            body=outgoing.body,
            client=outgoing.client,
            open_answer=outgoing.open_answer,
        )
        if exchange.status == 401 and outgoing.token in self._shared:
            self._shared[outgoing.token]()
        return exchange

    @property
    def token_holders(self) -> frozenset[str]:
        return frozenset(name for name, _ in self._tokens.values())

    def remember_token(
        self, token: str | None, account: str, client_hash: str | None, expires_in: float | None
    ) -> None:
        """From now on requests with this token carry the client hash it was issued to. ``expires_in``: the
        seconds that it lives, as announced."""
        if token is not None and token not in self._tokens:
            now = self._clock.now()
            self._tokens[token] = account, client_hash
            self._ends[token] = now + lifetime(expires_in, token, now)

    def has_ended(self, token: str) -> bool:
        """Whether the lifetime of an access token is over, to the second."""
        return self._clock.now() >= self._ends.get(token, inf) - 1

    def owns_token(self, token: str, doubt: Callable[[], None]) -> None:
        if token not in self._shared:
            others = {other: owner for other, owner in self._shared.items() if owner != doubt}
            self._shared = {**others, token: doubt}


def _is_turned_away(answer: Exchange) -> bool:
    return answer.status == TOO_MANY or answer.held_back


def _pauses(answer: Exchange) -> tuple[float, ...]:
    """Seconds of the waits after which a request is sent again that may have met a rate limit."""
    asked = retry_after(answer) if _is_turned_away(answer) else None
    if asked is not None:
        return (asked,)
    return UNASKED_PAUSES if answer.held_back else ()


def encoded(json: Json) -> bytes | None:
    """A JSON value as it goes over the wire; None for ABSENT. Halves of surrogate pairs stay escaped."""
    if json is ABSENT:
        return None
    try:
        return json_module.dumps(json, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json_module.dumps(json, separators=(",", ":")).encode()


def segment(value: str) -> str:
    """A path parameter in one segment, also where it holds slashes or is dots only."""
    return quote(value, safe="") if value.strip(".") else value.replace(".", "%2E")
