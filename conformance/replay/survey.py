"""Looks a recording through before it is replayed: who sent what, and which answer gave it to them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from conformance.errors import UsageError
from conformance.exchange import UNKNOWN_FORMS
from conformance.replay.halves import answer_in, request_in
from conformance.replay.kinds import TAKEN_OUT, is_opaque, kind_of
from conformance.replay.lineage import Lineages
from conformance.replay.lines import PlanLine, line_of
from conformance.replay.plan import ASIDE, PORTAL_PATH, Choice, Plan, refusal_of
from conformance.replay.store import Store
from conformance.replay.values import (
    Found,
    given_texts,
    is_handed_over,
    is_only_a_name,
    packed_text,
    unfolded,
)

INITIATE = "POST /web/v1/system/auth/login/initiate"
CLOCK_GRAIN = 0.0005
MOST_LOOKED_INTO = 500_000
_COOKIE = re.compile(rb'"set-cookie",\s*"[^=";]+=([^;"]+)', re.IGNORECASE)
_TIMESTAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')


def planned(store: Store, choice: Choice) -> Plan:
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


def _look_at_requests(plan: Plan, choice: Choice) -> dict[bytes, float]:
    """The first pass. Gives what was sent, and when first: only that can have been handed over."""
    sent: dict[bytes, float] = {}
    codes: Counter[str] = Counter()
    lineages = Lineages()
    noted: dict[int, float] = {}
    drift = 0.0
    for position, raw in enumerate(plan.store.lines()):
        try:
            line = line_of(raw)
        except (ValueError, RecursionError) as error:
            raise plan.store.broken(position, error) from error
        plan.requests.append(hash(request_in(raw)))
        began = _epoch(line.started)
        plan.started.append(began)
        drift = _drift(line, began, drift)
        plan.moments.append(began + drift)
        refusal = refusal_of(line, choice, position + 1)
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
        line = line_of(raw)
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
