"""Authenticator codes are those of RFC 6238, each time step serves once, and wrong ones are wrong."""

from __future__ import annotations

import base64

import pytest

from conformance.target.portal.codes import ADJACENT_STEPS, Codes, totp_at
from conformance.target.profile.authenticator import STEP, normal_secret
from conformance.tests.reached import moved
from conformance.traffic.redaction.redact import Secrets

RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()


@pytest.mark.parametrize(
    "seconds, code",
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_rfcs_appendix(seconds: int, code: str) -> None:
    assert totp_at(RFC_SECRET, seconds // STEP) == code


@pytest.mark.parametrize(
    "algorithm, length, code",
    [("SHA256", 32, "46119246"), ("SHA512", 64, "90693936"), ("SHA1", 20, "94287082")],
)
def test_a_uri_says_how_codes_are_made(algorithm: str, length: int, code: str) -> None:
    secret = base64.b32encode((b"1234567890" * 7)[:length]).decode().rstrip("=")
    uri = f"otpauth://totp/A:a@example.test?secret={secret.lower()}&algorithm={algorithm}&digits=8&period=30"

    normal = normal_secret(uri)

    assert normal is not None
    assert totp_at(normal, 59 // STEP) == code
    assert len(totp_at(normal, 60 // STEP)) == 8
    assert len(Codes(moved(), Secrets()).wrong_totp(normal)) == 8


@pytest.mark.parametrize(
    "text, normal",
    [
        ("otpauth://totp/A?secret=JBSWY3DPEHPK3PXP&issuer=A", "JBSWY3DPEHPK3PXP"),
        ("jbsw y3dp-ehpk3pxp", "JBSWY3DPEHPK3PXP"),
        ("otpauth://totp/A?secret=JBSWY3DPEHPK3PXP&period=60", None),
        ("otpauth://totp/A?secret=JBSWY3DPEHPK3PXP&algorithm=MD5", None),
        ("otpauth://totp/A?issuer=A", None),
    ],
)
def test_a_secret_is_base32_or_a_uri_that_can_be_followed(text: str, normal: str | None) -> None:
    assert normal_secret(text) == normal


def test_no_time_step_is_used_twice_for_one_secret() -> None:
    clock = moved()
    codes = Codes(clock, Secrets())
    began = clock.now()

    steps = [(codes.totp(RFC_SECRET), int(clock.now() // STEP)) for _ in range(5)]

    assert len({step for _, step in steps}) == 5
    assert all(code == totp_at(RFC_SECRET, step) for code, step in steps)
    assert clock.now() - began <= 5 * STEP


def test_an_early_code_is_that_of_the_next_time_step() -> None:
    clock = moved()
    codes = Codes(clock, Secrets())
    first = codes.totp(RFC_SECRET)

    early = codes.early_totp(RFC_SECRET)

    assert early == codes.totp(RFC_SECRET) != first


def test_a_wrong_code_is_none_of_the_adjacent_right_ones() -> None:
    clock = moved()
    codes = Codes(clock, Secrets())
    step = int(clock.now() // STEP)
    right = {totp_at(RFC_SECRET, step + near) for near in range(1 - ADJACENT_STEPS, ADJACENT_STEPS)}

    assert not right & {codes.wrong_totp(RFC_SECRET) for _ in range(2000)}


def test_codes_and_secrets_are_known_as_such() -> None:
    known = Secrets()
    code = Codes(moved(), known).totp(RFC_SECRET)

    assert known.placeholder(code) == "[code-1]"
    assert known.placeholder(RFC_SECRET) == "[otp-secret-1]"
