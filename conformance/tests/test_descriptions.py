"""Descriptions of the user's own: what is read of OpenAPI files, and how traffic is compared with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.check import CheckOptions, check
from conformance.descriptions import Descriptions, described_by
from conformance.errors import UsageError
from conformance.report.across.baseline import accept
from conformance.report.model.run import Run
from conformance.spec import endpoints as op
from conformance.spec.operations import BY_KEY
from conformance.target.profile.model import load
from conformance.tests.reached import MINIMAL
from conformance.tests.replays import written
from conformance.tests.test_undescribed import WALLETS, envelope, error, page, wallets, without_token
from conformance.traffic.exchange import Exchange, Json

PATH = "/web/v1/system/wallets/query"
WALLET: Json = {
    "type": "object",
    "required": ["bizId"],
    "properties": {"bizId": {"type": "string"}, "kind": {"enum": ["HOT", "COLD"]}},
    "additionalProperties": False,
}


def described(path: str = PATH, method: str = "get", **changes: Json) -> dict[str, Json]:
    """A description of one operation whose success has a wallet as its data."""
    body = {"type": "object", "properties": {"data": {"$ref": "#/components/schemas/Wallet"}}}
    operation = {"responses": {"200": {"description": "", "content": {"application/json": {"schema": body}}}}}
    whole = {"openapi": "3.1.0", "info": {"title": "more", "version": "1"}}
    parts = {"paths": {path: {method: operation | changes}}, "components": {"schemas": {"Wallet": WALLET}}}
    return json.loads(json.dumps(whole | parts))  # type: ignore[no-any-return]


def file_of(folder: Path, document: Json, name: str = "more.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def read(folder: Path, document: Json, *overlays: Json, name: str = "more.json") -> Descriptions:
    changes = [file_of(folder, row, f"overlay-{at}.json") for at, row in enumerate(overlays)]
    return described_by([file_of(folder, document, name)], changes)


def compared(folder: Path, document: Json, *exchanges: Exchange, **options: Any) -> Run:
    files = described_by([file_of(folder, document)])
    (folder / "traffic.jsonl").unlink(missing_ok=True)
    traffic = written(folder / "traffic.jsonl", *exchanges)
    return check([traffic], CheckOptions(out=folder / "out", described=files, **options)).run


PROTECTED: dict[str, Json] = {"security": [{"bearer": []}]}


def led_away() -> Exchange:
    exchange = without_token(page(302))
    assert exchange.response is not None
    return replace(exchange, response=replace(exchange.response, headers=[("location", "/login")]))


def deviating(run: Run) -> list[tuple[str, ...]]:
    return [(*row.requirement.split("-"), row.path) for row in run.deviations]


def wallet(**changes: Json) -> Exchange:
    return wallets(envelope(data={"bizId": "w-1", "kind": "HOT"} | changes))


@pytest.mark.parametrize(
    "exchange, changes, rule, path",
    [
        pytest.param(wallet(bizId=7), {}, "BODY", "data.bizId", id="another type"),
        pytest.param(wallet(kind="WARM"), {}, "BODY", "data.kind", id="none of the values"),
        pytest.param(wallet(more=1), {}, "BODY", "data.more", id="a field that is not described"),
        pytest.param(wallets(envelope(data={})), {}, "BODY", "data.bizId", id="no required field"),
        pytest.param(
            wallets(envelope(data={"bizId": "w-1"}), status=201),
            {}, "STATUS", "status", id="another status of success",
        ),
        pytest.param(wallets(error(), status=404), {}, "STATUS", "status", id="a path that is gone"),
        pytest.param(wallets(error("WALLET.FROZEN"), status=409), {}, "STATUS", "status", id="its own error"),
        pytest.param(
            wallets({"detail": "Not Found"}, status=404, url=f"{WALLETS}?page=1"), {},
            "STATUS", "status", id="a framework that has no such path",
        ),
        pytest.param(page(200, "application/xml"), {}, "BODY", "headers.content-type", id="a success in XML"),
        pytest.param(led_away(), PROTECTED, "STATUS", "status", id="led away without a token"),
        pytest.param(
            wallet(), {"parameters": [{"name": "page", "in": "query", "required": True}]},
            "REQUIRED", "request.query.page", id="served without a required parameter",
        ),
        pytest.param(
            wallet(), {"requestBody": {"required": True, "content": {}}},
            "REQUIRED", "request.body", id="served without a required body",
        ),
        pytest.param(
            without_token(wallets(error("ACCESS.TOKEN_MISSING"), status=401)), {"security": []},
            "TOKEN", "status", id="a token asked for where none is needed",
        ),
    ],
)  # fmt: skip
def test_what_differs_has_a_line_of_its_own_and_fails_nothing(
    tmp_path: Path, exchange: Exchange, changes: Json, rule: str, path: str
) -> None:
    run = compared(tmp_path, described(**changes), exchange)

    assert deviating(run) == [("DESCRIBED", rule, path)]
    assert (run.findings, run.summary.fail) == ([], 0)
    for report in ("results.json", "junit.xml", "summary.md", "report.html"):
        text = (tmp_path / "out" / report).read_text().replace("\\", "").replace("<wbr>", "")
        assert f"DESCRIBED-{rule}" in text
    (row,) = run.deviations
    assert row.message.endswith("more.json#/paths/~1web~1v1~1system~1wallets~1query/get")


@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(wallet(), id="as described"),
        pytest.param(wallet(bizId="[token-1]"), id="a redacted value"),
        pytest.param(wallets(error("ACCESS.TOKEN_MISSING"), status=401), id="no token"),
        pytest.param(wallets(error(), status=404, url=f"{WALLETS}?id=7"), id="no such record"),
        pytest.param(wallets(None, status=502, text=b"<h1>"), id="a gateway's error"),
        pytest.param(wallets({"hello": "world"}, status=403), id="an answer of anyone"),
    ],
)
def test_what_description_or_specification_permits_is_silent(tmp_path: Path, exchange: Exchange) -> None:
    assert deviating(compared(tmp_path, described(), exchange)) == []


def test_a_protected_endpoint_that_serves_without_a_token_is_a_contradiction(tmp_path: Path) -> None:
    run = compared(tmp_path, described(**PROTECTED), without_token(wallet()))
    learned = described(**PROTECTED, **{"x-portal-status": "learned"})
    drift = compared(tmp_path, learned, without_token(wallet()))

    assert [(row.requirement, row.verdict) for row in run.findings] == [("AUTHN-001", "fail")]
    assert (drift.findings, deviating(drift)) == ([], [("LEARNED", "TOKEN", "status")])


def test_an_endpoint_that_no_description_has_is_named(tmp_path: Path) -> None:
    run = compared(tmp_path, described(path="/web/v1/system/currencies"), wallet())

    assert f"In no description and answered: GET {PATH}." in run.notes


def test_what_few_values_showed_says_nothing_until_a_person_accepts_it(tmp_path: Path) -> None:
    document = described(**{"x-portal-status": "learned"})
    document["components"]["schemas"]["Wallet"]["x-portal-witnesses"] = 2
    accepted = json.loads(json.dumps(document).replace('"learned"', '"accepted"'))

    hypothesis = compared(tmp_path, document, wallets(envelope(data={})), wallet(kind=1))
    own = compared(tmp_path, accepted, wallets(envelope(data={})))

    assert deviating(hypothesis) == [("LEARNED", "BODY", "data.kind")]
    assert deviating(own) == [("DESCRIBED", "BODY", "data.bizId")]


def test_a_row_of_what_is_known_accepts_a_deviation_by_its_id(tmp_path: Path) -> None:
    run, known = compared(tmp_path, described(), wallet(bizId=7)), tmp_path / "known.toml"
    (row,) = run.deviations

    accept(run, known, [row.id], is_pruned=False, is_stable=lambda difference: True)
    later = compared(tmp_path, described(), wallet(bizId=7), known=known)

    assert later.baseline is not None
    assert [entry.id for entry in later.baseline.known] == [row.id]
    assert "1 of them in the baseline" in (tmp_path / "out" / "summary.md").read_text()


def test_an_alternative_that_is_null_leaves_the_place_of_the_difference(tmp_path: Path) -> None:
    """As frameworks write what may be null."""
    document = described()
    properties = {"data": {"anyOf": [{"$ref": "#/components/schemas/Wallet"}, {"type": "null"}]}}
    answer = document["paths"][PATH]["get"]["responses"]["200"]["content"]["application/json"]
    answer["schema"] = {"type": "object", "properties": properties}

    run = compared(tmp_path, document, wallet(bizId=7), wallets(envelope(data=None)))

    assert deviating(run) == [("DESCRIBED", "BODY", "data.bizId")]


def as_3_0(document: dict[str, Json]) -> Json:
    document["components"]["schemas"]["Wallet"]["properties"]["kind"] |= {"type": "string", "nullable": True}
    return document | {"openapi": "3.0.3"}


def as_yaml(document: dict[str, Json]) -> Json:
    return f"""
openapi: 3.1.0
info: {{title: more, version: 2026-01-01}}
servers: [{{url: 'https://portal.example.test/web/v1'}}]
paths:
  /system/wallets/query:
    get:
      responses:
        200: {{content: {{application/json: {{schema: {json.dumps({"properties": {"data": WALLET}})}}}}}}}
"""


@pytest.mark.parametrize("form", [as_3_0, as_yaml])
def test_each_form_of_a_file_is_read(tmp_path: Path, form: Callable[[dict[str, Json]], Json]) -> None:
    descriptions = read(tmp_path, form(described()))

    assert descriptions.notes == ()
    operation = descriptions.operation_of("GET", f"/prefix{PATH}/")
    assert operation is not None
    run = compared(tmp_path, form(described()), wallet(bizId=7))
    assert deviating(run) == [("DESCRIBED", "BODY", "data.bizId")]


def test_a_concrete_path_comes_before_a_template(tmp_path: Path) -> None:
    document = described("/web/v1/system/wallets/{id}")
    document["paths"][PATH] = {"get": {"responses": {}}}

    descriptions = read(tmp_path, document)

    named = [descriptions.operation_of("GET", f"/web/v1/system/wallets/{id}") for id in ("query", "7", "7/x")]
    assert [row and row.path for row in named] == [PATH, "/web/v1/system/wallets/{id}", None]


def test_what_cannot_be_used_is_named_with_its_place_and_the_rest_is_used(tmp_path: Path) -> None:
    document = described()
    answers = document["paths"][PATH]["get"]["responses"]
    answers["201"] = {"$ref": "#/components/responses/Gone"}
    answers["204"] = {"$ref": "https://example.test/responses.json#/Gone"}
    answers["202"] = {"description": "", "content": {"application/json": {"schema": {"type": "strin"}}}}
    document["paths"]["/elsewhere"] = {"get": {"responses": {}}}

    descriptions = read(tmp_path, document)

    place = f"{tmp_path}/more.json#/paths/~1web~1v1~1system~1wallets~1query/get/responses"
    assert [note.removeprefix(place).partition(" (")[0] for note in descriptions.notes] == [
        "/204: https://example.test/responses.json#/Gone leads nowhere within this file.",
        "/201: #/components/responses/Gone leads nowhere within this file.",
        "/202/content/application~1json/schema: this schema cannot be used",
        f"{tmp_path}/more.json: not used, as not below /web/v1/: GET /elsewhere.",
    ]
    assert [row.key for row in descriptions.operations] == [f"GET {PATH}"]


ROLES = BY_KEY[op.ROLES]


@pytest.mark.parametrize(
    "document, problem",
    [
        ("{", "more.json: cannot be read as JSON or YAML: Expecting property name"),
        ("- a\n- b: c: d", "cannot be read as JSON or YAML: mapping values"),
        ("[1]", "it holds no object"),
        ({"swagger": "2.0"}, "It is Swagger 2.0: convert it."),
        ({"openapi": "3.1.0", "paths": {}}, "describes no operation below /web/v1/"),
        (described("/wallets"), "describes no operation below /web/v1/, but GET /wallets."),
        (described(ROLES.path), f"the specification describes GET {ROLES.path}, and no description may"),
        (described("/web/v1/system/roles/{x}"), "the specification describes GET /web/v1/system/roles/{x}"),
        ("a: &a [*a, *a]", "Circular reference"),
    ],
)
def test_a_file_of_no_use_is_refused_with_what_to_do(tmp_path: Path, document: Json, problem: str) -> None:
    with pytest.raises(UsageError, match="more") as refused:
        read(tmp_path, document)
    assert problem in str(refused.value)


def test_an_author_may_leave_the_specification_its_paths(tmp_path: Path) -> None:
    document = described()
    document["paths"][ROLES.path] = {"get": {"responses": {}}}
    agrees = {"target": "$", "update": {"x-portal-skip-specified": True}}

    descriptions = read(tmp_path, document, overlay(agrees))

    assert [row.key for row in descriptions.operations] == [f"GET {PATH}"]
    assert descriptions.notes == (f"{tmp_path}/more.json: left to the specification: GET {ROLES.path}.",)


def overlay(*actions: Json, **changes: Json) -> Json:
    return {"overlay": "1.0.0", "info": {"title": "", "version": "1"}, "actions": actions} | changes


def test_overlays_change_a_description(tmp_path: Path) -> None:
    document = described("/system/wallets/query")
    document["paths"]["/system/audit"] = {"get": {"responses": {}}}
    actions = (
        {"target": "$", "update": {"servers": [{"url": "/web/v1"}]}},
        {"target": "$.paths['/system/audit']", "remove": True},
        {"target": "$.paths.*.get", "update": {"security": [{"bearer": []}]}},
        {"target": "$.paths.nowhere", "remove": True},
    )

    descriptions = read(tmp_path, document, overlay(*actions), overlay({"target": "$", "update": {}}))
    (operation,) = descriptions.operations

    assert (operation.key, operation.is_protected) == (f"GET {PATH}", True)
    (note,) = descriptions.notes
    assert note.endswith(": action 4 changes nothing: $.paths.nowhere matches no place.")
    for other, problem in (
        (overlay(*actions, extends="other.json"), "describes no operation"),
        (overlay({}), 'action 1 lacks a "target"'),
        ({"actions": []}, "this is not an OpenAPI Overlay"),
    ):
        with pytest.raises(UsageError, match=problem):
            read(tmp_path, document, other)


def test_a_profile_names_descriptions_beside_it(tmp_path: Path) -> None:
    file_of(tmp_path, described())
    profile = tmp_path / "portal.toml"
    profile.write_text(MINIMAL + '\n[extend]\ndescriptions = ["more.json"]\n')

    assert [row.key for row in load(profile).extend.described().operations] == [f"GET {PATH}"]
    shutil.move(tmp_path / "more.json", tmp_path / "gone.json")
    with pytest.raises(UsageError, match=r"more\.json: there is no such file"):
        load(profile).extend.described()
