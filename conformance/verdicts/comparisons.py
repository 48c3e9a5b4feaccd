"""The comparisons that checks and cases are made of: each looks at one place and says whether it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from conformance.spec import endpoints as op
from conformance.spec.tables import ERROR_BY_CODE, ERRORS, INVALID_PARAMETER, SUCCESS_CODE
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import HELD, Comparison, Contradiction

KNOWN_CODES = frozenset({SUCCESS_CODE, *(row.code for row in ERRORS)})

HELD_BACK = frozenset({408, 429, 502, 503, 504, *range(520, 531)})
"""Statuses of a rate limit, a gateway, or the edge proxy (520 to 530): they say nothing of the request."""

OF_THE_SIZE = frozenset({413, 414, 431})
"""Statuses by which a server before the portal turns away what is too large for it."""


OF_A_CHALLENGE = frozenset({200, 202})
"""Statuses under which firewalls send the page by which they challenge, and some refuse."""

OF_A_RECORD = frozenset({400, 401, 404, 409, 410, 422})
"""Refusing statuses that speak of what was sent to the portal: with them a page is the portal's own."""


def is_block_page(exchange: Exchange) -> bool:
    """A page in HTML by which what stands before the portal refuses: the portal speaks JSON."""
    status = exchange.status or 0
    is_refusing = 400 <= status < 500 and status not in OF_A_RECORD
    if exchange.envelope is not None or not (is_refusing or status in OF_A_CHALLENGE):
        return False
    return "html" in str(exchange.at("headers.content-type") or "").lower()


def is_held_back(exchange: Exchange) -> bool:
    """Whether an answer speaks of a rate, a gateway or its firewall, and so of no request in particular."""
    return exchange.held_back or exchange.status in HELD_BACK or is_block_page(exchange)


PACED = frozenset(
    {
        op.LOGIN_INITIATE,
        op.LOGIN_MFA_SEND,
        op.LOGIN_COMPLETE,
        op.PASSWORD_FORGOT,
        op.PASSWORD_RESET,
        op.PASSWORD_INIT,
        op.PASSWORD_CHANGE,
    }
)
"""Where rate-limit responses are reported: neither their status nor their code is shown."""


def may_keep_a_rate(exchange: Exchange) -> bool:
    """Whether a refusal with an undocumented code may stem from a rate limit."""
    match = exchange.request.operation
    is_paced = match is not None and match.key in PACED and exchange.status in (400, 403)
    return is_paced and exchange.code is not None and exchange.code not in KNOWN_CODES


OF_A_RATE = re.compile(r"rate.*limit|too[\W_]?many|slow[\W_]?down|throttl", re.IGNORECASE)
"""What stands in the code of a rate limit, or in the message of one that is told as an overload."""


def is_cooldown(exchange: Exchange) -> bool:
    """Whether a resend was refused for the cooldown, which is not the rate limit whatever its status."""
    return exchange.code is not None and "COOLDOWN" in exchange.code.upper()


def speaks_of_a_rate(exchange: Exchange) -> bool:
    """Whether a refusal names a rate: by its code, or by its message where it is told with HTTP 503."""
    if exchange.success or is_cooldown(exchange):
        return False
    message = exchange.at("message") if exchange.status == 503 else None
    return any(isinstance(text, str) and OF_A_RATE.search(text) for text in (exchange.code, message))


def is_rate_limited(exchange: Exchange) -> bool:
    """Whether the target refused for its rate limit; the specification names neither status nor code."""
    if exchange.response is None or exchange.success or is_cooldown(exchange):
        return False
    if exchange.held_back or exchange.status == 429 or speaks_of_a_rate(exchange):
        return True
    return exchange.status in (400, 403, 503) and exchange.response.header("retry-after") is not None


def is_from_before_the_portal(exchange: Exchange) -> bool:
    """Whether an answer is surely not the portal's own: a proxy's status, and nothing of the envelope."""
    if exchange.envelope is not None and "success" in exchange.envelope:
        return False
    return is_held_back(exchange) or exchange.status in OF_THE_SIZE


def contradicts(
    exchange: Exchange, path: str, expected: Json, actual: Json, message: str = "", *also: Exchange
) -> Contradiction:
    return Contradiction(exchange, path, expected, actual, message, also)


def equal(exchange: Exchange, path: str, expected: Json, *also: Exchange, message: str = "") -> Comparison:
    """The value at a place is this one; numbers compare by value, booleans only with booleans."""
    actual = exchange.at(path)
    return HELD if same(actual, expected) else Contradiction(exchange, path, expected, actual, message, also)


def one_of(
    exchange: Exchange, path: str, expected: Collection[Json], *also: Exchange, message: str = ""
) -> Comparison:
    actual = exchange.at(path)
    if any(same(actual, value) for value in expected):
        return HELD
    return Contradiction(exchange, path, {"one of": list(expected)}, actual, message, also)


def holds(
    exchange: Exchange,
    path: str,
    ok: bool,
    expected: Json,
    *also: Exchange,
    actual: Json = ABSENT,
    message: str = "",
) -> Comparison:
    """What the caller compared itself; ``expected`` says it in words or as a value."""
    if ok:
        return HELD
    value = exchange.at(path) if actual is ABSENT and path else actual
    return Contradiction(exchange, path, expected, value, message, also)


def meets(
    exchange: Exchange, path: str, test: Callable[[Any], bool], expected: Json, *also: Exchange
) -> Comparison:
    """The value at a place passes a test; a test that raises TypeError or ValueError is not passed."""
    actual = exchange.at(path)
    try:
        ok = actual is not ABSENT and test(actual)
    except (TypeError, ValueError):
        ok = False
    return HELD if ok else Contradiction(exchange, path, expected, actual, "", also)


def is_success(exchange: Exchange, *also: Exchange, message: str = "the request was refused") -> Comparison:
    return _answers(exchange, "success", exchange.success, True, also, message)


def is_granted(exchange: Exchange) -> bool:
    """Whether the portal says that it did what was asked: not where a success has an error's status."""
    return exchange.success and exchange.status is not None and exchange.status < 300


def is_refused(exchange: Exchange, *also: Exchange, message: str = "") -> Comparison:
    """The envelope does not say success, and the HTTP status is no plain 2xx with another kind of body. Some
    firewalls refuse with 200 and a page."""
    is_plain = exchange.envelope is None and (exchange.status or 0) < 300
    is_refusal = not exchange.success and (not is_plain or is_block_page(exchange))
    return _answers(exchange, "success", is_refusal, False, also, message or "the request was accepted")


def refused_or_silent(exchange: Exchange, message: str, *, is_right: bool) -> Iterator[Comparison]:
    """A contradiction where a request was granted; it holds by the right refusal, and another decides
    nothing."""
    if is_granted(exchange):
        yield is_refused(exchange, message=message)
    elif is_right:
        yield HELD


def is_error(exchange: Exchange, code: str | Collection[str], *also: Exchange) -> Comparison:
    """An error of this code (or one of these). Its HTTP status is the error table's business."""
    codes = (code,) if isinstance(code, str) else tuple(code)
    expected = codes[0] if len(codes) == 1 else {"one of": list(codes)}
    return _answers(exchange, "code", not exchange.success and exchange.code in codes, expected, also)


def is_invalid_parameter(exchange: Exchange, *also: Exchange) -> Comparison:
    """Whether the answer is status 400 with either code of an invalid parameter."""
    is_so = exchange.status == 400 and is_error(exchange, INVALID_PARAMETER) is HELD
    expected = {"status": 400, "code": {"one of": list(INVALID_PARAMETER)}}
    return _answers(exchange, "code", is_so, expected, also)


def is_error_of_table(exchange: Exchange, code: str, *also: Exchange) -> Comparison:
    statuses = ERROR_BY_CODE[code].statuses
    is_so = is_error(exchange, code) is HELD and (not statuses or exchange.status in statuses)
    return _answers(exchange, "code", is_so, {"status": list(statuses), "code": code}, also)


def is_not_invalid_parameter(exchange: Exchange, *also: Exchange) -> Comparison:
    """Whatever the answer is, it is none of the two for a body that breaks its rules."""
    expected = {"none of": list(INVALID_PARAMETER)}
    return _answers(exchange, "code", exchange.code not in INVALID_PARAMETER, expected, also)


def _answers(
    exchange: Exchange, path: str, ok: bool, expected: Json, also: tuple[Exchange, ...], message: str = ""
) -> Comparison:
    return HELD if ok else Contradiction(exchange, path, expected, summary(exchange), message, also)


def summary(exchange: Exchange) -> Json:
    """What an answer was, in three values."""
    if exchange.envelope is None:
        return {"status": exchange.status, "body": "no envelope"}
    return {"status": exchange.status, "success": exchange.at("success"), "code": exchange.code}


def same(left: Json, right: Json) -> bool:
    """Equal as JSON values: 1 is 1.0, but neither is true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
