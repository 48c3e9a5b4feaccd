"""That a finding points to a place that is there, and that no check breaks on what stands in a field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

import pytest
from msgspec.structs import replace

from conformance.spec.openapi import document
from conformance.tests.proof import Proof, as_trace, chapters_with
from conformance.tests.reduced import overreaching
from conformance.tests.traffic import judged, ledger_of
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import Finding, endpoint_of

CHAPTERS: dict[str, list[Proof]] = chapters_with("PROOFS")
WITHOUT_A_PLACE = {"status", "", "data"}
ODD: tuple[Json, ...] = (None, 5, -1.5, True, "", "x", "2031-13-45T99:99:99Z", [], {}, [None], {"code": None})


def _names() -> set[str]:
    """Every field that the specification names."""
    found: set[str] = set()

    def collect(schema: Json) -> None:
        if isinstance(schema, dict):
            found.update(schema.get("properties", {}))
            for inner in schema.values():
                collect(inner)
        elif isinstance(schema, list):
            for inner in schema:
                collect(inner)

    collect(document())
    return found


NAMES = _names()


def _findings(proof: Proof) -> list[tuple[Finding, Exchange]]:
    trace = as_trace(proof.wrong)
    by_number = {exchange.n: exchange for exchange in trace}
    found = [finding for finding in judged(*trace).findings if finding.requirement == proof.requirement]
    return [(one, by_number[one.exchanges[-1]]) for one in found]


def _has_its_place(finding: Finding, exchange: Exchange) -> bool:
    if finding.path in WITHOUT_A_PLACE or finding.path.startswith("headers."):
        return True
    holder, _, name = finding.path.rpartition(".")
    is_missing = name.split("[")[0] in NAMES and (not holder or exchange.at(holder) is not ABSENT)
    return is_missing or exchange.at(finding.path) is not ABSENT


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_finding_points_to_what_is_there_or_to_a_field_that_is_missing_and_says_something(
    chapter: str,
) -> None:
    for proof in CHAPTERS[chapter]:
        for finding, exchange in _findings(proof):
            assert _has_its_place(finding, exchange), finding
            assert finding.message.strip(), finding


def _samples() -> dict[str, Exchange]:
    """For each endpoint the longest of the answers by which checks are proven."""
    longest: dict[str, Exchange] = {}
    for proof in chain.from_iterable(CHAPTERS.values()):
        for trace in (proof.lawful, proof.wrong):
            for exchange in as_trace(trace):
                key = exchange.request.operation.key if exchange.request.operation else ""
                if key and len(_text(exchange)) > len(_text(longest[key]) if key in longest else ""):
                    longest[key] = exchange
    return longest


def _text(exchange: Exchange) -> str:
    return json.dumps(exchange.envelope, default=str)


def _spoiled(data: Json, value: Json, seen: set[str], place: str = "") -> Iterator[Json]:
    """The data with one value in place of each field in turn; of a list in place of the first one's."""
    if isinstance(data, dict):
        for name, inner in data.items():
            path = f"{place}.{name}"
            if path not in seen:
                seen.add(path)
                yield {**data, name: value}
            for changed in _spoiled(inner, value, seen, path):
                yield {**data, name: changed}
    elif isinstance(data, list) and data:
        yield [value, *data[1:]]
        for changed in _spoiled(data[0], value, seen, f"{place}[]"):
            yield [changed, *data[1:]]


@pytest.mark.parametrize("sample", _samples().values(), ids=endpoint_of)
def test_no_check_breaks_on_what_stands_in_a_field_and_each_finding_has_its_place(sample: Exchange) -> None:
    data = _short(sample.data)
    unspoiled = _with_data(sample, data, n=2)

    for odd in ODD:
        for changed in _spoiled(data, odd, set()):
            spoiled = _with_data(sample, changed, n=1)

            assert overreaching(spoiled) == []
            for finding in ledger_of(spoiled, unspoiled).findings:  # AssertionError where a check raises
                assert _has_its_place(finding, (spoiled, unspoiled)[finding.exchanges[-1] - 1]), finding


def _short(data: Json) -> Json:
    """The data with two at the most in each list."""
    if isinstance(data, dict):
        return {name: _short(inner) for name, inner in data.items()}
    return [_short(inner) for inner in data[:2]] if isinstance(data, list) else data


def _with_data(exchange: Exchange, data: Json, *, n: int) -> Exchange:
    assert exchange.response is not None
    response = replace(exchange.response, body={**(exchange.envelope or {}), "data": data})
    return replace(exchange, n=n, response=response)
