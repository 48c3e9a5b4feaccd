"""The OpenAPI document, held against an independent validator, and a visit of the portal held against it."""

from collections.abc import Iterator
from pathlib import Path

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from conformance.spec import OPERATIONS
from conformance.spec.endpoints import LOGOUT, PROFILE
from conformance.spec.openapi import document
from conformance.tests.replays import recorded
from conformance.tests.scripted_client import Walker
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json


def test_the_document_is_valid_openapi_3_1() -> None:
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_every_operation_is_described_and_only_the_prelogin_ones_go_without_a_token() -> None:
    needs_token = {
        f"{method.upper()} {path}": "security" in described
        for path, methods in document()["paths"].items()
        for method, described in methods.items()
    }

    assert needs_token == {operation.key: not operation.is_prelogin for operation in OPERATIONS}


def objections(recording: Path) -> Iterator[str]:
    """What a validator of schemas says of recorded answers, and of the requests that were accepted."""
    described = document()
    for exchange in capture.read(recording):
        for schema, body in described_bodies(exchange, described):
            for error in OAS31Validator({**described, "$ref": schema}).iter_errors(body):
                yield f"{exchange.request.method} {exchange.request.path} {error.json_path} {error.message}"


def described_bodies(exchange: Exchange, described: Json) -> Iterator[tuple[str, Json]]:
    """The references to the schemas of an exchange's bodies, and the bodies."""
    operation = exchange.request.operation
    if operation is None or exchange.response is None:
        return
    path, method = operation.path.replace("/", "~1"), operation.method.lower()
    place, content = f"#/paths/{path}/{method}", "content/application~1json/schema"
    if not exchange.success:
        yield f"#/components/responses/Error/{content}", exchange.response.body
        return
    yield f"{place}/responses/2XX/{content}", exchange.response.body
    is_described = "requestBody" in described["paths"][operation.path][method]
    if is_described and exchange.request.body is not ABSENT:
        yield f"{place}/requestBody/{content}", exchange.request.body


def test_what_the_reference_portal_answers_fits_the_document(recording: Path) -> None:
    assert list(objections(recording)) == []


def test_what_contradicts_the_document_does_not_fit_it(tmp_path: Path) -> None:
    faults = ["account-biz-id-number", "logout-terminated-sessions-missing"]
    recording = recorded(tmp_path / "traffic.jsonl", Walker.visit, faults=faults)

    objected = {line.partition(" $.data")[0] for line in objections(recording)}
    assert objected >= {PROFILE, LOGOUT}
