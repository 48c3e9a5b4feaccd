"""A rule of the user's own: a check of answers at any endpoint, and its proof by the rule's examples."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import translate

from conformance.checks import registry
from conformance.checks.registry import Check, Judging, Memory, Predicate, Selection
from conformance.errors import BrokenRule, RuleError
from conformance.spec import BY_KEY, Level, Requirement
from conformance.spec.operations import UNDESCRIBED
from conformance.spec.places import OWN_SECTION
from conformance.spec.tables import SUCCESS_CODE
from conformance.target.profile.errors import hint_at
from conformance.traffic.exchange import ABSENT, Exchange, Json, Request, Response
from conformance.verdicts.comparisons import summary
from conformance.verdicts.findings import Comparison, Contradiction, endpoint_of, shown

ENDPOINT = re.compile(r"(?:[A-Z]+|\*) /web/v1/\S+")
PARAMETER = re.compile(r"{[^{}/]*}")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Endpoints by method and path, in which ``{id}`` stands for a parameter and ``*`` for any text."""

    names: tuple[str, ...]
    pattern: re.Pattern[str]

    def __call__(self, exchange: Exchange) -> bool:
        return self.pattern.fullmatch(_general(endpoint_of(exchange))) is not None


def _general(key: str) -> str:
    """An endpoint whose parameters have one name: ``{bizId}`` and ``{id}`` mean the same."""
    return PARAMETER.sub("{id}", key)


def answers(*endpoints: str) -> Selection:
    """Every answer of some endpoints, of all where none is named. RuleError: one is no endpoint."""
    if not endpoints:
        return registry.answers().at_its_moment()
    for name in endpoints:
        if not isinstance(name, str) or not ENDPOINT.fullmatch(name):
            raise RuleError(
                f"{shown(name)} is no endpoint. Write method and path: GET /web/v1/system/wallets/{{id}}"
            )
    at = Endpoints(endpoints, re.compile("|".join(translate(_general(name)) for name in endpoints)))
    keys, described = (
        {key for key in BY_KEY if at.pattern.fullmatch(_general(key))},
        set(map(_general, BY_KEY)),
    )
    if any("*" in name or _general(name) not in described for name in endpoints):
        keys.add(UNDESCRIBED)
    return Selection(frozenset(keys)).where(at).at_its_moment()


def successes(*endpoints: str) -> Selection:
    """The answers whose envelope says success."""
    return replace(answers(*endpoints), kinds=frozenset({"success"}))


def errors(*endpoints: str) -> Selection:
    """The answers whose envelope says that the request failed."""
    return replace(answers(*endpoints), kinds=frozenset({"error"}))


@dataclass(frozen=True, eq=False, slots=True)
class OwnRule:
    """A rule of the user's own. Each example is a dict or its JSON text, or a list of them."""

    requirement: Requirement
    check: Check
    lawful: Json
    unlawful: Json

    @property
    def id(self) -> str:
        return self.requirement.id

    @property
    def where(self) -> str:
        """The file and line of the rule."""
        return self.requirement.row

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The endpoints as the rule names them; none where it concerns all."""
        return next((each.names for each in self.check.on.predicates if isinstance(each, Endpoints)), ())


def check(
    id: str,
    statement: str,
    *,
    on: Selection,
    lawful: Json = (),
    unlawful: Json = (),
    level: Level = "must",
    remembers: bool = False,
) -> Callable[[Judging], OwnRule]:
    """Makes a rule of a function that yields a comparison for each place of an answer that it judges.

    ``on`` selects the answers: ``successes``, ``errors`` or ``answers`` of endpoints. ``lawful`` and
    ``unlawful`` are examples. ``remembers``: the function takes a Memory too, a dict in which it keeps what
    later answers are compared with. RuleError: the rule is none.
    """
    if not isinstance(id, str) or not re.fullmatch(r"[A-Z][A-Z0-9]*-[0-9]{1,4}", id):
        raise RuleError(f"{shown(id)} is no id of a rule. Write OWN- and a number: OWN-1")
    if not isinstance(statement, str) or not statement.strip():
        raise RuleError(f"{id} has no statement. Say in a sentence what the portal does.")
    if level not in ("must", "should"):
        raise RuleError(f'{id}: level {shown(level)} is none. Write "must" or "should".')
    if not isinstance(on, Selection):
        raise RuleError(f"{id}: on is no selection. Write on=successes(…), errors(…) or answers(…).")

    def made(judging: Judging) -> OwnRule:
        code = getattr(judging, "__code__", None)
        where = f"{code.co_filename}:{code.co_firstlineno}" if code else str(getattr(judging, "where", ""))
        operations = tuple(key for key in BY_KEY if key in on.keys)
        requirement = Requirement(id, OWN_SECTION, level, statement, operations, row=where)
        at = tuple(each for each in on.predicates if isinstance(each, Endpoints))
        conditions = tuple(each for each in on.predicates if each not in at)
        guarded = _guarded(judging, conditions, where)
        rule = Check(id, replace(on, predicates=at), guarded, remembers, where, (id, where))
        return OwnRule(requirement, rule, lawful, unlawful)

    return made


def _guarded(judging: Judging, conditions: Sequence[Predicate], where: str) -> Judging:
    """A rule's function under its conditions. What either raises is a BrokenRule with file and line."""

    def guarded(exchange: Exchange, *memory: Memory) -> Iterator[Comparison]:
        try:
            if not all(condition(exchange) for condition in conditions):
                return
            result = judging(exchange, *memory)
            for each in (result,) if isinstance(result, Comparison) else result or ():
                if not isinstance(each, Comparison):
                    yields = "Yield what holds(…), equal(…) or another comparison returns."
                    raise RuleError(f"it yields {shown(each)}. {yields}")
                yield each
        except Exception as bug:
            raise BrokenRule(f"{line_of(bug, where)}: {in_words(bug)}") from bug

    return guarded


def in_words(bug: BaseException) -> str:
    """An exception in a line; a mistake that this suite names has its words only."""
    return str(bug) if isinstance(bug, RuleError) else f"{type(bug).__name__}: {bug}"


def line_of(bug: BaseException, where: str) -> str:
    """The line of a rule's file that raised; where none of it did, the line at which the rule begins."""
    file = where.rpartition(":")[0]
    lines = [frame.lineno for frame in traceback.extract_tb(bug.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else where


KEYS = ("data", "code", "body", "status", "headers", "endpoint", "query", "sent")
"""The keys of an example: parts of the answer, and of the request."""

FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def prove(rule: OwnRule) -> None:
    """Tries a rule on its examples. RuleError: it has none, rejects the lawful one, decides nothing of it, or
    holds for the unlawful one."""
    lawful = _decided(rule, rule.lawful, "lawful")
    wrong = next((each for each in lawful if isinstance(each, Contradiction)), None)
    if wrong is not None:
        raise RuleError(
            f"{rule.id} rejects its lawful example at {wrong.path or 'the answer'}: expected "
            f"{shown(wrong.expected)}, seen {shown(wrong.actual)}. Mend the rule or the example."
        )
    if not lawful:
        raise RuleError(f"{rule.id} compares nothing in its lawful example. Mend the example, or its place.")
    if not any(isinstance(each, Contradiction) for each in _decided(rule, rule.unlawful, "unlawful")):
        raise RuleError(f"{rule.id} does not reject its unlawful example. Mend the rule or the example.")


def _decided(rule: OwnRule, examples: Json, name: str) -> list[Comparison]:
    """What a rule decides of the answers of an example, in their order."""
    several = examples if isinstance(examples, list | tuple) else [examples]
    if not several:
        raise RuleError(f'{rule.id} has no {name} example. Write {name}, such as {{"data": [{{"id": 1}}]}}.')
    memory: tuple[Memory, ...] = (Memory(),) if rule.check.remembers else ()
    decided: list[Comparison] = []
    for number, example in enumerate(several, 1):
        place = f"{rule.id}: {name} example{f' number {number}' if len(several) > 1 else ''}"
        exchange = _exchange(rule, _row(example, place), number, place)
        if exchange.request.operation_key not in rule.check.on.keys or not rule.check.on.takes(exchange):
            answer = f"{endpoint_of(exchange)}, {shown(summary(exchange))}"
            raise RuleError(f"{place} is none of the answers that the rule is about: {answer}.")
        try:
            decided += rule.check.judging(exchange, *memory)
        except BrokenRule as broken:
            raise RuleError(f"{broken} (in the {name} example of {rule.id}).") from None
    return decided


def _row(example: Json, place: str) -> Mapping[str, Json]:
    """RuleError: the example is no mapping, or has a key that there is not, or a value of another type."""
    try:
        row = json.loads(example) if isinstance(example, str) else example
    except ValueError as wrong:
        raise RuleError(f"{place} is a text that is not JSON: {wrong}.") from None
    if not isinstance(row, Mapping) or not row:
        raise RuleError(f"{place} is {shown(row)}. Write a table with data or body.")
    for key in row:
        if key not in KEYS:
            raise RuleError(f'{place} has no key "{key}".{hint_at(str(key), KEYS, f" Keys are: {KEYS}")}')
    if type(row.get("status", 200)) is not int or not isinstance(row.get("headers", {}), Mapping):
        raise RuleError(f"{place}: status is a number, and headers are a table.")
    return row


def _exchange(rule: OwnRule, row: Mapping[str, Json], number: int, place: str) -> Exchange:
    named = row.get("endpoint") or next(iter(rule.endpoints), "")
    if not ENDPOINT.fullmatch(str(named)):
        raise RuleError(f"{place} needs an endpoint, as the rule names none: GET /web/v1/system/roles")
    method, _, path = PARAMETER.sub("1", named).partition(" ")
    query, moment = row.get("query", ""), FIRST_MOMENT + timedelta(seconds=number)
    envelope = {
        "success": "code" not in row,
        "code": row.get("code", SUCCESS_CODE),
        "message": "Success",
        "data": row.get("data"),
        "timestamp": int(moment.timestamp() * 1000),
        "version": "2.0.0",
    }
    return Exchange(
        n=number,
        started=moment.isoformat(),
        request=Request(
            method=method.replace("*", "GET"),
            url=f"https://portal.example.test{path.replace('*', '1')}{'?' * bool(query)}{query}",
            headers=[("X-PORTAL-ACCESS-CODE", "example")],
            body=row.get("sent", ABSENT),
        ),
        response=Response(
            status=row.get("status", 400 if "code" in row else 200),
            headers=[(str(name), str(value)) for name, value in row.get("headers", {}).items()],
            body=row.get("body", envelope),
        ),
    )
