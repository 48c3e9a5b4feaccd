"""The driver and the log of a replay: turns, connections, and lines that contain no secret."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from conformance.errors import TargetUnreachable, Untestable
from conformance.replay.engine.driver import Driver
from conformance.replay.rebuild.actions import Actions, CannotRebuild, PassTime
from conformance.spec import BY_KEY
from conformance.target.http1 import WireResponse
from conformance.target.profile.model import of_target
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.places import BACKUP_CODES, CODES, ENDINGS, FIELDS, secrets_in
from conformance.traffic.redaction.redact import Secrets


@pytest.mark.parametrize("answers", [True, False])
def test_a_lookup_that_fails_has_the_target_asked_at_the_end_whether_it_is_there(answers: bool) -> None:
    """What needs the code is not sent: a target that died since shows by nothing else."""
    profile = of_target("http://127.0.0.1:1", {})
    progress: Any = SimpleNamespace(ended=bytearray(1))
    driver = Driver(profile, cast(Any, NoCode()), progress, concurrency=1, probe=lambda: answers)

    def signing_in() -> Iterator[PassTime]:
        driver.health.note(WireResponse(status=200))
        with suppress(CannotRebuild):
            yield PassTime(1.0, "a code")

    run = driver.run(cast(list[Actions], [signing_in()]))
    if answers:
        asyncio.run(run)
        return
    with pytest.raises(TargetUnreachable, match="does not answer any more"):
        asyncio.run(run)


class NoCode:
    """Lookups that fail."""

    def is_immediate(self, action: object) -> bool:
        return False

    def answer(self, action: object) -> None:
        raise Untestable("no mail came")


ROLES = "GET /web/v1/system/roles"
COMPLETE = "POST /web/v1/system/auth/login/complete"
WORDS = "access_token New-Password sa\u00e9secret roleName code otp description"
NAMES = [*FIELDS, *ENDINGS, *WORDS.split(), 'a"secret', "a\\secret", "a\nsecret"]


def placed(name: str, value: Json, dice: random.Random) -> Exchange:
    """An exchange with a field of this name somewhere."""
    field: Json = {name: value, "createdAt": "2026-01-01T00:00:00Z"}
    data = dice.choice([field, [field], {"items": [{"more": field}]}, {"text": "without"}])
    sent = dice.choice([field, {"inner": [field]}])
    return answer(
        dice.choice([ROLES, COMPLETE]), data, sent=sent, headers={"X-Request-Id": str(dice.random())}
    )


def test_a_secret_is_found_under_whatever_name_and_on_every_path_that_takes_secrets(tmp_path: Path) -> None:
    dice, known = random.Random(7), Secrets()
    log = ExchangeLog(tmp_path / "exchanges.jsonl", known)
    exchanges = [placed(name, f"s3cret-{at}-{name[-3:]}-x", dice) for at, name in enumerate(NAMES * 3)]
    paths = (key for key in BY_KEY if key.endswith((*CODES, BACKUP_CODES)))
    exchanges += [
        answer(key, [f"{at}ab12cd34ef"], sent={"code": f"9080{at:02}"}) for at, key in enumerate(paths)
    ]
    for exchange in exchanges:
        log.write(exchange)

    secrets = [value for exchange in exchanges for value, _ in secrets_in(exchange)]
    text = "".join(lines_of(log))
    assert len(secrets) > 60
    assert [value for value in secrets if known.placeholder(value) is None or value in text] == []


def lines_of(log: ExchangeLog) -> list[str]:
    log.close()
    return log.path.read_text().splitlines()


@pytest.mark.parametrize("seed", range(3))
def test_the_log_is_that_of_searching_each_line_for_all_secrets(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    log = ExchangeLog(tmp_path / "exchanges.jsonl", known := Secrets())
    taken = []
    for number in range(60):
        exchange = alike_or_not(number, dice)
        if number % 20 == 9:
            secrets = ["later-known-1", "code", "one", 'note-2 "quoted"', "31415926", "2031"]
            known.add(dice.choice(secrets), "secret")
        log.write(exchange)
        taken.append(exchange)

    lines = lines_of(log)

    assert len(lines) == 60
    for exchange, line in zip(taken, lines, strict=True):
        written, whole = msgspec.json.decode(line), msgspec.to_builtins(exchange)
        assert (written["n"], written["started"]) == (whole["n"], whole["started"])
        for part in ("request", "response"):
            text = msgspec.json.encode(whole[part]).decode()
            assert written[part] == msgspec.json.decode(known.redact_line(text)), part


def alike_or_not(number: int, dice: random.Random) -> Exchange:
    """An exchange as polls are: few bodies, each time at another moment."""
    data: Json = dice.choice(
        [
            {"roleName": "one", "seen": "later-known-1"},
            {"roleName": "one", "seen": 'a note-2 "quoted" text'},
            {"roleName": "two", "number": 31415926},
            [{"roleName": str(at)} for at in range(5)],
            {"accessToken": f"token-of-{number // 7}-abcdef"},
            {"later-known-1": "as a name", "one": "and a word as one", "code": 1},
            {"echo": f"request-{number:08d}"},
        ]
    )
    exchange = answer(
        dice.choice([ROLES, "GET /web/v1/system/profile"]),
        data,
        headers={
            "X-Request-Id": f"request-{number:08d}",
            "Authorization": f"Bearer token-of-{number // 7}-abcdef",
            "X-Client-Hash": dice.choice(["client-of-one", "client-later-known-1", "client-31415926"]),
        },
    )
    assert exchange.response is not None
    exchange.response.body["timestamp"] += number
    exchange.response.headers.append(("Date", f"Sun, 22 Nov 2026 02:49:{number:02d} GMT"))
    return exchange
