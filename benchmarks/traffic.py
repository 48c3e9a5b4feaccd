"""Traffic of many visitors, made from one real visit as the recorder wrote it: captures of any length.

.venv/bin/python benchmarks/traffic.py OUT.jsonl EXCHANGES [--strangers]

Visitors of one portal: each has login sessions, tokens, a browser and times of its own, and makes records of
its own; what stood there before is the same for all. With --strangers no id is seen twice, as if each visited
another portal.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count, islice
from pathlib import Path

from conformance import record
from conformance.tests.scripted_client import walk
from reference_impl import serve
from reference_impl.limits import Limits

APART = timedelta(seconds=2)
"""Visits begin this far from each other; one takes less than a second."""

CHANGING = re.compile(
    r'(?<!"keyId":")(?P<id>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|"n":(?P<n>\d+)'
    r"|(?P<secret>\[(?:refresh-token|token|code)-\d+\])|(?P<hash>fingerprint-0001)|(?P<millis>1[789]\d{11})"
    r'|(?P<time>(?<=")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?="))'
)

Piece = str | Callable[[int, int], str]
"""A text that stays, or what stands there in a visit's exchange: by the visit and the exchange's number."""


@dataclass(frozen=True)
class Visit:
    """The lines of a real visit, and what of them is the portal's rather than the visitor's."""

    lines: list[str]
    lasting: frozenset[str]
    began: datetime


def visit() -> Visit:
    """The second of two visits to the reference portal through the proxy; what both show was there before."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("first.jsonl", "second.jsonl")]
        with serve.start(limits=Limits(login_initiations=100_000)) as portal:
            for file in files:
                with record.serve(portal.url, file) as recorder:
                    walk(recorder.url, portal.profile().replace('mfa = "OTP"', 'mfa = "EMAIL"', 1))
        first, second = (file.read_text() for file in files)
    ids = [{match["id"] for match in CHANGING.finditer(text) if match["id"]} for text in (first, second)]
    began = next(match["time"] for match in CHANGING.finditer(second) if match["time"])
    return Visit(second.splitlines(), frozenset(ids[0] & ids[1]), datetime.fromisoformat(began))


def visits(visit: Visit, *, strangers: bool = False) -> Iterator[str]:
    lasting = frozenset[str]() if strangers else visit.lasting
    templates = [list(_pieces(line, lasting, visit.began)) for line in visit.lines]
    numbers = count(1)
    for visitor in count():
        for template in templates:
            number = next(numbers)
            pieces = (piece if isinstance(piece, str) else piece(visitor, number) for piece in template)
            yield "".join(pieces) + "\n"


def write(out: Path, exchanges: int, *, strangers: bool = False) -> None:
    with out.open("w") as file:
        file.writelines(islice(visits(visit(), strangers=strangers), exchanges))


def _pieces(line: str, lasting: frozenset[str], began: datetime) -> Iterator[Piece]:
    end = 0
    for match in CHANGING.finditer(line):
        kind = match.lastgroup or ""
        if match[kind] not in lasting:
            yield line[end : match.start(kind)]
            yield _changing(kind, match[kind], began)
            end = match.end(kind)
    yield line[end:]


def _changing(kind: str, value: str, began: datetime) -> Piece:
    if kind == "id":
        first = int(value[:8], 16)
        return lambda visitor, number: f"{first ^ visitor:08x}{value[8:]}"
    if kind == "n":
        return lambda visitor, number: str(number)
    if kind == "secret":
        stem, _, numbered = value[:-1].rpartition("-")
        return lambda visitor, number: f"{stem}-{1000 * visitor + int(numbered)}]"
    if kind == "hash":
        return lambda visitor, number: f"fingerprint-{visitor}"
    if kind == "millis":
        millis = round(APART.total_seconds() * 1000)
        return lambda visitor, number: str(int(value) + visitor * millis)
    time, form = datetime.fromisoformat(value), "microseconds" if len(value) > 24 else "milliseconds"
    if time < began:
        return value
    return lambda visitor, number: (time + visitor * APART).isoformat(timespec=form)[:-6] + "Z"


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), strangers="--strangers" in sys.argv)
