"""The validation of mail servers, whose answer is not shown (chapter "Notifications")."""

from __future__ import annotations

import pytest

from cases.premises import answered, authorized, form, outcome
from conformance.cases import Account, Exchange, Json, Portal, Verify, mark, op


@mark.requirement("CHANNEL-057")
@mark.impact("mutating")
def test_what_the_validation_of_mail_servers_answers(portal: Portal, verify: Verify, admin: Account) -> None:
    imap = validated(portal, admin, op.EMAIL_VALIDATE_IMAP)
    smtp = validated(portal, admin, op.EMAIL_VALIDATE_SMTP)
    verify.observe(
        "mail-validation-answers", imap, {"imap": form_or_outcome(imap), "smtp": form_or_outcome(smtp)}
    )


@mark.requirement("AUTHN-004")
@mark.impact("mutating")
@pytest.mark.parametrize("key", [op.EMAIL_VALIDATE_IMAP, op.EMAIL_VALIDATE_SMTP])
def test_mail_servers_are_validated_for_a_caller_with_a_token(portal: Portal, key: str) -> None:
    """A body as it is meant to be: one that is refused for its form says nothing of the token."""
    answered(portal.call(key, json=portal.operation_body(key)))


def validated(portal: Portal, caller: Account, key: str) -> Exchange:
    return authorized(portal.call(key, json=portal.operation_body(key), token=caller.token))


def form_or_outcome(exchange: Exchange) -> Json:
    return form(exchange.data) if exchange.success else outcome(exchange)
