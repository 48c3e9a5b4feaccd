"""The OpenAPI document, held against an independent validator."""

from openapi_spec_validator import OpenAPIV31SpecValidator

from conformance.spec import OPERATIONS
from conformance.spec.openapi import document


def test_the_document_is_valid_openapi_3_1() -> None:
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_the_document_describes_every_operation() -> None:
    paths = document()["paths"]

    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}

    assert described == {operation.key for operation in OPERATIONS}


def test_only_the_prelogin_endpoints_go_without_a_token() -> None:
    paths = document()["paths"]

    bare = {
        operation.key
        for operation in OPERATIONS
        if "security" not in paths[operation.path][operation.method.lower()]
    }

    assert bare == {operation.key for operation in OPERATIONS if operation.is_prelogin}


def test_operation_ids_are_unique() -> None:
    ids = [
        operation["operationId"] for methods in document()["paths"].values() for operation in methods.values()
    ]

    assert len(ids) == len(set(ids)) == len(OPERATIONS)
