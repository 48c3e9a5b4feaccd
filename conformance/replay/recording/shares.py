"""What each worker of a replay gets: whole sessions, those that depend on each other together.

Every worker finds its share by itself: the same recording, profile and number of workers give the same
shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from conformance.replay.recording.analysis import ResponseAnalysis
from conformance.replay.recording.lines import endpoint_in, values_in
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.turns import BY_EMAIL, turns_of
from conformance.traffic.exchange import dig

ELSEWHERE = "another worker replays it"


@dataclass(frozen=True)
class Share:
    """What one worker replays: by session, the number of its first exchange and how many it has."""

    sessions: Mapping[int, tuple[int, int]]

    @property
    def exchanges(self) -> int:
        return sum(count for _, count in self.sessions.values())


def partition(
    sizes: Mapping[int, int], links: Iterable[tuple[int, int]], workers: int
) -> list[tuple[int, ...]]:
    """The sessions of each worker, of sessions with so many exchanges. Linked ones stay together; the largest
    group goes first, to the worker that has least. There are fewer shares than workers where there are fewer
    groups."""
    leader = {session: session for session in sizes}

    def group_of(session: int) -> int:
        while leader[session] != session:
            leader[session] = session = leader[leader[session]]
        return session

    for one, other in links:
        first, second = sorted((group_of(one), group_of(other)))
        leader[second] = first
    groups: dict[int, list[int]] = {}
    for session in sorted(sizes):
        groups.setdefault(group_of(session), []).append(session)
    weights = {group: sum(sizes[session] for session in members) for group, members in groups.items()}
    shares: list[list[int]] = [[] for _ in range(min(workers, len(groups)))]
    loads = [0] * len(shares)
    for group in sorted(groups, key=lambda group: (-weights[group], group)):
        least = loads.index(min(loads))
        shares[least] += groups[group]
        loads[least] += weights[group]
    return [tuple(sorted(share)) for share in shares]


class SharedPlan:
    """A plan whose sessions several workers share. ``accounts`` are the profile's by recorded email."""

    def __init__(self, plan: ReplayPlan, accounts: Mapping[str, str]) -> None:
        self.plan = plan
        self._accounts = accounts
        self._sent = _sent_by_session(plan)

    def shares(self, workers: int) -> list[Share]:
        """The shares of so many workers, none of them empty."""
        sizes = {session: len(sent.positions) for session, sent in self._sent.items()}
        first = {session: self.plan.number_of(sent.positions[0]) for session, sent in self._sent.items()}
        shares = partition(sizes, self.links(), workers)
        return [Share({session: (first[session], sizes[session]) for session in share}) for share in shares]

    def links(self) -> Iterator[tuple[int, int]]:
        """Pairs of sessions that stay on one worker: they touch the same records, sign the same account in,
        or one sends what only the other was returned."""
        plan = self.plan
        for position, earlier in turns_of(plan).items():
            for other in earlier:
                yield plan.session_of[position], plan.session_of[other]
        first: dict[str, int] = {}
        for session, sent in self._sent.items():
            for email in sent.emails:
                name = self._accounts.get(email, f"no account for {email}")
                yield session, first.setdefault(name, session)
            yield from ((session, other) for other in self._lenders(session, sent))

    def _lenders(self, session: int, sent: _Sent) -> set[int]:
        """The sessions whose responses alone returned what this one sent."""
        plan = self.plan
        foreign = [value for value in sent.values if plan.session_of[plan.sources[value]] != session]
        own = _sources_within(plan, sent) if foreign else {}
        return {plan.session_of[plan.sources[value]] for value in foreign if value not in own}

    def keep_only(self, share: Share, *, is_first: bool) -> None:
        """Has the plan send this share alone, under the numbers of the whole. The first of the workers counts
        what belongs to no session."""
        plan, sent = self.plan, _Sent()
        for session in share.sessions:
            sent.add(self._sent[session])
        for position, session in enumerate(plan.session_of):
            if session in share.sessions:
                continue
            plan.elsewhere += session >= 0 or not is_first
            if session >= 0:
                plan.refused[position] = ELSEWHERE
                plan.session_of[position] = -1
        plan.sources = _sources_within(plan, sent)
        plan.handles &= plan.sources.keys()
        if not is_first:
            plan.ignored.clear()
            plan.notes.clear()


@dataclass
class _Sent:
    """What one session sent, or several: the values that a response returned, with when they were first sent,
    the emails, and the positions in the order of the recording."""

    values: dict[str, float] = field(default_factory=dict)
    emails: dict[str, None] = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)

    def add(self, other: _Sent) -> None:
        for value, began in other.values.items():
            self.values[value] = min(began, self.values.get(value, began))
        self.emails |= other.emails
        self.positions += other.positions


def _sent_by_session(plan: ReplayPlan) -> dict[int, _Sent]:
    sessions: dict[int, _Sent] = {}
    seen: set[tuple[int, int]] = set()
    for position in plan.wanted():
        session = plan.session_of[position]
        sent = sessions.setdefault(session, _Sent())
        sent.positions.append(position)
        same = session, plan.requests[position]
        if same not in seen and position not in plan.refused:
            seen.add(same)
            _note(plan, position, sent)
    return sessions


def _note(plan: ReplayPlan, position: int, sent: _Sent) -> None:
    exchange = plan.exchange(position)
    for placed in values_in(exchange):
        if placed.value in plan.sources:
            sent.values.setdefault(placed.value, plan.started[position])
    if endpoint_in(exchange) in BY_EMAIL:
        email = dig(exchange.sent, ["email"])
        if isinstance(email, str):
            sent.emails[email] = None


def _sources_within(plan: ReplayPlan, sent: _Sent) -> dict[str, int]:
    """By value that was sent: the first response among these exchanges that returned it."""
    analysis = ResponseAnalysis(plan, dict(sent.values), sources={})
    analysis.add_all(sorted(sent.positions))
    return analysis.sources
