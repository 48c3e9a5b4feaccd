"""A refusal by what stands before a portal is sent again, and held against the target where it stays."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from conformance.replay import ReplayResult, replay
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec.endpoints import LOGIN_INITIATE, PROFILE, ROLES
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, replayed
from conformance.tests.sample_run import error
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange
from reference_impl import serve as reference

PAGE = b"<html><title>Bad gateway</title></html>"
HOP = frozenset(
    {"host", "content-length", "connection", "transfer-encoding", "content-encoding", "date", "server"}
)


@dataclass
class Gateway:
    """A proxy before a portal that answers requests for an endpoint in its place, so often."""

    upstream: str
    endpoint: str
    times: int
    status: int = 502
    requests: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def open(self) -> Iterator[str]:
        """The address at which the portal is reached."""
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                status, headers, body = gateway.response(self)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_OPTIONS = answer

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            server.server_close()

    def response(self, request: BaseHTTPRequestHandler) -> tuple[int, list[tuple[str, str]], bytes]:
        sent = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        endpoint = f"{request.command} {request.path.partition('?')[0]}"
        self.requests[endpoint] += 1
        if endpoint == self.endpoint and self.requests[endpoint] <= self.times:
            return self.status, [("Content-Type", "text/html")], PAGE
        headers = [(name, value) for name, value in request.headers.items() if name.lower() not in HOP]
        answer = httpx.request(
            request.command, f"{self.upstream}{request.path}", headers=headers, content=sent
        )
        return (
            answer.status_code,
            [(name, value) for name, value in answer.headers.items() if name.lower() not in HOP],
            answer.content,
        )


def replayed_behind(recording: Path, out: Path, *, times: int) -> tuple[ReplayResult, int]:
    """A replay behind a gateway that turns away the first requests for the roles, and how many were sent."""
    with reference.start() as portal:
        gateway = Gateway(portal.url, ROLES, times)
        with gateway.open() as url:
            profile = parse(portal.profile().replace(f'url = "{portal.url}"', f'url = "{url}"'), {})
            return replay([recording], profile, options_for(out)), gateway.requests[ROLES]


@pytest.mark.parametrize("variant", ["firewall-200", "firewall-405", "firewall-406"])
def test_a_firewall_that_refuses_now_and_then_changes_nothing(
    recording: Path, tmp_path: Path, variant: str
) -> None:
    result = replayed(recording, tmp_path, variants=(variant,))

    assert result.run.regressions == []
    assert result.tally.counts[State.SAME] == result.tally.wanted


def test_a_request_that_a_gateway_turned_away_once_is_sent_again(recording: Path, tmp_path: Path) -> None:
    result, requests = replayed_behind(recording, tmp_path, times=1)

    assert result.run.regressions == []
    assert requests == 2


def test_an_endpoint_that_stays_behind_the_gateway_is_a_breaking_change(
    recording: Path, tmp_path: Path
) -> None:
    result, requests = replayed_behind(recording, tmp_path, times=1000)

    assert requests == 2
    rows = [(each.path, each.kind, each.meaning) for each in result.run.regressions if each.endpoint == ROLES]
    assert rows == [
        ("status", "status", "breaking"),
        ("headers.content-type", "value", "breaking"),
        ("", "type", "breaking"),
    ]
    assert {each.basis for each in result.run.regressions if each.endpoint == ROLES} == {
        "a proxy or gateway before the portal answered in its place, and is not described"
    }


LIMITED = error("RATE_LIMIT.EXCEEDED")


@pytest.mark.parametrize(
    ("recorded", "key", "state"),
    [
        (answer(PROFILE, body={"length": 6}, form="not-json", status=502), PROFILE, State.NOT_COMPARABLE),
        (answer(PROFILE, body=LIMITED, status=429), PROFILE, State.NOT_COMPARABLE),
        (answer(LOGIN_INITIATE, body=LIMITED, status=429), LOGIN_INITIATE, State.REGRESSED),
    ],
)
def test_what_held_the_recorded_client_back_is_compared_where_the_document_states_it(
    recorded: Exchange, key: str, state: State
) -> None:
    live = replace(answer(key, {}), n=2)

    correlation, noise = Correlation(used={}), Noise()
    assessor = Assessor(Comparer(correlation, noise), correlation, noise, RecordedBaseline([], correlation))

    outcome = assessor.assess(ReplayedExchange(1, recorded, live), ())

    assert outcome.state is state
