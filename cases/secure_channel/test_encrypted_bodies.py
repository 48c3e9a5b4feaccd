"""What travels in the channel: a body is understood under its own session, and under no other."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Generator
from dataclasses import replace

from cases.authentication.passwords import Sealed, altered, change, replaced_passwords
from cases.authentication.steps import SETTLING, left_until
from cases.nobody import unknown_id
from cases.premises import change_accepted, is_invalid, outcome
from cases.secure_channel.test_sessions import close
from conformance.cases import (
    ABSENT,
    HELD,
    Account,
    Channel,
    Exchange,
    Portal,
    Scheme,
    Untestable,
    Verify,
    Wait,
    is_refused,
    is_success,
    mark,
    op,
    portal_time,
)

FIRST, REFUSED, EXPIRED, AFTER, BEFORE, SECOND = 55, 56, 57, 58, 62, 63
"""Which of the run's passwords are set: ones that no other case takes."""

SHORTLY, MOMENT = 30.0, 10.0
APART = 60.0
"""By how many seconds `timestamp`, the time of an answer, may be ahead of the clock of `expiresAt`."""

PATIENCE = 600.0
"""Seconds that a run waits at most for a session to expire: how long it lasts is the target's choice."""


@mark.requirement(
    "SECURE-013", "SECURE-016", "SECURE-017", "SECURE-018", "SECURE-020", "SECURE-025", "SECURE-028",
    "SECURE-029", "SECURE-030", "SECURE-031", "SECURE-034", "SECURE-035", "SECURE-036",
    "PASSWORD-015", "PASSWORD-016",
)  # fmt: skip
@mark.needs("accounts.spare", op.PASSWORD_CHANGE)
@mark.impact("disruptive")
def test_a_body_is_understood_under_its_own_open_session_only(
    portal: Portal, spare: Account, verify: Verify
) -> None:
    """Each body would change the password if it were opened: that it would, the last one shows."""
    numbers = (FIRST, REFUSED, SECOND)
    with replaced_passwords(portal, spare, op.PASSWORD_CHANGE, *numbers) as (first, other, second):
        channel, understood = _understood(portal, spare, verify, first)
        _observe_form(portal, verify, understood)
        _verify_again(portal, spare, verify, (second, other), channel)

        refusals: dict[str, Exchange] = {}
        opened, other_channel = portal.secure.open(), portal.secure.open()
        closed = close(portal, channel)
        if closed.success:
            refusals["SECURE-020"] = change(portal, spare, other, channel=channel)
        else:
            verify.untested("SECURE-020", "the session could not be closed; how is not shown (N3)")
        refusals["SECURE-025"] = change(
            portal, spare, other, channel=opened, session_id=other_channel.session_id
        )
        unknown = change(portal, spare, other, channel=opened, session_id=unknown_id(opened.session_id))
        refusals["PASSWORD-015"] = unknown
        verify.observe("unknown-channel-session", unknown, outcome(unknown))

        refusals |= _altered(portal, spare, other)

        proof = change(portal, spare, other, channel=opened)
        if is_invalid(proof):
            repeated = change(portal, spare, other, channel=other_channel)
            if repeated.success:
                verify("SECURE-013", is_success(proof, opened.exchange, repeated))
            proof = repeated
        if closed.success:
            _verify_outlives(portal, spare, verify, other, proof, opened, closed)
        for requirement_id, refused in refusals.items():
            if proof.success or refused.success:
                verify(requirement_id, is_refused(refused, understood, message="the body was opened"))
        change_accepted(proof)


def _verify_again(
    portal: Portal, spare: Account, verify: Verify, passwords: tuple[str, str], channel: Channel
) -> None:
    """Another body under the session of one that was understood. Where it is refused, a session of its own
    shows that it was not the body; and where the refusal is the portal's own, that it stays so."""
    new, further = passwords
    again = change(portal, spare, new, channel=channel)
    if again.success:
        verify("SECURE-036", HELD)
        return
    proof = change(portal, spare, new, channel=portal.secure.open())
    if not proof.success:
        return
    if not is_invalid(again):
        repeated = change(portal, spare, further, channel=channel)
        if outcome(repeated) != outcome(again):
            return
    verify("SECURE-036", is_success(again, channel.exchange, proof))


def _verify_outlives(
    portal: Portal,
    spare: Account,
    verify: Verify,
    new: str,
    proof: Exchange,
    opened: Channel,
    closed: Exchange,
) -> None:
    """Sessions that were open when another was closed are open still; where not, a new one is."""
    if proof.success:
        verify("SECURE-035", HELD)
    elif change(portal, spare, new, channel=portal.secure.open()).success:
        verify("SECURE-035", is_success(proof, opened.exchange, closed))


NO_VERSION = 99
"""A version that nobody uses yet."""


def _altered(portal: Portal, spare: Account, new: str) -> dict[str, Exchange]:
    """Bodies each of which is in order but for one thing, each under a session of its own."""
    alterations: dict[str, Callable[[Sealed], Sealed]] = {
        "SECURE-029": lambda sealed: {name: value for name, value in sealed.items() if name != "v"},
        "SECURE-030": lambda sealed: sealed | {"v": NO_VERSION},
    }
    scheme = portal.secure.shared().scheme
    if scheme.aes_mode == "gcm":
        alterations["SECURE-031"] = lambda sealed: sealed | {"p": _with_another_tag(sealed["p"], scheme)}
    refusals = {
        rule: altered(portal, spare, new, channel=portal.secure.open(), alter=alter)
        for rule, alter in alterations.items()
    }
    return refusals | {
        "SECURE-028": change(portal, spare, new, channel=portal.secure.open(), session_id=None)
    }


def _with_another_tag(payload: str, scheme: Scheme) -> str:
    """One bit of the tag is another: what does not look at it finds the plaintext as it was."""
    octets, parts = bytearray(b64decode(payload)), scheme.parts
    behind = parts[parts.index("tag") + 1 :]
    place = scheme.iv_length * ("iv" not in behind) if "ciphertext" in behind else -1
    place -= scheme.iv_length if behind == ["iv"] else 0
    octets[place] ^= 1
    return b64encode(octets).decode()


def _understood(portal: Portal, spare: Account, verify: Verify, new: str) -> tuple[Channel, Exchange]:
    """A change that was accepted, with its channel. Where the same body is refused as malformed under one
    open session and accepted under the next, it was not the profile's body that was wrong."""
    channel = portal.secure.open()
    answer = change(portal, spare, new, channel=channel)
    if is_invalid(answer):
        refused, channel = answer, portal.secure.open()
        answer = change(portal, spare, new, channel=channel)
        if answer.success:
            verify("SECURE-013", is_success(refused, channel.exchange, answer))
        elif is_invalid(answer):
            _verify_not_swapped(portal, spare, verify, new)
    if answer.success:
        verify("SECURE-034", HELD)
    verify("SECURE-013", is_success(change_accepted(answer), channel.exchange))
    return channel, answer


def _verify_not_swapped(portal: Portal, spare: Account, verify: Verify, new: str) -> None:
    """Whether a body that is refused under the request key is taken under that of the responses."""
    opened = portal.secure.open()
    swapped = replace(opened, request_key=opened.response_key, response_key=opened.request_key)
    answer = change(portal, spare, new, channel=swapped)
    if answer.success:
        message = "a body was opened with the key of the responses"
        verify("SECURE-034", is_refused(answer, opened.exchange, message=message))


def _observe_form(portal: Portal, verify: Verify, understood: Exchange) -> None:
    secure = portal.secure
    sealed = understood.plain is not None and understood.plain.response is not ABSENT
    verify.observe("encrypted-body-form", understood, secure.how("body"))
    verify.observe("ciphertext-layout", understood, f"{secure.how('aes_mode')}: {secure.how('payload')}")
    verify.observe("encrypted-responses", understood, "encrypted" if sealed else "plain")


@mark.requirement("SECURE-021", "SECURE-033")
@mark.needs("accounts.spare", op.PASSWORD_CHANGE)
@mark.impact("disruptive")
@mark.waits(PATIENCE)
def test_an_expired_session_opens_no_body(
    portal: Portal, spare: Account, verify: Verify
) -> Generator[Wait, None, None]:
    expiring = portal.secure.open()
    if expiring.expires_at is None:
        raise Untestable("the session does not tell when it expires", "target")
    if expiring.ends_at is None:
        raise Untestable("expiresAt and the portal's own time give the session no lifetime", "target")
    lasting = portal.secure.open()
    lasts = left_until(portal, expiring.ends_at + SETTLING)
    if lasts > PATIENCE and not portal.clock.is_simulated:
        raise Untestable(f"a secure-channel session lasts {lasts:.0f} s here, and no [clock] moves the time")
    margin = MOMENT if portal.clock.is_simulated else max(SHORTLY, lasts / 10)
    yield max(0.0, lasts - margin), "the last minutes of a secure-channel session"
    with replaced_passwords(portal, spare, op.PASSWORD_CHANGE, BEFORE) as (before,):
        used = change(portal, spare, before, channel=lasting)
        if not used.success:
            change_accepted(change(portal, spare, before, channel=portal.secure.open()))
        if used.success or left_until(portal, expiring.ends_at) > 0:
            verify("SECURE-033", is_success(used, lasting.exchange))
        else:  # beside a clock that is moved, another case may have waited longer
            verify.untested("SECURE-033", "the session ended before it was used", "environment")
    yield left_until(portal, expiring.ends_at + SETTLING), "the end of a secure-channel session"
    stamped = portal_time(expiring.exchange).timestamp()
    if portal.clock.is_simulated or stamped > expiring.exchange.time + SETTLING:
        portal.clock.wait(APART, "a session to end by another clock too")
    with replaced_passwords(portal, spare, op.PASSWORD_CHANGE, EXPIRED, AFTER) as (never, after):
        expired = change(portal, spare, never, channel=expiring)
        change_accepted(change(portal, spare, after, channel=portal.secure.open()))
        verify(
            "SECURE-021", is_refused(expired, expiring.exchange, message="an expired session opened a body")
        )
