"""Where the rules of checks begin and end: values at a bound, and fields that only one answer in many has."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from conformance.spec.endpoints import (
    ACCOUNTS_QUERY,
    CHANNEL_CREATE,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    COUNTRIES,
    LOGIN_COMPLETE,
    LOGIN_MFA_SEND,
    LOGOUT,
    OWN_INVITATIONS,
    PASSWORD_FORGOT,
    PROFILE,
    ROLES,
    TRANSFER_ORDERS,
)
from conformance.tests.traffic import (
    NOW,
    TOKEN,
    account,
    account_page,
    answer,
    at,
    channel,
    channel_type,
    coded,
    completed,
    contradicted_by,
    email_config,
    envelope,
    invitation,
    judged,
    jwt,
    observed,
    order,
    order_page,
    page,
    refusal,
)
from conformance.traffic.exchange import Exchange, Json


def orders(*listed: Json, query: str = "", **counts: Json) -> Exchange:
    return answer(TRANSFER_ORDERS, order_page(*listed, **counts), query=query)


def places(requirement: str, *exchanges: Exchange) -> list[str]:
    return [one.path for one in judged(*exchanges).findings if one.requirement == requirement]


# Orders.


@pytest.mark.parametrize(
    ("amount", "fee", "total", "is_right"),
    [
        (0, 0, 0, True),
        (1, 0, 1.0000005, True),
        (1, 0, 1.000002, False),
        (1e9, 0, 1e9 + 5e-4, True),
        (1e9, 0, 1e9 + 2e-3, False),
        (True, 0, 5, True),
        (5, "1", 5, True),
    ],
)
def test_a_total_is_right_to_the_digits_that_a_sum_has(
    amount: Json, fee: Json, total: Json, is_right: bool
) -> None:
    found = contradicted_by(orders(order(amount=amount, feeAmount=fee, totalAmount=total)))

    assert ("ORDER-025" not in found) is is_right


def test_status_and_name_of_an_order_are_each_found_where_they_are_wrong() -> None:
    assert places("STATE-007", orders(order(status=2, statusName="FAILED"))) == ["data.content[0].statusName"]
    assert places("STATE-007", orders(order(status=3, statusName="COMPLETED"))) == ["data.content[0].status"]


@pytest.mark.parametrize(
    ("days", "is_within"), [(-1, True), (-1.01, False), (0, True), (30, True), (31, True), (31.01, False)]
)
def test_the_default_range_has_a_day_of_tolerance_at_both_ends(days: float, is_within: bool) -> None:
    found = contradicted_by(orders(order(createdAt=at(days=days), completedAt=None, status=1)))

    assert ("ORDER-020" not in found) is is_within


@pytest.mark.parametrize("query", ["startTime=2030-01-01T00:00:00Z", "endTime=2031-05-06T07:08:09Z"])
def test_a_range_that_is_asked_for_at_either_end_is_not_the_default_one(query: str) -> None:
    assert "ORDER-020" not in contradicted_by(orders(order(createdAt=at(days=90)), query=query))


# Pages.


@pytest.mark.parametrize(
    ("size", "total", "pages", "is_right"),
    [
        (1, 3, 3, True),
        (1, 3, 2, False),
        (0, 3, 9, True),
        (20, 0, 0, True),
        (20, 0, 2, False),
        (20, -1, 9, True),
    ],
)
def test_the_pages_are_counted_wherever_they_can_be(
    size: int, total: int, pages: int, is_right: bool
) -> None:
    typed = answer(CHANNEL_TYPES_QUERY, page(pageSize=size, totalRecords=total, totalPages=pages))
    listed = answer(
        ACCOUNTS_QUERY, account_page(pageSize=size, totalElements=total, totalPages=pages), sent={}
    )

    assert ("PAGE-008" not in contradicted_by(typed)) is is_right
    assert ("PAGE-027" not in contradicted_by(listed)) is is_right


@pytest.mark.parametrize("sent", [{"pageNo": 3, "x": 1}, {"x": 1, "currentPage": 3}])
def test_whatever_may_choose_a_page_leaves_open_which_one_is_answered(sent: Json) -> None:
    assert "PAGE-009" not in contradicted_by(
        answer(CHANNEL_TYPES_QUERY, page(channel_type(), currentPage=3), sent=sent)
    )


@pytest.mark.parametrize(
    ("query", "total", "is_judged"),
    [("page=0", 1, True), ("page=0", 0, True), ("page=1", 1, False), ("page=1", 2, True)],
)
def test_the_page_asked_for_is_answered_where_there_is_one(query: str, total: int, is_judged: bool) -> None:
    other = orders(order(), query=query, number=7, totalPages=total)

    assert bool({"PAGE-036", "PAGE-035"} & contradicted_by(other)) is is_judged


def test_counts_without_a_listing_are_no_record() -> None:
    assert "RESOURCE-001" not in contradicted_by(
        answer(ACCOUNTS_QUERY, {"totalElements": 0, "bizId": None}, sent={})
    )


# Enumerations and constants.


@pytest.mark.parametrize(("field", "code"), [("alpha2Code", "CHN"), ("alpha3Code", "CN")])
def test_the_letters_of_a_country_are_counted_in_each_of_its_codes(field: str, code: str) -> None:
    china = {"alpha2Code": "CN", "alpha3Code": "CHN", "numericCode": 156, "phoneCode": "+86"}
    listed = [coded("CN", 95010301, **{**china, field: code})]

    assert places("CONSTANT-063", answer(COUNTRIES, listed)) == [f"data[0].{field}"]


@pytest.mark.parametrize("part", ["code", "value"])
def test_what_stands_twice_in_a_list_is_named(part: str) -> None:
    first, second = coded("CN", 95010301), coded("JP", 95010302)
    (finding,) = [
        one
        for one in judged(answer(COUNTRIES, [first, {**second, part: first[part]}])).findings
        if one.requirement == "CONSTANT-062"
    ]

    assert finding.actual == {"twice": [str(first[part])]}


@pytest.mark.parametrize(
    ("label", "form"),
    [
        ("Active", "display text"),
        ("Not active.", "display text"),
        ("account.active", "translation key"),
        ("account_active", "translation key"),
    ],
)
def test_the_form_of_a_label_is_read(label: str, form: str) -> None:
    shown = account(accountStatus={**coded("ACTIVE", 10010202), "label": label}, accountPortal=None)

    assert observed("label-form", answer(PROFILE, shown)) == [form]


@pytest.mark.parametrize(("more", "form"), [({"description": "Of the portal"}, "present"), ({}, "absent")])
def test_whether_an_enumeration_is_described_is_read(more: dict[str, Json], form: str) -> None:
    shown = account(accountStatus=coded("ACTIVE", 10010202, **more), accountPortal=None)

    assert observed("enumeration-description", answer(PROFILE, shown)) == [form]


# The envelope.


def test_a_body_without_any_label_is_not_labelled_as_json() -> None:
    labelled = answer(ROLES, [])
    assert labelled.response is not None
    bare = replace(labelled, response=replace(labelled.response, headers=[]))

    assert places("ENV-015", bare) == ["headers.content-type"]
    assert places("ENV-015", labelled) == []


def test_an_echoed_secret_is_found_wherever_it_stands() -> None:
    sent = {"email": "one@example.test", "turnstileToken": "a-secret-token"}
    deep = answer(
        PASSWORD_FORGOT, {"success": True, "message": "Sent", "seen": [{"x": ["a-secret-token"]}]}, sent=sent
    )

    assert places("ENV-019", deep) == ["data.seen[0].x[0]"]


@pytest.mark.parametrize(
    ("language", "message", "read"),
    [
        ("ja", "見つかりません", ["translated"]),
        ("ja", "Not found", ["not translated"]),
        ("en", "Not found", []),
        ("en-GB", "Not found", []),
    ],
)
def test_the_language_of_a_message_is_read_where_another_than_english_is_asked_for(
    language: str, message: str, read: list[str]
) -> None:
    refused = refusal(
        ROLES, "RESOURCE.NOT_FOUND", 404, message=message, headers={"Accept-Language": language}
    )

    assert observed("message-language", refused) == read


# Filters and secrets.


def test_a_status_in_other_digits_than_ours_is_no_filter_and_breaks_nothing() -> None:
    listed = answer(OWN_INVITATIONS, [invitation()], query="statuses=%C2%B2")

    assert not {"INVITATION-023", "INVITATION-024"} & contradicted_by(listed)


@pytest.mark.parametrize(
    ("status", "enabled", "is_found"),
    [
        (coded("DISABLED", 80010302), False, True),
        (coded("ENABLED", 80010301), False, False),
        (coded("DISABLED", 80010302), True, False),
        (None, True, False),
        ("ENABLED", True, False),
    ],
)
def test_a_type_is_enabled_by_its_status_or_by_its_flag(status: Json, enabled: bool, is_found: bool) -> None:
    listed = answer(
        CHANNEL_TYPES_QUERY,
        page(channel_type(typeStatus=status, enabled=enabled)),
        sent={"enabledOnly": True},
    )

    assert ("CHANNELTYPE-023" in contradicted_by(listed)) is is_found


@pytest.mark.parametrize(
    ("password", "is_found"), [("secre", False), ("secret", True), ("******", False), ("a-long-secret", True)]
)
def test_a_mail_password_is_one_from_six_letters_on_that_are_no_mask(password: str, is_found: bool) -> None:
    made = answer(CHANNEL_CREATE, None, sent={"channelName": "Mail", "emailConfig": {"password": password}})
    listed = answer(CHANNELS_QUERY, page(channel(emailConfig=email_config(password=password))), sent={}, n=2)

    assert ("CHANNEL-046" in contradicted_by(made, listed)) is is_found


# Sign-in.


def sent_code(n: int, seconds: int, **data: Json) -> Exchange:
    body = {"sessionId": "session-1", "method": 10011001}
    told = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300, **data}
    started = NOW + timedelta(seconds=seconds)
    return answer(
        LOGIN_MFA_SEND, told, sent=body, n=n, started=started, body=envelope(data=told, timestamp=None)
    )


@pytest.mark.parametrize(
    ("first", "seconds", "is_found"),
    [
        ({}, 30, True),
        ({}, 62, False),
        ({"sent": False}, 30, False),
        ({"cooldownSeconds": 10}, 12, False),
        ({"cooldownSeconds": 10}, 8, True),
        ({"cooldownSeconds": 0}, 30, True),
        ({"cooldownSeconds": 1}, 30, False),
        ({"cooldownSeconds": "soon"}, 30, True),
        ({"cooldownSeconds": 90}, 70, False),
    ],
)
def test_a_cooldown_is_sixty_seconds_from_a_code_that_was_sent_or_what_is_announced_if_less(
    first: dict[str, Json], seconds: int, is_found: bool
) -> None:
    found = contradicted_by(sent_code(1, 0, **first), sent_code(2, seconds))

    assert ("LOGIN-025" in found) is is_found


@pytest.mark.parametrize(("ended", "is_found"), [(0, True), (1, False), (2, False)])
def test_a_logout_ends_one_session_at_least(ended: int, is_found: bool) -> None:
    issued = answer(LOGIN_COMPLETE, completed(accessToken=TOKEN))
    left = answer(LOGOUT, {"success": True, "terminatedSessions": ended})

    assert ("LOGOUT-003" in contradicted_by(issued, left)) is is_found


@pytest.mark.parametrize(
    "claim",
    ["email", "accountEmail", "name", "accountName", "phone", "accountPhone", "phone_number", "given_name",
     "family_name"],
)  # fmt: skip
def test_each_claim_with_profile_data_is_found_in_a_token(claim: str) -> None:
    issued = completed(accessToken=jwt(**{claim: "One"}))

    assert "TOKEN-018" in contradicted_by(answer(LOGIN_COMPLETE, issued))


@pytest.mark.parametrize(
    ("lacking", "status", "is_judged"),
    [
        ("X-Request-Id", 400, False),
        ("X-LOCALE", 400, False),
        ("X-Request-Id", 403, True),
        ("X-Client-Hash", 403, False),
        ("X-Other", 400, True),
    ],
)
def test_a_request_that_may_be_refused_for_its_headers_says_nothing_of_its_token(
    lacking: str, status: int, is_judged: bool
) -> None:
    headers = {"Authorization": None, lacking: None}
    refused = answer(ROLES, body=envelope("SOMETHING"), status=status, headers=headers)

    assert ("AUTHN-001" in contradicted_by(refused)) is is_judged


# Languages, and what is read.


@pytest.mark.parametrize(
    ("headers", "is_judged"),
    [
        ({"X-LOCALE": "ja"}, False),
        ({"Accept-Language": "ja"}, False),
        ({"X-LOCALE": "EN", "Accept-Language": "EN-us"}, True),
        ({"X-LOCALE": None}, True),
    ],
)
def test_names_are_held_to_english_where_nothing_else_is_asked_for(
    headers: dict[str, str | None], is_judged: bool
) -> None:
    named = answer(TRANSFER_ORDERS, order_page(order(status=2, statusName="DONE")), headers=headers)

    assert ("STATE-007" in contradicted_by(named)) is is_judged


@pytest.mark.parametrize(
    ("codes", "read"), [(["CN"], ["none"]), (["CN", "FR"], [["FR"]]), (["FR", "DE"], [["FR", "DE"]])]
)
def test_constants_beyond_those_of_the_specification_are_read(codes: list[str], read: Json) -> None:
    listed: list[Json] = [coded(code, 95010301 + at_) for at_, code in enumerate(codes)]

    assert observed("further-constants", answer(COUNTRIES, listed)) == read
