"""A learned description as an OpenAPI 3.1 document, a hypothesis until a person accepts it; and what traffic
and a description show of each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.descriptions import Descriptions
from conformance.descriptions.operations import LEARNED, STATUS, DescribedOperation
from conformance.descriptions.schema_errors import WITNESSES
from conformance.learning.learner import ID, LearnedOperation, Learner
from conformance.learning.shapes import LearnedShape
from conformance.traffic.exchange import Json

HINT = (
    "Learned from traffic. What differs from it fails nothing until x-portal-status is accepted: at the top "
    "for all operations, or within one."
)
BEARER: Json = [{"bearer": []}]


def document_of(learner: Learner) -> dict[str, Json]:
    """The OpenAPI document of the learned operations, without values of the traffic."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in learner.by_path():
        template, names = _named(operation.path)
        paths.setdefault(template, {})[operation.method.lower()] = _operation(operation, template, names)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Endpoints of a portal", "version": "1", "description": HINT},
        STATUS: LEARNED,
        "x-portal-unsure": learner.unsure,
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _named(path: str) -> tuple[str, list[str]]:
    """A path template whose parameters are named after the segment before each, and the parameters' names."""
    segments = path.strip("/").split("/")
    names: list[str] = []
    for at, segment in enumerate(segments):
        if segment == ID:
            before = segments[at - 1] if at and "{" not in segments[at - 1] else ""
            name = f"{_singular(before)}Id" if before else "id"
            name = name if name not in names else f"{name}{len(names) + 1}"
            names.append(name)
            segments[at] = f"{{{name}}}"
    return f"/{'/'.join(segments)}", names


def _singular(word: str) -> str:
    name = re.sub(r"[-_.]+(\w)", lambda match: match[1].upper(), word.strip("-_."))
    name = name[:1].lower() + name[1:]
    return f"{name[:-3]}y" if name.endswith("ies") else re.sub(r"(?<!s)s\Z", "", name)


def _operation(operation: LearnedOperation, template: str, names: list[str]) -> dict[str, Json]:
    words = template.translate(str.maketrans("/-_.{}", "      ")).split()[2:]
    described: dict[str, Json] = {
        "operationId": operation.method.lower() + "".join(word[0].upper() + word[1:] for word in words),
        WITNESSES: operation.traffic.witnesses,
        "parameters": list(_parameters(operation, names)),
        "responses": {
            status: _answer(status, answer) for status, answer in sorted(operation.answers.items())
        },
    }
    if operation.without_token:
        described["security"] = BEARER if not operation.without_token[True] else []
    if operation.body.witnesses:
        described["requestBody"] = {"content": {"application/json": {"schema": operation.body.schema()}}}
    return described


def _parameters(operation: LearnedOperation, names: list[str]) -> Iterator[Json]:
    """No parameter of a query is taken for a required one: that it was always sent does not show it."""
    for name in names:
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name, shape in operation.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": shape.schema()}


def _answer(status: str, answer: LearnedShape) -> dict[str, Json]:
    content = {
        name: {"schema": shape.schema()} if "json" in name and shape.kinds else {}
        for name, shape in sorted(answer.fields.items())
    }
    described = {"description": f"An answer with status {status}", WITNESSES: answer.witnesses}
    return described | ({"content": content} if content else {})


def compared(learner: Learner, descriptions: Descriptions) -> tuple[list[str], list[str]]:
    """What traffic shows and no description has, and what descriptions have and no traffic shows."""
    lacking, unseen = [], []
    shown: dict[str, set[tuple[str, str]]] = {}
    for operation in learner.by_path():
        described = descriptions.operation_of(operation.method, operation.example)
        if described is None:
            statuses = ", ".join(sorted(operation.answers))
            lacking.append(f"{operation.key}: {_times(operation.traffic)}, statuses {statuses}")
            continue
        shown.setdefault(described.key, set()).update(operation.parts)
        for (kind, name), shape in operation.parts.items():
            is_general = kind == "status" and described.contents_for(int(name)) is not None
            if not is_general and (kind, name) not in _parts(described):
                lacking.append(f"{described.key}: {kind} {name}, {_times(shape)}")
    for described in descriptions.operations:
        if described.key not in shown:
            unseen.append(described.key)
            continue
        parts = (part for part in _parts(described) if part not in shown[described.key])
        unseen += [f"{described.key}: {kind} {name}" for kind, name in parts]
    return lacking, unseen


def _parts(described: DescribedOperation) -> list[tuple[str, str]]:
    statuses = [("status", name) for name in described.answers if name.isdecimal()]
    return statuses + [("query parameter", row.name) for row in described.parameters if row.place == "query"]


def _times(shape: LearnedShape) -> str:
    return "once" if shape.witnesses == 1 else f"{shape.witnesses:,} times"
