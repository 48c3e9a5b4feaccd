"""The evidence of a replay: what its shortcuts pass over holds no secret."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.exchange import Exchange, Json
from conformance.redact import Secrets
from conformance.replay.evidence import Evidence
from conformance.secret_places import BACKUP_CODES, CODES, ENDINGS, FIELDS, secrets_in
from conformance.spec import BY_KEY
from conformance.tests.traffic import answer

ROLES = "GET /web/v1/system/roles"
COMPLETE = "POST /web/v1/system/auth/login/complete"
NAMES = [
    *FIELDS,
    *ENDINGS,
    "access_token",
    "New-Password",
    "sa\u00e9secret",
    'a"secret',
    "a\\secret",
    "a\nsecret",
    "roleName",
    "code",
    "otp",
    "description",
]


def placed(name: str, value: Json, dice: random.Random) -> Exchange:
    """An exchange with a field of this name somewhere."""
    field: Json = {name: value, "createdAt": "2026-01-01T00:00:00Z"}
    data = dice.choice([field, [field], {"items": [{"more": field}]}, {"text": "without"}])
    sent = dice.choice([field, {"inner": [field]}])
    return answer(
        dice.choice([ROLES, COMPLETE]), data, sent=sent, headers={"X-Request-Id": str(dice.random())}
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_is_found_under_whatever_name(name: str, tmp_path: Path) -> None:
    dice = random.Random(name)
    evidence = Evidence(tmp_path / "exchanges.jsonl", known := Secrets())
    for number in range(12):
        exchange = placed(name, f"s3cret-{name[-3:]}-{number}-x", dice)
        evidence.take(exchange)
        for value, _ in secrets_in(exchange):
            assert known.placeholder(value) is not None
    evidence.close()
    for value, _ in secrets_in(exchange):
        assert value not in evidence.path.read_text()


PATHS = [key for key in BY_KEY if key.endswith((*CODES, BACKUP_CODES))]


@pytest.mark.parametrize("key", PATHS)
def test_on_the_paths_that_take_secrets_all_of_them_are_found(key: str, tmp_path: Path) -> None:
    exchange = answer(key, ["ab12cd34ef"], sent={"code": "908070"})
    evidence = Evidence(tmp_path / "exchanges.jsonl", Secrets())
    evidence.take(exchange)
    evidence.close()
    written = evidence.path.read_text()
    assert [value for value, _ in secrets_in(exchange) if value in written] == []
    assert ("ab12cd34ef" in written) != key.endswith(BACKUP_CODES)
    assert ("908070" in written) != key.endswith(CODES)


def test_the_number_and_the_time_of_a_line_are_its_own(tmp_path: Path) -> None:
    secrets = Secrets()
    secrets.add("2031", "code")
    evidence = Evidence(tmp_path / "exchanges.jsonl", secrets)
    taken = evidence.take(answer(ROLES, {"note": "2031"}))
    evidence.close()
    line = evidence.path.read_text()
    assert taken.n == 1
    assert '"n":1,"started":"2031-05-06' in line
    assert '"note":"[code-1]"' in line
