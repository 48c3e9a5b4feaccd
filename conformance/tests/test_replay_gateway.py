"""A refusal by what stands before a portal is sent again, and held against the target where it stays."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec.structs import replace
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE, PROFILE, ROLES
from conformance.tests.replays import Replaying, assessor_of
from conformance.tests.sample_run import error
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange

PAGE = b"<html><title>Bad gateway</title></html>"


@dataclass
class Gateway:
    """A proxy before a portal that answers the first requests for the roles in its place."""

    times: int
    requests: int = 0

    def wrap(self, app: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and f"{scope['method']} {scope['path']}" == ROLES:
                self.requests += 1
                if self.requests <= self.times:
                    return await Response(PAGE, 502, media_type="text/html")(scope, receive, send)
            return await app(scope, receive, send)

        return answer


@pytest.mark.parametrize("variant", ["firewall-200", "firewall-406"])
def test_a_firewall_that_refuses_now_and_then_changes_nothing(visit: Replaying, variant: str) -> None:
    result = visit(variants=(variant,))

    assert result.run.regressions == []
    assert result.tally.counts[State.SAME] == result.tally.wanted


def test_a_request_that_a_gateway_turned_away_once_is_sent_again(visit: Replaying) -> None:
    gateway = Gateway(times=1)

    assert visit(wrap=gateway.wrap).run.regressions == []
    assert gateway.requests == 2


def test_an_endpoint_that_stays_behind_the_gateway_is_a_breaking_change(visit: Replaying) -> None:
    gateway = Gateway(times=1000)
    regressions = visit(wrap=gateway.wrap).run.regressions

    assert gateway.requests == 2
    rows = [(each.path, each.kind, each.meaning) for each in regressions if each.endpoint == ROLES]
    assert rows == [
        ("status", "status", "breaking"),
        ("headers.content-type", "value", "breaking"),
        ("", "type", "breaking"),
    ]
    assert {each.basis for each in regressions if each.endpoint == ROLES} == {
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

    assert assessor_of().assess(ReplayedExchange(1, recorded, live), ()).state is state
