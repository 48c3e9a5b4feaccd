"""Ids that nobody has: of the form that the target shows, and never those of a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from cases.nobody import asked_for_nobody, free_id, is_surely_free, unknown_id, unknown_ids
from conformance.cases import Untestable
from conformance.spec.endpoints import ACCOUNT
from conformance.tests.deployment import deployed
from conformance.tests.reached import MINIMAL, answer, answering
from conformance.traffic.exchange import Exchange


@pytest.mark.parametrize(
    "existing, made",
    [
        ("42", ("987654321",)),
        ("1001", ("987654321", "9876")),
        ("100001", ("987654321", "987654")),
        ("000123", ("987654",)),
        ("1234567890", ("2109876543",)),
        ("9234567890", ("9876543210",)),
        ("adm_000123", ("adm_987654",)),
        ("adm-17", ("adm-987654321",)),
        ("tenant-2-000123", ("tenant-2-987654",)),
        ("3kTMd9fyX0aQmZr71bWc8Ld2_12", ("3kTMd9fyX0aQmZr71bMf3Ua7_67",)),
        ("USER000123", ("USER987654",)),
        ("0000002f", ("5555557c",)),
        ("6f1f1c9e-52a5-4c55-9d6a-000000000123", ("6f1f1c9e-52a5-4c55-9d6a-555555555678",)),
        ("507f1f77bcf86cd799439011", ("507f1f77bcf86cd744984566",)),
        ("lou", ("lol",)),
        ("acc_01JABCDEFGHJKMNPQRSTVWXYZ0", ("acc_01JABCDEFGHJKMNPZGHJKMNPQ5",)),
        ("1876543210123456789", ("1876543210128901234",)),
    ],
)
def test_an_unknown_id_has_the_form_of_a_known_one_and_is_far_from_its_neighbours(
    existing: str, made: tuple[str, ...]
) -> None:
    assert unknown_ids(existing) == made


def test_where_no_other_id_can_be_made_nothing_is_asked_for() -> None:
    with pytest.raises(Untestable, match="no unknown id of the form"):
        unknown_ids("漢字")


RECORDS = f'{MINIMAL}[records]\naccount = "100001"\nworkspace = "100002"\n'


def of_six_digits(existing: set[str]) -> Callable[[httpx.Request], httpx.Response]:
    """A portal that refuses what has no six digits as malformed."""

    def respond(request: httpx.Request) -> httpx.Response:
        id = request.url.path.rpartition("/")[2]
        if len(id) != 6:
            return answer(status=400, code="VALIDATION.INVALID_PARAMETER")
        return answer({"bizId": id}) if id in existing else answer(status=404, code="RESOURCE.NOT_FOUND")

    return respond


def test_where_a_far_id_is_malformed_one_of_the_same_length_is_asked_for() -> None:
    portal = answering(of_six_digits({"100001"}), profile=RECORDS)

    refused = asked_for_nobody(portal, "100001", lambda id: portal.call(ACCOUNT, token="t", userBizId=id))

    assert (refused.status, refused.request.path.rpartition("/")[2]) == (404, "987654")


def test_an_id_of_the_same_length_that_a_record_has_accuses_nobody() -> None:
    portal = answering(of_six_digits({"100001", "987654", "100002"}), profile=RECORDS)

    with pytest.raises(Untestable, match="refused as such"):
        asked_for_nobody(portal, "100001", lambda id: portal.call(ACCOUNT, token="t", userBizId=id))


def test_a_change_is_asked_for_by_no_id_that_may_be_that_of_a_record() -> None:
    asked: list[str] = []
    portal = answering(of_six_digits({"100001", "987654", "100002"}), profile=RECORDS)

    with pytest.raises(Untestable, match="certainly nobody's"):
        free_id(portal, "t", "account")
    with pytest.raises(Untestable, match="certainly nobody's"):
        asked_for_nobody(portal, "100001", ask=_noting(asked), is_free=lambda id: False)

    assert asked == []
    assert not is_surely_free("100001")("987654")
    assert not is_surely_free("42", unknown_id("42"))(unknown_id("42"))


def _noting(asked: list[str]) -> Callable[[str], Exchange]:
    def ask(id: str) -> Exchange:
        asked.append(id)
        raise AssertionError

    return ask


DECIDED = {"ACCOUNT-031", "ACCOUNT-039", "FILE-024", "INSTITUTION-010", "ROLE-011", "ROLE-014"}
CHANGED = {"ACCOUNT-045", "ACCOUNT-046", "CHANNEL-053", "ERROR-022"}


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["ids-of-six-digits", "ids-padded-with-zeros"])
def test_rules_of_unknown_ids_are_decided_where_other_forms_are_malformed(
    variant: str, tmp_path: Path
) -> None:
    with deployed(tmp_path, seed=7, variants=[variant]) as portal:
        options = [word for rule in sorted(DECIDED | CHANGED) for word in ("--only", rule)]
        run = portal.run("--impact", "disruptive", *options)

    assert {rule: run.verdict(rule) for rule in DECIDED | CHANGED} == dict.fromkeys(DECIDED | CHANGED, "pass")
