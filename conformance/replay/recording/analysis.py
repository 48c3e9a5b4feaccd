"""Analysis of a recording before it is replayed: sessions, correlated values, and what is not replayed."""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from conformance.errors import UsageError
from conformance.replay.recording.kinds import is_counted, is_opaque, kind_of
from conformance.replay.recording.lineage import Lineages, Trait, trait_of
from conformance.replay.recording.lines import LineHead, PlanLine, fingerprint, head_of, line_of
from conformance.replay.recording.needs import add_needs
from conformance.replay.recording.plan import (
    CHANNEL_HEADER,
    NOT_THE_PORTALS,
    OTHER_HOST,
    SEALED,
    SEALED_OTHERWISE,
    UNWANTED,
    ReplayPlan,
    ReplaySelection,
    opened_channel,
    refusal_of,
)
from conformance.replay.recording.store import Store
from conformance.replay.recording.values import (
    PlacedValue,
    is_dynamic,
    is_only_a_name,
    packed_values,
)
from conformance.spec.endpoints import LOGIN_INITIATE, PORTAL_PATH
from conformance.target.profile.errors import nearest
from conformance.traffic.exchange import UNKNOWN_FORMS, Json
from conformance.traffic.values import REDACTED

T = TypeVar("T", LineHead, PlanLine)

CLOCK_GRAIN = 0.0005
MOST_ANALYZED = 500_000
MOST_HIDDEN = 20_000
"""Hidden secrets of which is kept what the recorder says."""
CACHED_BYTES = 16_000_000
"""Bytes of lines whose analysis is cached, for lines with the same fingerprint."""


def planned(store: Store, selection: ReplaySelection, *, cached_bytes: int = CACHED_BYTES) -> ReplayPlan:
    """Analyzes all recorded exchanges twice: first the requests, then the responses.

    CaptureError: a line is no exchange. UsageError: none of them is the portal's.
    """
    plan = ReplayPlan(store)
    requests = RequestAnalysis(plan, selection, cached_bytes)
    for position in range(len(store)):
        requests.add(position, store.line(position))
    requests.finish()
    responses = ResponseAnalysis(plan, requests.sent, sources=plan.sources)
    responses.add_all(range(len(store)) if responses.reads_numbers else requests.distinct)
    plan.handles &= plan.sources.keys()
    plan.arrange()
    if selection.only:
        _must_select(plan, selection)
        add_needs(plan, UNWANTED[:1])
    plan.ignored.update(store.ignored)
    plan.notes.extend(store.notes)
    if len(plan.refused) == len(store) and NOT_THE_PORTALS.issuperset(plan.refused.values()):
        raise UsageError(_nothing(plan))
    return plan


def _must_select(plan: ReplayPlan, selection: ReplaySelection) -> None:
    """UsageError: no exchange of the portal is among ``--only``; the endpoint that is probably meant."""
    named = [at for at in plan.order if plan.refused.get(at) == UNWANTED[0]]
    if len(named) + sum(why in NOT_THE_PORTALS for why in plan.refused.values()) < len(plan.order):
        return
    endpoints = dict.fromkeys(plan.line(at).endpoint for at in named)
    if not endpoints:
        return
    pattern = selection.only[0]
    if pattern[0].isdigit():
        raise UsageError(
            f"--only {pattern}: the recording has the exchanges 1-{len(plan.order)}. Name some of these."
        )
    named_by = reversed(endpoints)
    steps = {step: endpoint for endpoint in named_by for step in (endpoint, *endpoint.split("/"))}
    meant = steps[nearest(pattern, steps, cutoff=0.0) or ""]
    raise UsageError(f"--only {pattern}: it matches no endpoint of the recording. The nearest is {meant}.")


def _nothing(plan: ReplayPlan) -> str:
    if plan.ignored[OTHER_HOST]:
        return "Nothing was recorded at --recorded-host: leave it out to see which hosts the files hold."
    return f"None of the recorded requests has a path below {PORTAL_PATH}: there is nothing to replay."


class LineAnalysis(NamedTuple):
    """Analysis of a line, equal for all lines of a client with its fingerprint. Holds no line, since a
    recording has many analyses."""

    host: str
    method: str
    path: str
    status: int | None
    refusal: str | None
    trait: Trait
    code: str | None
    weight: int
    """How strongly a response speaks for its access code being the portal's."""
    is_accepted: bool
    changing: str | None = None
    """The operation, where it succeeded and may change something."""

    @staticmethod
    def of(line: PlanLine, refusal: str | None) -> LineAnalysis:
        status = line.response.status if line.response is not None else None
        is_accepted = status is not None and status < 300
        operation = line.operation if is_accepted and line.impact != "read-only" else None
        return LineAnalysis(
            host=line.host,
            method=line.request.method,
            path=line.path,
            status=status,
            refusal=refusal,
            trait=trait_of(line),
            code=line.request.header("x-portal-access-code"),
            weight=10 if status is not None and status < 400 else 1,
            is_accepted=is_accepted,
            changing=None if operation is None else operation.key,
        )


class RequestAnalysis:
    """The first pass: the values that were sent and when first, and the session of each exchange.

    ``distinct`` are the positions of the first line of each fingerprint.
    """

    def __init__(self, plan: ReplayPlan, selection: ReplaySelection, cached_bytes: int) -> None:
        self.sent: dict[bytes, float] = {}
        self.distinct = array("i")
        self._plan = plan
        self._selection = selection
        self._is_partial = selection.is_partial
        self._codes: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._lineages = Lineages()
        self._first_sent: dict[int, float] = {}
        """By the fingerprint of a request."""
        self._analyses: dict[tuple[int, int, int, str], LineAnalysis] = {}
        self._room = self._cached_bytes = cached_bytes
        self._drift = 0.0
        self._opened: set[str | None] = set()
        """The secure channels of which the recording has the plaintext."""

    def add(self, position: int, raw: bytes) -> None:
        plan = self._plan
        sent, response, portal_ms = fingerprint(raw)
        head, line = self._decoded(position, raw, head_of), None
        key = plan.store.file_of(position), sent, response, head.client
        analysis = None if self._is_partial else self._analyses.get(key)
        if analysis is None:
            line = self._decoded(position, raw, line_of)
            analysis = self._analyze(position, line)
            self._remember(key, analysis, len(raw))
        began, elapsed = head.began, head.elapsed_ms / 1000
        plan.requests.append(sent)
        plan.responses.append(response)
        self._note_time(began, elapsed, portal_ms)
        if analysis.changing is not None:
            plan.changing[position] = analysis.changing
        if analysis.refusal is not None:
            plan.refused[position] = analysis.refusal
            if analysis.refusal in NOT_THE_PORTALS:
                plan.ignored[analysis.refusal] += 1
                return
            plan.omissions.note(began, analysis.method, analysis.path, status=analysis.status)
        plan.hosts[analysis.host] += 1
        if self._first_sent.get(sent, began + 1) > began:
            self._note_request(sent, analysis, line or line_of(raw), began)
        self._lineages.add(position, analysis.trait, began, elapsed)

    def _note_time(self, began: float, elapsed: float, portal_ms: int | None) -> None:
        if portal_ms is not None:
            ahead = portal_ms / 1000 - began - elapsed
            self._drift = ahead if abs(ahead - self._drift) > 0.5 else self._drift
        self._plan.started.append(began)
        self._plan.elapsed.append(elapsed)
        self._plan.moments.append(began + self._drift)

    def finish(self) -> None:
        """Completes the plan with what only all exchanges together show."""
        self._plan.session_of = self._lineages.sessions(len(self._plan.store))
        self._send_broken_bodies()
        codes = (counts.most_common(1)[0][0] for counts in self._codes.values())
        self._plan.access_codes = frozenset(codes)
        hosts = self._plan.hosts
        if len(hosts) > 1:
            most = ", ".join(f"{host} ({times})" for host, times in hosts.most_common(5))
            self._plan.notes.append(
                f"What was recorded at {len(hosts)} hosts is replayed at one portal: {most}. "
                "Name one with --recorded-host."
            )

    def _send_broken_bodies(self) -> None:
        """Sends refused bodies unchanged if the recorder had opened their channel, but not the body: no
        portal can open such a body either."""
        plan, opened = self._plan, self._opened - {None}
        for position in [at for at, refusal in plan.refused.items() if refusal == SEALED]:
            line = plan.line(position)
            if line.request.header(CHANNEL_HEADER) not in opened:
                continue
            plan.refused[position] = SEALED_OTHERWISE
            if (line.status or 0) >= 400:
                del plan.refused[position]

    def _decoded(self, position: int, raw: bytes, decode: Callable[[bytes], T]) -> T:
        try:
            return decode(raw)
        except (ValueError, RecursionError) as error:
            raise self._plan.store.broken(position, error) from error

    def _analyze(self, position: int, line: PlanLine) -> LineAnalysis:
        analysis = LineAnalysis.of(line, refusal_of(line, self._selection, position + 1))
        self.distinct.append(position)
        self._opened.add(opened_channel(line))
        if line.hidden and len(self._plan.hidden) < MOST_HIDDEN:
            self._note_hidden(line.hidden)
        if analysis.code is not None and analysis.refusal not in NOT_THE_PORTALS:
            self._codes[self._plan.store.file_of(position)][analysis.code] += analysis.weight
        return analysis

    def _note_hidden(self, hidden: dict[str, Json]) -> None:
        """Takes what the recorder says of secrets; of one it may say several things."""
        for placeholder, hint in hidden.items():
            before = self._plan.hidden.get(placeholder)
            if isinstance(before, dict) and isinstance(hint, dict):
                hint = {**before, **hint}
            self._plan.hidden[placeholder] = hint

    def _remember(self, key: tuple[int, int, int, str], analysis: LineAnalysis, size: int) -> None:
        self._room -= size
        if self._room < 0:
            self._analyses.clear()
            self._room = self._cached_bytes
        self._analyses[key] = analysis

    def _note_request(self, request: int, analysis: LineAnalysis, line: PlanLine, began: float) -> None:
        self._note_values(line.values(), began, is_accepted=analysis.is_accepted)
        _note_account(self._plan, line, is_accepted=analysis.is_accepted)
        if analysis.is_accepted and len(self._first_sent) < MOST_ANALYZED:
            self._first_sent[request] = began

    def _note_values(self, values: Iterable[PlacedValue], began: float, *, is_accepted: bool) -> None:
        handles, sent = self._plan.handles, self.sent
        for placed in values:
            value = placed.value
            if is_counted(value) and placed.place.startswith("path."):
                self._plan.counts_ids = True
            if not is_dynamic(value):
                continue
            raw = value.encode(errors="replace")
            if sent.get(raw, began + 1) > began:
                sent[raw] = began
            if value not in handles and _is_handle(placed):
                handles.add(value)
            if is_accepted and value[0] == "[" and REDACTED.fullmatch(value):
                self._plan.accepted.add(value)


def _is_handle(placed: PlacedValue) -> bool:
    """Whether a value is an id, a token or the like: by its name, its header, or its form."""
    if placed.place.startswith(("headers.", "path.")) or is_opaque(placed.value):
        return True
    name = re.split(r"[.|\[]", placed.place)
    return kind_of(next((part for part in reversed(name) if part and part[0].isalpha()), "")) == "identity"


def _note_account(plan: ReplayPlan, line: PlanLine, *, is_accepted: bool) -> None:
    body = line.request.body
    if line.endpoint != LOGIN_INITIATE or not isinstance(body, dict):
        return
    email, password = body.get("email"), body.get("password")
    if isinstance(email, str):
        plan.emails.setdefault(email)
        if isinstance(password, str) and is_accepted:
            plan.passwords.setdefault(email, password)


class ResponseAnalysis:
    """The second pass: which of the values that were sent an earlier response returned.

    ``sent`` has when each was first sent, and gets empty; ``sources`` gets the position of the response.
    ``reads_numbers``: numbers were sent, so that a repeated response may return something new.
    """

    def __init__(self, plan: ReplayPlan, sent: dict[bytes, float], *, sources: dict[str, int]) -> None:
        self.sources = sources
        self._plan = plan
        self._sent = sent
        self.reads_numbers = any(value.isdigit() for value in sent)
        self._unpacked: set[bytes] = set()
        self._analyzed: set[int] = set()

    def add_all(self, positions: Iterable[int]) -> None:
        """Analyzes the responses at these positions, in this order."""
        for position in positions:
            if self._plan.session_of[position] >= 0:
                self._add(position)

    def _add(self, position: int) -> None:
        response = self._plan.responses[position]
        if response in self._analyzed and not self.reads_numbers:
            return
        if len(self._analyzed) < MOST_ANALYZED:
            self._analyzed.add(response)
        line = self._plan.line(position)
        if line.response is None or line.response.form in UNKNOWN_FORMS:
            return
        over = self._plan.started[position] + line.elapsed_ms / 1000
        for text in self._texts(line) & self._sent.keys():
            if _is_a_name(line, text):
                continue
            # Once returned, or once sent before it was returned, the question is settled.
            first = self._sent.pop(text)
            if first >= over - CLOCK_GRAIN and first > self._plan.started[position]:
                self.sources[text.decode()] = position

    def _texts(self, line: PlanLine) -> set[bytes]:
        texts = line.texts(numbers=self.reads_numbers)
        new = {text for text in texts if len(text) >= 16} - self._unpacked
        if len(self._unpacked) < MOST_ANALYZED:
            self._unpacked |= new
        texts.update(inner for text in new for inner in packed_values(text))
        return texts


def _is_a_name(line: PlanLine, text: bytes) -> bool:
    assert line.response is not None
    return is_only_a_name(bytes(line.response.body), text)
