"""The writer of ``exchanges.jsonl``: no secret stays in it, whenever it became known."""

from __future__ import annotations

from pathlib import Path

from conformance.spec.endpoints import PROFILE
from conformance.tests.traffic import answer
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.places import secrets_in
from conformance.traffic.redaction.redact import Secrets

ROLES = "GET /web/v1/system/roles"


def test_a_secret_that_is_known_only_later_is_taken_out_of_what_was_written(tmp_path: Path) -> None:
    secrets = Secrets()
    log = ExchangeLog(tmp_path / "exchanges.jsonl", secrets)
    early, late = (answer(ROLES, {"note": f"{word} hidden-until-later-on"}) for word in ("early", "late"))

    log.write(early)
    secrets.add("hidden-until-later-on", "password")
    log.write(late)
    log.write(late)
    log.close()

    lines = log.path.read_text().splitlines()
    assert len(lines) == 3
    assert not any("hidden-until-later-on" in line for line in lines)
    assert ["early [password-" in lines[0], "late [password-" in lines[2]] == [True, True]


def test_a_placeholder_is_no_secret() -> None:
    masked = answer(
        ROLES, [], headers={"Authorization": "Bearer [token-17]", "X-PORTAL-ACCESS-CODE": "[a-1]"}
    )
    assert list(secrets_in(masked)) == []


def test_an_address_that_is_none_shows_itself_as_the_secret() -> None:
    shown = answer(PROFILE, {"otpauthUrl": "otpauth://[totp?secret=JBSWY3DPEHPK3PXP"})

    assert ("otpauth://[totp?secret=JBSWY3DPEHPK3PXP", "secret") in secrets_in(shown)
