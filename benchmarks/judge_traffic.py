"""Reading and judging our JSONL against openapi-core's ``validate_response`` alone, on the same traffic.

.venv/bin/python benchmarks/judge_traffic.py [EXCHANGES]

Both take turns, several times, in processes of their own; what counts is the CPU time of each. Ours reads
the file from the disk and applies every check that ``check`` applies without ``--model``; openapi-core is
given requests and responses ready made, and the first fiftieth of the traffic, as it needs the longer.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import peers
import replay_traffic
import traffic

from conformance.judging import judge_of, watch
from conformance.spec import REQUIREMENTS, openapi
from conformance.traffic import capture
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.verdicts.findings import Ledger

ROUNDS = 5

Write = Callable[[Path, int], object]

WHOSE: dict[str, Write] = {
    "clients who sign in and read": lambda out, count: replay_traffic.write_traffic(
        out, sessions=50, exchanges=count
    ),
    "visitors who read and change things": traffic.write,
    "the same, and no id twice": lambda out, count: traffic.write(out, count, strangers=True),
}


def judge(file: Path) -> float:
    """Exchanges per CPU second; ValueError where the traffic is not as it should be."""
    ledger, judge = Ledger(REQUIREMENTS), judge_of(model=False)
    judged = watch(ledger, judge=judge)
    began, count = time.process_time(), 0
    with rare_garbage_collection():
        for count, exchange in enumerate(capture.read(file), 1):  # noqa: B007 - counted
            judged(exchange)
    verdicts = ledger.results()
    spent = time.process_time() - began
    if not verdicts or ledger.errors or ledger.findings or sum(judge.operations_seen.values()) != count:
        raise ValueError(f"{ledger.errors} {ledger.findings}")
    return count / spent


PEER = """
import json, sys, time
from urllib.parse import urlsplit
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

api = OpenAPI.from_dict(json.load(open(sys.argv[1])))

class Request:
    def __init__(self, told):
        parts = urlsplit(told["url"])
        self.host_url, self.path, self.path_pattern = f"{parts.scheme}://{parts.netloc}", parts.path, None
        self.method, self.body, self.content_type = told["method"].lower(), None, "application/json"
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(), header=Headers(told["headers"]), cookie=ImmutableMultiDict()
        )

class Response:
    def __init__(self, told):
        self.status_code, self.headers = told["status"], Headers(told["headers"])
        self.data, self.content_type = json.dumps(told["body"]).encode(), self.headers.get("content-type")

pairs = []
for line, _ in zip(open(sys.argv[2]), range(int(sys.argv[3]))):
    told = json.loads(line)
    pairs.append((Request(told["request"]), Response(told["response"])))
for pair in pairs[:59]:
    api.validate_response(*pair)
began = time.process_time()
for pair in pairs:
    api.validate_response(*pair)
print(len(pairs) / (time.process_time() - began))
"""


def rate(command: list[str]) -> float:
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(exchanges: int) -> None:
    peer = str(peers.python_of("openapi-core"))
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "openapi.json"
        document.write_text(json.dumps(openapi.document()))
        for words, write in WHOSE.items():
            file = Path(folder) / "traffic.jsonl"
            write(file, exchanges)
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(rate([sys.executable, __file__, "--judge", str(file)]))
                theirs.append(
                    rate([peer, "-c", PEER, str(document), str(file), str(max(590, exchanges // 50))])
                )
            ratio = statistics.median(own / other for own, other in zip(ours, theirs, strict=True))
            print(
                f"{words}: {statistics.median(ours):,.0f} exchanges per CPU second read and judged, "
                f"openapi-core {peers.version_of('openapi-core')} {statistics.median(theirs):,.0f}: "
                f"{ratio:.1f} times as many",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        print(judge(Path(sys.argv[2])))
    else:
        compare(int(sys.argv[1]) if sys.argv[1:] else 100_000)
