"""The response envelope (chapter "Response envelope", "Versioning")."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from conformance.checks.registry import (
    answers,
    check,
    errors,
    has,
    is_asked_in_english,
    key_of,
    reading,
    successes,
)
from conformance.spec.endpoints import (
    LOGIN_COMPLETE,
    OTP_REVOKE,
    OTP_VERIFY,
    PASSWORD_INIT,
    PASSWORD_RESET,
    SECURE_SESSION,
)
from conformance.spec.operations import UNDESCRIBED
from conformance.spec.tables import ERROR_BY_CODE, PORTAL_VERSION, SECURE_SESSION_VERSION, SUCCESS_CODE
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json, Response
from conformance.traffic.values import is_integer, placed_texts
from conformance.verdicts.comparisons import (
    PACED,
    contradicts,
    equal,
    holds,
    is_from_before_the_portal,
    one_of,
    speaks_of_a_rate,
)
from conformance.verdicts.findings import HELD, Comparison

MILLISECONDS = range(10**11, 10**15)
"""Epoch milliseconds from 1973 on, the year 9999 included, which often stands for no end at all: no count of
seconds or microseconds of our time falls in here."""

PORTAL_KEYS = tuple(key for key in answers().keys if " /web/v1/system/" in key)
"""Beside them stand the secure channel, which is shown with a version of its own, and two endpoints that have
codes like its: whether their answers are portal responses is not said."""


def is_the_portals(exchange: Exchange) -> bool:
    """Whether an answer is the portal's own, as far as can be told."""
    envelope = exchange.envelope
    if envelope is not None and "success" in envelope:
        return True
    return not is_from_before_the_portal(exchange)


def is_pending_approval(exchange: Exchange) -> bool:
    """A result code that may come with success or without, and with data (error table)."""
    return exchange.code == "ACCOUNT_PENDING_APPROVAL"


enveloped = answers().enveloped().by_metadata().where(is_the_portals)
good = successes().enveloped().by_metadata()
bad = errors().enveloped().by_metadata()
from_the_portal = answers().by_metadata().through_the_ingress().where(is_the_portals)


@check("ENV-001", on=from_the_portal)
def body_is_the_envelope(exchange: Exchange) -> Iterator[Comparison]:
    shown = None if exchange.envelope is not None else _shown_body(exchange.response)
    yield holds(exchange, "", exchange.envelope is not None, "a JSON object", actual=shown)


def _shown_body(response: Response | None) -> Json:
    """A body; its length and content type where it is no JSON."""
    if response is None or response.state != NOT_JSON:
        return None if response is None else response.body
    return {"length": response.body["length"], "content-type": response.header("content-type")}


def _type_rule(requirement: str, name: str, is_right: Callable[[Json], bool], expected: str) -> None:
    may_lack = name in ("version", "timestamp")
    selected = enveloped.where(lambda exchange: exchange.at(name) not in (ABSENT, None))

    @check(requirement, on=selected if may_lack else enveloped)
    def a_part_has_its_type(exchange: Exchange) -> Iterator[Comparison]:
        yield holds(exchange, name, is_right(exchange.at(name)), expected)


_type_rule("ENV-002", "success", lambda value: isinstance(value, bool), "a boolean")
_type_rule("ENV-004", "code", lambda value: isinstance(value, str), "a string")
_type_rule("ENV-006", "message", lambda value: isinstance(value, str), "a string")
_type_rule("ENV-009", "version", lambda value: isinstance(value, str), "a string")
_type_rule("ENV-010", "timestamp", is_integer, "an integer")


@check(
    "ENV-003",
    on=enveloped.where(lambda exchange: exchange.code == SUCCESS_CODE or exchange.code in ERROR_BY_CODE),
)
def success_follows_from_the_code(exchange: Exchange) -> Iterator[Comparison]:
    if isinstance(exchange.at("success"), bool) and not is_pending_approval(exchange):
        yield equal(exchange, "success", exchange.code == SUCCESS_CODE)


@check("ENV-005", on=good)
def success_has_code_2000(exchange: Exchange) -> Iterator[Comparison]:
    if exchange.code is not None and exchange.code not in ERROR_BY_CODE:
        yield equal(exchange, "code", SUCCESS_CODE)


worded = good.where(has("message", str))


@check("ENV-007", on=worded.where(is_asked_in_english))
def message_says_success(exchange: Exchange) -> Iterator[Comparison]:
    if not is_pending_approval(exchange):
        yield one_of(exchange, "message", ("Success", "SUCCESS"))


@check("ENV-020", on=worded.where(lambda exchange: not is_asked_in_english(exchange)))
def message_says_success_in_every_language(exchange: Exchange) -> Iterator[Comparison]:
    yield from message_says_success(exchange)


@check("ENV-008", on=bad)
def an_error_has_no_data(exchange: Exchange) -> Iterator[Comparison]:
    if not is_pending_approval(exchange):
        yield HELD if exchange.data is None else contradicts(exchange, "data", None, exchange.data)


@check("ENV-011", on=enveloped.where(has("timestamp", is_integer)))
def timestamp_counts_milliseconds(exchange: Exchange) -> Iterator[Comparison]:
    is_right = int(exchange.at("timestamp")) in MILLISECONDS
    yield holds(exchange, "timestamp", is_right, "milliseconds since the epoch")


@check("ENV-014", on=enveloped.where(lambda exchange: (exchange.status or 0) >= 400))
def an_error_status_claims_no_success(exchange: Exchange) -> Iterator[Comparison]:
    if not is_pending_approval(exchange):
        yield holds(exchange, "success", not exchange.success, False, message=f"status {exchange.status}")


@check("ENV-015", on=enveloped)
def body_is_labelled_as_json(exchange: Exchange) -> Iterator[Comparison]:
    if exchange.response is None or "*" in exchange.response.lacks:
        return
    label = exchange.response.header("content-type") or ""
    yield holds(exchange, "headers.content-type", "json" in label.lower(), "application/json")


def is_paced_overload(exchange: Exchange) -> bool:
    """HTTP 503 where rate-limit responses are reported: the status of one is not shown."""
    return exchange.status == 503 and key_of(exchange) in PACED


def _tells_of_no_rate(exchange: Exchange) -> bool:
    """Whether an answer says neither in words nor by Retry-After that it is one of a rate limit."""
    response = exchange.response
    return response is not None and response.is_without("retry-after") and not speaks_of_a_rate(exchange)


paced_overloads = answers(*PACED).through_the_ingress().where(is_paced_overload).where(is_the_portals)


@check("ENV-018", on=from_the_portal.where(lambda exchange: not is_paced_overload(exchange)))
@check("ENV-018", on=paced_overloads.where(_tells_of_no_rate).at_its_moment())  # no cache key has Retry-After
def no_server_error(exchange: Exchange) -> Iterator[Comparison]:
    yield holds(exchange, "status", (exchange.status or 0) < 500, "below 500")


NEWLY_ISSUED = (".accessToken", ".refreshToken")


SECRET_FIELDS = frozenset(
    {"password", "oldPassword", "newPassword", "currentPassword", "refreshToken", "turnstileToken"}
)
"""Fields whose name says that they are secret."""
TAKING_CODES = frozenset({LOGIN_COMPLETE, OTP_VERIFY, OTP_REVOKE, PASSWORD_RESET, PASSWORD_INIT})
"""Where ``code`` is one that signs in or proves who asks: elsewhere it may be that of a currency."""


@check("ENV-019", on=answers().enveloped().of_requests_with_a_body())
def no_secret_is_echoed(exchange: Exchange) -> Iterator[Comparison]:
    takes_a_code = key_of(exchange) in TAKING_CODES
    secrets = _sent_secrets(exchange.sent, SECRET_FIELDS | {"code"} if takes_a_code else SECRET_FIELDS)
    if not secrets or not is_the_portals(exchange):
        return
    answer = msgspec.json.encode(exchange.envelope)
    for secret in secrets:
        texts = placed_texts(exchange.envelope) if msgspec.json.encode(secret) in answer else ()
        places = (path for path, text in texts if text == secret and not path.endswith(NEWLY_ISSUED))
        place = next(places, None)
        if place is None:
            yield HELD
        else:
            yield contradicts(exchange, place, "not what the request carried", "the secret that was sent")


def _sent_secrets(sent: Json, fields: frozenset[str]) -> list[str]:
    """Secrets in the request body, including nested settings."""
    if type(sent) is not dict or (fields.isdisjoint(sent) and dict not in map(type, sent.values())):
        return []
    secrets, within = [], []
    for name, value in sent.items():
        kind = type(value)
        if kind is str:
            if name in fields and len(value) >= 6 and not is_mask(value):
                secrets.append(value)
        elif kind is dict:
            within += _sent_secrets(value, fields)
    return secrets + within


MASKS, FURTHER_MASKS = ("***", "###"), ("•••", "●●●", "···", "×××")


def is_mask(text: str) -> bool:
    """Whether letters were put out of sight: by a run of stars or dots, also within what is left to see."""
    for run in MASKS if text.isascii() else MASKS + FURTHER_MASKS:
        if run in text:
            return True
    return len(text) >= 3 and text[0] in "xX" and not text.strip("xX")


@check("VERSION-001", on=answers(*PORTAL_KEYS).enveloped().by_metadata().where(has("version", str)))
def version_of_portal_answers(exchange: Exchange) -> Iterator[Comparison]:
    yield equal(exchange, "version", PORTAL_VERSION)


@check(
    "MODEL-001",
    on=answers(*(answers().keys - {*PORTAL_KEYS, UNDESCRIBED}))
    .enveloped()
    .by_metadata()
    .where(is_the_portals)
    .where(has("version", str)),
    compares=True,
)
def version_is_one_of_the_two_shown(exchange: Exchange) -> Iterator[Comparison]:
    """Beside the portal: which version is that of the secure channel, and of two others, is not stated."""
    yield one_of(exchange, "version", (PORTAL_VERSION, SECURE_SESSION_VERSION))


@check("VERSION-002", on=successes(SECURE_SESSION).where(has("version", str)))
def version_of_the_secure_session(exchange: Exchange) -> Iterator[Comparison]:
    yield equal(exchange, "version", SECURE_SESSION_VERSION)


def _presence_reading(name: str) -> None:
    @reading(f"envelope-{name}", on=enveloped)
    def part_sent(exchange: Exchange) -> Iterator[str]:
        yield "absent" if exchange.at(name) in (ABSENT, None) else "present"


_presence_reading("version")
_presence_reading("timestamp")


ENVELOPE = frozenset({"version", "timestamp", "success", "code", "message", "data"})


@reading(
    "extra-fields",
    on=enveloped.where(
        lambda exchange: exchange.envelope is not None and not exchange.envelope.keys() <= ENVELOPE
    ),
)
def fields_beside_the_envelopes(exchange: Exchange) -> Iterator[str]:
    """As those of the data are listed: an endpoint's own names, and no values."""
    yield from sorted((exchange.envelope or {}).keys() - ENVELOPE)[:EXTRAS]


EXTRAS = 20
"""How many fields beside the envelope's an answer adds to what is read."""


@reading("success-status", on=good)
def status_of_success(exchange: Exchange) -> Iterator[Json]:
    yield exchange.status


@reading("null-data", on=bad)
def form_of_no_data(exchange: Exchange) -> Iterator[str]:
    yield "left out" if exchange.at("data") is ABSENT else "null"


@reading("message-language", on=bad)
def language_of_the_message(exchange: Exchange) -> Iterator[str]:
    asked = exchange.request.header("accept-language")
    message = exchange.at("message")
    if asked and not asked.startswith("en") and isinstance(message, str):
        yield "translated" if any(ord(letter) > 127 for letter in message) else "not translated"


@reading("bot-challenge-endpoints", on=bad.where(lambda exchange: exchange.code == "4030"))
def endpoint_that_asks_for_a_bot_challenge(exchange: Exchange) -> Iterator[str]:
    if key := key_of(exchange):
        yield key
