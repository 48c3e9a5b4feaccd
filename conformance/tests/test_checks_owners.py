"""The checks of ``conformance.checks.model.owners``."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.spec.endpoints import OWN_INVITATIONS, PROFILE, SESSIONS, SESSIONS_HISTORY
from conformance.tests.proof import Proof
from conformance.tests.traffic import account, answer, history_item, invitation, judged, page, session
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import OtherPlace


def by(name: str, key: str, data: Json) -> Exchange:
    return answer(key, data, headers={"Authorization": f"Bearer token-of-{name}"})


def profile(name: str) -> Exchange:
    return by(name, PROFILE, account(bizId=f"account-of-{name}"))


def history(name: str, *entries: dict[str, Json]) -> Exchange:
    return by(name, SESSIONS_HISTORY, page(*entries))


PROOFS = [
    Proof(
        "MODEL-007",
        [
            profile("one"),
            history("one", history_item()),
            history("one", history_item()),
            profile("two"),
            history("two", history_item(loginTime="2031-01-01T00:00:00Z")),
            history("three", history_item()),
            *(history(name, history_item(userAgent=None)) for name in ("one", "two")),
        ],
        [profile("one"), profile("two"), by("one", SESSIONS, [session()]), by("two", SESSIONS, [session()])],
    ),
    Proof(
        "MODEL-008",
        [
            profile("one"),
            by("one", OWN_INVITATIONS, [invitation(inviteeAccountBizId="account-of-one")]),
            by("one", OWN_INVITATIONS, [invitation(inviteeAccountBizId=None)]),
            by("one", OWN_INVITATIONS, [invitation(inviteeAccountBizId="account-***")]),
            by("two", OWN_INVITATIONS, [invitation(inviteeAccountBizId="account-of-three")]),
        ],
        [profile("one"), by("one", OWN_INVITATIONS, [invitation(inviteeAccountBizId="account-of-two")])],
    ),
]


def test_a_finding_names_the_answer_that_says_whose_it_is() -> None:
    sessions = [by("one", SESSIONS, [session()]), by("two", SESSIONS, [session()])]
    invitations = by("one", OWN_INVITATIONS, [invitation(inviteeAccountBizId="account-of-two")])
    trace = [profile("one"), profile("two"), *sessions, invitations]
    numbered = [replace(exchange, n=number) for number, exchange in enumerate(trace, 1)]

    others = {row.requirement: row.other for row in judged(*numbered).findings}

    assert others["MODEL-007"] == OtherPlace(3, SESSIONS, str(session()["sessionId"]), "sessionId")
    assert others["MODEL-008"] == OtherPlace(1, PROFILE, "account-of-one", "bizId")
