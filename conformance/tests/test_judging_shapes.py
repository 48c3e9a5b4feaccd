"""The checks of ``conformance.judging.shapes``, for every field that the specification states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from conformance.judging.shapes import MOST_ALIKE, Shape
from conformance.spec import OPERATIONS, Operation
from conformance.spec.resources import RESOURCES
from conformance.tests import traffic
from conformance.tests.traffic import answer, coded, contradicted_by, verdict_on
from conformance.traffic.exchange import ABSENT, Json
from conformance.verdicts.findings import Verdict

VALID: dict[str, Json] = {
    "LoginInitiated": traffic.initiated(),
    "MfaSent": {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300},
    "LoginCompleted": traffic.completed(),
    "LoggedOut": {"success": True, "terminatedSessions": 1},
    "TokenPair": traffic.token_pair(),
    "PasswordForgotten": {"success": True, "message": "Look into your mail"},
    "PublicKey": {"keyId": "a", "publicKey": "b"},
    "SecureSession": {"sessionId": "a", "expiresAt": 1_999_000_000_000},
    "IpWhitelist": {"enabled": False, "entries": []},
    "MfaSetting": traffic.mfa_setting(),
    "BackupCodeSummary": {"remainingCount": 9, "totalGenerated": 10},
    "ActiveSession": traffic.session(isCurrent=True),
    "SessionConfig": traffic.session_config(),
    "LoginHistoryPage": traffic.page(traffic.history_item()),
    "Profile": traffic.account(),
    "Invitation": traffic.invitation(),
    "Workspace": traffic.workspace(),
    "AccountPage": traffic.account_page(traffic.account()),
    "Country": coded("CN", 95010301, alpha2Code="CN", alpha3Code="CHN", numericCode=156, phoneCode="+86"),
    "Timezone": coded("UTC", 95010101, zoneIdCode="UTC", utcOffset="+00:00"),
    "UsState": coded("AL", 95010401, isoCode="AL"),
    "Constant": coded("ACTIVE", 1),
    "CurrencyGrant": {"anything": 1},
    "Institution": traffic.institution(),
    "InvitationRecord": {"anything": 1},
    "ChannelTypePage": traffic.page(traffic.channel_type()),
    "ChannelPage": traffic.page(traffic.channel()),
    "NotificationChannel": traffic.channel(channelStatus="INACTIVE"),
    "Role": traffic.role(),
    "RolePermission": "file:read",
    "FileRecord": traffic.file_record(),
    "TransferOrderPage": traffic.order_page(traffic.order()),
}
SHOWN = [row for row in OPERATIONS if row.data]
WANTED_BY_A_CHECK = {"CHANNEL-008"}
"""Fields that only some records must have: which ones is a check's to say."""


def valid(operation: Operation) -> Json:
    name = (operation.data or "").removesuffix("[]")
    return [VALID[name]] if (operation.data or "").endswith("[]") else VALID[name]


def by_resource() -> list[Operation]:
    """One operation for each resource."""
    return list({row.data: row for row in SHOWN}.values())


def field_id(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    return str(extra["requirement"]) if isinstance(extra, dict) else ""


Place = tuple[str | int, ...]


def fields(model: Any, data: Json, place: Place = ()) -> Iterator[tuple[str, Place, FieldInfo]]:
    """Every stated field that stands in some data, with the way to it."""
    if isinstance(data, list):
        yield from fields(model, data[0], (*place, 0)) if data else ()
    if not isinstance(data, dict) or not isinstance(model, type) or not issubclass(model, BaseModel):
        return
    for name, field in model.model_fields.items():
        if name in data:
            yield field_id(field), (*place, name), field
            yield from fields(_inner(field.annotation), data[name], (*place, name))


def _inner(annotation: Any) -> Any:
    parts = [annotation, *getattr(annotation, "__args__", ())]
    return next((part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)), None)


def changed(data: Json, place: Place, value: Json) -> Json:
    """The same data with another value at a place, or without it where the value is ABSENT."""
    step, *rest = place
    if rest:
        inner = changed(data[step], tuple(rest), value)
        return [inner, *data[1:]] if isinstance(data, list) else {**data, step: inner}
    return {name: old for name, old in ({**data, step: value}).items() if old is not ABSENT}


Stated = tuple[Operation, str, Place, FieldInfo]

STATED: list[Stated] = [
    (row, id, place, field)
    for row in by_resource()
    for id, place, field in fields(RESOURCES[(row.data or "").removesuffix("[]")], valid(row))
    if id
]
TYPED = [one for one in STATED if one[3].annotation is not Any]


def not_found_as_due(stated: list[Stated], value: Callable[[FieldInfo], Json]) -> list[tuple[Any, ...]]:
    """The fields that are found, once they have the value, though they may have it, or are not though they
    may not."""
    wrong = []
    for operation, id, place, field in stated:
        data = changed(valid(operation), place, value(field))
        is_due = field.is_required() or id in WANTED_BY_A_CHECK or value is of_another_type
        if (id in contradicted_by(answer(operation.key, data))) is not is_due:
            wrong.append((id, operation.data, *place))
    return wrong


def of_another_type(field: FieldInfo) -> Json:
    return "a text" if _inner(field.annotation) else {"an": "object"}


def test_what_is_as_stated_passes() -> None:
    verdicts = {row.key: verdict_on(row.requirement, [answer(row.key, valid(row))]) for row in SHOWN}

    assert set(verdicts.values()) == {Verdict.PASS}, verdicts


def test_a_field_that_is_left_out_is_found_unless_it_may_be_null() -> None:
    assert not_found_as_due(STATED, lambda field: ABSENT) == []


def test_a_field_of_another_type_is_found() -> None:
    assert not_found_as_due(TYPED, of_another_type) == []


def test_a_field_that_is_null_is_found_unless_it_may_be() -> None:
    assert not_found_as_due(TYPED, lambda field: None) == []


def test_data_of_another_kind_is_found() -> None:
    others: dict[Operation, Json] = {
        row: {} if (row.data or "").endswith("[]") else [] for row in SHOWN if row.data != "PublicKey"
    }
    verdicts = {
        row.key: verdict_on(row.requirement, [answer(row.key, other)]) for row, other in others.items()
    }

    assert set(verdicts.values()) == {Verdict.FAIL}, verdicts


LISTED = next(row for row in SHOWN if row.data == "ActiveSession[]")


def listing(count: int, wrong: Collection[int]) -> Json:
    return [{**traffic.session(), **({"isCurrent": []} if at in wrong else {})} for at in range(count)]


def test_a_place_in_a_long_list_is_the_place_in_the_whole() -> None:
    data = listing(1_700, {3, 1_400})

    contradictions = Shape(LISTED).contradictions(answer(LISTED.key, data))

    assert [each.path for _, each in contradictions] == ["data[3].isCurrent", "data[1400].isCurrent"]


def test_a_place_in_the_long_list_of_a_page_is_the_place_in_the_whole() -> None:
    page = traffic.page(traffic.channel())
    (name,) = [name for name, value in page.items() if isinstance(value, list)]
    page[name] = [{**traffic.channel(), **({"bizId": []} if at == 900 else {})} for at in range(1_200)]
    operation = next(row for row in SHOWN if row.data == "ChannelPage")

    contradictions = Shape(operation).contradictions(answer(operation.key, page))

    assert [each.path for _, each in contradictions] == [f"data.{name}[900].bizId"]


def test_of_a_list_of_very_many_wrong_items_some_are_kept() -> None:
    data = listing(20_000, range(20_000))

    contradictions = Shape(LISTED).contradictions(answer(LISTED.key, data))

    assert MOST_ALIKE <= len(contradictions) < 2 * MOST_ALIKE


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"bizId": 7}, "a string"),
        ({"bizId": ABSENT}, "the field to be present"),
        ({"accountPortal": "SYSTEM"}, "an enumeration object"),
    ],
)
def test_what_a_shape_expects_is_said_in_the_specifications_words(
    changes: dict[str, Json], words: str
) -> None:
    operation = next(row for row in SHOWN if row.data == "Profile")
    account = {**traffic.account(), **changes}
    data = {name: value for name, value in account.items() if value is not ABSENT}

    contradictions = Shape(operation).contradictions(answer(operation.key, data))

    assert [contradiction.expected for _, contradiction in contradictions] == [words]


@pytest.mark.parametrize("data", ["a text", 5, {}, []], ids=["text", "number", "object", "array"])
def test_no_shape_speaks_of_classes_of_python(data: Json) -> None:
    contradictions = [
        contradiction
        for row in SHOWN
        for _, contradiction in Shape(row).contradictions(answer(row.key, data))
    ]

    expected = [str(contradiction.expected) for contradiction in contradictions]
    assert [words for words in expected if "valid" in words or "instance" in words] == []
