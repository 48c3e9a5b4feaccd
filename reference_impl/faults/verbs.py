"""Verbs that several chapters use."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change
from reference_impl.errors import Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Action, Call, first, served
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body


def too(kind: str, **values: Any) -> Action:
    """Changes further fields of the record along with the requested fields."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        portal.records[kind][body.get("userBizId") or body.get("bizId") or caller.account_id].update(values)

    return changing


MFA_METHODS, COUNTRIES = op.constants("user-mfa-methods"), op.constants("countries")
HOUR, DAY = 3600, 86_400
PAGE = ("page", "size", "sort", "workspaceId")


def given_up_for(name: str, other: str) -> Callable[[Body], Body]:
    """Ignores a filter if the request has another filter."""

    def change(body: Body) -> Body:
        return body | {name: None} if body.get(other) not in (None, "", False) else body

    return change


def nothing_for(*names: str) -> Callable[[Body], Body]:
    """These filters together find nothing."""

    def change(body: Body) -> Body:
        return body | {names[0]: "nothing"} if all(body.get(name) for name in names) else body

    return change


def null_means(name: str, value: str) -> Callable[[Body], Body]:
    """A filter that is null filters by a value."""
    return lambda body: body | {name: value} if body.get(name, value) is None else body


def unrefused(operation: str, data: Any) -> Change:
    """What is refused is answered by these data."""

    def answering(call: Call) -> Any:
        try:
            return call.run()
        except Refusal:
            return data

    return served(operation, answering)


def as_another(call: Call, email: str | None = None) -> Any:
    """Whoever asks, the account of this email is answered, or the first one."""
    first = next(iter(call.portal.records["account"].values()))
    account = first if email is None else call.portal.account_of(email)
    return call.handler(
        call.portal, Caller("", "", "", "en", session=call.caller.session, known_account=account), call.body
    )


def one_item_twice(listing: str) -> Callable[[Record], None]:
    def turn(data: Record) -> None:
        if len(data[listing]) > 1:
            data[listing][-1] = data[listing][0]

    return turn


def updated_before(record: dict[str, Any]) -> None:
    record["updatedAt"] = "2019-01-01T00:00:00.000Z"


def each(**values: Any) -> Any:
    return lambda items: [item | values for item in items]


def where_refused(operation: str, action: Action) -> Change:
    """Something is done although the handler refuses."""

    def acting(call: Call) -> Any:
        try:
            return call.run()
        except Refusal:
            action(call.portal, call.caller, call.body)
            raise

    return served(operation, acting)


def newest_with(kind: str, **values: Any) -> Action:
    """The record that was made last has other values; a function is given the record."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.newest(kind)[0]
        record.update({name: value(record) if callable(value) else value for name, value in values.items()})

    return changing


def named_with(kind: str, name: str, **values: Any) -> Action:
    """The record that the body names has other values; a function is given the record."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.records[kind].get(body[name])
        if record is not None:
            record.update({key: value(record) if callable(value) else value for key, value in values.items()})

    return changing


def in_ascii(field: str) -> Callable[[Body], Body]:
    def change(body: Body) -> Body:
        text = body.get(field)
        return body | {field: text.encode("ascii", "ignore").decode()} if isinstance(text, str) else body

    return change


def null_for_unknown(operation: str, kind: str, name: str) -> Change:
    """Answers an unknown id with success and null data."""

    def serve(call: Call) -> Any:
        return call.run() if call.body[name] in call.portal.records[kind] else None

    return served(operation, serve)


def not_found(operation: str, kind: str, name: str, is_hidden: Callable[[Portal, Record], bool]) -> Change:
    """Some records of a kind are listed and not found."""

    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.records[kind].get(body[name])
        if record is not None and is_hidden(portal, record):
            raise Refusal("RESOURCE.NOT_FOUND")

    return first(operation, refusing)
