"""What a request must leave as it was: a finding has both readings, and the request between them."""

from __future__ import annotations

import pytest

from cases.surroundings import Surroundings
from conformance.spec.endpoints import (
    BACKUP_CODES,
    BACKUP_CODES_GENERATE,
    SESSIONS_CONFIG,
)
from conformance.tests.reached import connected
from conformance.verdicts.findings import HELD, Contradiction, OtherPlace


@pytest.mark.parametrize("faults", [(), ("generated-codes-raise-the-sessions",)])
def test_a_setting_that_a_request_does_not_name_is_shown_before_and_after_it(faults: tuple[str, ...]) -> None:
    with connected(faults=faults) as (portal, seen, _):
        token = portal.account("admin").token
        around = Surroundings(portal, token)
        generated = portal.call(BACKUP_CODES_GENERATE, token=token)

        compared = around.kept(generated, (BACKUP_CODES,))

    if not faults:
        assert compared is HELD
        return
    assert isinstance(compared, Contradiction)
    before, done, after = *compared.also, compared.exchange
    assert (before.request.operation, done) == (after.request.operation, generated)
    assert before.at("data.maxSessions") == compared.expected
    assert after.at(compared.path) == compared.actual
    assert compared.other == OtherPlace(before.n, SESSIONS_CONFIG, "", "maxSessions")
    assert before.n < done.n < after.n <= len(seen)
