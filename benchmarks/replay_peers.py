"""A replay, correlated, judged and compared, against tools that merely send: Locust and mitmproxy.

.venv/bin/python benchmarks/replay_peers.py [EXCHANGES [SESSIONS]]

All send the same requests to one server, which hands out ids and tokens of its own. What counts is the CPU
time of each client's process: of a replay all from reading the file to the last report, of the others, which
are given their requests ready made, only that of sending them. mitmproxy sends a tenth: it needs the longer.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import peers
import replay_traffic

ROUNDS = 5
"""Each tool has its turn in every round: a machine is not as fast at all times."""

PROFILE = """
profile = 1
[portal]
url = "http://127.0.0.1:{port}"
access_code = "access-code-of-the-stub"
[accounts.admin]
email = "admin@example.test"
password = "a-password-of-the-stub"
mfa = "EMAIL"
inbox = "mail"
[inboxes.mail]
kind = "fixed"
code = "123456"
[limits]
max_mails = 1000000
"""

LOCUST = """
import json, sys, time
from locust.contrib.fasthttp import FastHttpUser
from locust.env import Environment
from locust import task
import gevent

sessions = list(json.load(open(sys.argv[1])).values())
done = []

class Client(FastHttpUser):
    host = sys.argv[2]

    @task
    def visit(self):
        for name, method, path, headers, body in sessions.pop():
            with self.client.request(method, path, name=name, headers=headers, json=body,
                                     catch_response=True) as answer:
                if answer.status_code >= 500 or answer.status_code == 0:
                    raise SystemExit(f"{path}: {answer.status_code}")
                done.append(answer.status_code)
        while True:
            gevent.sleep(60)

count, users = sum(map(len, sessions)), len(sessions)
environment = Environment(user_classes=[Client])
runner = environment.create_local_runner()
began = time.process_time()
runner.start(users, spawn_rate=users)
while len(done) < count:
    gevent.sleep(0.05)
spent = time.process_time() - began
assert 401 not in done, done.count(401)
print(count, spent)
runner.quit()
"""

FLOWS = """
import json, sys
from mitmproxy import http, io
with open(sys.argv[2], "wb") as out:
    writer = io.FlowWriter(out)
    for session in json.load(open(sys.argv[1])).values():
        for name, method, path, headers, body in session:
            flow = __import__("mitmproxy.test.tflow", fromlist=["tflow"]).tflow()
            content = b"" if body is None else json.dumps(body).encode()
            flow.request = http.Request.make(method, sys.argv[3] + path, content, headers)
            writer.add(flow)
"""

MITMPROXY = """
import sys, time
from mitmproxy.tools.main import mitmdump
from mitmproxy import ctx, http

class Count:
    def __init__(self):
        self.left, self.refused = int(sys.argv[2]), 0
    def running(self):
        self.began = time.process_time()
    def response(self, flow):
        self.left -= 1
        self.refused += flow.response.status_code == 401
        if self.left == 0:
            print(sys.argv[2], time.process_time() - self.began, self.refused, flush=True)
            ctx.master.shutdown()
    def error(self, flow):
        raise SystemExit(str(flow.error))

import mitmproxy.tools.dump as dump
original = dump.DumpMaster.__init__
def begin(self, *given, **named):
    original(self, *given, **named)
    self.addons.add(Count())
dump.DumpMaster.__init__ = begin
mitmdump(["-q", "-n", "-C", sys.argv[1]])
"""


def ours(capture: Path, profile: Path, sessions: int) -> None:
    """In a process of its own: prints how many exchanges were compared, and the CPU time of all, reports
    included, without the imports."""
    from conformance.replay import ReplayOptions, replay  # the other tools measure themselves elsewhere
    from conformance.target.profile.model import load

    began = time.process_time()
    with tempfile.TemporaryDirectory() as out:
        options = ReplayOptions(out=Path(out), impact="disruptive", pace="max", concurrency=sessions)
        replayed = replay([capture], load(profile), options)
    assert replayed.run.exit_code in (0, 1), replayed.notes
    assert not replayed.run.regressions, replayed.run.regressions[:3]
    print(replayed.tally.compared, time.process_time() - began)


def requests_of(capture: Path) -> dict[str, list[list[object]]]:
    """What each client sent, as the other tools take it."""
    sessions: dict[str, list[list[object]]] = {}
    for line in capture.read_text().splitlines():
        request = json.loads(line)["request"]
        headers = {
            name: value for name, value in request["headers"] if name not in ("host", "content-length")
        }
        headers["x-as-recorded"] = "yes"
        path = "/" + request["url"].split("/", 3)[3]
        entry = [path.partition("?")[0], request["method"], path, headers, request.get("body")]
        sessions.setdefault(headers["x-client-hash"], []).append(entry)
    return sessions


@contextmanager
def stub(visit: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("stub_portal.py")
    command = [sys.executable, str(script), str(visit), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield port
        finally:
            server.terminate()


def measured(command: list[str]) -> list[float]:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        raise SystemExit(f"{command[:3]}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    return [float(number) for number in done.stdout.split()]


def compare(exchanges: int, sessions: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture, profile, sent = (folder / file for file in ("traffic.jsonl", "portal.toml", "requests.json"))
        replay_traffic.write_traffic(capture, sessions=sessions, exchanges=exchanges)
        by_session = requests_of(capture)
        sent.write_text(json.dumps(by_session))
        with stub(capture.with_suffix(".visit.jsonl")) as port:
            url = f"http://127.0.0.1:{port}"
            profile.write_text(PROFILE.format(port=port))
            few = {key: by_session[key] for key in list(by_session)[: max(1, sessions // 10)]}
            python, flows = str(peers.python_of("mitmproxy")), folder / "flows"
            some = folder / "few.json"
            some.write_text(json.dumps(few))
            subprocess.run([python, "-c", FLOWS, str(some), str(flows), url], check=True)
            commands = {
                "ours": [sys.executable, __file__, "--ours", str(capture), str(profile), str(sessions)],
                "locust": [str(peers.python_of("locust")), "-c", LOCUST, str(sent), url],
                "mitmproxy": [python, "-c", MITMPROXY, str(flows), str(sum(map(len, few.values())))],
            }
            rounds = [{tool: measured(command) for tool, command in commands.items()} for _ in range(ROUNDS)]
    each = {
        tool: median(figures[tool][1] / figures[tool][0] for figures in rounds) * 1e6 for tool in commands
    }
    print(f"{rounds[0]['ours'][0]:,.0f} of {exchanges:,} exchanges of {sessions} sessions compared")
    print(f"CPU each: {each['ours']:,.0f} us; medians of {ROUNDS} rounds, imports not counted")
    for tool in ("locust", "mitmproxy"):
        name, ratio = f"{tool} {peers.version_of(tool)}", each["ours"] / each[tool]
        print(f"{name}: {each[tool]:,.0f} us; ours is {ratio:.3f} of it")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        ours(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        numbers = [int(text) for text in sys.argv[1:]]
        compare(*(numbers + [20_000, 50][len(numbers) :]))
