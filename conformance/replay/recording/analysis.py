"""Looks a recording through before it is replayed: who sent what, and which answer gave it to them."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from conformance.errors import UsageError
from conformance.replay.compare.kinds import TAKEN_OUT, is_opaque, kind_of
from conformance.replay.recording.fingerprint import glance, head_in, head_of
from conformance.replay.recording.lineage import Lineages, Trait, trait_of
from conformance.replay.recording.lines import PlanLine, line_of
from conformance.replay.recording.plan import ASIDE, Choice, Plan, refusal_of
from conformance.replay.recording.store import Store
from conformance.replay.recording.values import (
    Found,
    given_texts,
    is_handed_over,
    is_only_a_name,
    packed_text,
    unfolded,
)
from conformance.spec.endpoints import LOGIN_INITIATE, PORTAL_PATH
from conformance.traffic.exchange import UNKNOWN_FORMS

CLOCK_GRAIN = 0.0005
MOST_LOOKED_INTO = 500_000
REMEMBERED = 16_000_000
"""Bytes of lines that are remembered, to know those again that say the same."""
_COOKIE = re.compile(rb'"set-cookie",\s*"[^=";]+=([^;"]+)', re.IGNORECASE)


def planned(store: Store, choice: Choice) -> Plan:
    """Looks all recorded exchanges through twice: first what was sent, then what was given.

    CaptureError: a line is no exchange. UsageError: none of them is the portal's.
    """
    plan = Plan(store)
    _look_at_answers(plan, _look_at_requests(plan, choice))
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


@dataclass
class Survey:
    """``sent`` is what was sent, and when first; ``new`` the positions of lines that say what none said
    before."""

    sent: dict[bytes, float] = field(default_factory=dict)
    new: array[int] = field(default_factory=lambda: array("i"))


class Known(NamedTuple):
    """What a line says that others say again, but for when."""

    line: PlanLine
    refusal: str | None
    trait: Trait
    code: str | None
    weight: int
    """How much speaks for it that the access code is the portal's."""
    is_taken: bool

    @staticmethod
    def of(line: PlanLine, refusal: str | None) -> Known:
        status = line.response.status if line.response is not None else 599
        code = line.request.header("x-portal-access-code")
        return Known(line, refusal, trait_of(line), code, 10 if status < 400 else 1, status < 300)


def _look_at_requests(plan: Plan, choice: Choice) -> Survey:
    """The first pass: what was sent, and when first, for only that can have been handed over."""
    found = Survey()
    codes: Counter[str] = Counter()
    lineages = Lineages()
    noted: dict[int, float] = {}
    seen: dict[tuple[str, int, int], Known] = {}
    room, each_is_new = REMEMBERED, choice.is_of_some
    drift = 0.0
    for position, raw in enumerate(plan.store.lines()):
        request, answer, told = glance(raw)
        head = head_in(raw)
        known = None if head is None or each_is_new else seen.get((head[2], request, answer))
        if known is None:
            try:
                line = line_of(raw)
            except (ValueError, RecursionError) as error:
                raise plan.store.broken(position, error) from error
            known = Known.of(line, refusal_of(line, choice, position + 1))
            head = head or head_of(line)
            room -= len(raw)
            if room < 0:
                seen.clear()
                room = REMEMBERED
            seen[head[2], request, answer] = known
            found.new.append(position)
            if known.code is not None and known.refusal != ASIDE:
                codes[known.code] += known.weight
        assert head is not None
        began, elapsed, _ = head
        plan.requests.append(request)
        plan.answers.append(answer)
        plan.started.append(began)
        if told is not None:
            ahead = told / 1000 - began - elapsed
            drift = ahead if abs(ahead - drift) > 0.5 else drift
        plan.moments.append(began + drift)
        if known.refusal is not None:
            plan.refused[position] = known.refusal
            if known.refusal == ASIDE:
                plan.set_aside[ASIDE] += 1
                continue
            plan.leave_out(position, known.line)
        if noted.get(request, began + 1) > began:
            _note_sent(plan, found.sent, known, began)
            _note_who(plan, known)
            if known.is_taken and len(noted) < MOST_LOOKED_INTO:
                noted[request] = began
        lineages.add(position, known.trait, began, elapsed)
    plan.session_of = lineages.sessions(len(plan.store))
    plan.access_code = next((code for code, _ in codes.most_common(1)), None)
    return found


def _note_sent(plan: Plan, sent: dict[bytes, float], known: Known, began: float) -> None:
    handles = plan.handles
    for found in known.line.handed():
        value = found.value
        if is_handed_over(value):
            raw = value.encode(errors="replace")
            if sent.get(raw, began + 1) > began:
                sent[raw] = began
            if value not in handles and _is_handle(found):
                handles.add(value)
            if known.is_taken and value[0] == "[" and TAKEN_OUT.fullmatch(value):
                plan.accepted.add(value)


def _is_handle(found: Found) -> bool:
    """Whether a value is an id, a token or the like: by its name, its header, or its look."""
    if found.place.startswith(("headers.", "path.")) or is_opaque(found.value):
        return True
    name = re.split(r"[.|\[]", found.place)
    return kind_of(next((part for part in reversed(name) if part and part[0].isalpha()), "")) == "identity"


def _note_who(plan: Plan, known: Known) -> None:
    line = known.line
    body = line.request.body
    if line.operation is None or line.operation.key != LOGIN_INITIATE or not isinstance(body, dict):
        return
    email, password = body.get("email"), body.get("password")
    if isinstance(email, str):
        plan.emails.setdefault(email)
        if isinstance(password, str) and known.is_taken:
            plan.passwords.setdefault(email, password)


def _look_at_answers(plan: Plan, survey: Survey) -> None:
    """The second pass: which of the values that were sent an answer gave before."""
    sent = survey.sent
    numbers = any(value.isdigit() for value in sent)
    unpacked: set[bytes] = set()
    looked: set[int] = set()
    # What says what another said gives nothing that was not given before, but for numbers.
    for position in range(len(plan.store)) if numbers else survey.new:
        if plan.session_of[position] < 0:
            continue
        answer = plan.answers[position]
        if answer in looked and not numbers:
            continue
        if len(looked) < MOST_LOOKED_INTO:
            looked.add(answer)
        line = plan.line(position)
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
