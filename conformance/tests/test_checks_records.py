"""The checks of ``conformance.checks.records``."""

from __future__ import annotations

import pytest

from conformance.checks.records import moment
from conformance.spec import endpoints as op
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    account,
    answer,
    at,
    channel,
    channel_type,
    contradicted_by,
    institution,
    page,
    role,
    roles,
    session,
    verdict_on,
    workspace,
)
from conformance.traffic.exchange import ABSENT
from conformance.verdicts.findings import Verdict

PROOFS = [
    Proof("RESOURCE-001", answer(op.WORKSPACES_CURRENT, workspace(entityBizId=None, workspaceName="")), []),
    Proof(
        "RESOURCE-002",
        answer(
            op.CHANNEL_TYPES_QUERY,
            page(channel_type(createdAt="20310501T070809Z", updatedAt="2031-05-02T07:08:09")),
        ),
        answer(op.INSTITUTION, institution(createdAt=1_900_000_000_000)),
    ),
    Proof("RESOURCE-002", roles(role()), roles(role(updatedAt=1_900_000_000_000))),
    Proof("RESOURCE-003", roles(role(bizId="1")), roles(role(workspaceBizId=1))),
    Proof(
        "RESOURCE-004",
        answer(op.CHANNELS_QUERY, page(channel(createdAt=at(days=1), updatedAt=at(days=1)))),
        [],
    ),
    Proof(
        "ROLE-010",
        [answer(op.ROLE, role(), roleBizId="role-1"), answer(op.ROLE, role(bizId="a/b"), roleBizId="a%2Fb")],
        answer(op.ROLE, role(), roleBizId="role-2"),
    ),
    Proof(
        "ACCOUNT-033",
        [
            answer(op.ACCOUNT, account(), userBizId="account-1"),
            answer(op.ACCOUNT, "not shown", userBizId="x"),
        ],
        [],
    ),
]


def test_a_time_without_a_zone_is_taken_as_utc() -> None:
    assert moment("2031-05-06T07:08:09") == moment("2031-05-06T16:08:09+09:00")


@pytest.mark.parametrize(
    "value, is_moment",
    [
        ("2031-05-06t07:08:09z", True),
        ("20310506T070809Z", True),
        ("2031-05-06T07:08:09.123456789Z", True),
        ("2031-05-06 07:08:09,5Z", True),
        ("2026-02-28T24:00:00Z", True),
        ("2026-06-30T23:59:60Z", True),
        ("20260630T235960Z", True),
        ("2031-05-06", False),
        ("06/05/2031 07:08:09", False),
        ("2031-13-06T07:08:09Z", False),
        ("2026-02-31T00:00:00Z", False),
        ("2026-06-30T24:01:00Z", False),
        ("2026-06-30T23:59:61Z", False),
        (5, False),
        (None, False),
        ("", False),
    ],
)
def test_every_way_to_write_a_time_of_the_calendar_is_read(value: object, is_moment: bool) -> None:
    assert (moment(value) is not None) is is_moment


def test_a_field_that_is_left_out_is_the_shape_checks_matter_alone() -> None:
    assert contradicted_by(roles(role(roleName=ABSENT))) == {"ROLE-003"}


@pytest.mark.parametrize("seconds, verdict", [(2, Verdict.PASS), (4.9, Verdict.PASS), (60, Verdict.WARN)])
def test_two_servers_whose_clocks_differ_may_have_written_the_times_of_a_record(
    seconds: float, verdict: Verdict
) -> None:
    record = role(createdAt=at(days=1), updatedAt=at(days=1, seconds=seconds))
    begun = session(loginTime=at(hours=1), lastActivityTime=at(hours=1, seconds=seconds))

    assert verdict_on("RESOURCE-004", [roles(record)]) is verdict
    assert verdict_on("SESSION-023", [answer(op.SESSIONS, [begun])]) is verdict
