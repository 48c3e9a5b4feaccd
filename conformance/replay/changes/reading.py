"""Reads what a change is about to replace, with the token of the session that makes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from conformance.errors import Untestable
from conformance.replay.rebuild.actions import NoteChange
from conformance.spec.endpoints import ACCOUNT, CHANNEL_TYPES_QUERY, CHANNELS_QUERY, IP_WHITELIST
from conformance.spec.requests import UNFILTERED
from conformance.target.portal import Portal
from conformance.target.portal.calls.caller import CallOptions
from conformance.target.portal.login import refusal
from conformance.target.portal.records import addresses_in, records_in, shows
from conformance.target.portal.restoring.ways import CREATIONS, FieldsUndo
from conformance.traffic.exchange import ABSENT, Json, dig, steps

LISTINGS = frozenset({CHANNELS_QUERY, CHANNEL_TYPES_QUERY})
ID_FIELDS = ("userBizId", "bizId", "accountBizId", "invitationBizId", "id")
IDS_OF_RECORDS = frozenset({"{result_id}", "{account}", "{channel}", "{channel_type}"})
"""The placeholders in the profile's bodies that stand for the record which a request is about."""


NAMES = ("Name", "Code", "Email", "message")
"""How fields end by which a listing shows a record, the surest first."""


def record_before(portal: Portal, change: NoteChange, read: str) -> Mapping[str, Json]:
    """Reads the present record that a change concerns. Untestable: the target does not show the record."""
    id = id_of(portal, change)
    options: CallOptions = {"token": change.token, "client_hash": change.client_hash}
    if read in LISTINGS or read == ACCOUNT:
        if id is None:
            raise Untestable("the request names no record by an id")
        if read == ACCOUNT:
            options["userBizId"] = id
        else:
            options["json"] = {**UNFILTERED[read], "bizId": id}
    answer = portal.call(read, **options)
    if not answer.success:
        raise Untestable(f"{read} was refused: {refusal(answer)}", "target")
    data = answer.data
    if read in LISTINGS:
        items = records_in(dig(answer.envelope, steps("data.items")))
        data = next((item for item in items if item.get("bizId") == id), None)
    if read == ACCOUNT:
        data = _account_in(data, id)
    if not isinstance(data, dict):
        raise Untestable(f"{read} does not show the record")
    return data


def _account_in(data: Json, id: str | None) -> Json:
    """Finds the account in an answer of unknown form (N5), possibly in an inner object."""
    inner = data.values() if isinstance(data, dict) else ()
    return next((each for each in inner if isinstance(each, dict) and each.get("bizId") == id), data)


def body_before(portal: Portal, change: NoteChange, before: Mapping[str, Json], undo: FieldsUndo) -> Json:
    """Builds the body that restores a request's fields. Untestable: the target does not show a field."""
    if not isinstance(change.body, dict):
        raise Untestable("the request has no fields")
    ids = (*ID_FIELDS, *_names_of_ids(portal, change.key))
    return dict(_fields_before(change.body, before, undo, ids))


def _fields_before(
    body: dict[str, Json], before: Mapping[str, Json], undo: FieldsUndo, ids: Collection[str]
) -> Iterator[tuple[str, Json]]:
    for name, value in body.items():
        if name in ids:
            yield name, value
            continue
        shown = before.get(undo.names.get(name, name), ABSENT)
        if shown is ABSENT:
            raise Untestable(f"{undo.read} does not show {name}")
        if _holds_a_password(shown):
            raise Untestable(f"{undo.read} shows {name} without its password")
        if undo.read == IP_WHITELIST and isinstance(shown, list):
            shown = addresses_in(shown)
        yield name, _as_sent(value, shown)


def _as_sent(sent: Json, shown: Json) -> Json:
    """Converts a shown value to the request's form: a code or number, whole for an integer."""
    if isinstance(sent, int) and isinstance(shown, float) and shown.is_integer():
        return int(shown)
    if isinstance(shown, dict) and isinstance(sent, str | int):
        return shown.get("code" if isinstance(sent, str) else "value")
    return shown


def _holds_a_password(value: Json) -> bool:
    return isinstance(value, dict) and any("password" in name.lower() for name in value)


def id_in(body: Json) -> str | None:
    if not isinstance(body, dict):
        return None
    named = (body[name] for name in ID_FIELDS if isinstance(body.get(name), str))
    return next(named, None)


def id_of(portal: Portal, change: NoteChange) -> str | None:
    """Finds the record's id by ``id_in``, or under an id name from the profile's body of the operation."""
    id = id_in(change.body)
    if id is not None or not isinstance(change.body, dict):
        return id
    named = (change.body.get(name) for name in _names_of_ids(portal, change.key))
    return next((value for value in named if isinstance(value, str)), None)


def _names_of_ids(portal: Portal, key: str) -> list[str]:
    settings = portal.profile.operations.get(key)
    body = settings.body if settings is not None and isinstance(settings.body, dict) else {}
    return [name for name, value in body.items() if isinstance(value, str) and value in IDS_OF_RECORDS]


def new_name(portal: Portal, change: NoteChange) -> str | None:
    """The name by which a record that is about to be created can be found in its listing; None where others
    have what is sent already. Somebody may be invited twice, by another message."""
    sent = change.body if isinstance(change.body, dict) else {}
    texts = [(key, value) for key, value in sent.items() if isinstance(value, str) and value]
    names = [value for end in NAMES for key, value in texts if key.endswith(end)]
    records = _listed(portal, change, change.key) if names else None
    if records is None:
        return None
    return next((name for name in names if not any(shows(each, name) for each in records)), None)


def is_named(portal: Portal, change: NoteChange, created_by: str, name: str) -> bool:
    """Whether the record that a change is about shows a name in the listing of what an operation creates."""
    id = id_of(portal, change)
    records = _listed(portal, change, created_by) or ()
    return any(each.get("bizId") == id and shows(each, name) for each in records)


def _listed(portal: Portal, change: NoteChange, created_by: str) -> list[dict[str, Json]] | None:
    """The records among which one stands that an operation creates; None where no listing shows them."""
    creation = CREATIONS.get(created_by)
    if creation is None:
        return None
    body = UNFILTERED.get(creation.listing, ABSENT)
    answer = portal.call(creation.listing, json=body, token=change.token, client_hash=change.client_hash)
    return list(records_in(dig(answer.envelope, steps(creation.items)))) if answer.success else None
