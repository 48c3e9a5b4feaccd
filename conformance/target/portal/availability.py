"""How well a portal can be reached: requests without an answer, endpoints that are given up, rate limits."""

from __future__ import annotations

import re
import threading
from collections import Counter
from dataclasses import dataclass, field

from conformance.errors import TargetUnreachable, Untestable
from conformance.traffic.exchange import Exchange, Request
from conformance.traffic.http_library import httpx
from conformance.verdicts.comparisons import KNOWN_CODES, is_held_back

SILENT_IN_A_ROW = 3
"""Requests without an answer after which an endpoint is given up."""

SILENT_ENDPOINTS = 8
"""Endpoints given up after which the portal is."""

SILENT_REQUESTS = 15
"""Requests without an answer after which the portal is given up, where they are a quarter of all."""

POOR_REQUESTS, POOR_SHARE = 10, 0.02
"""Requests without an answer, and their share of all, from which on a run cannot tell: what was answered is
then a matter of chance."""


AWAY_SECONDS = 15.0
"""The longest, in a whole run, that a portal which has answered may refuse connections: it is restarted."""

RETRY_SECONDS = 0.5


class Availability:
    """Counts the requests of a run by whether they got an answer. Safe from threads.

    ``patience`` are the seconds that a run still waits for a portal that refuses connections; ``away`` are
    those that it has waited.
    """

    def __init__(self, url: str) -> None:
        self.patience = AWAY_SECONDS
        self.away = 0.0
        self._url = url
        self._lock = threading.Lock()
        self._asked = 0
        self._reasons: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()

    def demand(self, request: Request) -> None:
        """Before a request goes out. Raises Untestable where its endpoint was given up, TargetUnreachable
        where so many were."""
        endpoint = _endpoint(request)
        with self._lock:
            given_up = [name for name, count in self._in_a_row.items() if count >= SILENT_IN_A_ROW]
            unanswered = self._reasons.total()
            is_gone = unanswered >= SILENT_REQUESTS and 4 * unanswered >= self._asked
        if is_gone or len(given_up) >= SILENT_ENDPOINTS:
            raise TargetUnreachable(
                silent(self._url, self.sentence() or "nothing answered", what="went away")
            )
        if endpoint in given_up:
            raise Untestable(
                f"{endpoint} gave no answer {SILENT_IN_A_ROW} times in a row, and is not asked any more",
                "environment",
            )

    def note(self, exchange: Exchange) -> None:
        endpoint = _endpoint(exchange.request)
        with self._lock:
            self._asked += 1
            if exchange.response is not None:
                self._in_a_row.pop(endpoint, None)
            else:
                self._in_a_row[endpoint] += 1
                self._reasons[exchange.error or "no answer"] += 1

    def pause(self, problem: Exception) -> float:
        """Seconds before the next connection attempt, taken from the patience; 0 unless the connection was
        refused and patience is left."""
        if not is_refused(problem):
            return 0.0
        with self._lock:
            seconds = min(RETRY_SECONDS, self.patience)
            self.patience -= seconds
            self.away += seconds
        return seconds

    @property
    def is_poor(self) -> bool:
        """Whether so many requests had no answer that a verdict would rest on chance."""
        with self._lock:
            return is_poor(self._reasons.total(), self._asked)

    def sentence(self) -> str | None:
        """Summary such as "12 of 130 requests had no answer (8 × nothing came within 2 s, 4 × …)"; None if
        every request got an answer."""
        with self._lock:
            if not self._reasons:
                return None
            reasons = ", ".join(f"{count} × {reason}" for reason, count in self._reasons.most_common(3))
            return f"{self._reasons.total()} of {self._asked} requests had no answer ({reasons})"


def is_poor(silent: int, asked: int) -> bool:
    """Whether so many of the requests had no answer that a verdict would rest on chance."""
    return silent >= POOR_REQUESTS and silent >= asked * POOR_SHARE


ADDRESS = "Check its address: [portal] url or --target."
UNIDENTIFIED = ("certificate required", "bad certificate", "handshake failure", "eof occurred in violation")
"""Marks of a TLS connection that the other side ended, as no client certificate was shown."""

NO_HTTP = ("bytes came before", "illegal request line", "illegal status line")
"""Marks of a connection on which the other side does not speak HTTP/1.1."""

CURES = (
    ("expired", "Have the certificate renewed, or set this machine's clock."),
    ("not yet valid", "Set this machine's clock."),
    ("mismatch", "Enter the name that the certificate is valid for as [portal] url."),
    ("", "Set [portal] verify to the file of its CA, or to false."),
)
"""What to do about a certificate that is refused, by what the error says."""

SLOW = "Does it hang, or is it overloaded? Its log may say so; [portal] timeout is how long a run waits."


def unreachable(url: str, problem: Exception) -> str:
    """Describes a failed connection: cause, and advice."""
    text = str(problem) or type(problem).__name__
    reason = text.lower()
    if speaks_no_tls(problem):
        plain = url.replace("https:", "http:", 1)
        return f'{url} does not speak TLS. Write url = "{plain}" in [portal], or the port that speaks TLS.'
    if "the proxy:" in reason:
        cure = "its address, its user and password, and whether it reaches the portal."
        return f"{url} cannot be reached ({text}). Check [portal] proxy: {cure}"
    if "certificate" in reason or "ssl" in reason:
        cure = next(cure for mark, cure in CURES if mark in reason)
        return f"{url} cannot be reached securely ({text}). {cure}"
    failed, advice = _failure(text)
    return f"Nothing answers at {url} ({failed}). {advice} {ADDRESS}"


def stopped(url: str, problem: Exception) -> str:
    """Describes a connection failure of a target that answered earlier."""
    failed, _ = _failure(str(problem) or type(problem).__name__)
    return f"{url} does not answer any more ({failed}). Did the portal stop? Its log may say why."


def _failure(text: str) -> tuple[str, str]:
    reason = text.lower()
    return next(
        (words for marks, words in FAILURES if any(mark in reason for mark in marks)),
        (text, "Is the portal running?"),
    )


def is_refused(problem: Exception) -> bool:
    """Whether a connection was refused, so that nothing of the request was sent."""
    return isinstance(problem, httpx.ConnectError) and _failure(str(problem))[0] == REFUSED


def speaks_no_tls(problem: Exception) -> bool:
    """Whether a TLS handshake failed as the other side spoke another protocol, such as plain HTTP."""
    reason = str(problem).lower().replace("_", " ")
    return any(mark in reason for mark in ("wrong version number", "record layer failure"))


REFUSED = "connection refused"
FAILURES = (
    (
        ("name or service", "getaddrinfo", "nodename", "name resolution"),
        ("no such host", "Is the address right?"),
    ),
    (("timed out", "in time", "timeout"), ("no connection in time", "Is it reachable from here?")),
    (
        ("refused", "errno 111", "errno 61", "connection attempts failed"),
        (REFUSED, "Is the portal running?"),
    ),
)
"""By what an error says, the failure in words and what to ask."""


def silent(url: str, failed: str, *, what: str = "does not answer") -> str:
    """The sentence for a target that takes connections and answers nothing."""
    return f"{url} {what}: {failed}. {silence_advice(failed)}"


def silence_advice(failed: str) -> str:
    """Advice for a connection without a response, by the reason of its end."""
    reason = failed.lower().replace("_", " ")
    if any(mark in reason for mark in UNIDENTIFIED):
        return "Does it ask for a client certificate? [portal] client_cert is its file."
    if any(mark in reason for mark in NO_HTTP):
        return f"Does another service listen at that port? {ADDRESS}"
    return SLOW


def _endpoint(request: Request) -> str:
    operation = request.operation
    return f"{request.method} {request.path}" if operation is None else operation.key


CONTROLS = 3
"""Controls that are served in spite of a refusal, after which the refusal is one of its requests."""

Refusal = tuple[int | None, str, str]
"""Status, code, and message without its numbers."""


@dataclass
class Limiter:
    """Compares refusals by codes of the portal's own with the answer to a control: a read that was served,
    and has nothing in common with what was refused. What both are answered is a limiter's."""

    _recognised: set[Refusal] = field(default_factory=set)
    _others: Counter[Refusal] = field(default_factory=Counter)

    def gave(self, answer: Exchange) -> bool:
        """Whether an answer is the refusal by which a limiter was recognised."""
        return refusal_of(answer) in self._recognised

    def may_have_given(self, answer: Exchange) -> bool:
        """Whether a control tells more of an answer."""
        refusal = refusal_of(answer)
        return refusal is not None and not self.gave(answer) and self._others[refusal] < CONTROLS

    def compare(self, answer: Exchange, control: Exchange) -> None:
        """Takes the answer to a control that was sent right after another request was refused."""
        refusal = refusal_of(answer)
        if refusal is not None and refusal == refusal_of(control):
            self._recognised.add(refusal)
        elif refusal is not None and not is_held_back(control):
            self._others[refusal] += 1


def refusal_of(answer: Exchange) -> Refusal | None:
    """A refusal that may be a limiter's: its code is none that the specification lists."""
    code = answer.code
    if answer.success or code is None or code in KNOWN_CODES or answer.status == 401:
        return None
    return answer.status, code, re.sub(r"[0-9]+", "", str(answer.at("message")))
