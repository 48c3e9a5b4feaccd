"""The checks of ``conformance.checks.invitations``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import OWN_INVITATIONS
from conformance.tests.proof import Proof
from conformance.tests.traffic import ABSENT_STAMP, answer, at, contradicted_by, envelope, invitation
from conformance.traffic.exchange import Exchange, Json

ACCEPTED = invitation("ACCEPTED", 10050302)
LATE = invitation(expiresAt=at(days=1), canAccept=False)


def invitations(*listed: Json, query: dict[str, str] | str = "") -> Exchange:
    return answer(OWN_INVITATIONS, list(listed), query=query)


PROOFS = [
    Proof(
        "INVITATION-021",
        invitations(ACCEPTED, invitation("REJECTED", 10050399, canAccept=True)),
        invitations(invitation("EXPIRED", 10050304, canAccept=True)),
    ),
    Proof(
        "INVITATION-022",
        [
            invitations(invitation(), ACCEPTED, query="statuses=10050301,10050302"),
            invitations(invitation(), ACCEPTED, query="statuses=10050301&statuses=10050302"),
            invitations(invitation(), query="statuses=99999999"),
        ],
        invitations(invitation(), ACCEPTED, query={"statuses": "10050301"}),
    ),
    Proof(
        "INVITATION-026",
        invitations(invitation(), invitation(expiresAt=at(seconds=-30), canAccept=False)),
        invitations(invitation(canAccept=False)),
    ),
    Proof(
        "INVITATION-027",
        invitations(ACCEPTED, invitation(acceptedAt=None)),
        invitations(invitation(acceptedAt=at(days=1))),
    ),
    Proof(
        "INVITATION-028",
        invitations(LATE, invitation(expiresAt=at(seconds=30))),
        invitations(invitation(expiresAt=at(hours=1), canAccept=True)),
    ),
]


@pytest.mark.parametrize(
    "query", ["", "statuses=PENDING", "statuses=", "statuses=10050301,x", "statuses=10050301,10050304"]
)
def test_statuses_that_are_no_numbers_are_not_judged(query: str) -> None:
    assert not contradicted_by(invitations(ACCEPTED, query=query))


def test_without_a_timestamp_the_senders_clock_tells_what_has_expired() -> None:
    stampless = answer(
        OWN_INVITATIONS, body=envelope(data=[invitation(expiresAt=at(days=1))], **ABSENT_STAMP)
    )
    assert contradicted_by(stampless) == {"INVITATION-028"}
