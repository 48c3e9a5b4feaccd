"""The checks of ``conformance.checks.access.claims``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import PROFILE
from conformance.tests.proof import Proof
from conformance.tests.traffic import account, answer, contradicted_by, jwt, verdict_on
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Verdict


def profile_by(token: str, **profile: Json) -> Exchange:
    return answer(PROFILE, account(**profile), headers={"Authorization": f"Bearer {token}"})


PROOFS = [
    Proof(
        "TOKEN-028",
        [
            profile_by(jwt(roleName="Ada", ctx={"nickname": "Somebody"}), accountName="Ada"),
            profile_by(jwt(sub="Ada Admin", kind="Ada"), accountName="Ada"),
            profile_by(jwt(exp=15550100), accountPhone="+1 555 0100"),
        ],
        profile_by(jwt(user={"displayName": "Ada"}), accountName="Ada"),
    ),
]


@pytest.mark.parametrize(
    "claims, name, phone",
    [
        ({"a": {"b": ["Ada Admin"]}}, "Ada Admin", None),
        ({"tel": "0015550100"}, "Ada", "001-555-0100"),
        ({"ctx": {"fullName": "Ada"}}, "Ada", None),
    ],
)
def test_a_claim_that_repeats_the_profile_is_found_wherever_it_stands(
    claims: dict[str, Json], name: str, phone: str | None
) -> None:
    assert "TOKEN-028" in contradicted_by(profile_by(jwt(**claims), accountName=name, accountPhone=phone))


@pytest.mark.parametrize(
    "token, verdict", [(jwt(sub="a-1", exp=1), Verdict.PASS), ("opaque-token", Verdict.UNTESTED)]
)
def test_a_token_of_ids_and_times_alone_repeats_nothing(token: str, verdict: Verdict) -> None:
    assert verdict_on("TOKEN-028", [profile_by(token)]) is verdict
