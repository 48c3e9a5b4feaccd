"""What a variant is, how several are combined, and the verbs that variants have beyond those of faults."""

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from reference_impl.changes import Apply, Change, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import Wrong, first, spoil
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Rewriting, Seen


@dataclass(frozen=True, slots=True)
class Variant:
    """A lawful portal. ``gap`` is what permits it; of one ``about`` only one variant holds at a time.

    ``is_alone``: it lets so few requests through, or changes times so, that what other variants do would not
    be seen. ``departs`` names the requirements of level should that it departs from: these warn.
    """

    name: str
    gap: str
    apply: Apply
    about: frozenset[str] = frozenset()
    is_alone: bool = False
    departs: frozenset[str] = frozenset()

    def goes_with(self, others: Iterable["Variant"]) -> bool:
        """Whether no other is about the same, and none stands alone."""
        return not any(self.is_alone or other.is_alone or self.about & other.about for other in others)


Row = Callable[[str], Variant]
"""A variant that lacks its gap."""


def may(title: str, *changes: Apply, is_alone: bool = False, departs: str = "") -> Row:
    """Declares a row of a chapter: ``name: about``, or ``name`` as both, and its changes."""
    name, _, about = title.partition(":")
    subjects, rules = frozenset(about.split() or [name]), frozenset(departs.split())
    return lambda gap: Variant(name, gap, together(*changes), subjects, is_alone, rules)


def permitted(*rows: str | Row) -> tuple[Variant, ...]:
    """A chapter: what the specification leaves open, and below it the variants that this permits."""
    gap, variants = "", []
    for row in rows:
        if isinstance(row, str):
            gap = row
        else:
            variants.append(row(gap))
    return tuple(variants)


def drawn(variants: Iterable[Variant], seed: int) -> list[Variant]:
    """As many of the variants as go together, tried in an order that the seed gives."""
    order = [variant for variant in variants if not variant.is_alone]
    random.Random(seed).shuffle(order)
    chosen: list[Variant] = []
    for variant in order:
        if variant.goes_with(chosen):
            chosen.append(variant)
    return chosen


def grouped(variants: Iterable[Variant], most: int) -> list[list[Variant]]:
    """Groups variants that go together, at most ``most`` in a group."""
    groups: list[list[Variant]] = []
    for variant in variants:
        group = next((each for each in groups if len(each) < most and variant.goes_with(each)), None)
        if group is None:
            groups.append([variant])
        else:
            group.append(variant)
    return groups


# Answers.


def enveloped(rewriting: Rewriting, *operations: str) -> Change:
    """Envelopes pass through a function; an encrypted answer stays as it is."""

    def plain(seen: Seen, answer: Answer) -> None:
        if isinstance(answer.body, dict) and "success" in answer.body:
            rewriting(seen, answer)

    return rewritten(plain, *operations)


def refuse(answer: Answer, status: int, code: str) -> None:
    answer.status = status
    answer.body |= {"success": False, "code": code, "message": code, "data": None}


def grant(answer: Answer, data: Any) -> None:
    answer.status = 200
    answer.body |= {"success": True, "code": "2000", "message": "Success", "data": data}


# Values.

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


def everywhere(turn: Callable[[Any], Any]) -> Change:
    """Every value in the data of every answer passes through a function, the innermost first."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        answer.body["data"] = deep(answer.body["data"], turn)

    return enveloped(rewriting)


def deep(value: Any, turn: Callable[[Any], Any]) -> Any:
    """A value with everything in it turned, the innermost first."""
    if isinstance(value, dict):
        return turn({name: deep(inner, turn) for name, inner in value.items()})
    if isinstance(value, list):
        return turn([deep(inner, turn) for inner in value])
    return turn(value)


def having(name: str, **wrong: Wrong) -> Change:
    """Objects with a field of this name show other values in these fields, in every answer."""

    def turn(value: Any) -> Any:
        if isinstance(value, dict) and name in value:
            for field, other in wrong.items():
                spoil(value, field, other)
        return value

    return everywhere(turn)


def is_time(value: Any) -> bool:
    """Whether a value is a time as the portal writes it."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def timed(write: Callable[[str], str]) -> Change:
    """Every time is written in another form."""
    return everywhere(lambda value: write(value) if is_time(value) else value)


def timed_record(value: Any, write: Callable[[str], str]) -> Any:
    """An object that is no account, with its times in another form; accounts are said to be in UTC."""
    if not isinstance(value, dict) or "accountEmail" in value:
        return value
    return {name: write(inner) if is_time(inner) else inner for name, inner in value.items()}


def day_of(moment: str) -> str:
    """The day of an ISO 8601 time of the basic or the extended format, as ``YYYY-MM-DD``."""
    digits = "".join(filter(str.isdigit, moment))
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"


# Handlers.

Handling = Callable[[Handler, Portal, Caller, Body], Any]


def around(handling: Handling, *operations: str) -> Change:
    """Wraps the handler of these operations; ``handling`` receives the original handler."""

    def change(plan: Plan) -> None:
        for operation in operations:
            handled(operation, lambda handler: partial(handling, handler))(plan)

    return Change(change, operations)


def keeping(make: Callable[[], Apply]) -> Change:
    """A change that remembers something between requests; it is made anew for each portal."""
    return Change(lambda plan: make()(plan))


def refused(operation: str, refusal: str, when: Callable[[Portal, Caller, Body], object]) -> Change:
    """The handler's requests are refused, by a name of the table of errors, where something holds."""

    def action(portal: Portal, caller: Caller, body: Body) -> None:
        if when(portal, caller, body):
            raise Refusal(refusal)

    return first(operation, action)


def seeing(
    operation: str, kind: str, keep: Callable[[Portal, Caller, Body, Record], bool], **values: Any
) -> Change:
    """The handler finds some records of a kind only, and has been given other values in its body."""

    def looking(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        everything = portal.records[kind]
        portal.records[kind] = {
            id: record for id, record in everything.items() if keep(portal, caller, body, record)
        }
        try:
            return handler(portal, caller, body | values)
        finally:
            portal.records[kind] = everything

    return around(looking, operation)


def at_most(
    number: int, operation: str, *, within: float, refusal: str, headers: Mapping[str, str] | None = None
) -> Change:
    """For an address so many requests within some seconds are let through; those refused do not count."""

    def counting() -> Apply:
        times: dict[str, list[float]] = {}

        def limiting(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
            now = portal.now()
            recent = [moment for moment in times.get(caller.client_ip, []) if moment > now - within]
            if len(recent) >= number:
                raise Refusal(refusal, headers=headers)
            times[caller.client_ip] = [*recent, now]
            return handler(portal, caller, body)

        return around(limiting, operation)

    return keeping(counting)
