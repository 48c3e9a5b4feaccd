"""What a run recorded, in place of its portal: each request gets the answer that it got then."""

from __future__ import annotations

import base64
import contextlib
import json
import math
import re
import threading
from collections.abc import Iterator
from itertools import islice

from conformance.errors import Untestable
from conformance.target.clock import Clock, iso
from conformance.target.portal.inboxes import Mark, NothingArrived
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request
from conformance.traffic.http_library import httpx
from conformance.traffic.values import REDACTED, is_redacted

BESIDE = 8
"""So many of the next exchanges may be meant by a request: some are sent at the same time."""

NAME_OF_RUN = re.compile(r"suite-[0-9a-f]{6}", re.IGNORECASE)
IN_TEXT = re.compile(rf"(?i:{NAME_OF_RUN.pattern})|{REDACTED.pattern}")
MADE_UP = re.compile(r"\d|[a-z][A-Z]|[a-f]{16}")
"""Found in a text that a run makes up, or that is redacted: no other may differ from the recorded one."""

SHORTEST = 6
"""A text of fewer characters, such as a counted id, stands for itself wherever an answer has it."""

ANEW = ("[code-", "[wrong-code-")
"""How placeholders begin of what is made anew each time, where equal ones may be so by chance."""

OF_AUTHENTICATOR = re.compile(r"\[(?:otp-)?secret-\d+\]")


class RecordedClock(Clock):
    """The clock of a record: it stands where its exchanges were, and a wait takes no time. ``ahead``: the
    seconds by which the target's time was moved, which use up no time budget."""

    def __init__(self, began: float, *, time_budget: float | None, is_simulated: bool) -> None:
        self.moment, self.ahead, self.next_request = began, 0.0, 0.0
        self.is_simulated = is_simulated
        super().__init__(time_budget, monotonic=lambda: self.moment - self.ahead)

    def begin_part(self, moment: float) -> None:
        """A part of a case begins, by the clock of the machine that ran it."""
        if self.is_simulated:
            self.ahead = self.moment - moment
        self.moment = max(self.moment, moment)

    def now(self) -> float:
        return self.moment

    def ticks(self) -> float:
        return self.moment

    def iso(self) -> str:
        self.moment = max(self.moment, self.next_request)
        return iso(self.moment)

    def wait(self, seconds: float, why: str) -> None:
        if not self.is_simulated:
            super().wait(seconds, why)
        elif seconds > 0:
            self.moment += math.ceil(seconds)
            self.ahead += math.ceil(seconds)

    def _sleep(self, seconds: float, why: str) -> None:
        self.moment += max(0.0, seconds)


class Record(httpx.BaseTransport):
    """The exchanges of a run, as a transport. ``astray``: by case where it parts from them, after which it
    gets no answers; ``doubtful``: why nothing can be concluded of a case, which goes on."""

    def __init__(self, exchanges: Iterator[Exchange], clock: RecordedClock) -> None:
        self.clock = clock
        self.astray: dict[str, str] = {}
        self.doubtful: dict[str, str] = {}
        self.case, self._goes_on = "", False
        self._exchanges = exchanges
        self._ahead = next(exchanges, None)
        self._part: list[Exchange] = []
        self._texts: dict[str, str] = {}
        """By recorded text the one that stands for it now."""
        self._lock, self._thread = threading.Lock(), threading.get_ident()

    def begin(self, case: str, last: int, *, goes_on: bool = False) -> None:
        """Begins a part of a case, with the exchanges up to a number. ``goes_on``: another part follows."""
        self.end()
        self.case, self._goes_on = case, goes_on
        while self._ahead is not None and self._ahead.n <= last:
            self._part.append(self._ahead)
            self._ahead = next(self._exchanges, None)
        self._tell_clock()

    def end(self) -> None:
        if self._part:
            self._part_from(f"it does not send what exchange {self._part[0].n} holds")

    @property
    def has_more(self) -> bool:
        """Whether more was recorded of the case."""
        return bool(self._part) or self._goes_on

    def doubt(self, why: str) -> None:
        """Nothing is to be concluded of the case that acts."""
        self.doubtful.setdefault(self.case, why)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The recorded answer. Untestable: the case has parted from the record."""
        sent = Request(method=request.method, url=str(request.url), headers=request.headers.multi_items())
        with self._lock:
            exchange = self._meant(sent)
            self._compare(exchange, sent, request.content)
            self.clock.moment = exchange.time + exchange.elapsed_ms / 1000
            self._tell_clock()
            return self._answer(exchange)

    def _meant(self, sent: Request) -> Exchange:
        is_alone = threading.get_ident() == self._thread
        for exchange in islice(self._part, BESIDE):
            was = exchange.request
            same = was.operation is sent.operation if was.operation else self._now(was.path) == sent.path
            if was.method == sent.method and same and was.parts[:2] == sent.parts[:2]:
                self._part.remove(exchange)
                return exchange
            if is_alone and (was.method != "GET" or was.bearer):
                break  # only what a limiter is compared with was recorded before what was sent before it
        raise self._part_from(f"it sends {sent.method} {sent.url}, which was not recorded there")

    def _part_from(self, why: str) -> Untestable:
        self._part = []
        self.astray.setdefault(self.case, why)
        return Untestable(f"the record does not go on: {why}", "suite")

    def _tell_clock(self) -> None:
        self.clock.next_request = self._part[0].time if self._part else 0.0

    def _compare(self, exchange: Exchange, sent: Request, content: bytes) -> None:
        """Notes the texts that stand for recorded ones. Untestable: something else differs."""
        was, body = exchange.request, ABSENT
        with contextlib.suppress(ValueError):
            body = json.loads(content)
        pairs: list[tuple[Json, Json]] = [
            (was.path.split("/"), sent.path.split("/")),
            ([list(pair) for pair in was.query], [list(pair) for pair in sent.query]),
            ({name.lower(): value for name, value in was.headers}, dict(sent.headers)),
            (was.json, ABSENT if was.json is ABSENT else body),
        ]
        if not all(self._stands_for(*pair) for pair in pairs):
            raise self._part_from(f"it does not send exchange {exchange.n} as it was recorded")

    def _stands_for(self, was: Json, now: Json) -> bool:
        if isinstance(was, dict) and isinstance(now, dict):
            return was.keys() == now.keys() and all(self._stands_for(was[name], now[name]) for name in was)
        if isinstance(was, list) and isinstance(now, list):
            return len(was) == len(now) and all(map(self._stands_for, was, now))
        if was == now or not isinstance(was, str):
            return type(was) is type(now) and was == now
        return MADE_UP.search(was) is not None and (not isinstance(now, str) or self._learn(was, now))

    def _learn(self, was: str, now: str) -> bool:
        """Notes a text that stands for a recorded one; whether no other stands for the same secret."""
        names = NAME_OF_RUN.match(was), NAME_OF_RUN.match(now)
        if names[0] and names[1]:
            self._texts[names[0][0]] = names[1][0]
        if was.startswith("Bearer "):
            was, now = was[7:], now.removeprefix("Bearer ")
        if len(was) < SHORTEST:
            return True
        before, self._texts[was] = self._texts.get(was, now), now
        return before == now or not is_redacted(was) or was.startswith(ANEW)

    def _now(self, value: Json) -> Json:
        """A recorded value with the texts that stand for recorded ones."""
        if isinstance(value, dict):
            return {self._now(name): self._now(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._now(inner) for inner in value]
        if not isinstance(value, str):
            return value
        texts = self._texts
        if OF_AUTHENTICATOR.fullmatch(value):
            return texts.setdefault(value, authenticator_secret(value))
        return texts.get(value) or IN_TEXT.sub(lambda found: str(texts.get(found[0], found[0])), value)

    def _answer(self, exchange: Exchange) -> httpx.Response:
        was = exchange.response
        if was is None:
            raise httpx.ReadError(exchange.error or "no answer")
        body = b"" if was.state == "empty" else b"-"
        if was.state == "json":
            body = json.dumps(self._now(was.body)).encode()
        if was.is_unknown:
            self.doubt("decided by a case that gets a body which is not on record")
        answer = httpx.Response(was.status, content=body)
        answer.headers = httpx.Headers([(name, self._now(value)) for name, value in was.headers])
        return answer


NO_INBOX = "decided by a case that looks for a mail, and no inbox is on record"


class RecordedInbox:
    """Codes by mail: one came wherever the record goes on."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._codes = 0

    def mark(self) -> Mark:
        return None

    def code_after(self, mark: Mark, clock: Clock) -> str:
        if not self._record.has_more:
            self._record.doubt(NO_INBOX)
            raise NothingArrived(NO_INBOX)
        self._codes += 1
        return f"{self._codes:06}"

    def has_code_after(self, mark: Mark) -> bool:
        self._record.doubt(NO_INBOX)
        return False


def authenticator_secret(placeholder: str) -> str:
    """What stands for the secret of an authenticator, in base32."""
    return base64.b32encode(f"{placeholder:20}".encode()[:20]).decode()
