"""Reading a HAR of 200 MB against ``json.load`` of the same file.

.venv/bin/python benchmarks/read_har.py [MEGABYTES]

Both take turns in processes of their own; what counts is the CPU time of each, and the memory at its highest
above what the process took before it read (the interpreter and the imports).
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

import traffic

from conformance import capture

ROUNDS = 3

SENT_BY_CHROME = {
    ":authority": "portal.example.test",
    ":method": "GET",
    ":path": "/web/v1/system/profile",
    ":scheme": "https",
    "accept-language": "en-GB,en;q=0.9",
    "cache-control": "no-cache",
    "dnt": "1",
    "origin": "https://portal.example.test",
    "pragma": "no-cache",
    "priority": "u=1, i",
    "referer": "https://portal.example.test/accounts",
    "sec-ch-ua": '"Chromium";v="139", "Not;A=Brand";v="99"',
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "sec-fetch-dest": "empty",
    "sec-fetch-mode": "cors",
    "sec-fetch-site": "same-origin",
}
SENT_BY_AN_EDGE = {
    "alt-svc": 'h3=":443"; ma=86400',
    "cache-control": "no-store",
    "cf-cache-status": "DYNAMIC",
    "cf-ray": "9170e1e7cc1a3b2c-FRA",
    "server": "cloudflare",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "vary": "Origin, Accept-Encoding",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""What Chrome and the proxies before a portal add to each request and answer."""


def write(out: Path, megabytes: int) -> int:
    """A HAR of that size, of visits to one portal, as Chrome saves it: indented, with what a browser knows of
    each request beside; gives how many entries it has."""
    count = 0
    with tempfile.TemporaryDirectory() as folder, out.open("w") as file:
        lines, part = traffic.visits(traffic.visit()), Path(folder) / "part.har"
        head = {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": []}
        file.write('{\n  "log": ' + textwrap.indent(json.dumps(head, indent=2), "  ").strip()[:-4])
        file.write(',\n    "entries": [\n')
        while file.tell() < megabytes << 20:
            few = Path(folder) / "part.jsonl"
            few.write_text("".join(itertools.islice(lines, 590)))
            writer = capture.Writer(part, mode="overwrite")
            for exchange in capture.read(few):
                writer.write(exchange)
            writer.close()
            for entry in json.loads(part.read_text())["log"]["entries"]:
                told = json.dumps(as_chrome_writes(entry), indent=2, ensure_ascii=False)
                file.write(("" if count == 0 else ",\n") + textwrap.indent(told, "      "))
                count += 1
        file.write("\n    ]\n  }\n}\n")
    return count


def as_chrome_writes(entry: dict[str, Any]) -> dict[str, Any]:
    page = "https://portal.example.test/accounts"
    frames = [
        {"functionName": name, "scriptId": "17", "url": f"{page}/app.js", "lineNumber": 1, "columnNumber": at}
        for name, at in (("fetch", 100_345), ("load", 200_456), ("render", 17_001))
    ]
    request, response = entry["request"], entry["response"]
    request["headers"] += [{"name": name, "value": value} for name, value in SENT_BY_CHROME.items()]
    response["headers"] += [{"name": name, "value": value} for name, value in SENT_BY_AN_EDGE.items()]
    request |= {"httpVersion": "http/2.0", "cookies": [], "headersSize": -1}
    response |= {"httpVersion": "http/2.0", "cookies": [], "headersSize": -1, "redirectURL": ""}
    return {
        "_connectionId": "1234",
        "_initiator": {"type": "script", "stack": {"callFrames": frames}},
        "_priority": "High",
        "_resourceType": "fetch",
        "cache": {},
        "connection": "443",
        "pageref": "page_1",
        "request": request,
        "response": response,
        "serverIPAddress": "198.51.100.7",
        "startedDateTime": entry["startedDateTime"],
        "time": entry["time"],
        "timings": {
            "blocked": 1.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0.2, "wait": 3.1, "receive": 0.4,
            "_blocked_queueing": 1.2,
        },
    }  # fmt: skip


def highest() -> float:
    """The most memory that this process has had, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def ours(file: Path) -> None:
    before, began = highest(), time.process_time()
    count = sum(1 for _ in capture.read(file))
    print(count, time.process_time() - began, highest() - before, highest())


def theirs(file: Path) -> None:
    before, began = highest(), time.process_time()
    with file.open(encoding="utf-8") as stream:
        count = len(json.load(stream)["log"]["entries"])
    print(count, time.process_time() - began, highest() - before, highest())


def told(how: str, file: Path) -> list[float]:
    command = [sys.executable, __file__, how, str(file)]
    return [float(number) for number in subprocess.run(command, check=True, stdout=-1).stdout.split()]


def compare(megabytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "traffic.har"
        count = write(file, megabytes)
        runs = [(told("--ours", file), told("--theirs", file)) for _ in range(ROUNDS)]
        assert all(one[0] == other[0] == count for one, other in runs)
        ratio = statistics.median(other[1] / one[1] for one, other in runs)
        ours, theirs = (min(run[at] for run in runs) for at in (0, 1))
        seconds = [statistics.median(run[at][1] for run in runs) for at in (0, 1)]
        size = file.stat().st_size / 1e6
        print(f"{size:.0f} MB, {count:,.0f} entries: {ratio:.2f} times as fast as json.load")
        for tool, second, run in zip(("ours", "json.load"), seconds, (ours, theirs), strict=True):
            print(
                f"{tool}: {second:.2f} s of CPU, {run[2]:.0f} MB above {run[3] - run[2]:.0f} MB at the start"
            )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--ours", path]:
            ours(Path(path))
        case ["--theirs", path]:
            theirs(Path(path))
        case [size]:
            compare(int(size))
        case _:
            compare(200)
