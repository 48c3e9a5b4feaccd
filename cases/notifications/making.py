"""Channels and types that a case makes, changes and takes away, by the bodies of the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from cases.changing import Creation, creation
from cases.coded import state_of
from cases.premises import (
    authorized,
    change_accepted,
    count,
    form,
    granted,
    is_invalid,
    listed,
    settled,
    with_ids,
)
from conformance.cases import (
    RECORD_UNKNOWN,
    UNFILTERED,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    op,
    shown_elsewhere,
    shows,
    told_id,
)

ITEMS = "data.items"


def asked(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    """The query's answer, whatever it is: every filter null but those given."""
    return authorized(portal.call(key, json={**UNFILTERED[key], **fields}, token=caller.token))


def matching(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    return granted(asked(portal, caller, key, **fields))


def items(exchange: Exchange) -> list[dict[str, Json]]:
    return listed(exchange, ITEMS)


def ids(exchange: Exchange) -> set[Json]:
    return {record["bizId"] for record in items(exchange) if isinstance(record.get("bizId"), str)}


def total(exchange: Exchange) -> int:
    """Total of records on all pages, at least the items of this page. Raises Untestable."""
    return max(count(exchange, "data.pagination.totalRecords"), len(items(exchange)))


def any_record(exchange: Exchange, *fields: str) -> dict[str, Json]:
    """A listed record with these fields as text. Raises Untestable where there is none."""
    for record in with_ids(items(exchange)):
        if all(isinstance(record.get(field), str) and record[field] for field in fields):
            return record
    raise Untestable("the target lists none to compare with", "environment")


def record_of(portal: Portal, caller: Account, key: str, id: str) -> tuple[Exchange, dict[str, Json] | None]:
    """The listing of one id, and the record in it; without null filters where those find nothing.

    Raises Untestable where listed records show no id.
    """
    listing = matching(portal, caller, key, bizId=id)
    if not items(listing):
        bare = authorized(portal.call(key, json={"bizId": id}, token=caller.token))
        listing = bare if bare.success and items(bare) else listing
    if len(ids(listing)) < len(items(listing)):
        raise Untestable("the listing does not show an id of each record as a text", "target")
    return listing, next((record for record in items(listing) if record.get("bizId") == id), None)


@dataclass(frozen=True)
class Family:
    """A kind of record with its endpoints: ``verbs`` are those that change one."""

    verbs: Mapping[str, str]
    query: str
    reading: str

    def verb(self, name: str) -> str:
        return self.verbs[name]


TYPE = Family(
    {
        "create": op.CHANNEL_TYPE_CREATE,
        "update": op.CHANNEL_TYPE_UPDATE,
        "delete": op.CHANNEL_TYPE_DELETE,
        "enable": op.CHANNEL_TYPE_ENABLE,
        "disable": op.CHANNEL_TYPE_DISABLE,
    },
    op.CHANNEL_TYPES_QUERY,
    "channel-type-answers",
)
CHANNEL = Family(
    {
        "create": op.CHANNEL_CREATE,
        "update": op.CHANNEL_UPDATE,
        "delete": op.CHANNEL_DELETE,
        "activate": op.CHANNEL_ACTIVATE,
        "deactivate": op.CHANNEL_DEACTIVATE,
    },
    op.CHANNELS_QUERY,
    "channel-answers",
)


NO_MASK = (
    "no password that is a mask to see; emailConfig.password in the body of "
    f'[operations."{op.CHANNEL_CREATE}"] would decide whether the one that is set is shown'
)
"""Why it stays untested whether passwords are masked. How a mask looks is not stated."""

Found = tuple[Exchange, dict[str, Json] | None]


@dataclass
class OwnRecord:
    """A record that the case created, with the exchanges that led to its present state."""

    portal: Portal
    verify: Verify
    by: Account
    family: Family
    name: str
    id: str
    body: Mapping[str, Json]
    creation: Creation
    steps: list[Exchange]
    answers: dict[str, Json]

    def read(self) -> Found:
        """Lists the records with this id, and picks this record from the listing."""
        return record_of(self.portal, self.by, self.family.query, self.id)

    def read_once(self, shows: Callable[[dict[str, Json] | None], bool]) -> Found:
        """As ``read``; once more after a while where a change does not show yet."""
        return settled(self.portal, self.read, lambda reading: shows(reading[1]))

    def observe_answers(self) -> None:
        """Observes the answer forms of all called verbs as a single reading."""
        self.verify.observe(self.family.reading, self.steps[0], self.answers)

    def repeat(self, verb: str) -> None:
        """The same verb once more: whether it is refused then is not stated."""
        body = self.portal.operation_body(
            self.family.verb(verb), result_id=self.id, unique=self.portal.unique()
        )
        self.steps.append(self.portal.call(self.family.verb(verb), json=body, token=self.by.token))
        self.is_not_unknown(self.steps[-1])

    def is_not_unknown(self, repeated: Exchange) -> None:
        """Verifies that a repeated verb is not refused with the code of an unknown record."""
        message = "a record that is listed was answered as unknown"
        known = repeated.success or repeated.code not in RECORD_UNKNOWN
        self.verify("CHANNEL-066", holds(repeated, "code", known, "no unknown record", message=message))

    def call(self, verb: str, requirement: str) -> Exchange | None:
        """Calls a verb, if the profile has a body for it, and expects the portal to accept it.

        Otherwise the requirement is left untested, and None is given."""
        key = self.family.verb(verb)
        try:
            body = self.portal.operation_body(key, result_id=self.id, unique=self.portal.unique())
            exchange = change_accepted(self.portal.call(key, json=body, token=self.by.token))
        except Untestable as reason:
            self.verify.untested(requirement, reason.reason, reason.fault_class)
            return None
        self.answers[verb] = form(exchange.data)
        self.steps.append(exchange)
        return exchange


@contextmanager
def a_record(portal: Portal, verify: Verify, by: Account, family: Family) -> Iterator[OwnRecord]:
    """A record made by the profile's body, taken away at the end. Raises Untestable where none is made."""
    key, delete, name = family.verb("create"), family.verb("delete"), portal.unique()
    body = portal.operation_body(key, unique=name)
    undo = portal.operation_body(delete, result_id="{result_id}", unique=name)
    with creation(portal, key, undo, by=by, name=name) as making:
        own, body = body, with_password(portal, body)
        exchange = portal.call(key, json=body, token=by.token)
        if body != own and is_invalid(exchange):
            body, exchange = own, portal.call(key, json=own, token=by.token)
        if 400 <= (exchange.status or 0) < 500:
            making.settled()
        change_accepted(exchange)
        id = told_id(portal, key, exchange) or listed_id(portal, by, family, name)
        making.came_to(id)
        answers = {"create": form(exchange.data)}
        yield OwnRecord(portal, verify, by, family, name, id, body, making, [exchange], answers)


def with_password(portal: Portal, body: Json) -> Json:
    """A body whose mail settings have a password: by one that was made up shows whether it is masked."""
    config = body.get("emailConfig") if isinstance(body, dict) else None
    if not isinstance(config, dict) or "password" in config:
        return body
    password = f"Mail-{portal.unique()}"
    portal.secrets.add(password, "password", "made up for the channel's mail settings")
    return {**body, "emailConfig": {**config, "password": password}}


def is_left_out(own: OwnRecord, requirement: str, flag: str, field: str, off: str) -> None:
    """While it is switched off, what is asked for by the flag does not show it: without such a record nothing
    tells whether the flag is followed."""
    record = own.read()[1]
    if record is None or state_of(record, field) != off:
        own.verify.untested(requirement, f"the record of its own does not show {off}", "target")
        return

    def ask(**further: Json) -> Exchange:
        return matching(own.portal, own.by, own.family.query, **{flag: True, **further})

    listing = settled(own.portal, ask, lambda answer: own.id not in ids(answer))
    if own.id not in ids(listing) and total(listing) > len(items(listing)):
        listing = ask(bizId=own.id)  # it may stand on another page
    shown = [record for record in items(listing) if record.get("bizId") == own.id]
    expected = f"no {own.id}, which is {off}"
    own.verify(requirement, holds(listing, "data.items", not shown, expected, *own.steps, actual=shown))


def listed_id(portal: Portal, by: Account, family: Family, name: str) -> str:
    """Found again by the name that only this run gives."""
    listing = matching(portal, by, family.query)
    shown = [record for record in items(listing) if shows(record, name)] or shown_elsewhere(
        portal, family.verb("create"), by.token, name, listing
    )
    for record in shown:
        id = record.get("bizId")
        if isinstance(id, str):
            return id
    raise Untestable(
        f"the new record is not on the first page of {family.query}; "
        f'[operations."{family.verb("create")}"] result_id may say where the answer has its id'
    )


def differences(record: Mapping[str, Json], sent: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of a body that a record shows otherwise; what is not shown, and passwords, do not count."""
    changed: dict[str, Json] = {}
    for name, value in sent.items():
        shown = record.get(name)
        if isinstance(value, dict) and isinstance(shown, dict):
            changed |= {f"{name}.{inner}": was for inner, was in differences(shown, value).items()}
        elif name in record and name != "password" and type(shown) is type(value) and shown != value:
            changed[name] = shown
    return changed
