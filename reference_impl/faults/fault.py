"""What a fault is, and the verbs that faults are made of beyond those of ``changes``."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from reference_impl.changes import Apply, Change, data_rewritten, handled, rewritten, row, together
from reference_impl.errors import Error, Refusal
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Field, Rule
from reference_impl.wrappers import Answer, Seen


@dataclass(frozen=True, slots=True)
class Fault:
    """One contradiction of the specification.

    ``breaks`` are the requirements that must turn (FAIL for a must, WARN for a should), ``also`` those that
    may lawfully turn with them. ``operations`` are the endpoints whose answers it changes, none means all.
    """

    name: str
    breaks: tuple[str, ...]
    apply: Apply
    operations: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Gone:
    """In place of a value: the field is left out."""


GONE = Gone()

Wrong = Any  # a value, GONE, or a function from the right value to the wrong one


# Places in data: "", "[]", "pagination", "items[]", "items[].emailConfig".


def objects(data: Any, place: str) -> Iterator[dict[str, Any]]:
    """Every object at a place of the data."""
    if isinstance(data, list) and place.startswith("[]"):
        for item in data:
            yield from objects(item, place.removeprefix("[]").lstrip("."))
    elif isinstance(data, dict):
        if not place:
            yield data
            return
        step = place.replace("[]", ".[]", 1).split(".")[0]
        yield from objects(data.get(step), place.removeprefix(step).lstrip("."))


def spoil(record: dict[str, Any], name: str, wrong: Wrong) -> None:
    """Makes one field wrong; a field that is not there stays away, unless the value is plain."""
    if wrong is GONE:
        record.pop(name, None)
    elif callable(wrong):
        if name in record:
            record[name] = wrong(record[name])
    else:
        record[name] = wrong


def reported(operation: str, place: str, **wrong: Wrong) -> Change:
    """Successes of an operation report other values in these fields of every object at a place."""

    def rewriting(data: Any) -> Any:
        for record in objects(data, place):
            for name, value in wrong.items():
                spoil(record, name, value)
        return data

    return data_rewritten(rewriting, operation)


def reported_in_last(operation: str, place: str, **wrong: Wrong) -> Change:
    """As ``reported``, but in the last object at the place only."""

    def rewriting(data: Any) -> Any:
        for record in list(objects(data, place))[-1:]:
            for name, value in wrong.items():
                spoil(record, name, value)
        return data

    return data_rewritten(rewriting, operation)


def turned(operation: str, place: str, turn: Callable[[dict[str, Any]], None]) -> Change:
    """Every object at a place of an operation's successes passes through a function that changes it."""

    def rewriting(data: Any) -> Any:
        for record in objects(data, place):
            turn(record)
        return data

    return data_rewritten(rewriting, operation)


def turned_by_page(operation: str, turn: Callable[[dict[str, Any], int], None]) -> Change:
    """The data of an operation's successes, with the page asked for, passes through a function."""

    def rewriting(seen: Seen, data: Any) -> None:
        sent = seen.body if isinstance(seen.body, dict) else {}
        page = seen.asked.query.get("page", [sent.get("page") or 0])[-1]
        turn(data, int(page))

    return rewritten(on_success(rewriting), operation)


def from_call(number: int, rewriting: Callable[[Seen, Answer], None]) -> Callable[[Seen, Answer], None]:
    """From the numbered success on."""

    def counting(seen: Seen, answer: Answer) -> None:
        if answer.body.get("success"):
            seen.memory["calls"] = seen.memory.get("calls", 0) + 1
            if seen.memory["calls"] >= number:
                rewriting(seen, answer)

    return counting


def on_success(rewriting: Callable[[Seen, Any], None]) -> Callable[[Seen, Answer], None]:
    """Hands the data of successes, with the request, to a function that changes it."""

    def successful(seen: Seen, answer: Answer) -> None:
        if answer.body.get("success"):
            rewriting(seen, answer.body["data"])

    return successful


# Refusals.


def erring(name: str, code: str, status: int) -> Change:
    """A row of its own in the table of errors."""

    def change(plan: Plan) -> None:
        plan.errors[name] = Error(code, status)

    return Change(change)


def renamed(operation: str, old: str, new: str) -> Change:
    """What an operation refuses by one name of the table of errors it refuses by another."""

    def change(plan: Plan) -> None:
        dialect = {**plan.rows[operation].dialect, old: new}
        plan.rows[operation] = replace(plan.rows[operation], dialect=dialect)

    return Change(change, (operation,))


# Handlers.


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation's handler, and what the change remembers between the calls of one portal."""

    handler: Handler
    portal: Portal
    caller: Caller
    body: Body
    memory: dict[str, Any]

    def run(self, **fields: Any) -> Any:
        """The handler's data, for the body with other fields."""
        return self.run_with(self.body | fields)

    def run_with(self, body: Body) -> Any:
        """The handler's data, for another body."""
        return self.handler(self.portal, self.caller, body)


Serving = Callable[[Call], Any]


def served(operation: str, serve: Serving) -> Change:
    """A function serves the calls of an operation, and runs its handler or does not."""

    def around(handler: Handler) -> Handler:
        memory: dict[str, Any] = {}
        return lambda portal, caller, body: serve(Call(handler, portal, caller, body, memory))

    return handled(operation, around)


def refusing(operation: str, name: str) -> Change:
    """Whatever is asked is refused, by a name of the table of errors."""

    def refuse(portal: Portal, caller: Caller, body: Body) -> Any:
        raise Refusal(name)

    return handled(operation, lambda handler: refuse)


def pretending(operation: str, *kinds: str) -> Change:
    """Answers as if it had been done, and leaves the records of these kinds as they were."""

    def around(handler: Handler) -> Handler:
        def pretended(portal: Portal, caller: Caller, body: Body) -> Any:
            before = {kind: copy.deepcopy(portal.records[kind]) for kind in kinds}
            data = handler(portal, caller, body)
            portal.records.update(before)
            return data

        return pretended

    return handled(operation, around)


Action = Callable[[Portal, Caller, Body], object]


def first(operation: str, action: Action) -> Change:
    """Something else is done before the handler."""

    def around(handler: Handler) -> Handler:
        def acting(portal: Portal, caller: Caller, body: Body) -> Any:
            action(portal, caller, body)
            return handler(portal, caller, body)

        return acting

    return handled(operation, around)


def then(operation: str, action: Action) -> Change:
    """Something else is done after the handler has succeeded."""

    def around(handler: Handler) -> Handler:
        def acting(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            action(portal, caller, body)
            return data

        return acting

    return handled(operation, around)


def asked(operation: str, change: Callable[[Body], Body]) -> Change:
    """The handler sees another body or query than was sent."""

    def around(handler: Handler) -> Handler:
        return lambda portal, caller, body: handler(portal, caller, change(dict(body)))

    return handled(operation, around)


def ignoring(operation: str, *names: str) -> Change:
    """Fields that are taken and have no effect."""
    return asked(operation, lambda body: {name: value for name, value in body.items() if name not in names})


# Rules of bodies.


def ruled(operation: str, name: str, rule: Rule) -> Change:
    """Another rule for one field."""
    return fielded(operation, name, lambda field: replace(field, rule=rule))


def optional(operation: str, name: str, value: Any) -> Change:
    """A required field may be left out, when a value is taken for it."""

    return together(
        fielded(operation, name, lambda field: replace(field, required=False)),
        asked(operation, lambda body: {name: value} | body),
    )


def lenient(operation: str) -> Change:
    """Unknown properties are let through."""

    def change(plan: Plan) -> None:
        row(operation, takes=replace(plan.rows[operation].takes, strict=False))(plan)

    return Change(change, (operation,))


def fielded(operation: str, name: str, change_of: Callable[[Field], Field]) -> Change:
    def change(plan: Plan) -> None:
        takes = plan.rows[operation].takes
        fields = {**takes.fields, name: change_of(takes.fields[name])}
        plan.rows[operation] = replace(plan.rows[operation], takes=replace(takes, fields=fields))

    return Change(change, (operation,))
