"""Passwords of ``spare`` as the cases change them: written down before, put back afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cases.authentication.steps import WRONG_CREDENTIALS
from cases.dating import grain
from cases.premises import A_WHILE, answered, authorized, granted, settled, unless_paced
from conformance.cases import (
    ABSENT,
    CONTENT_TYPE,
    SESSION_HEADER,
    Account,
    Channel,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    moment,
    op,
    portal_time,
)

HEARD_OF = "every part of the portal to hear of a new password"


def body_of_change(portal: Portal, account: Account, new: str, *, current: str | None = None) -> Json:
    """The profile's body of a change, of a current password that may be wrong. Raises Untestable where the
    body has no place for the new one: then nothing could be put back."""
    settings = portal.profile.operations.get(op.PASSWORD_CHANGE)
    if settings is not None and "{new_password}" not in str(settings.body):
        raise Untestable(f'[operations."{op.PASSWORD_CHANGE}"] body has no {{new_password}}')
    return portal.operation_body(
        op.PASSWORD_CHANGE, email=account.email, password=current or account.password, new_password=new
    )


def asks_for_the_current_password(portal: Portal) -> bool:
    settings = portal.profile.operations.get(op.PASSWORD_CHANGE)
    return settings is not None and "{password}" in str(settings.body)


def change(
    portal: Portal,
    account: Account,
    new: str,
    *,
    current: str | None = None,
    channel: Channel | None = None,
    session_id: Json = ABSENT,
) -> Exchange:
    """Asks for another password; where that succeeds, the account has it from now on.

    ``session_id``: another secure-channel session in the header than the one it is encrypted for, or None for
    no header.
    """
    body = body_of_change(portal, account, new, current=current)
    exchange = answered(
        portal.secure.post(
            op.PASSWORD_CHANGE, body, channel=channel, token=account.token, session_id=session_id
        )
    )
    if exchange.success:
        account.password_changed_to(new)
    return exchange


Sealed = dict[str, Json]


def altered(
    portal: Portal, account: Account, new: str, *, channel: Channel, alter: Callable[[Sealed], Sealed]
) -> Exchange:
    """As ``change``, by an encrypted body that was altered after it was sealed."""
    body = json.loads(channel.encrypt(body_of_change(portal, account, new)))
    is_text = isinstance(body, str)
    changed = alter(json.loads(body) if is_text else body)
    exchange = answered(
        portal.call(
            op.PASSWORD_CHANGE,
            json=json.dumps(changed) if is_text else changed,
            token=account.token,
            headers={SESSION_HEADER: channel.session_id},
            content_type=CONTENT_TYPE,
            open_answer=portal.secure.opener(channel),
        )
    )
    if exchange.success:
        account.password_changed_to(new)
    return exchange


def session_config(portal: Portal, account: Account) -> Exchange:
    """The account's session config; by a new sign-in where a new password ended the sessions before."""
    answer = answered(portal.call(op.SESSIONS_CONFIG, token=account.token))
    if answer.status == 401:
        account.forget()
        answer = answered(portal.call(op.SESSIONS_CONFIG, token=account.token))
    return granted(answer)


def dated_before(portal: Portal, account: Account) -> Exchange:
    """The session config, a while before the password is another."""
    config = session_config(portal, account)
    portal.clock.wait(A_WHILE, "a time that a new password may set")
    return config


def verify_dated(portal: Portal, account: Account, verify: Verify, before: Exchange, done: Exchange) -> None:
    """The config shows another time since a password was set; null and a text that is no time say nothing."""
    at = "data.passwordChangedAt"

    def moved(config: Exchange) -> bool:
        old, new = moment(before.at(at)), moment(config.at(at))
        return new is None or old is None or new > old

    after = settled(portal, lambda: session_config(portal, account), moved)
    early = moment(before.at(at))
    if moment(after.at(at)) is None:
        verify.untested("PASSWORD-020", "the session config shows no passwordChangedAt", "target")
        return
    if early is not None and not moved(after) and early > portal_time(done) - grain(after.at(at)):
        verify.untested("PASSWORD-020", "passwordChangedAt is of the same minute", "target")
        return
    verify("PASSWORD-020", holds(after, at, moved(after), f"a later time than {before.at(at)}", before, done))


@contextmanager
def replaced_passwords(portal: Portal, account: Account, key: str, *numbers: int) -> Iterator[list[str]]:
    """Lets a block set the account's passwords of these numbers, a single case's own, then sets the original
    password again. After a refusal the ledger keeps the change, and the run's end tries again."""
    own = account.password
    passwords = [account.next_password(number) for number in numbers]
    noted = [portal.changes.changing_password(account.name, number, key) for number in numbers]
    try:
        yield passwords
    finally:
        if account.password == own or _changed_back(portal, account, own):
            for number in noted:
                portal.changes.undone(number)


def _changed_back(portal: Portal, account: Account, own: str) -> bool:
    """Sets the original password, and tries again later after a refusal: a part of the portal may still have
    the previous password, or the secure channel may have ended."""
    return settled(portal, lambda: _is_changed_back(portal, account, own), bool, why=HEARD_OF)


def _is_changed_back(portal: Portal, account: Account, own: str) -> bool:
    answer = change(portal, account, own)
    if not answer.success:
        portal.secure.forget()
    return answer.success


def signs_in(portal: Portal, account: Account, password: str) -> Exchange:
    """Begins a sign-in with a password, and returns the answer without completing the sign-in."""
    return unless_paced(portal.login.initiate(account.email, password))


def signs_in_at_last(portal: Portal, account: Account, password: str, *, expected: bool) -> Exchange:
    """Calls ``signs_in`` after a password change, and again later if the answer does not show the change
    yet."""

    def shows(answer: Exchange) -> bool:
        return answer.success is expected or (expected and answer.code != WRONG_CREDENTIALS)

    return settled(portal, lambda: signs_in(portal, account, password), shows, why=HEARD_OF)


def unsealed(portal: Portal, key: str, body: Json, *, token: str | None = None) -> Exchange:
    """Sends a body as it is where an encrypted one belongs, under a secure-channel session of its own: what
    cannot be opened may well close it.

    Raises Untestable where it is the caller who is refused, or a rate that is kept: its code is not shown.
    """
    channel = portal.secure.open()
    exchange = portal.call(
        key,
        json=body,
        token=token,
        headers={SESSION_HEADER: channel.session_id},
        content_type=CONTENT_TYPE,
        open_answer=portal.secure.opener(channel),
    )
    return unless_paced(exchange) if token is None else unless_paced(authorized(exchange))
