"""Compares account readings around a request: fields that the request does not name must stay equal.

A difference counts only where it is still there after a while: what moves by itself, or comes back as a cache
ends, is none. Nor does one count that somebody else may have made: the portal is not the run's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from cases.premises import A_WHILE, settle
from cases.reading import read
from conformance.cases import (
    BY_KEY,
    HELD,
    Comparison,
    Contradiction,
    Exchange,
    Json,
    OtherPlace,
    Portal,
    Untestable,
    Verify,
    are_different,
    endpoint_of,
    is_held_back,
    moment,
    op,
    portal_time,
    records,
    resources,
)

OWN = (
    op.PROFILE,
    op.MFA,
    op.BACKUP_CODES,
    op.IP_WHITELIST,
    op.SESSIONS_CONFIG,
    op.SESSIONS,
    op.OWN_INVITATIONS,
    op.WORKSPACES_CURRENT,
    op.WORKSPACES_MINE,
)
"""What is a caller's own."""

SHARED = (
    op.ACCOUNTS_QUERY,
    op.INVITATIONS,
    op.CURRENCY_GRANTS,
    op.INSTITUTION,
    op.CHANNEL_TYPES_QUERY,
    op.CHANNELS_QUERY,
    op.ROLES,
    op.FILE,
)
"""What an administrator reads of others."""

IDS = ("bizId", "sessionId", "id")
"""The fields that may hold the id of a record."""

SERVED, NEW = "", "+"
"""The field that says that a record is there, and the id of any that was not."""

STATED = frozenset(
    name
    for kind in vars(resources).values()
    if isinstance(kind, type) and issubclass(kind, resources.Resource)
    for name in kind.model_fields
)
"""The fields that the document names; others may count and date what they like."""


def stated(value: Json) -> Json:
    """A record without the fields that the document does not name, at any depth."""
    if isinstance(value, dict):
        return {name: stated(inner) for name, inner in value.items() if name in STATED}
    return [stated(inner) for inner in value] if isinstance(value, list) else value


MOVES_BY_ITSELF = {op.SESSIONS: ("lastActivityTime",), op.ACCOUNTS_QUERY: ("updatedAt",)}
"""What somebody else may move: who is active, and whose sign-in may count as an update."""

CHANGES_ALONE = ("createdAt", "updatedAt", "etag")
"""What shows a change, or never changes: it does not move by itself."""

WATCHED, MOST_WATCHED = 10.0, 30.0
"""For how many seconds at least, and at most, what showed something else is watched for changes by itself."""

A_MOMENT = 0.05
"""Seconds after which a time that is shown with milliseconds is another."""

CLOSE = timedelta(seconds=1)
"""By how much the time of a change may differ from that of its request."""

NAMES = ("bizId", "accountEmail", "accountName", "institutionBizId")
"""By what the document may mean an account where it names who made a change."""


class MovesByItself(Untestable):
    """What is shown otherwise may be so by somebody else's work."""

    default_class = "environment"


Place = tuple[str, str, str]
"""An endpoint, the id of a record that it shows (empty where it shows one only), and a field of it."""

Named = tuple[str, ...]
"""The beginning of the places that a request may change: an endpoint, or with a record, or with a field."""


def by_admin(portal: Portal, *keys: str) -> dict[str, tuple[str, ...]]:
    """By the administrator's token, what that account reads of its own; nothing where it cannot sign in."""
    try:
        return {portal.account("admin").token: keys}
    except Untestable:
        return {}


class Reading:
    """What one account was shown: the answers by endpoint, and their values by place."""

    def __init__(self, portal: Portal, token: str, keys: Iterable[str]) -> None:
        self.answers: dict[str, Exchange] = {}
        self.values: dict[Place, Json] = {}
        for key in keys:
            try:
                answer = read(portal, BY_KEY[key], token=token)
            except Untestable:
                continue
            if not is_held_back(answer) and (answer.success or answer.status == 401):
                self.answers[key] = answer
                self.values |= {(key, *place): value for place, value in _values_of(answer)}

    def count(self, key: str) -> int:
        return sum(place[0] == key and place[2] == SERVED for place in self.values)


def _values_of(answer: Exchange) -> Iterator[tuple[tuple[str, str], Json]]:
    answer_key = endpoint_of(answer)
    yield ("", SERVED), answer.success
    for _, record in records(answer) if answer.success else ():
        id = id_of_record(record)
        yield (id, SERVED), True
        for name, value in record.items():
            if name in STATED and name not in MOVES_BY_ITSELF.get(answer_key, ()):
                yield (id, name), value


def id_of_record(record: Mapping[str, Json]) -> str:
    """Returns the id that tells a record from others of its listing; empty without such an id."""
    method = record.get("mfaMethod")
    code = method.get("code") if isinstance(method, dict) else None
    return str(record.get("bizId") or record.get("sessionId") or record.get("id") or code or "")


class Surroundings:
    """What some accounts read, by their tokens; ``kept`` compares it with what they read later."""

    def __init__(
        self, portal: Portal, *tokens: str, shared: bool = False, beside: Mapping[str, tuple[str, ...]] = {}
    ) -> None:
        """``shared``: the first of them also reads what an administrator reads of others. ``beside``: further
        tokens, each with the few endpoints that it reads: of what these show, no request names anything."""
        self._portal = portal
        self._beside = beside.keys() - set(tokens)
        self._keys = {token: OWN + SHARED * (shared and token == tokens[0]) for token in tokens}
        self._keys |= {token: keys for token, keys in beside.items() if token not in tokens}
        self._before = self._read()

    def _read(self) -> dict[str, Reading]:
        with self._portal.reading_beside():
            return {token: Reading(self._portal, token, keys) for token, keys in self._keys.items()}

    def judged(
        self,
        verify: Verify,
        requirement: str,
        done: Exchange,
        *named: Named,
        again: Callable[[], object] | None = None,
    ) -> None:
        """Decides a requirement by ``kept``; what somebody else may have changed leaves it in doubt."""
        try:
            verify(requirement, self.kept(done, *named, again=again))
        except MovesByItself as moved:
            verify.doubt(requirement, moved.reason, moved.fault_class)

    def kept(self, done: Exchange, *named: Named, again: Callable[[], object] | None = None) -> Comparison:
        """Whether nothing but what was named is shown otherwise since ``done`` was answered. ``again`` does
        what was done once more, where that is harmless. Raises MovesByItself."""
        different = {token for token, *_ in self._differences(self._before, self._read(), named)}
        if not different:
            return HELD
        self._demand_lifetime(different)
        # A difference that is none a moment later was of a cache, or moves by itself.
        after = self._read()
        settle(self._portal)
        settled = self._read()
        self._demand_lifetime(different)
        stays = {
            (token, place): value
            for token, place, value in self._differences(self._before, after, named)
            if place[2] in CHANGES_ALONE or not differ(value, settled[token].values.get(place))
        }
        changed = [
            (token, place, value)
            for token, place, value in self._differences(self._before, settled, named)
            if (token, place) in stays and not self._is_by_somebody_else(token, place, settled, named)
        ]
        if not changed:
            return HELD
        busy = self._watched(changed, after, settled, named)
        is_quiet = any(place[0] not in busy for _, place, _ in changed)
        repeated = self._repeated(again) if again is not None and is_quiet else None
        for token, place, value in changed:
            if place[0] in busy:
                is_own = self._moves_when_read(token, place)
            elif repeated is not None:
                is_own = differ(*(reading[token].values.get(place) for reading in repeated))
            else:
                is_own = not self._is_dated_elsewhere(token, place, settled[token], done)
            if is_own:
                return self._contradiction(settled[token], self._before[token], place, value, done)
        place = changed[0][1]
        raise MovesByItself(
            f"{place[0]} shows another {place[2] or 'listing'}, and somebody else may have changed it"
        )

    def _demand_lifetime(self, tokens: set[str]) -> None:
        """Raises MovesByItself if a token has ended: its readings may differ for this reason."""
        if any(map(self._portal.calls.has_ended, tokens)):
            raise MovesByItself("the access token that reads before and after has ended meanwhile")

    def _watched(
        self,
        changed: list[tuple[str, Place, Json]],
        after: Mapping[str, Reading],
        settled: Mapping[str, Reading],
        named: tuple[Named, ...],
    ) -> set[str]:
        """The endpoints that show something else while nothing is done, for as long as it took before."""
        busy = self._moved(after, settled, named)
        if all(place[0] in busy for _, place, _ in changed):
            return busy
        token, place, _ = changed[0]
        took = after[token].answers[place[0]].time - self._before[token].answers[place[0]].time
        self._portal.clock.wait(min(max(took, WATCHED), MOST_WATCHED), "what changes by itself")
        return busy | self._moved(settled, self._read(), named)

    def _moved(
        self, earlier: Mapping[str, Reading], later: Mapping[str, Reading], named: tuple[Named, ...]
    ) -> set[str]:
        """Endpoints that show changed values or new records outside the named places."""
        moved = {place[0] for _, place, _ in self._differences(earlier, later, named)}
        for token, reading in later.items():
            before, own_names = earlier[token], () if token in self._beside else named
            for place in reading.values.keys() - before.values.keys():
                if place[2] == SERVED and place[0] in before.answers and not _is_named(place, own_names):
                    moved.add(place[0])
        return moved

    def _moves_when_read(self, token: str, place: Place) -> bool:
        """Whether each of three readings shows something else: nobody else works as fast."""
        shown = []
        for _ in range(3):
            with self._portal.reading_beside():
                shown.append(Reading(self._portal, token, place[:1]).values.get(place))
            self._portal.clock.wait(A_MOMENT, "a time that a read may set")
        return all(differ(before, after) for before, after in pairwise(shown))

    def _repeated(self, again: Callable[[], object]) -> tuple[Mapping[str, Reading], Mapping[str, Reading]]:
        """What is shown before and after it is done again: once, however much has changed."""
        before = self._read()
        self._portal.clock.wait(A_WHILE, "a time that is another if it is done again")
        again()
        return before, self._read()

    def _is_dated_elsewhere(self, token: str, place: Place, after: Reading, done: Exchange) -> bool:
        """Whether the record was updated since, and by its time before or after what was done."""
        before = self._before[token]
        was, now = (
            moment(_value_of(each.answers[place[0]], place[1], "updatedAt")) for each in (before, after)
        )
        if was is None or now is None or was == now:
            return False
        start = max(map(portal_time, before.answers.values()))
        return not start - CLOSE <= now <= portal_time(done) + CLOSE

    def _is_by_somebody_else(
        self, token: str, place: Place, after: Mapping[str, Reading], named: tuple[Named, ...]
    ) -> bool:
        """Whether the record was updated since, by somebody who is none of the profile's accounts."""
        key, id, _ = place
        first, last = self._before[token].answers.get(key), after[token].answers.get(key)
        if first is None or last is None:
            return False
        author, own = _value_of(last, id, "updatedBy"), set(self._names(after[token]))
        was, now = (_value_of(answer, id, "updatedAt") for answer in (first, last))
        own |= {_value_of(last, name[1], "updatedBy") for name in named if name[0] == key and len(name) > 1}
        return bool(own) and isinstance(author, str) and are_different(was, now) and author not in own

    def _names(self, reading: Reading) -> Iterator[Json]:
        """By what the profile's accounts may be named."""
        for key in (op.PROFILE, op.ACCOUNTS_QUERY):
            if key in reading.answers:
                for _, record in records(reading.answers[key]):
                    email = record.get("accountEmail")
                    if isinstance(email, str) and (key == op.PROFILE or self._portal.account_of(email)):
                        yield from (record.get(name) for name in NAMES if record.get(name))

    def _differences(
        self, earlier: Mapping[str, Reading], later: Mapping[str, Reading], named: tuple[Named, ...]
    ) -> Iterator[tuple[str, Place, Json]]:
        """Yields tokens and places with changed values, and the new values. Records that the run deleted may
        still have been listed before."""
        taken_back = self._portal.changes.taken_back
        for token, before in earlier.items():
            after, own_names = later[token], () if token in self._beside else named
            for place, value in before.values.items():
                is_left_out = place[1] in taken_back or _is_named(place, own_names)
                if place[0] in after.answers and not is_left_out:
                    now = after.values.get(place)
                    if (
                        _is_gone(place, before, after)
                        if place[2] == SERVED
                        else place in after.values and differ(value, now)
                    ):
                        yield token, place, now
            for place in after.values.keys() - before.values.keys():
                is_new = place[0] == op.WORKSPACES_MINE and place[0] in before.answers and place[2] == SERVED
                if is_new and not _is_named((place[0], NEW, SERVED), own_names):
                    yield token, place, True

    def _contradiction(
        self, after: Reading, before: Reading, place: Place, value: Json, done: Exchange
    ) -> Comparison:
        key, id, name = place
        was, answer = before.values.get(place), after.answers[key]
        of = f" of {id}" if id else ""
        if name == SERVED:
            shown = "is served no more" if not id else "is listed" if value else "is not listed any more"
            message = f"{key}: {id or 'the caller'} {shown}, after {endpoint_of(done)}"
            was, value = _served_words(id, is_there=bool(value))
        else:
            message = f"{key}: {name}{of} is another, after {endpoint_of(done)}, which does not name it"
        path, first = _path_of(answer, id, name), before.answers.get(key)
        compared = Contradiction(answer, path, was, value, message, tuple(_led_here(first, done)))
        if first is None:
            return compared
        field = name or next((each for each in IDS if id == _value_of(first, id, each)), "")
        return replace(compared, other=OtherPlace(first.n, key, id, field))


def _served_words(id: str, *, is_there: bool) -> tuple[str, str]:
    """Words for the expected and the actual state of a record or of a caller."""
    if not id:
        return "the caller to be served", "the caller is refused"
    if is_there:
        return "the record not to be listed", "the record is listed"
    return "the record to be listed", "the record is not listed"


def _led_here(first: Exchange | None, done: Exchange) -> Iterator[Exchange]:
    """Yields the earlier reading, if any, and the request."""
    if first is not None:
        yield first
    yield done


def _value_of(answer: Exchange, id: str, name: str) -> Json:
    shown = records(answer) if answer.success else ()
    return next((record.get(name) for _, record in shown if id_of_record(record) == id), None)


def _path_of(answer: Exchange, id: str, name: str) -> str:
    for path, record in records(answer) if answer.success else ():
        if id_of_record(record) == id:
            return f"{path}.{name}" if name else path
    return "data" if answer.success else "status"


def _is_named(place: Place, named: tuple[Named, ...]) -> bool:
    return any(place[: len(beginning)] == beginning for beginning in named)


def _is_gone(place: Place, before: Reading, after: Reading) -> bool:
    """Whether a record is not shown any more; one may have been pushed onto the next page."""
    key, id, _ = place
    if not id:
        return before.values[place] is True and after.values.get(place) is not True
    is_paged = isinstance(after.answers[key].data, dict)
    return place not in after.values and not (is_paged and after.count(key) >= before.count(key))


def _are_paired(some: list[Json], others: list[Json]) -> bool:
    """Whether each of some values means the same as another one, in whatever order and form they stand."""
    left = list(others)
    for value in some:
        at = next((at for at, each in enumerate(left) if not differ(value, each)), None)
        if at is None:
            return False
        del left[at]
    return True


def differ(one: Json, other: Json) -> bool:
    """Compares two values of the same place and caller: null differs from every other value."""
    if (one is None) != (other is None):
        return True
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or not _are_paired(one, other)
    if isinstance(one, dict) and isinstance(other, dict) and "value" not in one:
        return any(differ(one.get(name), other.get(name)) for name in one.keys() & other.keys())
    return are_different(one, other)
