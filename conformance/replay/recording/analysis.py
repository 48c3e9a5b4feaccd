"""Analysis of a recording before it is replayed: sessions, correlated values, and what is not replayed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime

from conformance.errors import UsageError
from conformance.replay.recording.kinds import is_counted, is_opaque, kind_of
from conformance.replay.recording.lineage import Lineages
from conformance.replay.recording.lines import (
    endpoint_in,
    fingerprint,
    host_of,
    impact_in,
    returned_in,
    values_in,
)
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
from conformance.replay.recording.store import Store, decoded
from conformance.replay.recording.values import (
    PlacedValue,
    is_dynamic,
)
from conformance.spec.endpoints import LOGIN_INITIATE, PORTAL_PATH
from conformance.target.profile.errors import nearest
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import REDACTED

CLOCK_GRAIN = 0.0005
MOST_ANALYZED = 500_000
ACCEPTED_WEIGHT = 1_000_000_000
MOST_HIDDEN = 20_000
"""Hidden secrets of which is kept what the recorder says."""


def planned(store: Store, selection: ReplaySelection) -> ReplayPlan:
    """Analyzes all recorded exchanges twice: first the requests, then the responses.

    CaptureError: a line is no exchange. UsageError: none of them is the portal's.
    """
    plan = ReplayPlan(store)
    requests = RequestAnalysis(plan, selection)
    for position in range(len(store)):
        requests.add(position, store.line(position))
    requests.finish()
    responses = ResponseAnalysis(plan, requests.sent, sources=plan.sources)
    responses.add_all(range(len(store)))
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
    endpoints = dict.fromkeys(plan.endpoint(at) for at in named)
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


class RequestAnalysis:
    """The first pass: the values that were sent and when first, and the session of each exchange."""

    def __init__(self, plan: ReplayPlan, selection: ReplaySelection) -> None:
        self.sent: dict[str, float] = {}
        self._plan = plan
        self._selection = selection
        self._codes: defaultdict[int, Counter[str]] = defaultdict(Counter)
        """By file, how often each access code was sent; an accepted one outweighs all that were refused."""
        self._lineages = Lineages()
        self._first_sent: dict[int, float] = {}
        """By the fingerprint of a request."""
        self._drift = 0.0
        self._opened: set[str | None] = set()
        """The secure channels of which the recording has the plaintext."""

    def add(self, position: int, raw: bytes) -> None:
        plan, exchange = self._plan, self._decoded(position, raw)
        sent, response, portal_ms = fingerprint(raw)
        began, elapsed = exchange.time, exchange.elapsed_ms / 1000
        plan.requests.append(sent)
        plan.responses.append(response)
        self._note_time(began, elapsed, portal_ms)
        self._opened.add(opened_channel(exchange))
        if exchange.hidden and len(plan.hidden) < MOST_HIDDEN:
            self._note_hidden(exchange.hidden)
        is_accepted = (exchange.status or 400) < 300
        if is_accepted and exchange.request.operation is not None and impact_in(exchange) != "read-only":
            plan.changing[position] = exchange.request.operation.key
        refusal = refusal_of(exchange, self._selection, position + 1)
        if refusal is not None:
            plan.refused[position] = refusal
            if refusal in NOT_THE_PORTALS:
                plan.ignored[refusal] += 1
                return
            plan.omissions.note(began, exchange.request.method, exchange.request.path, status=exchange.status)
        plan.hosts[host_of(exchange)] += 1
        code = exchange.request.header("x-portal-access-code")
        if code is not None:
            weight = ACCEPTED_WEIGHT if (exchange.status or 400) < 400 else 1
            self._codes[plan.store.file_of(position)][code] += weight
        if self._first_sent.get(sent, began + 1) > began:
            self._note_values(values_in(exchange), began, is_accepted=is_accepted)
            _note_account(plan, exchange, is_accepted=is_accepted)
            if is_accepted and len(self._first_sent) < MOST_ANALYZED:
                self._first_sent[sent] = began
        self._lineages.add(position, exchange)

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
            exchange = plan.exchange(position)
            if exchange.request.header(CHANNEL_HEADER) not in opened:
                continue
            plan.refused[position] = SEALED_OTHERWISE
            if (exchange.status or 0) >= 400:
                del plan.refused[position]

    def _decoded(self, position: int, raw: bytes) -> Exchange:
        try:
            exchange = decoded(raw)
            datetime.fromisoformat(exchange.started)
            return exchange
        except (ValueError, RecursionError) as error:
            raise self._plan.store.broken(position, error) from error

    def _note_hidden(self, hidden: dict[str, Json]) -> None:
        """Takes what the recorder says of secrets; of one it may say several things."""
        for placeholder, hint in hidden.items():
            before = self._plan.hidden.get(placeholder)
            if isinstance(before, dict) and isinstance(hint, dict):
                hint = {**before, **hint}
            self._plan.hidden[placeholder] = hint

    def _note_values(self, values: Iterable[PlacedValue], began: float, *, is_accepted: bool) -> None:
        handles, sent = self._plan.handles, self.sent
        for placed in values:
            value = placed.value
            if is_counted(value) and placed.place.startswith("path."):
                self._plan.counts_ids = True
            if not is_dynamic(value):
                continue
            sent[value] = min(began, sent.get(value, began))
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


def _note_account(plan: ReplayPlan, exchange: Exchange, *, is_accepted: bool) -> None:
    body = exchange.request.body
    if endpoint_in(exchange) != LOGIN_INITIATE or not isinstance(body, dict):
        return
    email, password = body.get("email"), body.get("password")
    if isinstance(email, str):
        plan.emails.setdefault(email)
        if isinstance(password, str) and is_accepted:
            plan.passwords.setdefault(email, password)


class ResponseAnalysis:
    """The second pass: which of the values that were sent an earlier response returned.

    ``sent`` has when each was first sent, and gets empty; ``sources`` gets the position of the response.
    """

    def __init__(self, plan: ReplayPlan, sent: dict[str, float], *, sources: dict[str, int]) -> None:
        self.sources = sources
        self._plan = plan
        self._sent = sent
        self._reads_numbers = any(value.isdigit() for value in sent)
        """Whether numbers were sent, so that a repeated response may return something new."""
        self._analyzed: set[int] = set()

    def add_all(self, positions: Iterable[int]) -> None:
        """Analyzes the responses at these positions, in this order."""
        for position in positions:
            if self._plan.session_of[position] >= 0:
                self._add(position)

    def _add(self, position: int) -> None:
        response = self._plan.responses[position]
        if response in self._analyzed and not self._reads_numbers:
            return
        if len(self._analyzed) < MOST_ANALYZED:
            self._analyzed.add(response)
        exchange = self._plan.exchange(position)
        over = self._plan.started[position] + exchange.elapsed_ms / 1000
        for text in returned_in(exchange) & self._sent.keys():
            # Once returned, or once sent before it was returned, the question is settled.
            first = self._sent.pop(text)
            if first >= over - CLOCK_GRAIN and first > self._plan.started[position]:
                self.sources[text] = position
