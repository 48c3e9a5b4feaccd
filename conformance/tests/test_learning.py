"""``describe``: a description that is learned from traffic, and what later traffic differs in from it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from openapi_spec_validator import validate

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.descriptions import described_by
from conformance.tests.replays import written
from conformance.tests.test_descriptions import described, file_of
from conformance.tests.test_undescribed import SYSTEM, envelope, error, wallets, without_token
from conformance.traffic.exchange import Exchange, Json


def record(draw: random.Random, **changes: Json) -> dict[str, Json]:
    """A wallet as a portal may show it: some fields are null or left out now and then."""
    whole: dict[str, Json] = {
        "bizId": f"{draw.getrandbits(128):032x}",
        "balance": f"{draw.random():.4f}",
        "limit": draw.choice((1, 2.5)),
        "closedAt": draw.choice((None, "2026-01-01T00:00:00Z")),
        "byCurrency": {draw.choice(("USDT", "BTC")): draw.randrange(9)},
        "tags": ["a"] * draw.randrange(3),
    }
    if draw.random() < 0.5:
        whole["note"] = "x"
    return whole | changes


def listing(draw: random.Random, **changes: Json) -> Json:
    page = {
        "totalPages": 1, "totalRecords": 6, "currentPage": 0, "pageSize": 6,
        "hasNext": False, "empty": False, "paginated": True,
    }  # fmt: skip
    return envelope(data={"items": [record(draw, **changes) for _ in range(6)], "pagination": page})


def traffic(seed: int, **changes: Json) -> list[Exchange]:
    """A day of a portal; ``changes`` are those of its records."""
    draw = random.Random(seed)
    exchanges = []
    for _ in range(6):
        id, code = f"{draw.getrandbits(128):032x}", draw.choice(("usdt", "btc", "eth"))
        currencies = [{"code": name, "label": name.title()} for name in ("usdt", "btc", "eth")]
        exchanges += [
            wallets(listing(draw, **changes), url=f"{SYSTEM}/wallets/query?page={draw.randrange(3)}"),
            wallets(envelope(data=record(draw, **changes)), url=f"{SYSTEM}/wallets/{id}"),
            wallets(envelope(data=[]), url=f"{SYSTEM}/wallets/{id}/history/{draw.randrange(99)}"),
            wallets(error(), status=404, url=f"{SYSTEM}/wallets/unknown-{id}"),
            wallets(envelope(data=currencies), url=f"{SYSTEM}/currencies"),
            wallets(envelope(data={"code": code, "networks": 2}), url=f"{SYSTEM}/currencies/{code}/networks"),
            wallets(
                envelope(data=None), url=f"{SYSTEM}/roles/create", sent={"roleName": "x" * draw.randrange(9)}
            ),
            without_token(wallets(error("ACCESS.TOKEN_MISSING"), status=401, url=f"{SYSTEM}/currencies")),
        ]
    return [replace(exchange, n=number) for number, exchange in enumerate(exchanges, 1)]


def learned(folder: Path, *exchanges: Exchange) -> dict[str, Json]:
    out = folder / "learned.json"
    out.unlink(missing_ok=True)
    (folder / "day.jsonl").unlink(missing_ok=True)
    assert main(["describe", str(written(folder / "day.jsonl", *exchanges)), "--out", str(out)]) == 0
    return json.loads(out.read_text())  # type: ignore[no-any-return]


def drift(folder: Path, *exchanges: Exchange) -> set[tuple[str, str]]:
    (folder / "later.jsonl").unlink(missing_ok=True)
    options = CheckOptions(out=folder / "out", described=described_by([folder / "learned.json"]))
    run = check([written(folder / "later.jsonl", *exchanges)], options).run
    assert run.findings == []
    return {(row.requirement.removeprefix("LEARNED-"), row.path.partition("[")[0]) for row in run.deviations}


def test_what_is_learned_has_templates_and_types_and_no_value(tmp_path: Path) -> None:
    document = learned(tmp_path, *traffic(1))

    validate(document)
    assert [(path, *methods) for path, methods in document["paths"].items()] == [
        ("/web/v1/system/currencies", "get"),
        ("/web/v1/system/currencies/{currencyId}/networks", "get"),
        ("/web/v1/system/roles/create", "post"),
        ("/web/v1/system/wallets/query", "get"),
        ("/web/v1/system/wallets/{walletId}", "get"),
        ("/web/v1/system/wallets/{walletId}/history/{historyId}", "get"),
    ]
    assert document["paths"]["/web/v1/system/currencies"]["get"]["security"] == [{"bearer": []}]
    text = json.dumps(document)
    assert [value for value in ("usdt", "2026", "USDT", "xx", "w-1") if value in text] == []
    one = document["paths"]["/web/v1/system/wallets/{walletId}"]["get"]["responses"]
    data = one["200"]["content"]["application/json"]["schema"]["properties"]["data"]
    assert (one["200"]["x-portal-witnesses"], set(data["properties"]) - set(data["required"])) == (
        6,
        {"note"},
    )
    assert data["properties"]["closedAt"]["type"] == ["null", "string"]
    assert "properties" not in data["properties"]["byCurrency"]


def test_a_word_is_an_id_where_an_answer_shows_it_as_one(tmp_path: Path) -> None:
    ids = ("wal-main", "wal-7", "wal-rest")
    listed = wallets(
        envelope(data=[{"bizId": id, "action": "export"} for id in ids]), url=f"{SYSTEM}/wallets"
    )
    read = [wallets(envelope(data={"bizId": id}), url=f"{SYSTEM}/wallets/{id}") for id in ids]
    word = [
        wallets(envelope(data={"total": 1}), url=f"{SYSTEM}/wallets/{word}") for word in ("export", "sum")
    ]
    reports = [
        wallets(envelope(data=[{"day": 1}]), url=f"{SYSTEM}/reports/{word}") for word in ("a", "b", "c")
    ]

    document = learned(tmp_path, listed, *read, *word, *reports)

    assert [path.removeprefix("/web/v1/system") for path in document["paths"]] == [
        "/reports/a", "/reports/b", "/reports/c",
        "/wallets", "/wallets/export", "/wallets/sum", "/wallets/{walletId}",
    ]  # fmt: skip
    assert [note.partition(": ")[2] for note in document["x-portal-unsure"]] == [
        "segment 5 may be an id, as a, b, c answer alike."
    ]


def test_another_day_of_the_same_portal_shows_no_drift(tmp_path: Path) -> None:
    learned(tmp_path, *traffic(1))

    assert [drift(tmp_path, *traffic(seed)) for seed in (2, 3, 4)] == [set()] * 3


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"balance": 1.5}, {("BODY", "data.balance"), ("BODY", "data.items")}),
        ({"bizId": None}, {("BODY", "data.items")}),  # of the other endpoint too few records were seen
        ({"tags": {}}, {("BODY", "data.tags"), ("BODY", "data.items")}),
        ({"closedAt": "yesterday"}, {("BODY", "data.closedAt"), ("BODY", "data.items")}),
        ({"byCurrency": {"USDT": "1"}}, {("BODY", "data.byCurrency.USDT"), ("BODY", "data.items")}),
    ],
)
def test_a_change_of_a_field_is_drift(tmp_path: Path, changes: Json, expected: set[tuple[str, str]]) -> None:
    learned(tmp_path, *traffic(1))

    assert drift(tmp_path, *traffic(2, **changes)) == expected


@pytest.mark.parametrize(
    "later, expected",
    [
        (lambda: wallets(error(), status=404, url=f"{SYSTEM}/currencies"), ("STATUS", "status")),
        (lambda: wallets(envelope(data=[]), status=201, url=f"{SYSTEM}/currencies"), ("STATUS", "status")),
        (lambda: without_token(wallets(envelope(data=[]), url=f"{SYSTEM}/currencies")), ("TOKEN", "status")),
        (lambda: wallets(envelope(data={}), url=f"{SYSTEM}/currencies"), ("BODY", "data")),
        (lambda: wallets(envelope(data=[{"code": "x"}]), url=f"{SYSTEM}/currencies"), ("BODY", "data")),
    ],
)
def test_another_answer_is_drift(
    tmp_path: Path, later: Callable[[], Exchange], expected: tuple[str, str]
) -> None:
    learned(tmp_path, *traffic(1))

    assert drift(tmp_path, later()) == {expected}


def test_against_says_what_either_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = described(parameters=[{"name": "size", "in": "query"}])
    document["paths"]["/web/v1/system/audit"] = {"get": {"responses": {}}}
    file, day = file_of(tmp_path, document), written(tmp_path / "day.jsonl", *traffic(1))

    assert main(["describe", str(day), "--against", str(file)]) == 0
    shown = capsys.readouterr().out

    first, differs, unseen = shown.split("\n\n")
    assert "GET /web/v1/system/wallets/query: query parameter page, 6 times" in first
    assert "GET /web/v1/system/wallets/{id}: 12 times, statuses 200, 404" in first
    assert "data.bizId: expected a value" in differs
    assert unseen.split("\n")[1:3] == [
        "  GET /web/v1/system/wallets/query: query parameter size",
        "  GET /web/v1/system/audit",
    ]


def test_describe_reads_one_portal_up_to_where_its_file_is_damaged(tmp_path: Path) -> None:
    elsewhere = wallets(envelope(), url="http://other.example.test/web/v1/system/wallets/7")
    day, out = written(tmp_path / "day.jsonl", *traffic(1), elsewhere), tmp_path / "learned.json"
    with day.open("ab") as lines:
        lines.write(b"{broken")
    words = ["describe", str(day), "--out", str(out), "--target", "portal.example.test"]

    assert main(words) == 4
    assert main([*words, "--salvage"]) == 0
    first = out.read_text()
    assert main([*words, "--salvage", "--force"]) == 0
    assert out.read_text() == first
    assert json.loads(first)["paths"]["/web/v1/system/wallets/{walletId}"]["get"]["x-portal-witnesses"] == 12


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ([], "describe needs --out FILE"),
        (["--out", "day.jsonl"], "there is such a file, and a person may have changed it"),
        (["--out", "new.json"], "has no answer of an endpoint that the specification does not describe"),
    ],
)
def test_describe_says_what_it_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], problem: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "day.jsonl", wallets(envelope(), url=f"{SYSTEM}/roles"))

    assert main(["describe", "day.jsonl", *arguments]) == 4
    assert problem in capsys.readouterr().err
