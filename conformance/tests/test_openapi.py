"""The OpenAPI document, held against an independent validator."""

from openapi_spec_validator import OpenAPIV31SpecValidator

from conformance.spec import OPERATIONS
from conformance.spec.openapi import document


def test_the_document_is_valid_openapi_3_1() -> None:
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_every_operation_is_described_and_only_the_prelogin_ones_go_without_a_token() -> None:
    needs_token = {
        f"{method.upper()} {path}": "security" in described
        for path, methods in document()["paths"].items()
        for method, described in methods.items()
    }

    assert needs_token == {operation.key: not operation.is_prelogin for operation in OPERATIONS}
