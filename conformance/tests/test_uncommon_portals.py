"""What cases decide on portals and by profiles that the selftest does not have."""

from __future__ import annotations

import re

import pytest

from cases.authentication import test_password_reset
from cases.notifications.making import CHANNEL, a_record
from cases.notifications.test_channel_changes import is_masked
from cases.notifications.test_filters import NOUNS, TEXTS
from cases.notifications.test_filters import test_a_record_is_found_by_a_text as is_found_by
from cases.security.test_factors import through_its_life
from conformance.judging import watch
from conformance.tests.reached import Deciding, connected
from conformance.verdicts.findings import Verdict
from reference_impl.choices import Choices


@pytest.mark.parametrize("is_replaced", [False, True])
def test_an_authenticator_may_take_the_place_of_mailed_codes(is_replaced: bool) -> None:
    verify = Deciding()
    with connected(choices=Choices(authenticator_replaces_email=is_replaced)) as (portal, _, _):
        for seconds, why in through_its_life(portal, verify, portal.account("spare")):
            portal.clock.wait(seconds, why)

    assert (verify.verdicts["MODEL-010"], verify.verdicts["MFA-017"]) == (Verdict.PASS, Verdict.OPEN)
    readings = {row.observed for row in verify.ledger.observations if row.topic == "email-beside-otp"}
    assert readings == {"is replaced" if is_replaced else "stays enabled"}


WITH_THE_EMAIL = re.compile(r'email = "\{email\}"(?=, code = "\{code\}")')


@pytest.mark.parametrize("email, verdict", [("{email}", Verdict.UNTESTED), ("a@example.test", Verdict.PASS)])
def test_a_code_that_names_its_account_sets_no_password_of_another(email: str, verdict: Verdict) -> None:
    verify = Deciding()

    def edit(profile: str) -> str:
        return WITH_THE_EMAIL.sub(f'email = "{email}"', profile)

    with connected(variants=["a-mailed-code-names-its-account"], edit=edit) as (portal, _, running):
        reset = test_password_reset.test_a_reset_password_signs_in_and_the_old_one_no_more
        reset(portal, portal.account("spare"), verify)
        limited = portal.account("limited")
        account = running.portal.account_of(limited.email)
        assert account is not None
        assert running.portal.passwords[account["bizId"]].matches(limited.password)

    assert verify.verdicts["PASSWORD-022"] is verdict


def test_a_body_with_mail_settings_gets_a_password_that_is_made_up() -> None:
    def without_password(profile: str) -> str:
        return re.sub(r',? *"?password"? *= *"[^"]*"(?=[^\n]*useSsl)', "", profile)

    verify = Deciding("CHANNEL-046")
    with connected(edit=without_password) as (portal, _, _):
        assert "password" not in portal.operation_body(CHANNEL.verb("create"))["emailConfig"]
        with a_record(portal, verify, portal.account("admin"), CHANNEL) as own:
            assert own.body["emailConfig"]["password"]
            is_masked(own)

    assert verify.verdicts["CHANNEL-046"] is Verdict.PASS


FILTERS = {by.rule: by for by in TEXTS}


def with_one_record(rule: str, *faults: str) -> Verdict:
    """What the case and the checks decide of a filter where a portal has one record of the kind."""
    by = FILTERS[rule]
    verify = Deciding(rule)
    judge = watch(verify.ledger)
    with connected(faults=faults) as (portal, exchanges, running):
        for record in running.portal.newest(NOUNS[by.key])[1:]:
            running.portal.remove(NOUNS[by.key], record["bizId"])
        is_found_by(portal, verify, portal.account("admin"), by)
        for exchange in exchanges:
            judge(exchange)
    return verify.verdicts[rule]


@pytest.mark.parametrize(
    "rule, fault, verdict",
    [
        ("CHANNEL-040", "channel-id-filter-ignored", Verdict.WARN),
        ("CHANNEL-041", "channel-institution-filter-ignored", Verdict.UNTESTED),
        ("CHANNELTYPE-020", "type-id-filter-ignored", Verdict.WARN),
        ("CHANNELTYPE-021", "type-code-filter-ignored", Verdict.WARN),
    ],
)
def test_a_filter_of_a_single_record_passes_only_where_it_is_followed(
    rule: str, fault: str, verdict: Verdict
) -> None:
    assert with_one_record(rule) is Verdict.PASS
    assert with_one_record(rule, fault) is verdict
