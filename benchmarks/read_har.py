"""Reading a HAR of 200 MB against ``json.load`` of the same file.

.venv/bin/python benchmarks/read_har.py [MEGABYTES]

All take turns in processes of their own, which import nothing but what they measure; what counts is the CPU
time of reading, and the memory of the process at its highest, interpreter and imports included. ``json.load``
leaves the bodies as texts, and an exchange holds them decoded: what ``json.loads`` of them takes besides is
told apart.
"""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import traffic

from conformance.traffic import capture

ROUNDS = 5

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

READERS = {
    "ours": """
from conformance.traffic import capture
def read(path):
    return sum(1 for _ in capture.read(path))
""",
    "json.load": """
import json
def read(path):
    with open(path, encoding="utf-8") as stream:
        return len(json.load(stream)["log"]["entries"])
""",
    "json.load, and json.loads of the answers' bodies": """
import json
def read(path):
    with open(path, encoding="utf-8") as stream:
        entries = json.load(stream)["log"]["entries"]
    for entry in entries:
        json.loads(entry["response"]["content"].get("text") or "null")
    return len(entries)
""",
}
MEASURED = """
import sys, time
began = time.process_time()
count = read(sys.argv[1])
seconds = time.process_time() - began
lines = open("/proc/self/status").read().splitlines()
print(count, seconds, next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)
"""


HEAD = {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": []}
FORMS = {"indented by two, as Chrome saves it": 2, "without blanks": None}


def write(out: Path, megabytes: int, indent: int | None) -> int:
    """A HAR of that size, of visits to one portal, with what a browser knows of each request besides; tells
    how many entries it has."""
    blanks = "" if indent is None else " " * 3 * indent
    shown = partial(json.dumps, indent=indent, separators=(",", ":" if indent is None else ": "))
    count = 0
    with out.open("w") as file:
        file.write(f'{{"log":{shown(HEAD).rstrip("}").rstrip()},"entries":[\n')
        for entry in entries():
            file.write((",\n" if count else "") + textwrap.indent(shown(entry, ensure_ascii=False), blanks))
            count += 1
            if file.tell() >= megabytes << 20:
                break
        file.write("\n]}}\n")
    return count


def entries() -> Iterator[dict[str, Any]]:
    """Without an end."""
    lines = traffic.visits(traffic.visit())
    with tempfile.TemporaryDirectory() as folder:
        few, part = Path(folder) / "part.jsonl", Path(folder) / "part.har"
        while True:
            few.write_text("".join(itertools.islice(lines, 590)))
            with capture.Writer(part, mode="overwrite") as writer:
                for exchange in capture.read(few):
                    writer.write(exchange)
            yield from map(as_chrome_writes, json.loads(part.read_text())["log"]["entries"])


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


def measured(how: str, file: Path) -> tuple[int, float, float]:
    """How many entries were read, in how many seconds of CPU, with how many MB at most."""
    command = [sys.executable, "-c", READERS[how] + MEASURED, str(file)]
    count, seconds, memory = subprocess.run(command, check=True, stdout=-1).stdout.split()
    return int(count), float(seconds), float(memory)


def compare(megabytes: int) -> None:
    for form, indent in FORMS.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "traffic.har"
            count = write(file, megabytes, indent)
            runs = [{how: measured(how, file) for how in READERS} for _ in range(ROUNDS)]
            assert all(figures[0] == count for run in runs for figures in run.values())
            print(f"{form}: {file.stat().st_size / 1e6:.0f} MB, {count:,.0f} entries")
        for how in READERS:
            seconds, memory = (min(run[how][at] for run in runs) for at in (1, 2))
            ratio = statistics.median(run[how][1] / run["ours"][1] for run in runs)
            print(f"  {how}: {seconds:.2f} s of CPU, {ratio:.2f} of ours; {memory:.0f} MB in all")


if __name__ == "__main__":
    compare(int(sys.argv[1]) if sys.argv[1:] else 200)
