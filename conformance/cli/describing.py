"""The work of describe: learns an OpenAPI 3.1 description from recorded traffic, a hypothesis until a person
accepts it; or says what traffic and a description show of each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.check.traffic import CheckOptions, PortalTraffic
from conformance.cli.command import Options
from conformance.cli.layout import print_line
from conformance.descriptions import (
    LEARNED,
    STATUS,
    WITNESSES,
    DescribedOperation,
    Descriptions,
    described_by,
)
from conformance.errors import UsageError
from conformance.judging.described import judge_described
from conformance.learning import ID, LearnedOperation, LearnedShape, Learner
from conformance.report.formats.finding_text import expectation
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.spec import REQUIREMENTS
from conformance.traffic.capture.places import matching, place_of
from conformance.traffic.exchange import Json
from conformance.traffic.replacing import replace_file
from conformance.verdicts.findings import Finding, Ledger

HINT = (
    "Learned from traffic. What differs from it fails nothing until x-portal-status is accepted: at the top "
    "for all operations, or within one."
)


def describe(options: Options) -> None:
    """Writes the description that traffic shows, and compares traffic with others."""
    if options.out is None and not options.against:
        raise UsageError("describe needs --out FILE, to write a description, or --against FILE, to compare.")
    if options.out is not None and options.out.exists() and not options.force:
        raise UsageError(
            f"--out {options.out}: there is such a file, and a person may have changed it. Name another one, "
            "or replace it with --force."
        )
    descriptions = described_by(options.against)
    places = [place_of(path) for text in options.files for path in matching(str(text))]
    asked = CheckOptions(target=options.target, salvage=options.salvage)
    learner, ledger = Learner(), Ledger(REQUIREMENTS)
    for exchange in PortalTraffic(places, asked):
        learner.add(exchange)
        judge_described(descriptions, exchange, ledger)
    learner.conclude()
    if options.out is not None:
        _write(learner, options.out)
    if options.against:
        _compare(learner, descriptions, ledger.deviations)


def _write(learner: Learner, out: Path) -> None:
    if not learner.operations:
        raise UsageError(
            "describe: the traffic has no answer of an endpoint that the specification does not describe."
        )
    try:
        replace_file(out, json.dumps(_document_of(learner), indent=2, ensure_ascii=False) + "\n")
    except OSError as refused:
        raise UsageError(f"--out {out}: cannot be written ({refused.strerror}). Choose another.") from None
    print_line(f"{out}: {plural(len(learner.operations), 'endpoint')}, learned from traffic.")
    _print("Look at these:", learner.unsure)
    print_line("Compare traffic with it: portal-conformance check FILE --description " + str(out))


def _compare(learner: Learner, descriptions: Descriptions, deviations: dict[str, Finding]) -> None:
    differing = (
        f"{row.endpoint}: {row.path}: expected {expectation(row.expected)}"
        for row in deviations.values()
        if row.path != "status"
    )
    lacking, unseen = _compared(learner, descriptions)
    _print("Traffic shows, and the description lacks:", lacking)
    _print("Traffic differs from the description:", differing)
    _print("The description has, and no traffic shows:", unseen)
    _print("Not used of the description:", descriptions.notes)


def _print(title: str, lines: Iterable[str]) -> None:
    for at, line in enumerate(lines):
        if at == 0:
            print_line(f"\n{title}")
        print_line(f"  {one_line(line, 400)}")


def _document_of(learner: Learner) -> dict[str, Json]:
    """The OpenAPI document of the learned operations, without values of the traffic."""
    paths: dict[str, dict[str, Json]] = {}
    for operation in learner.by_path():
        template, names = _named(operation.path)
        paths.setdefault(template, {})[operation.method.lower()] = _operation(operation, names)
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


def _operation(operation: LearnedOperation, names: list[str]) -> dict[str, Json]:
    described: dict[str, Json] = {
        WITNESSES: operation.traffic.witnesses,
        "parameters": list(_parameters(operation, names)),
        "responses": {
            status: _answer(status, answer) for status, answer in sorted(operation.answers.items())
        },
    }
    if operation.without_token:
        described["security"] = [] if operation.without_token[True] else [{"bearer": []}]
    body = operation.traffic.part("body")
    if body.witnesses:
        described["requestBody"] = {"content": {"application/json": {"schema": body.schema()}}}
    return described


def _parameters(operation: LearnedOperation, names: list[str]) -> Iterator[Json]:
    """Query parameters are optional: traffic that always sends one does not show that it is required."""
    for name in names:
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name, shape in operation.traffic.part("query").fields.items():
        yield {"name": name, "in": "query", "required": False, "schema": shape.schema()}


def _answer(status: str, answer: LearnedShape) -> dict[str, Json]:
    content = {
        name: {"schema": shape.schema()} if "json" in name and shape.kinds else {}
        for name, shape in sorted(answer.fields.items())
    }
    words = f"An answer with status {status}"
    return {"description": words, WITNESSES: answer.witnesses, "content": content}


def _compared(learner: Learner, descriptions: Descriptions) -> tuple[list[str], list[str]]:
    """What traffic shows and no description has, and what descriptions have and no traffic shows."""
    lacking, unseen = [], []
    shown: dict[str, set[tuple[str, str]]] = {}
    for operation in learner.by_path():
        described = descriptions.operation_of(operation.method, operation.example)
        if described is None:
            statuses = ", ".join(sorted(operation.answers))
            lacking.append(
                f"{operation.key}: {plural(operation.traffic.witnesses, 'time')}, statuses {statuses}"
            )
            continue
        rows = (("status", operation.answers), ("query parameter", operation.traffic.part("query").fields))
        shapes = {(kind, name): shape for kind, named in rows for name, shape in named.items()}
        shown.setdefault(described.key, set()).update(shapes)
        for (kind, name), shape in shapes.items():
            is_general = kind == "status" and described.contents_for(int(name)) is not None
            if not is_general and (kind, name) not in _parts(described):
                lacking.append(f"{described.key}: {kind} {name}, {plural(shape.witnesses, 'time')}")
    for row in descriptions.operations:
        parts = [part for part in _parts(row) if part not in shown.get(row.key, ())]
        unseen += [f"{row.key}: {kind} {name}" for kind, name in parts] if row.key in shown else [row.key]
    return lacking, unseen


def _parts(described: DescribedOperation) -> list[tuple[str, str]]:
    statuses = [("status", name) for name in described.answers if name.isdecimal()]
    return statuses + [("query parameter", row.name) for row in described.parameters if row.place == "query"]
