"""What a fault is, and the verbs that faults are made of beyond those of ``changes``."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from reference_impl.changes import Apply, Change, data_rewritten, handled, row, together
from reference_impl.errors import Error, Refusal
from reference_impl.plan import Plan
from reference_impl.portal import Caller, LoginSession, MfaCode, Portal
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

    def turn(record: dict[str, Any]) -> None:
        for name, value in wrong.items():
            spoil(record, name, value)

    return turned(operation, place, turn)


def turned(operation: str, place: str, turn: Callable[[dict[str, Any]], None]) -> Change:
    """Every object at a place of an operation's successes passes through a function that changes it."""

    def rewriting(data: Any) -> Any:
        for record in objects(data, place):
            turn(record)
        return data

    return data_rewritten(rewriting, operation)


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
    """Sets a row in the table of errors."""

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
    memory: dict[Any, Any]

    @property
    def login_session(self) -> LoginSession | None:
        """The one that the body names."""
        return self.portal.login_sessions.get(self.body["sessionId"])

    @property
    def mailed_code(self) -> MfaCode | None:
        return self.portal.mfa_codes.get(self.body["sessionId"])

    def is_again(self, times: int = 1) -> bool:
        """Whether this was asked so often before, for the login session or the address that is named."""
        key = self.body.get("sessionId") or self.body["email"]
        self.memory[key] = self.memory.get(key, -1) + 1
        return bool(self.memory[key] >= times)

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
        memory: dict[Any, Any] = {}
        return lambda portal, caller, body: serve(Call(handler, portal, caller, body, memory))

    return handled(operation, around)


def answered(operation: str, answer: Callable[[Call, Any], Any]) -> Change:
    """A function gives the data to answer, for the call and the handler's data."""
    return served(operation, lambda call: answer(call, call.run()))


def forgetting(operation: str, *kept: str) -> Change:
    """Restores these mappings of the portal after the handler, even after a refusal."""

    def serve(call: Call) -> Any:
        before = {name: copy.deepcopy(getattr(call.portal, name)) for name in kept}
        try:
            return call.run()
        finally:
            for name, mapping in before.items():
                setattr(call.portal, name, mapping)

    return served(operation, serve)


def refusing(operation: str, name: str) -> Change:
    """Whatever is asked is refused, by a name of the table of errors."""

    def refuse(portal: Portal, caller: Caller, body: Body) -> Any:
        raise Refusal(name)

    return handled(operation, lambda handler: refuse)


def pretending(operation: str, *kinds: str) -> Change:
    """Answers with success, but leaves records of these kinds unchanged."""

    def serve(call: Call) -> Any:
        before = {kind: copy.deepcopy(call.portal.records[kind]) for kind in kinds}
        data = call.run()
        call.portal.records.update(before)
        return data

    return served(operation, serve)


Action = Callable[[Portal, Caller, Body], object]


def first(operation: str, action: Action) -> Change:
    """Something else is done before the handler."""

    def serve(call: Call) -> Any:
        action(call.portal, call.caller, call.body)
        return call.run()

    return served(operation, serve)


def then(operation: str, action: Action) -> Change:
    """Runs an action after the handler succeeds."""

    def serve(call: Call) -> Any:
        data = call.run()
        action(call.portal, call.caller, call.body)
        return data

    return served(operation, serve)


def asked(operation: str, change: Callable[[Body], Body]) -> Change:
    """The handler sees another body or query than was sent."""
    return served(operation, lambda call: call.run_with(change(dict(call.body))))


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
