"""The checks of ``conformance.checks.pages``."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.checks.pages import pages_for
from conformance.spec.endpoints import ACCOUNTS_QUERY, CHANNEL_TYPES_QUERY, SESSIONS_HISTORY
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import account, account_page, answer, channel_type, order, orders, page
from conformance.traffic.exchange import ABSENT, Exchange, Form, Json

TWENTY = [channel_type(bizId=f"type-{number}") for number in range(20)]


def types(*listed: Json, **counts: Json) -> Exchange:
    return answer(CHANNEL_TYPES_QUERY, page(*listed, **counts), sent={"enabledOnly": False})


def accounts(*listed: Json, sent: Json = None, **counts: Json) -> Exchange:
    return answer(ACCOUNTS_QUERY, account_page(*listed, **counts), sent={} if sent is None else sent)


def many_accounts(number: int) -> list[Json]:
    return [account(bizId=f"account-{one}") for one in range(number)]


LAST_OF_THREE = {"totalPages": 3, "totalRecords": 41, "currentPage": 3, "hasNext": False}
FIRST_OF_THREE = {"totalPages": 3, "totalRecords": 41, "hasNext": True}
SECOND_OF_FULL_ONES = {"totalPages": 3, "totalRecords": 3, "pageSize": 1, "currentPage": 2, "hasNext": False}
"""The last one where pages are counted from 0."""

PROOFS = [
    Proof("PAGE-009", [types(), answer(SESSIONS_HISTORY, page(currentPage=3), query="pageNo=3")], []),
    Proof(
        "PAGE-010",
        [
            types(),
            types(*TWENTY, **FIRST_OF_THREE),
            types(channel_type(), **LAST_OF_THREE),
            types(*TWENTY, **FIRST_OF_THREE, currentPage=0),
            types(channel_type(), currentPage=0),
            types(currentPage=0, totalPages=0),
            types(currentPage=0, totalPages=1),
            types(channel_type(), **{**LAST_OF_THREE, "currentPage": 2}),
            answer(SESSIONS_HISTORY, page({}, **SECOND_OF_FULL_ONES), query="pageSize=1&page=2"),
        ],
        types(channel_type(), **{**LAST_OF_THREE, "hasNext": True}),
    ),
    Proof(
        "PAGE-011",
        [types(), types(channel_type()), types(totalRecords=41, empty=True, currentPage=9, totalPages=3)],
        types(channel_type(), empty=True),
    ),
    Proof("PAGE-013", types(*TWENTY), types(*TWENTY, pageSize=19)),
    Proof("PAGE-013", types(*TWENTY), answer(SESSIONS_HISTORY, page({}, {}, pageSize=1))),
    Proof("LIMIT-010", accounts(), answer(ACCOUNTS_QUERY, account_page(currentPage=3))),
    Proof(
        "PAGE-014", [types(*TWENTY, **FIRST_OF_THREE), types(*TWENTY, channel_type(), **FIRST_OF_THREE)], []
    ),
]


@pytest.mark.parametrize(
    "total, size, right", [(0, 20, (0, 1)), (1, 20, (1,)), (20, 20, (1,)), (21, 20, (2,))]
)
def test_an_empty_listing_has_no_page_or_one(total: int, size: int, right: tuple[int, ...]) -> None:
    assert pages_for(total, size) == right


def unknown(asked: Exchange, form: Form) -> Exchange:
    """The same, but that the source left the body of the request out."""
    return replace(asked, request=replace(asked.request, body=ABSENT, form=form))


ASKED_FOR = accounts(
    *many_accounts(50),
    sent={"page": 1, "size": 50},
    totalElements=150,
    totalPages=3,
    currentPage=1,
    pageSize=50,
)
FORMS: tuple[Form, ...] = ("omitted", "truncated", "sanitized", "undecodable")
SECOND = answer(
    CHANNEL_TYPES_QUERY, page(*TWENTY, currentPage=2, totalPages=3, totalRecords=50, pageSize=20), sent={}
)

BOUNDS = [
    Bound(
        "a page or a size that cannot be asked for may be answered as the portal likes",
        "",
        lawful=[orders(order(), query=f"page={page}", number=4) for page in ("-1", "one", "", "9")]
        + [orders(order(), query=f"size={size}", size=3) for size in ("0", "-5", "x", "", "500")]
        + [accounts(account(), sent={"size": 500}, pageSize=100), accounts(*many_accounts(20))],
    ),
    Bound(
        "a page is not held to a request whose body is not known",
        "",
        lawful=[ASKED_FOR, *(unknown(ASKED_FOR, form) for form in FORMS)],
    ),
    Bound(
        "an object that names its second page may have been asked for it",
        "PAGE-009",
        wrong=[SECOND],
        lawful=[unknown(SECOND, "omitted")],
    ),
]
READ = [Reading("paginated", types(paginated=said), [said]) for said in (True, False)]
