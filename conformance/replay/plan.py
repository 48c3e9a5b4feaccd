"""What a replay will do: who the recorded clients were, what they handed over, and in which order it went."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import NamedTuple

import msgspec

from conformance.errors import UsageError
from conformance.exchange import ABSENT, UNKNOWN_FORMS, Exchange, Form, Header, Json, layout_of
from conformance.portal.cipher import sealed_payload
from conformance.portal.transport import impact_of
from conformance.replay.halves import answer_in, request_in
from conformance.replay.kinds import TAKEN_OUT, is_opaque, kind_of
from conformance.replay.left_out import LeftOut
from conformance.replay.lineage import Lineages
from conformance.replay.store import Store
from conformance.replay.values import (
    Found,
    given_texts,
    in_body,
    in_headers,
    in_path,
    is_handed_over,
    is_only_a_name,
    packed_text,
    unfolded,
)
from conformance.spec import IMPACTS, Impact, Operation, operation_of

INITIATE = "POST /web/v1/system/auth/login/initiate"
PORTAL_PATH = "/web/v1/"
CLOCK_GRAIN = 0.0005
MOST_LOOKED_INTO = 500_000
_COOKIE = re.compile(rb'"set-cookie",\s*"[^=";]+=([^;"]+)', re.IGNORECASE)
_TIMESTAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')
_NO_RAW = msgspec.Raw(b"")


class PlanRequest(msgspec.Struct, gc=False):
    method: str
    url: str
    headers: list[Header] = []
    body: Json = ABSENT
    form: Form | None = None
    lacks: list[str] = []

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in lower case."""
        at = layout_of(tuple([known for known, _ in self.headers])).get(name)
        return None if at is None else self.headers[at][1]


class PlanResponse(msgspec.Struct, gc=False):
    """``body`` and ``headers`` stay undecoded: they are looked through as text."""

    status: int
    body: msgspec.Raw = _NO_RAW
    headers: msgspec.Raw = _NO_RAW
    form: Form | None = None


class PlanPlain(msgspec.Struct, gc=False):
    request: Json = ABSENT
    response: msgspec.Raw = _NO_RAW


class PlanLine(msgspec.Struct, gc=False):
    """An exchange as the plan needs it."""

    started: str
    request: PlanRequest
    elapsed_ms: float = 0.0
    client: str = ""
    response: PlanResponse | None = None
    plain: PlanPlain | None = None

    @property
    def path(self) -> str:
        return _place(self.request.method, self.request.url).path

    @property
    def operation(self) -> Operation | None:
        return _place(self.request.method, self.request.url).operation

    def handed(self) -> Iterator[Found]:
        """The values of the request that an earlier answer may have given."""
        yield from in_headers(self.request.headers)
        yield from _place(self.request.method, self.request.url).values
        yield from in_body(self.sent)

    @property
    def sent(self) -> Json:
        if self.plain is not None and self.plain.request is not ABSENT:
            return self.plain.request
        return self.request.body

    def answer(self) -> Json:
        """The answer's body, decoded; None where it is not JSON."""
        raw = self.response.body if self.response else _NO_RAW
        try:
            return msgspec.json.decode(raw) if raw else None
        except (ValueError, RecursionError):
            return None


class Where(NamedTuple):
    """What a request asks for, and the values in its URL."""

    path: str
    operation: Operation | None
    impact: Impact
    values: tuple[Found, ...]


@lru_cache(maxsize=4096)
def _place(method: str, url: str) -> Where:
    target = url.split("://", 1)[-1].partition("?")[0]
    path = "/" + target.partition("/")[2]
    operation = operation_of(method, path)
    return Where(path, operation, impact_of(method, path), tuple(in_path(url, operation)))


_DECODE = msgspec.json.Decoder(PlanLine).decode


@dataclass(frozen=True)
class Choice:
    """Which exchanges the user wants replayed. Patterns are those of an endpoint, or numbers such as 3-17."""

    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    impact: Impact = "read-only"

    def refusal(self, number: int, key: str) -> str | None:
        """Why an exchange is not wanted, or None."""
        if self.only and not any(_matches(pattern, number, key) for pattern in self.only):
            return UNWANTED[0]
        if any(_matches(pattern, number, key) for pattern in self.skip):
            return UNWANTED[1]
        return None


@dataclass
class Plan:
    """Positions are those in the store; numbers, from 1, are positions in the order of the replay."""

    store: Store
    order: array[int] = field(default_factory=lambda: array("i"))
    session_of: array[int] = field(default_factory=lambda: array("i"))
    moments: array[float] = field(default_factory=lambda: array("d"))
    """When each was sent, on the recorded portal's clock where it tells that (epoch seconds)."""
    started: array[float] = field(default_factory=lambda: array("d"))
    requests: array[int] = field(default_factory=lambda: array("q"))
    """A hash of each request but for its id."""
    answers: array[int] = field(default_factory=lambda: array("q"))
    """A hash of each answer but for its moment."""
    refused: dict[int, str] = field(default_factory=dict)
    """Positions that are not replayed, and why."""
    given: dict[str, int] = field(default_factory=dict)
    """Values that an answer gave and a later request sent, with the first answer that gave them."""
    handles: set[str] = field(default_factory=set)
    """Those of them that mean nothing by themselves: ids, tokens. The others are texts that both may know."""
    passwords: dict[str, str] = field(default_factory=dict)
    """By email, the password that was accepted."""
    accepted: set[str] = field(default_factory=set)
    """What stands in place of secrets that requests sent and were not refused for."""
    emails: dict[str, None] = field(default_factory=dict)
    left_out: LeftOut = field(default_factory=LeftOut)
    access_code: str | None = None
    hosts: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def sessions(self) -> int:
        return max(self.session_of, default=-1) + 1

    def number_of(self, position: int) -> int:
        return self._numbers[position]

    def __post_init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def exchanges(self) -> Iterator[Exchange]:
        """The portal's, in the order of the replay."""
        return (self.store.exchange(at) for at in self.order if self.session_of[at] >= 0)

    def leave_out(self, position: int, line: PlanLine) -> None:
        """Remembers that an exchange is not replayed, for those that may differ without it."""
        status = line.response.status if line.response else None
        self.left_out.note(self.started[position], line.request.method, line.path, status=status)

    def line(self, position: int) -> PlanLine:
        return _DECODE(self.store.line(position))


def planned(store: Store, choice: Choice, *, target_host: str | None = None) -> Plan:
    """Looks all recorded exchanges through twice: first what was sent, then what was given.

    CaptureError: a line is no exchange. UsageError: none of them is the portal's.
    """
    plan = Plan(store)
    sent = _look_at_requests(plan, choice)
    _look_at_answers(plan, sent)
    plan.handles &= plan.given.keys()
    plan.order = array("i", sorted(range(len(store)), key=plan.started.__getitem__))
    plan._numbers = {position: number for number, position in enumerate(plan.order, 1)}
    plan.set_aside.update(store.set_aside)
    plan.notes.extend(store.notes)
    if len(plan.refused) == len(store) and not any(why for why in plan.refused.values() if why != ASIDE):
        raise UsageError(
            f"None of the recorded requests has a path below {PORTAL_PATH}: there is nothing to replay."
        )
    return plan


ASIDE = "another path"
UNWANTED = ("not among --only", "named by --skip")


def is_unwanted(refusal: str) -> bool:
    """Whether it is the user who left an exchange out, or it is none of the portal's."""
    return refusal == ASIDE or refusal in UNWANTED or "--impact allows" in refusal


def _look_at_requests(plan: Plan, choice: Choice) -> dict[bytes, float]:
    """The first pass. Gives what was sent, and when first: only that can have been handed over."""
    sent: dict[bytes, float] = {}
    codes: Counter[str] = Counter()
    lineages = Lineages()
    noted: dict[int, float] = {}
    drift = 0.0
    for position, raw in enumerate(plan.store.lines()):
        try:
            line = _DECODE(raw)
        except (ValueError, RecursionError) as error:
            raise plan.store.broken(position, error) from error
        plan.requests.append(hash(request_in(raw)))
        began = _epoch(line.started)
        plan.started.append(began)
        drift = _drift(line, began, drift)
        plan.moments.append(began + drift)
        refusal = _refusal(line, choice, position + 1)
        if refusal is not None:
            plan.refused[position] = refusal
            if refusal != ASIDE:
                plan.leave_out(position, line)
        if refusal == ASIDE:
            plan.set_aside[ASIDE] += 1
            plan.session_of.append(-1)
            continue
        if noted.get(plan.requests[position], began + 1) > began:
            _note_sent(plan, sent, line, began)
            is_taken = line.response is not None and line.response.status < 300
            if is_taken and len(noted) < MOST_LOOKED_INTO:
                noted[plan.requests[position]] = began
        _note_who(plan, codes, line)
        lineages.add(position, line, began)
    plan.session_of = lineages.sessions(len(plan.store))
    plan.access_code = next((code for code, _ in codes.most_common(1)), None)
    return sent


def _note_sent(plan: Plan, sent: dict[bytes, float], line: PlanLine, began: float) -> None:
    handles = plan.handles
    succeeded = line.response is not None and line.response.status < 300
    for found in line.handed():
        value = found.value
        if is_handed_over(value):
            raw = value.encode(errors="replace")
            if sent.get(raw, began + 1) > began:
                sent[raw] = began
            if value not in handles and _is_handle(found):
                handles.add(value)
            if succeeded and value[0] == "[" and TAKEN_OUT.fullmatch(value):
                plan.accepted.add(value)


def _is_handle(found: Found) -> bool:
    """Whether a value is an id, a token or the like: by its name, its header, or its look."""
    if found.place.startswith(("headers.", "path.")) or is_opaque(found.value):
        return True
    name = re.split(r"[.|\[]", found.place)
    return kind_of(next((part for part in reversed(name) if part and part[0].isalpha()), "")) == "identity"


def _note_who(plan: Plan, codes: Counter[str], line: PlanLine) -> None:
    code = line.request.header("x-portal-access-code")
    if code is not None:
        codes[code] += 1 + 9 * (line.response is not None and line.response.status < 400)
    body = line.request.body
    if line.operation is None or line.operation.key != INITIATE or not isinstance(body, dict):
        return
    email, password = body.get("email"), body.get("password")
    if isinstance(email, str):
        plan.emails.setdefault(email)
        if isinstance(password, str) and line.response is not None and line.response.status < 300:
            plan.passwords.setdefault(email, password)


def _look_at_answers(plan: Plan, sent: dict[bytes, float]) -> None:
    """The second pass: which of the values that were sent an answer gave before."""
    numbers = any(value.isdigit() for value in sent)
    unpacked: set[bytes] = set()
    looked: set[int] = set()
    plan.answers = array("q", bytes(8 * len(plan.store)))
    for position, raw in enumerate(plan.store.lines()):
        if plan.session_of[position] < 0:
            continue
        plan.answers[position] = answer = hash(answer_in(raw))
        if answer in looked and not numbers:
            continue  # all that it gives was given before
        if len(looked) < MOST_LOOKED_INTO:
            looked.add(answer)
        line = _DECODE(raw)
        if line.response is None or line.response.form in UNKNOWN_FORMS:
            continue
        found = _given(line, numbers=numbers)
        new = {text for text in found if len(text) >= 16} - unpacked
        if len(unpacked) < MOST_LOOKED_INTO:
            unpacked |= new
        found.update(inner for text in new for inner in _packed(text))
        over = plan.started[position] + line.elapsed_ms / 1000
        for text in found & sent.keys():
            if _is_a_name(line, text):
                continue
            # Once given, or once sent before it was given, the question is answered.
            first = sent.pop(text)
            if first >= over - CLOCK_GRAIN and first > plan.started[position]:
                plan.given[text.decode()] = position


def _given(line: PlanLine, *, numbers: bool) -> set[bytes]:
    """The texts in an answer, its headers, and its plaintext."""
    assert line.response is not None
    found = given_texts(bytes(line.response.body), numbers=numbers)
    headers = bytes(line.response.headers)
    if b"ookie" in headers:
        found.update(_COOKIE.findall(headers))
    found |= given_texts(headers, numbers=False)
    if line.plain is not None and line.plain.response:
        found |= given_texts(bytes(line.plain.response), numbers=numbers)
    return found


def _packed(text: bytes) -> Iterator[bytes]:
    """What is packed into a text: claims of a JWT, JSON, base64."""
    try:
        value = text.decode()
        if "\\" in value:
            value = msgspec.json.decode(b'"' + text + b'"')
    except ValueError:
        return
    if value[:1] in "{[" or value.startswith("eyJ") or packed_text(value) is not None:
        yield from (found.value.encode() for found in unfolded("", value) if found.place)


def _is_a_name(line: PlanLine, text: bytes) -> bool:
    assert line.response is not None
    return is_only_a_name(bytes(line.response.body), text)


def _refusal(line: PlanLine, choice: Choice, number: int) -> str | None:
    """Why an exchange cannot, or may not, be replayed."""
    path = line.path
    if PORTAL_PATH not in path:
        return ASIDE
    operation = line.operation
    key = operation.key if operation else f"{line.request.method} {path}"
    unwanted = choice.refusal(number, key)
    if unwanted:
        return unwanted
    needed = _place(line.request.method, line.request.url).impact
    if IMPACTS.index(needed) > IMPACTS.index(choice.impact):
        return f"it is {needed}, and --impact allows {choice.impact}"
    if line.request.form in UNKNOWN_FORMS:
        return f"its body is {line.request.form} in the recording"
    if sealed_payload(line.request.body) is not None and (line.plain is None or line.plain.request is ABSENT):
        return "its body is encrypted, and the recording has no plaintext (record with --open-channel)"
    return None


def _matches(pattern: str, number: int, key: str) -> bool:
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", pattern)
    if numbers:
        return int(numbers[1]) <= number <= int(numbers[2] or numbers[1])
    if any(letter in pattern for letter in "*?["):
        return fnmatchcase(key, pattern)
    return pattern in key


def _epoch(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


def _drift(line: PlanLine, began: float, before: float) -> float:
    """By how much the portal's own clock, which may run elsewhere, is ahead of the recorder's."""
    told = (
        _TIMESTAMP.search(bytes(line.response.body)[:400]) if line.response and line.response.body else None
    )
    if told is None:
        return before
    drift = int(told[1]) / 1000 - began - line.elapsed_ms / 1000
    return drift if abs(drift - before) > 0.5 else before
