"""Where the rules of checks begin and end: values at a bound, and fields that only one answer in many has."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Reading
from conformance.tests.traffic import (
    NOW,
    account_page,
    answer,
    at,
    channel,
    channel_type,
    coded,
    email_config,
    envelope,
    invitation,
    order,
    order_page,
    orders,
    page,
    profile,
    refusal,
    workspace,
)
from conformance.traffic.exchange import Exchange, Json, Response


def sum_of(amount: Json, fee: Json, total: Json) -> Exchange:
    return orders(order(amount=amount, feeAmount=fee, totalAmount=total))


def ordered(days: float, **asked: str) -> Exchange:
    return orders(order(createdAt=at(days=days), completedAt=None, status=1), **asked)


def typed(size: int, total: int, pages: int) -> Exchange:
    return answer(op.CHANNEL_TYPES_QUERY, page(pageSize=size, totalRecords=total, totalPages=pages))


def accounts(size: int, total: int, pages: int) -> Exchange:
    counts = account_page(pageSize=size, totalElements=total, totalPages=pages)
    return answer(op.ACCOUNTS_QUERY, counts, sent={})


SIZES = [(1, 3, 3), (0, 3, 9), (20, 0, 0), (20, -1, 9)]
MISCOUNTED = [(1, 3, 2), (20, 0, 2)]


def page_of(query: str, total: int) -> Exchange:
    return orders(order(), query=query, number=7, totalPages=total)


def countries(*codes: str) -> Exchange:
    return answer(op.COUNTRIES, [coded(code, 95010301 + number) for number, code in enumerate(codes)])


def shown(label: str = "Active", **more: Json) -> Exchange:
    return profile(accountStatus=coded("ACTIVE", 10010202, **more) | {"label": label}, accountPortal=None)


def enabled_only(status: Json, enabled: bool) -> Exchange:
    listed = page(channel_type(typeStatus=status, enabled=enabled))
    return answer(op.CHANNEL_TYPES_QUERY, listed, sent={"enabledOnly": True})


ON, OFF = coded("ENABLED", 80010301), coded("DISABLED", 80010302)


def mail_password(password: str) -> list[Exchange]:
    made = answer(
        op.CHANNEL_CREATE, None, sent={"channelName": "Mail", "emailConfig": {"password": password}}
    )
    listed = page(channel(emailConfig=email_config(password=password)))
    return [made, answer(op.CHANNELS_QUERY, listed, sent={}, n=2)]


def sent_code(n: int, seconds: int, **data: Json) -> Exchange:
    told = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300, **data}
    return answer(
        op.LOGIN_MFA_SEND,
        sent={"sessionId": "session-1", "method": 10011001},
        n=n,
        started=NOW + timedelta(seconds=seconds),
        body=envelope(data=told, timestamp=None),
    )


BEGUN = answer(op.LOGIN_INITIATE, {"sessionId": "session-1", "mfaMethods": [], "expiresIn": 600}, n=1)


def sent_twice(seconds: int, **first: Json) -> list[Exchange]:
    return [BEGUN, sent_code(1, 0, **first), sent_code(2, seconds)]


def refused_without(header: str, status: int) -> Exchange:
    headers = {"Authorization": None, header: None}
    return answer(op.ROLES, body=envelope("SOMETHING"), status=status, headers=headers)


def named(**headers: str | None) -> Exchange:
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    return answer(op.TRANSFER_ORDERS, order_page(order(status=2, statusName="DONE")), headers=asked)


def told(language: str, message: str) -> Exchange:
    headers = {"Accept-Language": language}
    return refusal(op.ROLES, "RESOURCE.NOT_FOUND", 404, message=message, headers=headers)


LABELLED = answer(op.ROLES, [])

BOUNDS = [
    Bound(
        "a total is right to the digits that a sum has",
        "ORDER-025",
        wrong=[sum_of(1, 0, 1.000002), sum_of(1e9, 0, 1e9 + 2e-3), orders(order(), order(totalAmount=5))],
        lawful=[
            *(sum_of(0, 0, 0), sum_of(1, 0, 1.0000005), sum_of(1e9, 0, 1e9 + 5e-4)),
            *(sum_of(True, 0, 5), sum_of(5, "1", 5), sum_of(5, 1, 4)),
        ],
    ),
    Bound(
        "the default range has a day of tolerance at both ends, and is none where either end is asked for",
        "ORDER-020",
        wrong=[ordered(-1.01), ordered(31.01)],
        lawful=[
            *map(ordered, (-1, 0, 30, 31)),
            orders(order(createdAt=at(days=90)), query="startTime=2030-01-01T00:00:00Z"),
            orders(order(createdAt=at(days=90)), query="endTime=2031-05-06T07:08:09Z"),
        ],
    ),
    Bound(
        "the pages are counted wherever they can be",
        "PAGE-008",
        wrong=[typed(*counts) for counts in MISCOUNTED],
        lawful=[typed(*counts) for counts in SIZES],
    ),
    Bound(
        "the pages of accounts are counted wherever they can be",
        "PAGE-027",
        wrong=[accounts(*counts) for counts in MISCOUNTED],
        lawful=[accounts(*counts) for counts in [*SIZES, (10, 40, 2)]],  # as for the size asked for
    ),
    Bound(
        "the page asked for is answered where there is one",
        "PAGE-036 PAGE-035",
        wrong=[page_of("page=0", 1), page_of("page=0", 0), page_of("page=1", 2)],
        lawful=[page_of("page=1", 1)],
    ),
    Bound(
        "counts without a listing are no record",
        "RESOURCE-001",
        wrong=[answer(op.WORKSPACES_CURRENT, workspace(workspaceName=None))],
        at=["data.workspaceName"],
        lawful=[answer(op.ACCOUNTS_QUERY, {"totalElements": 0, "bizId": None}, sent={})],
    ),
    Bound(
        "a body without any label is not labelled as JSON, and one of a kind of JSON is",
        "ENV-015",
        wrong=[replace(LABELLED, response=Response(status=200, body=envelope(data=[])))],
        at=["headers.content-type"],
        lawful=[LABELLED, answer(op.ROLES, [], answered={"Content-Type": "application/problem+JSON"})],
    ),
    Bound(
        "a status in other digits than ours is no filter and breaks nothing",
        "INVITATION-023 INVITATION-024",
        lawful=[answer(op.OWN_INVITATIONS, [invitation()], query="statuses=%C2%B2")],
    ),
    Bound(
        "a type is enabled by its status or by its flag",
        "CHANNELTYPE-023",
        wrong=[enabled_only(OFF, False)],
        lawful=[enabled_only(status, enabled) for status, enabled in ((ON, False), (OFF, True), (None, True))]
        + [enabled_only("ENABLED", True)],
    ),
    Bound(
        "a mail password is one from six letters on that are no mask",
        "CHANNEL-046",
        wrong=[mail_password("secret"), mail_password("a-long-secret")],
        lawful=[mail_password("secre"), mail_password("******")],
    ),
    Bound(
        "a cooldown is sixty seconds from a code that was sent, or what is announced if less",
        "LOGIN-025",
        wrong=[
            *(sent_twice(30), sent_twice(8, cooldownSeconds=10), sent_twice(30, cooldownSeconds=0)),
            sent_twice(30, cooldownSeconds="soon"),
        ],
        lawful=[
            *(sent_twice(60), sent_twice(30, sent=False), sent_twice(12, cooldownSeconds=10)),
            *(sent_twice(30, cooldownSeconds=1), sent_twice(70, cooldownSeconds=90)),
        ],
    ),
    Bound(
        "a request that may be refused for its headers says nothing of its token",
        "AUTHN-001",
        wrong=[refused_without("X-Request-Id", 403), refused_without("X-Other", 400)],
        lawful=[
            *(refused_without("X-Request-Id", 400), refused_without("X-LOCALE", 400)),
            refused_without("X-Client-Hash", 403),
        ],
    ),
    Bound(
        "names are held to English where nothing else is asked for",
        "STATE-007",
        wrong=[named(X_LOCALE="EN", Accept_Language="EN-us"), named(X_LOCALE=None)],
        lawful=[named(X_LOCALE="ja"), named(Accept_Language="ja")],
    ),
]

READ = [
    Reading("label-form", shown("Active"), ["display text"]),
    Reading("label-form", shown("Not active."), ["display text"]),
    Reading("label-form", shown("account.active"), ["translation key"]),
    Reading("enumeration-description", shown(description="Of the portal"), ["present"]),
    Reading("enumeration-description", shown(), ["absent"]),
    Reading("message-language", told("ja", "見つかりません"), ["translated"]),
    Reading("message-language", told("ja", "Not found"), ["not translated"]),
    Reading("message-language", told("en", "Not found"), []),
    Reading("further-constants", countries("CN"), ["none"]),
    Reading("further-constants", countries("CN", "FR"), [["FR"]]),
    Reading("further-constants", countries("FR", "DE"), [["FR", "DE"]]),
]
