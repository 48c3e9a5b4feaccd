"""Reads OpenAPI 3.0 and 3.1 files.

What cannot be used of a file is noted with its place, and the rest is used. A path that the specification
describes is refused, so that no description weakens a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
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

from conformance.descriptions.documents import document_of
from conformance.descriptions.operations import (
    ACCEPTED,
    LEARNED,
    STATUS,
    BodySchema,
    DescribedAnswer,
    DescribedOperation,
    DescribedParameter,
    Descriptions,
)
from conformance.descriptions.overlays import Overlay
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
    read_overlays = [Overlay(path) for path in overlays]
    notes: list[str] = []
    operations: dict[str, DescribedOperation] = {}
    for path in files:
        document = document_of(path, DESCRIPTION)
        for overlay in read_overlays:
            if overlay.name in ("", path.name):
                document = overlay.apply(document, notes)
        reader = _Reader(path, document)
        for operation in reader.operations():
            first = operations.setdefault(operation.key, operation)
            if first is not operation:
                notes.append(f"{operation.source}: {first.source} describes it already, and is used.")
        notes += reader.closing_notes()
    return Descriptions(list(operations.values()), notes)


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a document, the place where it stands, and the resolver of references in it."""

    value: Json
    place: str
    resolver: Any
    uri: str

    def __getitem__(self, name: str) -> _Node:
        escaped = name.replace("~", "~0").replace("/", "~1")
        inner = self.value.get(name) if isinstance(self.value, dict) else None
        return _Node(inner, f"{self.place}/{escaped}", self.resolver, self.uri)

    @property
    def fields(self) -> Mapping[str, Json]:
        return self.value if isinstance(self.value, dict) else {}

    def children(self) -> Iterator[tuple[str, _Node]]:
        for name in self.fields:
            yield name, self[name]

    def items(self) -> Iterator[_Node]:
        for at, item in enumerate(self.value if isinstance(self.value, list) else []):
            yield _Node(item, f"{self.place}/{at}", self.resolver, self.uri)


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
        registry: Registry[Json] = Registry(retrieve=_beside).with_resource(  # type: ignore[call-arg]
            uri, DRAFT202012.create_resource(self.document)
        )
        self.registry = registry
        self.root = _Node(self.document, f"{self.path}#", registry.resolver(uri), uri)

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
        yield DescribedOperation(
            method,
            path,
            node.place,
            is_hypothesis=status != ACCEPTED,
            is_protected=self._is_protected(node),
            parameters=tuple(self._parameters(item, node)),
            needs_body=body is not None and body.fields.get("required") is True,
            answers=dict(self._answers(node["responses"])),
        )

    def _prefix(self, item: _Node, node: _Node) -> str:
        """The path of the first server, of the operation, its path or the document."""
        for holder in (node, item, self.root):
            for server in holder["servers"].items():
                url = server.fields.get("url")
                if isinstance(url, str):
                    return split_url(url).path.rstrip("/")
        return ""

    def _is_protected(self, node: _Node) -> bool | None:
        """None: nothing is said of it."""
        for holder in (node, self.root):
            security = holder.fields.get("security")
            if isinstance(security, list):
                return bool(security) and {} not in security
        return None

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

    def _answers(self, node: _Node) -> Iterator[tuple[str, DescribedAnswer]]:
        for status, place in node.children():
            answer = None if status.startswith("x-") else self._resolved(place)
            contents = () if answer is None else answer["content"].children()
            schemas = {name.partition(";")[0].strip().lower(): self._schema(each) for name, each in contents}
            if answer is not None:
                yield status.upper() if status != "default" else status, DescribedAnswer(schemas)

    def _schema(self, content: _Node) -> BodySchema | None:
        """The schema of a media type; None without a schema. An invalid schema is noted, and left out."""
        node = content["schema"]
        if node.value is None:
            return None
        try:
            if "$ref" not in node.fields:  # what it leads to is checked once
                self.validator_class.check_schema(node.value)
            reference = {"$ref": f"{node.uri}#{quote(node.place.partition('#')[2])}"}
            validator = self.validator_class(
                reference, registry=self.registry, format_checker=self.format_checker
            )
        except SCHEMA_PROBLEMS as problem:
            self._note(node, f"this schema cannot be used ({_first_line(problem)})")
            return None
        return JsonSchema(validator)

    def _resolved(self, node: _Node) -> _Node | None:
        """The value that a reference stands for, by as many steps as it takes; None, which is noted, where
        there is none."""
        for _ in range(DEEPEST_REFERENCE):
            reference = node.fields.get("$ref")
            if not isinstance(reference, str):
                if isinstance(node.value, dict):
                    return node
                self._note(node, "this is no object")
                return None
            try:
                resolved = node.resolver.lookup(reference)
            except SCHEMA_PROBLEMS:
                self._note(node, f"{reference} leads nowhere")
                return None
            uri, _, pointer = reference.partition("#")
            base = urljoin(node.uri, uri)
            name = self.path if base == self.root.uri else unquote(base.rpartition("/")[2])
            node = _Node(resolved.contents, f"{name}#{pointer}", resolved.resolver, base)
        self._note(node, "this reference leads to itself")
        return None

    def _check_schemas(self) -> None:
        """Notes the shared schemas that are none, and every reference that leads nowhere."""
        for _, node in self.root["components"]["schemas"].children():
            try:
                self.validator_class.check_schema(node.value)
            except SCHEMA_PROBLEMS as problem:
                self._note(node, f"this schema cannot be used ({_first_line(problem)})")
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            reference = node.fields.get("$ref")
            if isinstance(reference, str):
                try:
                    node.resolver.lookup(reference)
                except SCHEMA_PROBLEMS:
                    self._note(node, f"{reference} leads nowhere")
            waiting += [child for name, child in node.children() if name not in ("example", "examples")]
            waiting += node.items()

    def _note(self, node: _Node, problem: str) -> None:
        self.notes[f"{node.place}: {problem}."] = None


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0]


def _beside(uri: str) -> Resource[Json]:
    """A file that a reference names. LookupError, UsageError: it is elsewhere, or is unreadable."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise LookupError(f"{uri} is no file")
    return DRAFT202012.create_resource(document_of(Path(url2pathname(parts.path)), DESCRIPTION))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
