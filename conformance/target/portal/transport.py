"""The only way to the target: connections that a run keeps, the allowed impact, a record of what passes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

import conformance
from conformance.errors import (
    NoAnswer,
    NotAllowed,
    NotTls,
    ProfileError,
    SuiteError,
    TargetUnreachable,
    Untestable,
)
from conformance.spec.operations import IMPACTS, Impact, operation_of
from conformance.target.clock import Clock, SimulatedClock, Watch, as_seconds, iso
from conformance.target.http1 import NO_CONNECTION
from conformance.target.portal.availability import (
    Availability,
    Limiter,
    speaks_no_tls,
    stopped,
    unreachable,
)
from conformance.target.portal.channel import clock_offset
from conformance.target.portal.wire import IS_CUT, Wire
from conformance.target.profile.model import Profile
from conformance.target.tls import tls_context
from conformance.traffic.capture.bodies import answered, body_of
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import Exchange, Header, Plain, Request, Response
from conformance.traffic.http_library import httpx
from conformance.traffic.log import first_seen_in
from conformance.traffic.redaction.redact import Secrets, secrets_in

ENCODINGS = "gzip, deflate"
"""Content encodings that can be undone here; no other is asked for."""

OWN_HEADERS = (
    (b"accept-encoding", ENCODINGS.encode()),
    (b"connection", b"keep-alive"),
    (b"user-agent", f"portal-conformance/{conformance.__version__}".encode()),
)
"""The headers of a request that names none of them. What a request leaves out else is left out."""

WITH_BODY = ("POST", "PUT", "PATCH")
"""The methods whose requests tell the length of a body that is empty."""

TOLD_LENGTH = (b"content-length", b"transfer-encoding")

HANDSHAKE_SECONDS = 3.0
"""The longest that a server may take to show that it speaks TLS."""

FROM_PROFILE = frozenset({"access-code", "bot-token"})
"""Kinds of secrets that the suite has from the profile only."""

Pairs = list[tuple[bytes, bytes]]
"""Headers as they go over the wire."""

Opener = Callable[[Response], Plain | None]
"""Gives the plaintext of an encrypted exchange, once the answer is there."""


class Transport:
    """Sends requests and records them, with ``n`` from 1 in the order in which they ended. Safe from threads.

    ``handler`` takes the place of the network. ``on_exchange`` is called with each exchange, one at a time.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        clock: Clock,
        impact: Impact,
        secrets: Secrets,
        on_exchange: Callable[[Exchange], None],
        handler: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = profile.portal.url
        self.impact: Impact = impact
        self.clock = clock
        self.answered = False
        self.availability = Availability(self.url)
        self._secrets = secrets
        self._on_exchange = on_exchange
        self._timeout = profile.portal.timeout
        self._most = profile.limits.max_answer
        self._lock = threading.Lock()
        self._count = 0
        self._limiter = Limiter()
        self._control: httpx.Request | None = None
        """The first read that was served without a token, to be sent again beside a refusal."""
        self._origin = _origin(httpx.URL(self.url))
        self._handler = handler or Wire(
            context=tls_context(profile), most=profile.limits.max_answer, proxy=profile.portal.proxy
        )
        self._timeouts = {"timeout": httpx.Timeout(self._timeout).as_dict()}

    @property
    def sent(self) -> int:
        """How many exchanges there are so far: the number of the last."""
        return self._count

    def close(self) -> None:
        self._handler.close()

    def send(
        self,
        method: str,
        url_path: str,
        *,
        headers: Sequence[Header] = (),
        body: bytes | None = None,
        client: str = "",
        open_answer: Opener | None = None,
    ) -> Exchange:
        """One request, and what came back. HTTP errors and redirects are answers.

        ``url_path`` is appended to the profile's address. Raises NotAllowed (nothing is sent), NoAnswer
        (recorded without a response), TargetUnreachable (refused, and by a portal that has answered before
        for as long as a restart may take), ValueError (the path leads to another host).
        """
        needed = impact_of(method, url_path)
        if IMPACTS.index(needed) > IMPACTS.index(self.impact):
            raise NotAllowed(
                f"{method} {urlsplit(url_path).path} is {needed}, and the run may only be {self.impact}"
            )
        request = self._request(method, url_path, headers, body)
        sent = _recorded(request, body)
        self.availability.demand(sent)
        while True:
            started, began = self.clock.iso(), self.clock.ticks()
            try:
                response = self._answer(request)
                break
            except httpx.LocalProtocolError as problem:
                raise Untestable(f"the request cannot be sent: {problem}", "suite") from None
            except httpx.HTTPError as problem:
                if not self._waits_for_restart(problem):
                    error = _reason(problem, self._timeout)
                    exchange = self._exchange(sent, started, began, client, error=error)
                    raise self._failed(problem, self._numbered(exchange)) from None
        plain = open_answer(response) if open_answer else None
        answered = self._exchange(sent, started, began, client, response=response, plain=plain)
        return self._numbered(self._compared(request, answered))

    def _compared(self, request: httpx.Request, answer: Exchange) -> Exchange:
        """An answer, marked where a limiter gave it. A control that this takes is recorded before it."""
        control = self._control
        if control is None:
            if answer.success and request.method == "GET" and "authorization" not in request.headers:
                self._control = request
            return answer
        if control.url != request.url and self._limiter.may_have_given(answer):
            started, began = self.clock.iso(), self.clock.ticks()
            with suppress(httpx.HTTPError):
                response, sent = self._answer(control), _recorded(control, None)
                other = self._exchange(sent, started, began, "", response=response)
                self._limiter.compare(answer, other)
                self._numbered(replace(other, held_back=self._limiter.gave(other)))
        return replace(answer, held_back=True) if self._limiter.gave(answer) else answer

    def _waits_for_restart(self, problem: httpx.HTTPError) -> bool:
        """Whether a portal that has answered refuses connections, and it was waited a while for it to take
        them again. Nothing was sent, so that the request may be sent then. Raises OutOfTime."""
        seconds = self.availability.pause(problem) if self.answered else 0.0
        if seconds:
            self.clock.pause(seconds, "the portal to take connections again")
        return seconds > 0

    def _failed(self, problem: httpx.HTTPError, exchange: Exchange) -> SuiteError | NoAnswer:
        """What is raised for a request that got no answer."""
        if isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout):
            kind = NotTls if speaks_no_tls(problem) else TargetUnreachable
            sentence = stopped if self.answered and kind is not NotTls else unreachable
            return kind(sentence(self.url, problem))
        request = exchange.request
        return NoAnswer(f"{request.method} {request.path} got no answer: {exchange.error}")

    def _request(
        self, method: str, url_path: str, headers: Sequence[Header], body: bytes | None
    ) -> httpx.Request:
        try:
            url = httpx.URL(self.url + url_path)
            pairs = [(name.encode("latin-1"), value.encode()) for name, value in headers]
            request = httpx.Request(
                method,
                url,
                headers=_completed(pairs, method.upper(), url, body or b""),
                stream=httpx.ByteStream(body or b""),
                extensions=self._timeouts,
            )
            request.read()
        except (httpx.InvalidURL, UnicodeEncodeError) as problem:
            raise Untestable(f"the request cannot be sent: {problem}", "suite") from None
        if _origin(request.url) != self._origin:
            raise ValueError(f"{url_path!r} leads away from {self.url}: nothing is sent there")
        return request

    def _answer(self, request: httpx.Request) -> Response:
        """The answer, to its end or to the bound. A refused connection is tried again: nothing was sent.

        No client stands before the handler, which would follow redirects, send cookies that another account
        was given, and take credentials and proxies from the environment.
        """
        try:
            answer = self._handler.handle_request(request)
        except httpx.ConnectError:
            answer = self._handler.handle_request(request)
        try:
            return self._read(answer)
        finally:
            answer.close()

    def _read(self, answer: httpx.Response) -> Response:
        headers = [(name.decode("latin-1"), _text(value)) for name, value in answer.headers.raw]
        if answer.is_stream_consumed:  # by a handler that is no network: it gives the body undone
            raw, encoding = answer.content, None
        else:
            encodings = [value for name, value in headers if name.lower() == "content-encoding"]
            raw, encoding = b"".join(answer.iter_raw()), ", ".join(encodings) or None
        is_cut = bool(answer.extensions.get(IS_CUT)) or len(raw) > self._most
        body, form = answered(raw, encoding, is_cut=is_cut, most=self._most)
        return Response(status=answer.status_code, headers=headers, body=body, form=form)

    def _register_secrets(self, exchange: Exchange) -> None:
        """What the profile alone can give, and does not, is a wrong value that the suite made up."""
        for value, kind in secrets_in(exchange):
            if kind in FROM_PROFILE and self._secrets.placeholder(value) is None:
                self._secrets.made_up(value)
        self._secrets.add_from(exchange, origin=first_seen_in(exchange))

    def _exchange(
        self,
        request: Request,
        started: str,
        began: float,
        client: str,
        *,
        response: Response | None = None,
        error: str | None = None,
        plain: Plain | None = None,
    ) -> Exchange:
        """An exchange that has no number yet."""
        return Exchange(
            n=0,
            started=started,
            elapsed_ms=round((self.clock.ticks() - began) * 1000, 3),
            client=client,
            request=request,
            response=response,
            error=error,
            plain=plain,
        )

    def _numbered(self, exchange: Exchange) -> Exchange:
        """The exchange with its number, noted and handed on."""
        with self._lock:
            self._count += 1
            self.answered = self.answered or exchange.response is not None
            exchange = replace(exchange, n=self._count)
            ahead = self.clock.heard(clock_offset(exchange) or 0.0)
            if ahead:
                exchange = replace(exchange, started=iso(exchange.time + ahead))
            self.availability.note(exchange)
            self._register_secrets(exchange)
            self._on_exchange(exchange)
        return exchange


def impact_of(method: str, url_path: str) -> Impact:
    """The highest impact of a request; unknown endpoints count as mutating unless they read."""
    path = urlsplit(url_path).path
    read = path.rstrip("/") or "/"
    # As a server might read it: decoded, and without dot segments.
    resolved = normpath("/" + unquote(path).lstrip("/"))
    impacts = [
        row.impact
        for row in (operation_of(method.upper(), candidate) for candidate in (read, resolved))
        if row is not None
    ]
    if impacts:
        return max(impacts, key=IMPACTS.index)
    return "read-only" if method.upper() in ("GET", "HEAD", "OPTIONS") else "mutating"


def fetch(
    url: str, *, timeout: float, headers: dict[str, str] | None = None, json: object = None
) -> tuple[int, str]:
    """A call to what stands beside the portal (a mailbox, a test clock): status and text. Raises OSError.

    Nothing of the portal's credentials goes along, and it is no exchange of the run.
    """
    try:
        with httpx.Client(
            timeout=timeout,
            transport=Wire(listens=False),
            trust_env=False,
            headers={"accept-encoding": "identity"},
        ) as client:
            answer = (
                client.get(url, headers=headers)
                if json is None
                else client.post(url, headers=headers, json=json)
            )
            return answer.status_code, answer.text
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise OSError(_reason(problem, timeout)) from None


def speaks_tls(url: str) -> bool:
    """Whether TLS is spoken at the host and port of an address; nothing of a profile is sent to find out."""
    parts = urlsplit(url)
    try:
        fetch(f"https://{parts.netloc}/", timeout=HANDSHAKE_SECONDS)
    except OSError as problem:
        return "certificate" in str(problem).lower()
    return True


def clock_of(profile: Profile, *, time_budget: float | None = None, on_wait: Watch | None = None) -> Clock:
    """The clock that fits the profile: a movable one where it has a ``[clock]``."""
    address = profile.clock.advance
    if address is None:
        return Clock(time_budget, on_wait)

    def advance(seconds: int) -> float | None:
        return _advance(profile, address, seconds)

    return SimulatedClock(advance, time_budget=time_budget, on_wait=on_wait)


def _advance(profile: Profile, address: str, seconds: int) -> float | None:
    try:
        status, text = fetch(address, timeout=profile.portal.timeout, json={"seconds": seconds})
    except OSError as problem:
        raise TargetUnreachable(
            f"{profile.source}: [clock] advance: nothing answers at {address} ({problem}). "
            "Start it, or remove [clock]."
        ) from None
    if status >= 300:
        raise ProfileError(
            f"{profile.source}: [clock] advance: {address} answers HTTP {status}. Check that the "
            "clock is offered at this address."
        )
    body, _ = body_of(text)
    now = body.get("now") if isinstance(body, dict) else None
    if now is None:
        return None
    there = _epoch_seconds(now)
    if there is None or there < 0:
        shown = f"now = {clipped(now)!r}" if isinstance(now, str) else "a now"
        raise ProfileError(
            f"{profile.source}: [clock] advance: {address} answers with {shown} that is neither a number of "
            "seconds since 1970, such as 1767225661.5, nor an ISO 8601 time. Without now, "
            "the portal's answers tell its time."
        )
    return there


def _epoch_seconds(now: object) -> float | None:
    """The time that a clock shows, as a number or in ISO 8601; None where it is neither."""
    if not isinstance(now, str):
        return as_seconds(now)
    try:
        moment = datetime.fromisoformat(now)
    except ValueError:
        return None
    return as_seconds((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _completed(pairs: Pairs, method: str, url: httpx.URL, body: bytes) -> Pairs:
    """Request headers, completed with the suite's own, Host and Content-Length."""
    present = {name.lower() for name, _ in pairs}
    pairs = [pair for pair in OWN_HEADERS if pair[0] not in present] + pairs
    first = [] if b"host" in present else [(b"Host", url.netloc)]
    if b"content-length" not in present and body:
        pairs.append((b"Content-Length", str(len(body)).encode()))
    elif method in WITH_BODY and present.isdisjoint(TOLD_LENGTH):
        first.append((b"Content-Length", b"0"))
    return first + pairs


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _recorded(request: httpx.Request, content: bytes | None) -> Request:
    headers = [(name.decode("latin-1"), _text(value)) for name, value in request.headers.raw]
    body, form = body_of(content or b"")
    return Request(method=request.method, url=str(request.url), headers=headers, body=body, form=form)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _reason(problem: Exception, timeout: float) -> str:
    if isinstance(problem, httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
        return str(problem) if "did not end" in str(problem) else f"nothing came within {timeout:g} s"
    if isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout):
        return f"{NO_CONNECTION} ({problem})"
    return str(problem) or type(problem).__name__
