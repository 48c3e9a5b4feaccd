"""What cases decide on portals and by profiles that the selftest does not have."""

from __future__ import annotations

import re

import httpx
import pytest

from cases.authentication import test_password_reset
from cases.headers import test_languages
from cases.notifications.making import CHANNEL, a_record
from cases.notifications.test_channel_changes import is_masked
from cases.notifications.test_filters import NOUNS, TEXTS
from cases.notifications.test_filters import test_a_record_is_found_by_a_text as is_found_by
from cases.profile import test_answering_invitations
from cases.security import test_factors, test_ip_whitelist
from cases.security.test_factors import through_its_life
from cases.security.test_ip_whitelist import ANOTHER, addresses, own_addresses, read
from conformance.errors import Untestable
from conformance.judging import watch
from conformance.spec.endpoints import OTP_REVOKE
from conformance.tests.reached import Deciding, answer, answering, connected
from conformance.traffic.exchange import Exchange, Json
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


@pytest.mark.parametrize(
    "faults, verdict", [((), Verdict.PASS), (("declined-invitation-can-be-accepted",), Verdict.WARN)]
)
def test_a_declined_invitation_is_looked_for_where_it_is_now(
    faults: tuple[str, ...], verdict: Verdict
) -> None:
    verify = Deciding()
    with connected(choices=Choices(statuses_required=True), faults=faults) as (portal, _, _):
        declined = test_answering_invitations.test_a_declined_invitation_can_no_longer_be_accepted
        declined(portal, verify, portal.account("admin"), portal.account("spare"))

    assert verify.verdicts["INVITATION-030"] is verdict


SIGNED_IN: Json = {"sessionId": "s", "accessToken": "a", "expiresIn": 3600, "defaultLanguage": "en"}


def in_english(request: httpx.Request) -> httpx.Response:
    if "/constants/" in request.url.path:
        return answer([{"code": "CN", "value": 95010301, "label": "China"}])
    if "/roles" in request.url.path:
        return answer(status=404, code="RESOURCE.NOT_FOUND")
    return answer(SIGNED_IN)


def test_the_reason_names_what_the_texts_do_not_show() -> None:
    verify = Deciding("HEADER-020")
    portal = answering(in_english)

    case = test_languages.test_without_a_language_texts_are_in_english
    case(portal, verify, portal.account("admin"))

    result = next(row for row in verify.ledger.results() if row.requirement.id == "HEADER-020")
    assert result.verdict is Verdict.UNTESTED
    assert result.reason == "no text is another one in another of the listed languages"


ADDS = "IPWHITELIST-010"


@pytest.mark.parametrize("variants, verdict", [(("whitelist-adds",), Verdict.UNTESTED), ((), Verdict.PASS)])
def test_addresses_that_join_those_that_are_there_are_named_as_left(
    variants: tuple[str, ...], verdict: Verdict
) -> None:
    verify = Deciding()
    with connected(variants=variants) as (portal, _, _):
        test_ip_whitelist.test_addresses_that_were_set_are_read_back(portal, verify, portal.account("spare"))
        named = " ".join(portal.changes.unrestorable)
        assert portal.changes.pending == []

    assert verify.verdicts[ADDS] is verdict
    assert ("the IP whitelist of [accounts.spare] keeps" in named) == bool(variants)


def test_where_addresses_join_no_more_are_set_than_the_first() -> None:
    verify = Deciding()
    with connected(variants=("whitelist-adds",)) as (portal, exchanges, _):
        spare = portal.account("spare")
        own = own_addresses(portal, spare)
        test_ip_whitelist.test_addresses_that_were_set_are_read_back(portal, verify, spare)
        with pytest.raises(Untestable, match="so that no more are set"):
            test_ip_whitelist.test_how_an_address_that_is_none_is_answered(portal, verify, spare)
        test_ip_whitelist.test_the_whitelist_is_enabled_and_disabled(portal, verify, spare)
        test_ip_whitelist.test_ips_that_are_no_array_are_refused(portal, verify, spare)
        there = addresses(read(portal, spare))

    assert set(there) == {*own, ANOTHER}
    assert not any("not-an-address" in str(exchange.request.body) for exchange in exchanges)
    assert [verify.verdicts[f"IPWHITELIST-00{number}"] for number in (3, 4, 5, 9)] == [Verdict.PASS] * 4


def test_an_authenticator_that_was_never_verified_is_revoked() -> None:
    verify = Deciding()
    with connected(edit=lambda profile: profile.replace('"{otp}"', '"none"')) as (portal, exchanges, _):
        life = test_factors.test_an_authenticator_through_its_life(portal, verify, portal.account("spare"))
        with pytest.raises(Untestable):
            next(life)
        assert any(is_revocation(exchange) for exchange in exchanges)


def is_revocation(exchange: Exchange) -> bool:
    operation = exchange.request.operation
    return operation is not None and operation.key == OTP_REVOKE and exchange.success
