"""The 111 endpoints that the specification does not describe: judged by its general rules, and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.check import CheckOptions, check
from conformance.report.model.evidence import MOST_ENDPOINTS, OTHER, CountedPart, RunEvidence
from conformance.report.model.run import Run
from conformance.spec.operations import endpoint_key
from conformance.tests.replays import written
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import Exchange, Json, Request, Response

SYSTEM = "http://portal.example.test/web/v1/system"
WALLETS = f"{SYSTEM}/wallets/query"
JSON = [("content-type", "application/json")]
HEADERS = [("x-portal-access-code", "[access-code-1]"), ("authorization", "Bearer [token-1]")]
PAGE = {
    "totalPages": 2, "totalRecords": 3, "currentPage": 1, "pageSize": 2,
    "hasNext": True, "empty": False, "paginated": True,
}  # fmt: skip


def envelope(**changes: Json) -> dict[str, Json]:
    whole = {"success": True, "code": "2000", "message": "Success", "data": {"walletName": "Main"}}
    return whole | changes


def error(code: str = "RESOURCE.NOT_FOUND", **changes: Json) -> dict[str, Json]:
    return envelope(success=False, code=code, message="no such wallet", data=None) | changes


def listing(**pagination: Json) -> dict[str, Json]:
    return envelope(data={"items": [{"bizId": "w-1"}, {"bizId": "w-2"}], "pagination": PAGE | pagination})


def wallets(
    body: Json, *, status: int = 200, url: str = WALLETS, sent: Json = None, text: bytes | None = None
) -> Exchange:
    held, form = body_of(json.dumps(body).encode() if text is None else text)
    request: dict[str, Any] = {} if sent is None else {"body": sent}
    return Exchange(
        n=1,
        started="2026-01-01T00:00:00.250+00:00",
        request=Request(method="GET" if sent is None else "POST", url=url, headers=HEADERS, **request),
        response=Response(status=status, headers=JSON, body=held, form=form),
    )


def page(status: int, label: str = "text/html; charset=utf-8") -> Exchange:
    exchange = wallets(None, status=status, text=b"<p>Hello</p>")
    assert exchange.response is not None
    return replace(exchange, response=replace(exchange.response, headers=[("content-type", label)]))


def of_method(method: str, exchange: Exchange) -> Exchange:
    return replace(exchange, request=replace(exchange.request, method=method))


def checked(folder: Path, *exchanges: Exchange) -> Run:
    folder.mkdir(exist_ok=True)
    return check([written(folder / "traffic.jsonl", *exchanges)], CheckOptions(out=folder / "out")).run


def found(run: Run) -> dict[str, str]:
    return {finding.requirement: finding.verdict for finding in run.findings}


def test_four_broken_musts_of_an_endpoint_fail_at_it_and_name_it(tmp_path: Path) -> None:
    run = checked(tmp_path, wallets({"success": "yes", "code": 5, "message": 7, "data": {}}))

    assert {"ENV-002", "ENV-004", "ENV-006"} <= found(run).keys()
    assert {finding.endpoint for finding in run.findings} == {"GET /web/v1/system/wallets/query"}
    assert run.exit_code == 1
    for name in ("report.html", "summary.md", "results.json"):
        assert "wallets/query" in (tmp_path / "out" / name).read_text().replace("<wbr>", "").replace("\\", "")


@pytest.mark.parametrize(
    "exchange, rule",
    [
        pytest.param(wallets(["no", "envelope"]), "ENV-001", id="an array in place of the envelope"),
        pytest.param(page(200, "text/plain"), "ENV-001", id="a text in place of the envelope"),
        pytest.param(wallets(envelope(success="true")), "ENV-002", id="success as a text"),
        pytest.param(wallets(envelope(success=False)), "ENV-003", id="an error with the code of success"),
        pytest.param(wallets(envelope(code=2000)), "ENV-004", id="the code as a number"),
        pytest.param(wallets(envelope(code="0")), "ENV-005", id="success with another code"),
        pytest.param(wallets(error(data={"id": 1}), status=404), "ENV-008", id="an error with data"),
        pytest.param(wallets(envelope(timestamp=1767225600)), "ENV-011", id="the timestamp in seconds"),
        pytest.param(wallets(envelope(), status=500), "ENV-014", id="success with an error status"),
        pytest.param(wallets(error("X.Y"), status=503), "ENV-018", id="a server error"),
        pytest.param(wallets(error(), status=400), "ERROR-006", id="an error with another status"),
        pytest.param(
            wallets(envelope(data={"accountStatus": {"code": "ACTIVE", "value": 1, "label": "Active"}})),
            "STATE-001",
            id="a state with another number",
        ),
        pytest.param(wallets(listing(hasNext=1)), "PAGE-005", id="a flag as a number"),
        pytest.param(wallets(listing(totalPages=7)), "PAGE-008", id="a wrong number of pages"),
        pytest.param(
            wallets(envelope(data={"password": "s3cret-of-mine"}), sent={"password": "s3cret-of-mine"}),
            "ENV-019",
            id="a password that comes back",
        ),
    ],
)
def test_a_general_rule_decides_at_an_endpoint_that_is_not_described(
    tmp_path: Path, exchange: Exchange, rule: str
) -> None:
    run = checked(tmp_path, exchange)

    assert rule in found(run)


@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(wallets(envelope()), id="a success"),
        pytest.param(wallets(error(), status=404), id="an error of the table"),
        pytest.param(wallets(error("WALLET.FROZEN"), status=409), id="an error of its own"),
        pytest.param(wallets({"message": "Forbidden"}, status=403), id="a refusal of a gateway"),
        pytest.param(wallets({"hello": "world"}), id="an answer of a portal that serves any path"),
        pytest.param(wallets(None, status=204, text=b""), id="no content"),
        pytest.param(of_method("HEAD", wallets(None, text=b"")), id="a head without its body"),
        pytest.param(wallets({"detail": "Not Found"}, status=404), id="a path that does not exist"),
        pytest.param(page(405), id="a method that does not exist"),
        pytest.param(page(200), id="the page of an application in place of a file that does not exist"),
        pytest.param(page(200, "text/csv"), id="a file of rows"),
        pytest.param(page(200, "application/pdf"), id="a file of pages"),
        pytest.param(wallets(envelope(extra=1, data=[1])), id="a field of its own"),
        pytest.param(wallets(listing()), id="a first page"),
        pytest.param(
            wallets(envelope(data={"records": [], "pagination": PAGE})), id="records under another name"
        ),
        pytest.param(
            wallets(envelope(data={"code": "USDTRC20"}), sent={"code": "USDTRC20"}),
            id="a code that is no secret",
        ),
    ],
)
def test_nothing_is_held_against_an_endpoint_for_its_own_ways(tmp_path: Path, exchange: Exchange) -> None:
    run = checked(tmp_path, exchange)

    assert found(run) == {}
    assert any("wallets/query" in note for note in run.notes)


def without_token(exchange: Exchange) -> Exchange:
    return replace(exchange, request=replace(exchange.request, headers=HEADERS[:1]))


def test_an_endpoint_that_asked_for_a_token_once_serves_nobody_without(tmp_path: Path) -> None:
    refused = without_token(wallets(error("ACCESS.TOKEN_MISSING"), status=401))
    public = without_token(wallets(envelope(), url=f"{SYSTEM}/i18n/en"))
    served = without_token(wallets(envelope(), url=f"{WALLETS}?page=2"))

    lawful = checked(tmp_path / "lawful", public, refused, wallets(envelope()), public)
    open_again = checked(tmp_path / "open", refused, served)

    assert (found(lawful), found(open_again)) == ({}, {"AUTHN-001": "fail"})


def test_an_endpoint_has_one_row_with_its_statuses_whatever_the_ids(tmp_path: Path) -> None:
    ids = ("17", "9f1c2d3e-0000-4000-8000-123456789abc", "w-550e8400e29b", "wal_01ARZ3NDEKTSV4RRFF", "a@b.c")
    exchanges = [wallets(envelope(), url=f"{SYSTEM}/wallets/{id}/history") for id in ids]

    run = checked(tmp_path, *exchanges, wallets(error(), status=404, url=f"{SYSTEM}/wallets/18/history"))

    (row,) = [timing for timing in run.timings if timing.group.startswith("Not described")]
    assert row.endpoint == "GET /web/v1/system/wallets/{id}/history"
    assert (row.requests, row.statuses) == (6, {"200": 5, "404": 1})


def test_what_is_decided_at_an_endpoint_is_noted_there_though_another_answers_alike(tmp_path: Path) -> None:
    other = f"{SYSTEM}/ledgers/query"
    run = checked(tmp_path, wallets(envelope()), wallets(envelope(), url=other))

    places = ["GET /web/v1/system/ledgers/query", "GET /web/v1/system/wallets/query"]
    assert run.scope.called == places
    assert all("ENV-002" in run.scope.decided[place] for place in places)


def test_names_of_a_path_stay_in_its_template() -> None:
    for path in ("/web/v1/system/wallet-types/v2/query", "/web/v1/notification.center/iso-3166/oauth2"):
        assert endpoint_key("GET", path) == f"GET {path}"
    assert endpoint_key("GET", "/web/v1/system/i18n/vi") == "GET /web/v1/system/i18n/vi"
    assert endpoint_key("GET", "/web/v1/system/rates/USDT") == "GET /web/v1/system/rates/{id}"
    assert endpoint_key("GET", "/assets/logo.png") is None


def test_parts_of_workers_count_endpoints_as_one_process_does() -> None:
    exchanges = [wallets(envelope(), url=f"{SYSTEM}/x{'abc'[at % 3] * (at // 3 + 1)}") for at in range(90)]
    many = [wallets(envelope(), url=f"{SYSTEM}/{word(at)}/list") for at in range(MOST_ENDPOINTS + 50)]
    part, whole, joined = CountedPart(), RunEvidence(), RunEvidence()

    for exchange in exchanges + many:
        line = json.dumps(
            {"request": {"method": "GET", "url": exchange.request.url}, "response": {"status": 200}}
        ).encode()
        part.count(exchange, len(line))
        whole.count(line)
    joined.extend(part)

    rows = {row.endpoint: (row.requests, row.statuses) for row in whole.timings}
    assert {row.endpoint: (row.requests, row.statuses) for row in joined.timings} == rows
    assert len(rows) == MOST_ENDPOINTS + 1
    assert rows[OTHER][0] == 90 + MOST_ENDPOINTS + 50 - MOST_ENDPOINTS


def word(number: int) -> str:
    """A different word of letters for each number."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
