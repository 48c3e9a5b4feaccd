"""The plan of a replay: sessions, order, which response returned which value, and what is left out."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property

from conformance.replay.recording.lines import endpoint_in, host_of, impact_in
from conformance.replay.recording.store import Store
from conformance.spec import IMPACTS, Impact
from conformance.spec.endpoints import PORTAL_PATH
from conformance.target.portal.cipher import sealed_payload
from conformance.target.portal.transport import impact_of
from conformance.traffic.capture.bodies import from_base64
from conformance.traffic.exchange import ABSENT, NOT_JSON, UNKNOWN_FORMS, Exchange, Json
from conformance.traffic.values import REDACTED

RELATED = (
    frozenset({"profile", "accounts"}),
    frozenset({"profile", "invitations"}),
    frozenset({"auth", "security"}),
)
"""Areas that show each other's records. Each shows its own, but for ``auth``."""

LOGOUT = "/logout"
"""The end of the one path of ``auth`` whose response shows how many sessions there were."""

OTHER_NAMES = {"notification-channels": "notifications"}
ENDS = (
    LOGOUT,
    "/sessions/terminate",
    "/sessions/terminate-all",
    "/password/change",
    "/password/reset",
    "/password/init",
)
"""Ends of paths that may end a session: every response after it may have been a 401."""

SESSIONS = "sessions"


@dataclass
class Omissions:
    """``first`` is, by area, the first change that is not replayed: its epoch seconds, and its name."""

    first: dict[str, tuple[float, str]] = field(default_factory=dict)

    def note(self, began: float, method: str, path: str, *, status: int | None) -> None:
        """Takes an exchange that is not replayed. Only a success that may change something counts."""
        if status is None or status >= 300 or method == "GET":
            return
        area = area_of(path)
        if area != "auth" and impact_of(method, path) == "read-only":
            return
        areas = (area, SESSIONS) if path.endswith(ENDS) else (area,)
        for changed in areas:
            if changed not in self.first or began < self.first[changed][0]:
                self.first[changed] = (began, f"{method} {path[path.find(PORTAL_PATH) :]}")

    def before(self, began: float, path: str, *, is_open_still: bool) -> str | None:
        """The omitted change that may explain a difference; None where there is none before it.
        ``is_open_still``: a session that had ended when recorded is accepted."""
        if not self.first:
            return None
        area = area_of(path)
        areas = {area}.union(*(family for family in RELATED if area in family))
        if area == "auth" and not path.endswith(LOGOUT):
            areas.discard(area)
        if is_open_still:
            areas.add(SESSIONS)
        omitted = (self.first[related] for related in sorted(areas) if related in self.first)
        return next((change for moment, change in omitted if moment < began), None)


def area_of(path: str) -> str:
    """The part of the portal that a path is about: ``profile``, ``notifications``."""
    steps = path[path.find(PORTAL_PATH) + len(PORTAL_PATH) :].split("/")
    name = steps[1] if steps[0] == "system" and len(steps) > 1 else steps[0]
    return OTHER_NAMES.get(name, name)


OTHER_PATH = "another path"
OTHER_HOST = "another host"
NOT_THE_PORTALS = frozenset({OTHER_PATH, OTHER_HOST})
NEEDED = "others need it: it is sent, and not compared"
REPLAYED = "an earlier part of this replay sent it"
LEFT_OUT = "left out by --account"
SEALED = "its body is encrypted, and the recording has no plaintext (record with --open-channel)"
SEALED_OTHERWISE = "its body was accepted, and is encrypted with another key than those of its channel"
LEAST_SEALED = 28
"""Bytes of the initialisation vector and the tag of a ciphertext, in the shortest of its modes."""

CHANNEL_HEADER = "x-secure-channel-session-id"

UNWANTED = ("not among --only", "named by --skip", LEFT_OUT)


def is_unwanted(refusal: str) -> bool:
    """Whether the user excluded an exchange, or it is none of the portal's."""
    return refusal in NOT_THE_PORTALS or refusal in UNWANTED or is_for_the_impact(refusal)


def is_for_the_impact(refusal: str) -> bool:
    """Whether an exchange may change more than the user allows."""
    return "--impact allows" in refusal


@dataclass(frozen=True)
class ReplaySelection:
    """Which exchanges the user wants replayed. Patterns are those of an endpoint, or numbers such as 3-17."""

    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    impact: Impact = "read-only"
    hosts: frozenset[str] = frozenset()
    """The hosts whose requests are the portal's; none: all."""

    def refusal(self, number: int, key: str) -> str | None:
        """Why an exchange is not wanted, or None."""
        if self.only and not any(_matches(pattern, number, key) for pattern in self.only):
            return UNWANTED[0]
        if any(_matches(pattern, number, key) for pattern in self.skip):
            return UNWANTED[1]
        return None


@dataclass
class ReplayPlan:
    """Positions are those in the store; numbers, from 1, are positions in the order of the replay."""

    store: Store
    order: array[int] = field(default_factory=lambda: array("i"))
    session_of: array[int] = field(default_factory=lambda: array("i"))
    moments: array[float] = field(default_factory=lambda: array("d"))
    """When each was sent, on the recorded portal's clock where responses contain it (epoch seconds)."""
    started: array[float] = field(default_factory=lambda: array("d"))
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    """The seconds that each took when it was recorded."""
    requests: array[int] = field(default_factory=lambda: array("q"))
    responses: array[int] = field(default_factory=lambda: array("q"))
    refused: dict[int, str] = field(default_factory=dict)
    """Positions that are not replayed, and why."""
    needed: set[int] = field(default_factory=set)
    """Positions that are sent because others need what they return, and not compared."""
    counted: set[int] = field(default_factory=set)
    """Positions whose outcome an earlier part of the replay has counted."""
    sources: dict[str, int] = field(default_factory=dict)
    """By value that a response returned and a later request sent: the position of the first such response."""
    handles: set[str] = field(default_factory=set)
    """Those values that mean nothing by themselves: ids, tokens. The others may be equal by chance."""
    counts_ids: bool = False
    """Whether ids in paths are so short that records of two kinds may have the same."""
    passwords: dict[str, str] = field(default_factory=dict)
    """By email, the password that was accepted."""
    accepted: set[str] = field(default_factory=set)
    """Placeholders of redacted secrets that were sent and accepted."""
    hidden: dict[str, Json] = field(default_factory=dict)
    """What the recorder says of secrets that it redacted, by their placeholders."""
    changing: dict[int, str] = field(default_factory=dict)
    """Positions of successful requests that may change something, and their operations."""
    emails: dict[str, None] = field(default_factory=dict)
    omissions: Omissions = field(default_factory=Omissions)
    access_codes: frozenset[str] = frozenset()
    """The portal's access code as it stands in each file: placeholders differ from file to file."""
    elsewhere: int = 0
    """How many exchanges of the recording other workers replay."""
    ignored: Counter[str] = field(default_factory=Counter)
    """Entries that are not replayed at all, by reason."""
    notes: list[str] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)
    """How many of the portal's requests were recorded at which host."""

    @cached_property
    def sessions(self) -> int:
        return len(set(self.session_of) - {-1})

    @cached_property
    def repeats(self) -> array[int]:
        """By position, the number of the reads that it repeats."""
        return repeats_of(self.order, self.requests, self.changing)

    @property
    def size(self) -> int:
        """How many exchanges were recorded, without those that other workers replay."""
        return len(self.store) - self.elsewhere

    def taken_from(self, text: str) -> int | None:
        """The number of the exchange whose response first showed an id or a token that a later request sent;
        None of any other text."""
        return self._numbers[self.sources[text]] if text in self.handles else None

    def number_of(self, position: int) -> int:
        return self._numbers[position]

    def __post_init__(self) -> None:
        self._numbers = array("i")

    def arrange(self) -> None:
        """Orders the positions by their start, and numbers them."""
        self.order = array("i", sorted(range(len(self.store)), key=self.started.__getitem__))
        self._numbers = array("i", [0]) * len(self.order)
        for number, position in enumerate(self.order, 1):
            self._numbers[position] = number

    def exchanges(self) -> Iterator[Exchange]:
        """The portal's, in the order of the replay."""
        return map(self.store.exchange, self.wanted())

    def wanted(self) -> Iterator[int]:
        """Yields the positions of the portal's exchanges, in the order of the replay."""
        return (at for at in self.order if self.session_of[at] >= 0)

    def sent(self) -> Iterator[int]:
        """Yields the wanted positions that the plan does not refuse."""
        return (at for at in self.wanted() if at not in self.refused)

    def omit(self, position: int) -> None:
        """Notes that an exchange is not replayed: later ones may differ without it."""
        exchange = self.exchange(position)
        request, status = exchange.request, exchange.status
        self.omissions.note(self.started[position], request.method, request.path, status=status)

    def refuse(self, position: int, reason: str) -> None:
        """Has an exchange not sent, whoever needs it."""
        self.refused[position] = reason
        self.needed.discard(position)
        self.omit(position)

    def exchange(self, position: int) -> Exchange:
        return self.store.exchange(position)

    def endpoint(self, position: int) -> str:
        return endpoint_in(self.exchange(position))


def refusal_of(exchange: Exchange, selection: ReplaySelection, number: int) -> str | None:
    """Explains why the replay cannot, or may not, send an exchange."""
    request, plain = exchange.request, exchange.plain
    if PORTAL_PATH not in request.path:
        return OTHER_PATH
    if selection.hosts and host_of(exchange) not in selection.hosts:
        return OTHER_HOST
    unwanted = selection.refusal(number, endpoint_in(exchange))
    if unwanted:
        return unwanted
    needed = impact_in(exchange)
    if IMPACTS.index(needed) > IMPACTS.index(selection.impact):
        return f"it is {needed}, and --impact allows {selection.impact}; give --impact {needed}"
    if request.form == NOT_JSON:
        return "its body is no JSON, and a recording keeps only its length"
    if request.form in UNKNOWN_FORMS:
        return f"its body is {request.form} in the recording"
    if sealed_payload(request.body) is not None and (plain is None or plain.request is ABSENT):
        return None if is_no_ciphertext(exchange) else SEALED
    return None


def is_no_ciphertext(exchange: Exchange) -> bool:
    """Whether a body was refused in which no ciphertext stands where it belongs: it is sent as it was."""
    payload = sealed_payload(exchange.request.body)
    if payload is None or REDACTED.search(payload) or (exchange.status or 0) < 400:
        return False
    return len(from_base64(payload) or b"") < LEAST_SEALED


def opened_channel(exchange: Exchange) -> str | None:
    has_plain = exchange.plain is not None and exchange.plain.request is not ABSENT
    return exchange.request.header(CHANNEL_HEADER) if has_plain else None


def _matches(pattern: str, number: int, key: str) -> bool:
    numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", pattern)
    if numbers:
        return int(numbers[1]) <= number <= int(numbers[2] or numbers[1])
    if any(letter in pattern for letter in "*?["):
        return fnmatchcase(key, pattern)
    return pattern in key


UNREPEATED = 0


def repeats_of(order: Iterable[int], requests: Sequence[int], changing: Container[int]) -> array[int]:
    """Numbers groups of repeated reads, by position; ``UNREPEATED`` marks all other positions.

    ``order`` are the positions as they were sent, ``requests`` their fingerprints, ``changing`` the positions
    of what may have written something.
    """
    repeats = array("i", [UNREPEATED]) * len(requests)
    first: dict[int, int] = {}
    for position in order:
        if position in changing:
            continue
        began = first.setdefault(requests[position], position)
        if began != position:
            repeats[began] = repeats[position] = began + 1
    return repeats
