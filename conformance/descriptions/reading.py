"""Reads OpenAPI 3.0 and 3.1 files.

What cannot be used of a file is noted with its place, and the rest is used. A path that the specification
describes is refused, so that no description weakens a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit
from urllib.request import url2pathname

from jsonschema.exceptions import SchemaError, UnknownType  # type: ignore[import-untyped]
from openapi_schema_validator import (
    OAS30ReadValidator,
    OAS31Validator,
    oas30_format_checker,
    oas31_format_checker,
)
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from conformance.descriptions.documents import change, document_of
from conformance.descriptions.operations import (
    ACCEPTED,
    LEARNED,
    STATUS,
    Contents,
    DescribedOperation,
    DescribedParameter,
    Descriptions,
)
from conformance.descriptions.schema_errors import JsonSchema
from conformance.errors import UsageError
from conformance.spec.endpoints import PORTAL_PATH
from conformance.spec.operations import operation_of
from conformance.traffic.exchange import Json, split_url

DESCRIPTION = "an OpenAPI description"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
SKIPS_SPECIFIED = "x-portal-skip-specified"
"""By this key the author of a file agrees that its paths of the specification are left out."""

MOST_NAMED = 3
DEEPEST_REFERENCE = 40
SCHEMA_PROBLEMS = (SchemaError, UnknownType, Unresolvable, ValueError, RecursionError, TypeError)
"""What a schema that is none may raise."""


def read(files: Sequence[Path], overlays: Sequence[Path] = ()) -> Descriptions:
    """The operations of some files; of two with one method and path, the first. UsageError."""
    notes: list[str] = []
    operations: dict[str, DescribedOperation] = {}
    for path in files:
        document = document_of(path, DESCRIPTION)
        for overlay in overlays:
            change(document, overlay, name=path.name, notes=notes)
        reader = _Reader(path, document)
        for operation in reader.operations():
            first = operations.setdefault(operation.key, operation)
            if first is not operation:
                notes.append(f"{operation.source}: {first.source} describes it already, and is used.")
        notes += reader.closing_notes()
    return Descriptions(list(operations.values()), notes)


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a document, and its address: that of the file with a JSON pointer."""

    value: Json
    uri: str

    def __getitem__(self, name: str) -> _Node:
        escaped = quote(name.replace("~", "~0").replace("/", "~1"))
        return _Node(self.fields.get(name), f"{self.uri}/{escaped}")

    @property
    def fields(self) -> Mapping[str, Json]:
        return self.value if isinstance(self.value, dict) else {}

    def children(self) -> Iterator[tuple[str, _Node]]:
        for name in self.fields:
            yield name, self[name]

    def items(self) -> Iterator[_Node]:
        for at, item in enumerate(self.value if isinstance(self.value, list) else []):
            yield _Node(item, f"{self.uri}/{at}")


@dataclass
class _Reader:
    """Reads one document, and notes what cannot be used of it."""

    path: Path
    document: dict[str, Json]
    notes: dict[str, None] = field(default_factory=dict)
    count: int = 0
    outside: list[str] = field(default_factory=list)
    specified: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        version = str(self.document.get("openapi", ""))
        if not version.startswith(("3.0", "3.1")):
            other = "It is Swagger 2.0: convert it." if "swagger" in self.document else ""
            raise UsageError(f'{self.path}: this is not {DESCRIPTION} ("openapi": "3.0…" or "3.1…"). {other}')
        is_3_0 = version.startswith("3.0")
        self.validator_class = OAS30ReadValidator if is_3_0 else OAS31Validator
        self.format_checker = oas30_format_checker if is_3_0 else oas31_format_checker
        uri = self.path.resolve().as_uri()
        registry: Registry[Json] = Registry(retrieve=_beside)  # type: ignore[call-arg]
        self.registry = registry.with_resource(uri, DRAFT202012.create_resource(self.document))
        self.root = _Node(self.document, f"{uri}#")

    def operations(self) -> Iterator[DescribedOperation]:
        """The operations below ``/web/v1/``. UsageError: a path is the specification's, or none is usable."""
        self._check_schemas()
        for template, place in self.root["paths"].children():
            item = self._resolved(place)
            for method, node in () if item is None else item.children():
                if item is not None and method in METHODS:
                    yield from self._operation(method.upper(), template, item, node)
        if self.specified and self.document.get(SKIPS_SPECIFIED) is not True:
            raise UsageError(
                f"{self.path}: the specification describes {_listed(self.specified)}, and no description may "
                f"weaken its rules. Take out these paths, or write {SKIPS_SPECIFIED}: true at the top of the "
                "file (an overlay can do it): then they are left out."
            )
        if not self.count:
            others = f", but {_listed(self.outside)}" if self.outside else ""
            raise UsageError(
                f"{self.path}: it describes no operation below {PORTAL_PATH}{others}. Its servers may name "
                f"how the paths begin (an overlay can do it): servers: [{{url: {PORTAL_PATH.rstrip('/')}}}]."
            )

    def closing_notes(self) -> Iterator[str]:
        yield from self.notes
        if self.outside:
            yield f"{self.path}: not used, as not below {PORTAL_PATH}: {_listed(self.outside)}."
        if self.specified:
            yield f"{self.path}: left to the specification: {_listed(self.specified)}."

    def _operation(
        self, method: str, template: str, item: _Node, node: _Node
    ) -> Iterator[DescribedOperation]:
        if not isinstance(node.value, dict):
            self._note(node, "this is no operation")
            return
        whole = f"{self._prefix(item, node)}{template}"
        start = whole.find(PORTAL_PATH)
        if start < 0 or not template.startswith("/"):
            self.outside.append(f"{method} {whole}")
            return
        path = whole[start:].rstrip("/")
        if operation_of(method, path) is not None:
            self.specified.append(f"{method} {path}")
            return
        self.count += 1
        status = node.fields.get(STATUS, self.document.get(STATUS, ACCEPTED))
        if status not in (ACCEPTED, LEARNED):
            self._note(node[STATUS], f"must be {ACCEPTED} or {LEARNED}, and is taken for {LEARNED}")
        body = self._resolved(node["requestBody"]) if "requestBody" in node.fields else None
        security = node.fields.get("security", self.document.get("security"))
        yield DescribedOperation(
            method,
            path,
            self._place(node),
            is_hypothesis=status != ACCEPTED,
            is_protected=bool(security) and {} not in security if isinstance(security, list) else None,
            parameters=tuple(self._parameters(item, node)),
            needs_body=body is not None and body.fields.get("required") is True,
            answers=dict(self._answers(node["responses"])),
        )

    def _prefix(self, item: _Node, node: _Node) -> str:
        """The path of the first server, of the operation, its path or the document."""
        servers = (server for holder in (node, item, self.root) for server in holder["servers"].items())
        urls = (server.fields.get("url") for server in servers)
        return next((split_url(url).path.rstrip("/") for url in urls if isinstance(url, str)), "")

    def _parameters(self, item: _Node, node: _Node) -> Iterator[DescribedParameter]:
        read: dict[tuple[str, str], DescribedParameter] = {}
        for place in (*item["parameters"].items(), *node["parameters"].items()):
            parameter = self._resolved(place)
            if parameter is None:
                continue
            name, at = parameter.fields.get("name"), parameter.fields.get("in")
            if not isinstance(name, str) or at not in ("path", "query", "header", "cookie"):
                self._note(place, "this is no parameter: it lacks name, or in")
                continue
            is_required = parameter.fields.get("required") is True
            read[name, at] = DescribedParameter(name, at, is_required, tuple(self._examples(parameter)))
        yield from read.values()

    def _examples(self, parameter: _Node) -> Iterator[Json]:
        """Values that the description of a parameter shows: its examples, its default, its enumeration."""
        schema = self._resolved(parameter["schema"]) if "schema" in parameter.fields else None
        for holder in (parameter, parameter if schema is None else schema):
            yield from (
                holder.fields[name] for name in ("example", "default", "const") if name in holder.fields
            )
            yield from (item.value for name in ("examples", "enum") for item in holder[name].items())
            shown = (example.fields for _, example in holder["examples"].children())
            yield from (example["value"] for example in shown if "value" in example)

    def _answers(self, node: _Node) -> Iterator[tuple[str, Contents]]:
        for status, place in node.children():
            answer = None if status.startswith("x-") else self._resolved(place)
            if answer is not None:
                contents = answer["content"].children()
                schemas = {
                    name.partition(";")[0].strip().lower(): self._schema(row) for name, row in contents
                }
                yield status.upper() if status != "default" else status, schemas

    def _schema(self, content: _Node) -> JsonSchema | None:
        """The schema of a media type; None without a schema. An invalid schema is noted, and left out."""
        node = content["schema"]
        is_checked_once = "$ref" in node.fields  # as what it leads to
        if node.value is None or not (is_checked_once or self._is_schema(node)):
            return None
        return JsonSchema(
            self.validator_class(
                {"$ref": node.uri}, registry=self.registry, format_checker=self.format_checker
            )
        )

    def _is_schema(self, node: _Node) -> bool:
        try:
            self.validator_class.check_schema(node.value)
        except SCHEMA_PROBLEMS as problem:
            self._note(node, f"this schema cannot be used ({str(problem).partition(chr(10))[0]})")
            return False
        return True

    def _resolved(self, node: _Node) -> _Node | None:
        """The object that a reference stands for, by as many steps as it takes; None, which is noted, where
        there is none."""
        found: _Node | None = node
        for _ in range(DEEPEST_REFERENCE):
            if found is None or not isinstance(found.fields.get("$ref"), str):
                break
            node, found = found, self._referenced(found)
        if found is None or (isinstance(found.value, dict) and "$ref" not in found.fields):
            return found
        self._note(node, "this is no object, or a reference that leads to itself")
        return None

    def _referenced(self, node: _Node) -> _Node | None:
        """What a reference leads to; None, which is noted, where that is nowhere."""
        reference = node.fields["$ref"]
        uri = urljoin(node.uri, reference)
        try:
            return _Node(self.registry.resolver().lookup(uri).contents, uri)
        except SCHEMA_PROBLEMS:
            self._note(node, f"{reference} leads nowhere")
            return None

    def _check_schemas(self) -> None:
        """Notes the shared schemas that are none, and every reference that leads nowhere."""
        for _, node in self.root["components"]["schemas"].children():
            self._is_schema(node)
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node.fields.get("$ref"), str):
                self._referenced(node)
            waiting += [child for name, child in node.children() if name not in ("example", "examples")]
            waiting += node.items()

    def _place(self, node: _Node) -> str:
        return unquote(node.uri).replace(unquote(self.root.uri), f"{self.path}#", 1)

    def _note(self, node: _Node, problem: str) -> None:
        self.notes[f"{self._place(node)}: {problem}."] = None


def _beside(uri: str) -> Resource[Json]:
    """A file that a reference names. LookupError, UsageError: it is elsewhere, or is unreadable."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise LookupError(f"{uri} is no file")
    return DRAFT202012.create_resource(document_of(Path(url2pathname(parts.path)), DESCRIPTION))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
