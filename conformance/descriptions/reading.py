"""Reads OpenAPI 3.0 and 3.1 files.

What cannot be used of a file is noted with its place, and the rest is used. A path that the specification
describes is refused, so that no description weakens a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

from openapi_schema_validator import (
    OAS30ReadValidator,
    OAS31Validator,
    oas30_format_checker,
    oas31_format_checker,
)
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from conformance.descriptions import (
    ACCEPTED,
    LEARNED,
    STATUS,
    Contents,
    DescribedOperation,
    DescribedParameter,
    Descriptions,
    JsonSchema,
    media_type,
)
from conformance.descriptions.documents import change, document_of
from conformance.errors import UsageError
from conformance.spec.endpoints import PORTAL_PATH
from conformance.spec.operations import operation_of
from conformance.traffic.exchange import ABSENT, Json, split_url

DESCRIPTION = "an OpenAPI description"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
SKIPS_SPECIFIED = "x-portal-skip-specified"
"""By this key the author of a file agrees that its paths of the specification are left out."""

MOST_NAMED = 3
DEEPEST_REFERENCE = 40


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
        notes += reader.notes
    return Descriptions(list(operations.values()), notes)


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a document, or ABSENT, and its address: that of the file with a JSON pointer."""

    value: Json
    uri: str

    def __getitem__(self, name: str) -> _Node:
        escaped = quote(name.replace("~", "~0").replace("/", "~1"))
        return _Node(self.fields.get(name, ABSENT), f"{self.uri}/{escaped}")

    @property
    def fields(self) -> Mapping[str, Json]:
        return self.value if isinstance(self.value, dict) else {}

    def children(self) -> Iterator[tuple[str, _Node]]:
        """The members of an object, or the items of an array, by their names."""
        if isinstance(self.value, list):
            yield from ((str(at), _Node(item, f"{self.uri}/{at}")) for at, item in enumerate(self.value))
        for name in self.fields:
            yield name, self[name]


@dataclass
class _Reader:
    """Reads one document, and notes what cannot be used of it."""

    path: Path
    document: dict[str, Json]
    notes: dict[str, None] = field(default_factory=dict)
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
        resource = DRAFT202012.create_resource(self.document)
        self.registry: Registry[Json] = Registry().with_resource(uri, resource)
        self.root = _Node(self.document, f"{uri}#")

    def operations(self) -> list[DescribedOperation]:
        """The operations below ``/web/v1/``. UsageError: a path is the specification's, or none is usable."""
        self._check_schemas()
        operations: list[DescribedOperation] = []
        for template, place in self.root["paths"].children():
            item = self._resolved(place)
            for method in METHODS:
                node = self._resolved(item[method])
                if isinstance(node.value, dict):
                    operations += self._operation(method.upper(), template, item, node)
        if self.specified and self.document.get(SKIPS_SPECIFIED) is not True:
            raise UsageError(
                f"{self.path}: the specification describes {_listed(self.specified)}, and no description may "
                f"weaken its rules. Take out these paths, or write {SKIPS_SPECIFIED}: true at the top of the "
                "file (an overlay can do it): then they are left out."
            )
        if not operations:
            others = f", but {_listed(self.outside)}" if self.outside else ""
            raise UsageError(
                f"{self.path}: it describes no operation below {PORTAL_PATH}{others}. Its servers may name "
                f"how the paths begin (an overlay can do it): servers: [{{url: {PORTAL_PATH.rstrip('/')}}}]."
            )
        if self.outside:
            self.notes[f"{self.path}: not used, as not below {PORTAL_PATH}: {_listed(self.outside)}."] = None
        if self.specified:
            self.notes[f"{self.path}: left to the specification: {_listed(self.specified)}."] = None
        return operations

    def _operation(
        self, method: str, template: str, item: _Node, node: _Node
    ) -> Iterator[DescribedOperation]:
        whole = f"{self._prefix(item, node)}{template}"
        start = whole.find(PORTAL_PATH)
        if start < 0 or not template.startswith("/"):
            self.outside.append(f"{method} {whole}")
            return
        path = whole[start:].rstrip("/")
        if operation_of(method, path) is not None:
            self.specified.append(f"{method} {path}")
            return
        status = node.fields.get(STATUS, self.document.get(STATUS, ACCEPTED))
        if status not in (ACCEPTED, LEARNED):
            self._note(node[STATUS], f"must be {ACCEPTED} or {LEARNED}, and is taken for {LEARNED}")
        security = node.fields.get("security", self.document.get("security"))
        yield DescribedOperation(
            method,
            path,
            self._place(node),
            is_hypothesis=status != ACCEPTED,
            is_protected=bool(security) and {} not in security if isinstance(security, list) else None,
            parameters=tuple(self._parameters(item, node)),
            needs_body=self._resolved(node["requestBody"]).fields.get("required") is True,
            answers=dict(self._answers(node["responses"])),
        )

    def _prefix(self, item: _Node, node: _Node) -> str:
        """The path of the first server, of the operation, its path or the document."""
        holders = (node, item, self.root)
        urls = (server.fields.get("url") for each in holders for _, server in each["servers"].children())
        return next((split_url(url).path.rstrip("/") for url in urls if isinstance(url, str)), "")

    def _parameters(self, item: _Node, node: _Node) -> Iterator[DescribedParameter]:
        read: dict[tuple[str, str], DescribedParameter] = {}
        for _, place in (*item["parameters"].children(), *node["parameters"].children()):
            parameter = self._resolved(place)
            name, at = parameter.fields.get("name"), parameter.fields.get("in")
            if isinstance(name, str) and at in ("path", "query", "header", "cookie"):
                is_required = parameter.fields.get("required") is True
                read[name, at] = DescribedParameter(name, at, is_required, tuple(self._examples(parameter)))
            else:
                self._note(place, "this is no parameter: it lacks name, or in")
        yield from read.values()

    def _examples(self, parameter: _Node) -> Iterator[str | float]:
        """Values that the description of a parameter shows: its examples, its default, its enumeration."""
        for holder in (parameter, self._resolved(parameter["schema"])):
            shown = [holder[name] for name in ("example", "default", "const")]
            shown += [each for name in ("examples", "enum") for _, each in holder[name].children()]
            values = (each.fields.get("value", each.value) for each in shown)
            yield from (value for value in values if isinstance(value, str | int | float))

    def _answers(self, node: _Node) -> Iterator[tuple[str, Contents]]:
        for status, place in node.children():
            if not status.startswith("x-"):
                contents = self._resolved(place)["content"].children()
                schemas = {media_type(name): self._schema(row["schema"]) for name, row in contents}
                yield status.replace("x", "X"), schemas

    def _schema(self, node: _Node) -> JsonSchema | None:
        """A schema of a body; None where there is none. An invalid one is noted, and left out."""
        if node.value is ABSENT or not self._is_schema(node):
            return None
        to_schema, checker = {"$ref": node.uri}, self.format_checker
        return self.validator_class(to_schema, registry=self.registry, format_checker=checker)

    def _is_schema(self, node: _Node) -> bool:
        try:
            self.validator_class.check_schema(node.value)
        except Exception as problem:  # jsonschema raises anything on what is no schema
            self._note(node, f"this schema cannot be used ({str(problem).partition(chr(10))[0]})")
            return False
        return True

    def _resolved(self, node: _Node) -> _Node:
        """The node that the reference of a node leads to, or the node itself without one; ABSENT, which is
        noted, where a reference leads nowhere."""
        for _ in range(DEEPEST_REFERENCE):
            reference = node.fields.get("$ref")
            if not isinstance(reference, str):
                if not isinstance(node.value, dict | bool) and node.value is not ABSENT:
                    self._note(node, "this is no object")  # but a schema may be true or false
                return node
            uri = urljoin(node.uri, reference)
            try:
                node = _Node(self.registry.resolver().lookup(uri).contents, uri)
            except (Unresolvable, ValueError, TypeError):
                self._note(node, f"{reference} leads nowhere within this file")
                return _Node(ABSENT, node.uri)
        self._note(node, "this is a reference that leads to itself")
        return _Node(ABSENT, node.uri)

    def _check_schemas(self) -> None:
        """Notes the shared schemas that are none, and every reference that leads nowhere."""
        for _, node in self.root["components"]["schemas"].children():
            self._is_schema(node)
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if "$ref" in node.fields:
                self._resolved(node)
            waiting += [child for name, child in node.children() if name not in ("example", "examples")]

    def _place(self, node: _Node) -> str:
        return unquote(node.uri).replace(unquote(self.root.uri), f"{self.path}#", 1)

    def _note(self, node: _Node, problem: str) -> None:
        self.notes[f"{self._place(node)}: {problem}."] = None


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
