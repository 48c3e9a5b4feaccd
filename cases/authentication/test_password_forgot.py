"""A forgotten password: who is told what."""

from __future__ import annotations

from cases.authentication.steps import ARRIVAL, an_account, nobody, serves_everywhere
from cases.premises import answered, granted, outcome, unchallenged
from cases.surroundings import Surroundings
from conformance.cases import (
    HELD,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    contradicts,
    equal,
    generic_message,
    holds,
    is_invalid_parameter,
    is_refused,
    is_success,
    mark,
    op,
)


@mark.requirement("PASSWORD-001", "PASSWORD-002", "PASSWORD-003", "MODEL-011")
@mark.needs("bot_challenge")
@mark.impact("mutating")
def test_a_forgotten_password_is_answered_alike_for_known_and_unknown_addresses(
    portal: Portal, verify: Verify
) -> None:
    account = an_account(portal, "spare", "limited", "admin")
    around = Surroundings(portal, account.token)
    first = granted(forgotten(portal, account.email))
    around.judged(verify, "MODEL-011", first)
    unknown = answered(forgotten(portal, nobody(portal)))
    if answer_of(unknown) != answer_of(first):
        # A rate that a third request runs into as well tells of nobody.
        repeated = answered(forgotten(portal, account.email))
        first = first if answer_of(repeated) == answer_of(first) else granted(repeated)

    verify(
        "PASSWORD-003",
        is_success(unknown, first),
        equal(unknown, "data.success", first.at("data.success"), first),
        holds(
            unknown,
            "data.message",
            generic_message(unknown) == generic_message(first),
            first.at("data.message"),
            first,
        ),
    )


def forgotten(portal: Portal, email: str) -> Exchange:
    return portal.call(op.PASSWORD_FORGOT, json={"email": email, "turnstileToken": portal.bot_token})


def answer_of(exchange: Exchange) -> Json:
    return [exchange.success, exchange.at("data.success"), generic_message(exchange)]


@mark.requirement("PASSWORD-004", "PASSWORD-005")
@mark.impact("mutating")
def test_a_forgotten_password_asks_for_the_bot_challenge(portal: Portal, verify: Verify) -> None:
    without = answered(portal.call(op.PASSWORD_FORGOT, json={"email": nobody(portal)}, bot_challenge=False))
    if without.at("data.success") is not False:  # what that means is not stated
        verify("PASSWORD-004", is_refused(without, message="no bot challenge was asked for"))

    body: Json = {"email": nobody(portal), "turnstileToken": portal.unique()}
    invalid = answered(portal.call(op.PASSWORD_FORGOT, json=body, bot_challenge=False))
    verify.observe("bot-challenge-forgot", invalid, outcome(invalid))


@mark.requirement("PASSWORD-006")
@mark.needs("bot_challenge")
@mark.impact("mutating")
def test_a_forgotten_password_without_an_email_is_invalid(portal: Portal, verify: Verify) -> None:
    refused = unchallenged(portal.call(op.PASSWORD_FORGOT, json={"turnstileToken": portal.bot_token}))

    verify("PASSWORD-006", is_invalid_parameter(refused))


MAILED_TWICE = "each of two requests was refused, and a code was mailed after it"
"""One mail alone may be that of an earlier request, on its way for long."""


@mark.requirement("MODEL-014")
@mark.impact("mutating")
@mark.pauses(2 * ARRIVAL)
def test_a_refused_request_for_a_forgotten_password_mails_nothing(portal: Portal, verify: Verify) -> None:
    account = an_account(portal, "spare", "limited", "admin", factor="EMAIL")
    if serves_everywhere(portal, account, "EMAIL"):
        raise Untestable(f"the code of [accounts.{account.name}] is a fixed one: no mail is looked for")
    for _ in range(2):
        account.mark_inbox()
        refused = answered(
            portal.call(op.PASSWORD_FORGOT, json={"email": account.email}, bot_challenge=False)
        )
        if refused.success:
            raise Untestable("a request without a bot challenge was accepted", "target")
        portal.clock.pause(account.arrival(ARRIVAL), "a mail of the request that was refused")
        if not account.has_mailed_code():
            verify("MODEL-014", HELD)
            return
    verify("MODEL-014", contradicts(refused, "", "no mail", "a mail with a code", MAILED_TWICE))
