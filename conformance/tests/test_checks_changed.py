"""The checks of ``conformance.checks.access.changed``."""

from __future__ import annotations

from datetime import timedelta

from conformance.spec import endpoints as op
from conformance.tests.proof import Proof
from conformance.tests.traffic import NOW, answer, refusal, session_config
from conformance.traffic.exchange import Exchange, Json

ANOTHERS = {"Authorization": "Bearer another"}


def asked(key: str, data: Json = None, after: float = 0, **other: Json) -> Exchange:
    """A success so many seconds later."""
    return answer(key, data, started=NOW + timedelta(seconds=after), **other)


def config(number: int, after: float = 0, **other: Json) -> Exchange:
    return asked(op.SESSIONS_CONFIG, session_config(maxSessions=number), after, **other)


def set_to(number: Json, after: float = 1, **other: Json) -> Exchange:
    return asked(op.SESSIONS_CONFIG_SET, None, after, sent={"maxConcurrentSessions": number}, **other)


TWELVE = {"maxConcurrentSessions": 12}
NEITHER = [config(25), set_to(12), config(9, 2)]
NUMBERS = [
    [config(25), set_to(12), config(25, 2)],
    [config(5), set_to(12), config(9, 2)],
    [set_to(12), config(9, 2)],
    [config(25), set_to(12, 61), config(9, 62)],
    [config(25), set_to(12), config(9, 62)],
    [config(25), set_to(12), set_to(9, headers=ANOTHERS), config(9, 2)],
    [config(25), set_to(12), asked(op.ACCOUNT_UPDATE, None, 2), config(9, 2)],
    [config(25), set_to("12"), config(9, 2)],
    [config(25), refusal(op.SESSIONS_CONFIG_SET, "RATE_LIMITED", 429, sent=TWELVE), config(9, 2)],
]

FIRST, SECOND, WIDE, OTHER = "203.0.113.7", "198.51.100.7", "203.0.113.0/24", "192.0.2.0/24"


def whitelist(*entries: Json, after: float = 0, enabled: bool = False) -> Exchange:
    return asked(op.IP_WHITELIST, {"enabled": enabled, "entries": list(entries)}, after)


def addresses(*ips: str, **other: Json) -> Exchange:
    return asked(op.IP_WHITELIST_SET, None, 1, sent={"ips": list(ips)}, **other)


ONE_IS_LOST = [whitelist(), addresses(FIRST, SECOND), whitelist({"ip": FIRST, "addedAt": "2031"}, after=2)]
LISTS = [
    [whitelist(), addresses(FIRST, SECOND), whitelist(after=2)],
    [whitelist(FIRST), addresses(FIRST, SECOND), whitelist(FIRST, after=2)],
    [addresses(FIRST, SECOND), whitelist(FIRST, after=2)],
    [whitelist(), addresses(FIRST, WIDE, OTHER), whitelist(WIDE, OTHER, after=2)],
    [whitelist(), addresses("203.0.113.255", WIDE, SECOND), whitelist(WIDE, SECOND, after=2)],
    [whitelist(), addresses(FIRST, OTHER), whitelist(FIRST, after=2)],
    [whitelist(), addresses(FIRST, "2001:db8::1"), whitelist(FIRST, after=2)],
    [whitelist(), addresses(FIRST, "nowhere"), whitelist(FIRST, after=2)],
    [whitelist(), addresses(FIRST, SECOND), whitelist({"ip": FIRST, "by": "192.0.2.1"}, after=2)],
    [whitelist(), addresses(FIRST, SECOND), addresses(FIRST, headers=ANOTHERS), whitelist(FIRST, after=2)],
    [whitelist(), addresses(FIRST, SECOND), whitelist(FIRST, after=62)],
]


def switched(key: str, **other: Json) -> Exchange:
    return asked(key, None, 0, **other)


ENABLED, STILL_OFF = switched(op.IP_WHITELIST_ENABLE), whitelist(after=6)
DISABLED, STILL_ON = switched(op.IP_WHITELIST_DISABLE), whitelist(after=6, enabled=True)

PROOFS = [
    *(Proof("SESSION-029", traced, NEITHER, silent=True) for traced in NUMBERS),
    *(Proof("IPWHITELIST-003", traced, ONE_IS_LOST, silent=True) for traced in LISTS),
    Proof("IPWHITELIST-004", [ENABLED, whitelist(after=1, enabled=True)], [ENABLED, STILL_OFF]),
    Proof("IPWHITELIST-005", [DISABLED, whitelist(after=1)], [DISABLED, STILL_ON]),
    *(
        Proof("IPWHITELIST-004", traced, [ENABLED, STILL_OFF], silent=True)
        for traced in (
            [ENABLED, whitelist(after=4)],
            [ENABLED, whitelist(after=61)],
            [ENABLED, switched(op.IP_WHITELIST_DISABLE, headers=ANOTHERS), STILL_OFF],
            [switched(op.IP_WHITELIST_ENABLE, headers=ANOTHERS), STILL_OFF],
        )
    ),
]
