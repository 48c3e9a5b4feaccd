"""The checks of ``conformance.checks.invitations``."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import (
    ABSENT_STAMP,
    NOW,
    answer,
    at,
    contradicted_by,
    envelope,
    invitation,
    refusal,
)
from conformance.traffic.exchange import Exchange, Json

ACCEPTED = invitation("ACCEPTED", 10050302)
LATE = invitation(expiresAt=at(days=1), canAccept=False)


def invitations(*listed: Json, query: dict[str, str] | str = "") -> Exchange:
    return answer(op.OWN_INVITATIONS, list(listed), query=query)


def later(exchange: Exchange, seconds: float) -> Exchange:
    return replace(exchange, started=(NOW + timedelta(seconds=seconds)).isoformat())


ASKED = {"invitationBizId": "invitation-1", "reason": "Changed my mind"}
EXPIRED = invitations(invitation("EXPIRED", 10050304))
DECLINED = invitations(invitation("DECLINED", 10050303))
NOT_OPEN = refusal(op.INVITATION_ACCEPT, "VALIDATION.INVALID_PARAMETER", 400, sent=ASKED)
CANCELLED = answer(op.INVITATION_CANCEL, None, sent=ASKED)


def accepted(data: Json = None, **other: Json) -> Exchange:
    return answer(op.INVITATION_ACCEPT, data, sent=ASKED, **other)


LAWFULLY_ACCEPTED = [
    [invitations(ACCEPTED), accepted()],
    [EXPIRED, accepted({"accepted": False}), accepted({"accepted": False}, status=409)],
    [EXPIRED, invitations(invitation()), accepted()],
    [EXPIRED, accepted(headers={"Authorization": "Bearer another"})],
    [EXPIRED, later(accepted(), 601)],
    [EXPIRED, refusal(op.INVITATION_ACCEPT, "RATE_LIMITED", 429, sent=ASKED)],
    [EXPIRED, refusal(op.INVITATION_ACCEPT, "4010", 401, sent=ASKED)],
    [invitations(invitation("EXPIRED", 10050304, canAccept=True)), accepted()],
]

PROOFS = [
    Proof("INVITATION-029", [EXPIRED, NOT_OPEN], [EXPIRED, accepted({"accepted": True})]),
    Proof("INVITATION-030", [DECLINED, NOT_OPEN], [DECLINED, accepted()]),
    *(Proof("INVITATION-029", traced, [EXPIRED, accepted()], silent=True) for traced in LAWFULLY_ACCEPTED),
    Proof("INVITE-003", [CANCELLED, later(invitations(invitation("CANCELLED", 10050305)), 1)], []),
    Proof(
        "INVITE-003",
        [
            CANCELLED,
            later(invitations(invitation()), 4),
            later(invitations(invitation(bizId="invitation-2")), 10),
            later(invitations(invitation()), 601),
            answer(op.INVITE, None, sent={"inviteeEmail": "one@example.test"}),
            later(invitations(invitation()), 10),
        ],
        [CANCELLED, later(answer(op.INVITATIONS, [invitation()]), 10)],
        silent=True,
    ),
    Proof(
        "INVITATION-021",
        invitations(ACCEPTED, invitation("REJECTED", 10050399, canAccept=True)),
        invitations(invitation("EXPIRED", 10050304, canAccept=True)),
    ),
    Proof(
        "INVITATION-026",
        invitations(invitation(), invitation(expiresAt=at(seconds=-30), canAccept=False)),
        [],
    ),
    Proof("INVITATION-027", invitations(ACCEPTED, invitation(acceptedAt=None)), []),
    Proof("INVITATION-028", invitations(LATE, invitation(expiresAt=at(seconds=30))), []),
]

NO_NUMBERS = ("", "PENDING", "10050301,x", "10050301,10050304")
BOUNDS = [
    Bound(
        "statuses that are no numbers, or that include those listed, are not judged",
        "",
        wrong=[invitations(ACCEPTED, query="statuses=10050301")],
        lawful=[invitations(ACCEPTED)]
        + [invitations(ACCEPTED, query=f"statuses={statuses}") for statuses in NO_NUMBERS],
    )
]


def test_without_a_timestamp_the_senders_clock_tells_what_has_expired() -> None:
    stampless = envelope(data=[invitation(expiresAt=at(days=1))], **ABSENT_STAMP)
    assert contradicted_by(answer(op.OWN_INVITATIONS, body=stampless)) == {"INVITATION-028"}
