"""A learned description as an OpenAPI 3.1 document: a hypothesis, until a person accepts it."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.descriptions.operations import LEARNED, STATUS, WITNESSES
from conformance.learning.learner import ID, LearnedAnswer, LearnedOperation, Learner
from conformance.traffic.exchange import Json

HINT = (
    "Learned from traffic. What differs from it fails nothing until x-portal-status is accepted: at the top "
    "for all operations, or within one."
)
BEARER: Json = [{"bearer": []}]


def document_of(learner: Learner) -> dict[str, Json]:
    """The OpenAPI document of the learned operations, without values of the traffic."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in sorted(learner.operations.values(), key=lambda each: (each.path, each.method)):
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
    first, *others = [part for part in word.replace("_", "-").replace(".", "-").split("-") if part]
    name = first[0].lower() + first[1:] + "".join(part.title() for part in others)
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def _operation(operation: LearnedOperation, template: str, names: list[str]) -> dict[str, Json]:
    words = template.translate(str.maketrans("/-_.{}", "      ")).split()[2:]
    described: dict[str, Json] = {
        "operationId": operation.method.lower() + "".join(word[0].upper() + word[1:] for word in words),
        WITNESSES: operation.witnesses,
        "parameters": [*_in_path(names), *_in_query(operation)],
        "responses": {
            str(status): _answer(status, answer) for status, answer in sorted(operation.answers.items())
        },
    }
    if operation.refused_without_token or operation.served_without_token:
        described["security"] = BEARER if not operation.served_without_token else []
    if operation.body.witnesses:
        described["requestBody"] = {"content": {"application/json": {"schema": operation.body.schema()}}}
    return described


def _in_path(names: list[str]) -> Iterator[Json]:
    for name in names:
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(operation: LearnedOperation) -> Iterator[Json]:
    """No parameter is taken for a required one: that it was always sent does not show it."""
    for name, shape in operation.query.items():
        yield {"name": name, "in": "query", "required": False, "schema": shape.schema()}


def _answer(status: int, answer: LearnedAnswer) -> dict[str, Json]:
    schema = {"schema": answer.shape.schema()} if answer.shape.witnesses else {}
    described: dict[str, Json] = {"description": _words(status), WITNESSES: answer.witnesses}
    if status < 300 and answer.media_types:
        content = {name: schema if "json" in name else {} for name in sorted(answer.media_types)}
        described["content"] = content
    return described


def _words(status: int) -> str:
    return "Success" if status < 300 else "A redirection" if status < 400 else "A refusal"
