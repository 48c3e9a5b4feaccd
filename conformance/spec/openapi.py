"""The specification as an OpenAPI 3.1 document, made from the operations and the models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import conformance
from conformance.spec import OPERATIONS, Operation, endpoints
from conformance.spec.requests import REQUESTS
from conformance.spec.resources import RESOURCES
from conformance.spec.tables import ERRORS, LANGUAGES, LIMITS

Json = Any
"""A part of the document."""

TEMPLATE = "#/components/schemas/{model}"

REQUIRED: dict[str, list[str]] = {
    "LoginInitiate": ["email", "password"],
    "SecureSessionCreate": ["keyId", "encReqKey", "encRespKey"],
    "AccountUpdate": ["userBizId"],
    "ChannelDeactivate": ["bizId"],
    "InvitationCreate": ["inviteeEmail"],
}
"""The properties of a request that the specification calls required; of the others it only gives the type."""

QUERIES: dict[str, list[tuple[str, Json]]] = {
    endpoints.TRANSFER_ORDERS: [
        ("startTime", {"type": "string", "format": "date-time"}),
        ("endTime", {"type": "string", "format": "date-time"}),
        ("page", {"type": "integer", "minimum": 0, "default": LIMITS.page}),
        ("size", {"type": "integer", "minimum": 1, "default": LIMITS.size}),
        ("sort", {"type": "string", "examples": ["createdAt,desc"]}),
    ],
    endpoints.OWN_INVITATIONS: [("statuses", {"type": "array", "items": {"type": "integer"}})],
}

BOTH_NAMES = ("LoginInitiated", "LoginCompleted")
"""Resources whose ``pendingApproval`` the document also calls ``isPendingApproval``."""


def document(server: str = "/") -> dict[str, Json]:
    """The whole document. What the specification leaves open stays open: no schema, ``default`` answers."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "System Portal Web API",
            "version": "2.0.0",
            "x-suite": f"portal-conformance {conformance.__version__}",
        },
        "servers": [{"url": server}],
        "tags": [{"name": name} for name in dict.fromkeys(operation.group for operation in OPERATIONS)],
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "parameters": _parameters(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Error": {"description": "An error", "content": _json({"$ref": "#/components/schemas/Error"})}
            },
        },
    }


def _operation(operation: Operation) -> dict[str, Json]:
    words = operation.path.translate(SEPARATORS).split()
    described: dict[str, Json] = {
        "operationId": operation.method.lower() + "".join(word.title() for word in words),
        "tags": [operation.group],
        "parameters": _parameters_of(operation),
        "responses": {
            "2XX": {"description": "Success", "content": _json(_success(operation))},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if operation.auth != "none":
        described["security"] = [{"bearer": []}]
    if operation.request:
        required = operation.encrypted or operation.request in REQUIRED
        described["requestBody"] = {"required": required, "content": _json(_body(operation))}
    return described


SEPARATORS = str.maketrans("/-{}", "    ")


def _parameters_of(operation: Operation) -> list[Json]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in operation.parameters
    ]
    in_query = [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in QUERIES.get(operation.key, [])
    ]
    return [*in_path, *in_query, *({"$ref": f"#/components/parameters/{name}"} for name in _parameters())]


def _parameters() -> dict[str, Json]:
    text: Json = {"type": "string"}
    header: Json = {"in": "header", "required": False, "schema": text}
    return {
        "AccessCode": header | {"name": "X-PORTAL-ACCESS-CODE", "required": True},
        "ClientHash": header | {"name": "X-Client-Hash"},
        "RequestId": header | {"name": "X-Request-Id"},
        "Language": header | {"name": "Accept-Language", "schema": text | {"examples": list(LANGUAGES)}},
    }


def _body(operation: Operation) -> Json:
    if operation.encrypted:
        return {"type": "string", "description": "A JSON string whose content is an object with v and p."}
    return {"$ref": TEMPLATE.format(model=operation.request)}


def _success(operation: Operation) -> Json:
    envelope: Json = {"$ref": "#/components/schemas/Success"}
    if operation.data is None:
        return envelope
    name = operation.data.removesuffix("[]")
    model = RESOURCES[name]
    item: Json = {} if model is Any else {"$ref": TEMPLATE.format(model=model.__name__)}
    data = {"type": "array", "items": item} if operation.data.endswith("[]") else item
    return {"allOf": [envelope, {"properties": {"data": data}, "required": ["data"]}]}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _schemas() -> dict[str, Json]:
    schemas = _of([each for each in dict.fromkeys(RESOURCES.values()) if each is not Any])
    schemas |= _of(list(REQUESTS.values()))
    for name, required in REQUIRED.items():
        schemas[name]["required"] = required
    for name in REQUESTS.keys() - REQUIRED.keys():
        schemas[name].pop("required", None)
    for name in BOTH_NAMES:
        _allow_both_names(schemas[name])
    return schemas | {"Success": _envelope(success=True), "Error": _envelope(success=False)}


def _of(models: list[type[BaseModel]]) -> dict[str, Json]:
    _, schema = models_json_schema([(model, "validation") for model in models], ref_template=TEMPLATE)
    definitions: dict[str, Json] = schema.get("$defs", {})
    return {name: _clean(definition) for name, definition in definitions.items()}


def _clean(schema: Json) -> Json:
    """Removes titles from a schema, and renames requirement ids to an extension."""
    if isinstance(schema, list):
        return [_clean(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: _clean(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }
    if "requirement" in kept:
        kept["x-requirement"] = kept.pop("requirement")
    return kept


def _allow_both_names(schema: Json) -> None:
    first, second = "pendingApproval", "isPendingApproval"
    schema["properties"][second] = schema["properties"][first]
    schema["required"] = [name for name in schema["required"] if name != first]
    schema["anyOf"] = [{"required": [first]}, {"required": [second]}]


def _envelope(*, success: bool) -> Json:
    codes: Json = {"type": "string"} if not success else {"type": "string", "const": "2000"}
    properties: dict[str, Json] = {
        "version": {"type": ["string", "null"]},
        "timestamp": {"type": ["integer", "null"], "description": "Epoch milliseconds"},
        "success": {"type": "boolean", "const": success},
        "code": codes if success else {"type": "string", "examples": [row.code for row in ERRORS]},
        "message": {"type": "string"},
    }
    if not success:
        properties["data"] = {"type": "null"}
    return {"type": "object", "properties": properties, "required": ["success", "code", "message"]}
