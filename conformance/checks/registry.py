"""How a check says which exchanges it judges: a selection, and two decorators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from conformance.spec import BY_KEY, OPERATIONS
from conformance.spec.operations import UNDESCRIBED
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import Comparison

Predicate = Callable[[Exchange], bool]
Judging = Callable[..., Iterable[Comparison]]

ROOM, FORGOTTEN_TOGETHER = 10_000, 8
"""How much a check remembers, and which part of that it forgets when there is no more room. One entry alone
would be searched for behind the places of all that were forgotten before it."""


class Memory(dict[str, Json]):
    """What one check remembers of a trace; the oldest is forgotten first, so that any length fits."""

    def __init__(
        self,
        room: int = ROOM,
        *,
        on_forget: Callable[[], None] = lambda: None,
        on_outdated: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self._room = room
        self._on_forget = on_forget
        self.outdate_verdicts = on_outdated
        """To be called by a check that remembers steadily, where it has learned something by which it may
        judge answers otherwise that come again."""

    def __setitem__(self, key: str, value: Json) -> None:
        super().__setitem__(key, value)
        if len(self) > self._room:
            for oldest in list(islice(self, max(1, self._room // FORGOTTEN_TOGETHER))):
                del self[oldest]
            self._on_forget()

    def setdefault(self, key: str, default: Json = None) -> Json:
        if key not in self:
            self[key] = default
        return self[key]


Sight = Literal["metadata", "answer", "moment"]
"""What a check reads: the metadata (status, envelope, names of headers); all data with the request's URL and
body; or also the time, the tokens and the number of the exchange."""

Kind = Literal["success", "error", "odd", "bare"]
"""What an answer is at first sight, by ``success`` of its envelope: odd has none, bare is no envelope."""

KINDS: tuple[Kind, ...] = ("success", "error", "odd", "bare")
ENVELOPED: frozenset[Kind] = frozenset({"success", "error", "odd"})


def kind_of(exchange: Exchange) -> Kind:
    """The kind of an answered exchange, by which a judge finds its checks."""
    envelope = exchange.envelope
    if envelope is None:
        return "bare"
    success = envelope.get("success")
    return "success" if success is True else "error" if success is False else "odd"


def through_the_ingress(exchange: Exchange) -> bool:
    """Whether the request names an ingress; one that does not may be answered by what stands before."""
    return exchange.request.header("x-portal-access-code") is not None


def key_of(exchange: Exchange) -> str:
    """The key of the operation; an empty text where it is none of the 88."""
    operation = exchange.request.operation
    return "" if operation is None else operation.key


def has(path: str, kind: type | Callable[[Json], bool]) -> Predicate:
    """Whether the value at a place of an answer is of a type, or passes a test."""
    if isinstance(kind, type):
        return lambda exchange: isinstance(exchange.at(path), kind)
    return lambda exchange: kind(exchange.at(path))


def sends_a_body(exchange: Exchange) -> bool:
    return exchange.request.body is not ABSENT or exchange.plain is not None


CREDENTIALS = frozenset({"authorization", "cookie", "x-api-key", "api-key"})


def is_asked_in_english(exchange: Exchange) -> bool:
    """Whether texts may be expected as the specification shows them: they may follow the language."""
    for name in ("accept-language", "x-locale"):
        language = exchange.request.header(name)
        if language is not None and not language.lower().startswith("en"):
            return False
    return True


@dataclass(frozen=True)
class Selection:
    """Selects exchanges to judge: by operation, answer kind, and further conditions.

    ``ingress``: only requests that came through the portal's ingress; ``body``: only such as have one.
    ``sight``: what the check reads at most. A test decides each check on exchanges with nothing else in them.
    """

    keys: frozenset[str]
    kinds: frozenset[Kind] = frozenset(KINDS)
    ingress: bool = False
    body: bool = False
    predicates: tuple[Predicate, ...] = ()
    sight: Sight = "answer"

    def where(self, predicate: Predicate) -> Selection:
        return replace(self, predicates=(*self.predicates, predicate))

    def through_the_ingress(self) -> Selection:
        return replace(self, ingress=True)

    def of_requests_with_a_body(self) -> Selection:
        return replace(self, body=True)

    def by_metadata(self) -> Selection:
        """The check reads the status, the envelope without its data, and which headers were sent."""
        return replace(self, sight="metadata")

    def at_its_moment(self) -> Selection:
        """The check also reads the time, the timestamp, a token or the number of an exchange."""
        return replace(self, sight="moment")

    def enveloped(self) -> Selection:
        """The portal's own answers in their envelope."""
        return replace(self, kinds=self.kinds & ENVELOPED, ingress=True)

    def takes(self, exchange: Exchange) -> bool:
        if kind_of(exchange) not in self.kinds or (self.ingress and not through_the_ingress(exchange)):
            return False
        if self.body and not sends_a_body(exchange):
            return False
        return all(predicate(exchange) for predicate in self.predicates)


EVERYWHERE = frozenset({*BY_KEY, UNDESCRIBED})


def answers(*keys: str) -> Selection:
    """Every answered exchange of these operations; of all endpoints where none is named, also of those that
    the specification does not describe."""
    unknown = [key for key in keys if key not in EVERYWHERE]
    if unknown:
        raise ValueError(f"no such operation: {unknown}")
    return Selection(frozenset(keys or EVERYWHERE))


def successes(*keys: str) -> Selection:
    return replace(answers(*keys), kinds=frozenset({"success"}))


def errors(*keys: str) -> Selection:
    return replace(answers(*keys), kinds=frozenset({"error"}))


def with_data(*resources: str) -> tuple[str, ...]:
    """Keys of operations whose data is one of these resources."""
    return tuple(row.key for row in OPERATIONS if row.data and row.data.removesuffix("[]") in resources)


Remembers = Literal[False, True, "steadily"]
"""Whether a check has a Memory. ``steadily``: what an answer did not contradict once, it does not contradict
when it comes again, as long as nothing was forgotten or outdated."""


@dataclass(frozen=True, eq=False)
class Check:
    requirement: str
    on: Selection
    judging: Judging
    remembers: Remembers
    name: str
    decision: tuple[str, str]
    """What it decides, and its name: under which a judge counts what held."""

    compares: bool = False

    @property
    def is_of_model(self) -> bool:
        """Whether it compares what several answers say of the same thing."""
        return self.compares or self.judging.__module__.startswith("conformance.checks.model.")

    def __call__(self, exchange: Exchange, memory: Memory | None = None) -> Iterable[Comparison]:
        return self.judging(exchange, memory) if self.remembers else self.judging(exchange)


@dataclass(frozen=True)
class OpenReading:
    """How a target takes something open: ``read`` gives values to record, none where nothing shows."""

    key: str
    on: Selection
    read: Callable[[Exchange], Iterable[Json]]
    name: str


LEFT_TO_CASES = frozenset(
    {"LOGIN-030", "LOGIN-043", "LOGIN-044", "LOGIN-053", "TOKEN-012", "MFA-012", "MFA-015"}
    | {"SECURE-005", "SECURE-007", "SECURE-010", "SECURE-011", "SECURE-012", "PASSWORD-019", "FILE-022"}
    | {"IPWHITELIST-003", "IPWHITELIST-004", "IPWHITELIST-005", "SESSION-029", "PROFILE-004", "PROFILE-005"}
    | {"ACCOUNT-034", "INVITE-001", "INVITE-003", "INVITE-004", "INVITATION-029", "INVITATION-030"}
    | {"CHANNEL-049", "CHANNEL-052", "CHANNELTYPE-028", "CHANNELTYPE-029", "HEADER-004"}
)
"""Rules that checks decide by a client's mistake, or by what follows a change: in a run the cases send these,
and the other answers of the endpoints decide nothing."""

CHECKS: list[Check] = []
READINGS: list[OpenReading] = []


def check(
    requirement: str, *, on: Selection, remembers: Remembers = False, compares: bool = False
) -> Callable[[Judging], Judging]:
    """Makes a generator of comparisons judge every selected exchange, for one requirement.

    ``remembers``: it also takes a Memory, its own for each judge, to see across exchanges. ``compares``: it
    compares what several answers say of the same thing, as all checks of ``checks.model`` do: `check` applies
    it with --model.
    """

    def register(judging: Judging) -> Judging:
        name = f"{judging.__module__.rpartition('.')[2]}.{judging.__name__}"
        CHECKS.append(Check(requirement, on, judging, remembers, name, (requirement, name), compares))
        return judging

    return register


def reading(
    key: str, *, on: Selection
) -> Callable[[Callable[[Exchange], Iterable[Json]]], Callable[[Exchange], Iterable[Json]]]:
    """Makes a generator of values record how the target takes an open question."""

    def register(read: Callable[[Exchange], Iterable[Json]]) -> Callable[[Exchange], Iterable[Json]]:
        READINGS.append(OpenReading(key, on, read, f"{read.__module__.rpartition('.')[2]}.{read.__name__}"))
        return read

    return register
