"""The likely causes of contradictions, by pattern. The first pattern that fits gives the cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from conformance.report.model.marked import at, place
from conformance.report.model.run import FindingEntry
from conformance.spec.requirements import PINNED
from conformance.spec.tables import INVALID_PARAMETER
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json, dig
from conformance.traffic.values import is_number


@dataclass(frozen=True, slots=True)
class Clue:
    """What a pattern looks at: the place of a finding, the two values, and the exchange."""

    path: str
    name: str
    expected: Json
    actual: Json
    exchange: Exchange | None

    @property
    def status(self) -> int | None:
        return None if self.exchange is None else self.exchange.status

    @property
    def siblings(self) -> dict[str, Json]:
        """The object around the place."""
        if self.exchange is None:
            return {}
        parent = dig(self.exchange.envelope, place(self.path)[:-1])
        return parent if isinstance(parent, dict) else {}

    @property
    def is_missing(self) -> bool:
        return self.exchange is not None and bool(self.path) and at(self.exchange, self.path) is ABSENT


Pattern = Callable[[Clue], bool]
CAUSES: list[tuple[Pattern, str]] = []

ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def cause(finding: FindingEntry, exchange: Exchange | None) -> str | None:
    """The likely cause in a sentence or two; None where no pattern fits, or only a pinned reading differs."""
    if finding.requirement.startswith(PINNED):
        return None
    name = str(next(reversed(place(finding.path)), ""))
    clue = Clue(finding.path, name, finding.expected, finding.actual, exchange)
    return next((text for fits, text in CAUSES if _fits(fits, clue)), None)


def _fits(pattern: Pattern, clue: Clue) -> bool:
    try:
        return pattern(clue)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError):
        return False  # a hint is never worth an error: what the target sent has any shape


def _speaks_of(value: Json, *words: str) -> bool:
    return isinstance(value, str) and any(word in value.lower() for word in words)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def usually(text: str) -> Callable[[Pattern], Pattern]:
    """Registers a pattern with its usual cause; the most certain patterns come first."""

    def enter(pattern: Pattern) -> Pattern:
        CAUSES.append((pattern, text))
        return pattern

    return enter


@usually(
    "The portal failed with an exception that nothing handles. Search its log for the X-Request-Id of the "
    "exchange."
)
def _server_error(clue: Clue) -> bool:
    return clue.status is not None and clue.status >= 500


@usually(
    "A rate limit answered before the requirement applied. Raise the limit for the run, or set [limits] "
    "login_window in the profile."
)
def _rate_limited(clue: Clue) -> bool:
    return clue.status == 429 and clue.expected != 429


@usually(
    "A proxy or framework redirects: often http to https, or a trailing slash. Use the address of the "
    "redirect in the profile."
)
def _redirected(clue: Clue) -> bool:
    return clue.status in (301, 302, 303, 307, 308)


@usually(
    "The answer is a web page: a gateway, a proxy or a framework's error page answered in the portal's place."
)
def _not_the_portal(clue: Clue) -> bool:
    answer = clue.exchange.response if clue.exchange else None
    return answer is not None and "html" in (answer.header("content-type") or "").lower()


@usually(
    "The answer is not JSON: an error page, an empty body or a wrong content type, often of a proxy before "
    "the portal."
)
def _not_json(clue: Clue) -> bool:
    answer = clue.exchange.response if clue.exchange else None
    return answer is not None and answer.state == NOT_JSON and clue.path in ("", "body")


def _wants_invalid(clue: Clue) -> bool:
    """Whether a body was to be refused as an invalid parameter."""
    if not isinstance(clue.expected, dict) or clue.path not in ("code", "status"):
        return False
    code = clue.expected.get("code", clue.expected)
    return isinstance(code, dict) and code.get("one of") == list(INVALID_PARAMETER)


@usually("The portal accepted a body that breaks a rule: the rule is not checked, or only on another path.")
def _body_accepted(clue: Clue) -> bool:
    return clue.exchange is not None and clue.exchange.success and _wants_invalid(clue)


@usually(
    "The framework validated the body itself and chose its own status: map its validation error to 400 with "
    "the portal's code."
)
def _by_the_framework(clue: Clue) -> bool:
    return clue.status == 422 and clue.path in ("status", "code", "success")


@usually(
    "The rule of the body is not checked, or too late: the request went on and was refused by what comes "
    "next, such as a wrong password, a token or a permission."
)
def _body_went_on(clue: Clue) -> bool:
    return clue.status in (401, 403) and _wants_invalid(clue)


@usually("An error has status 200: the handler writes the error envelope, but does not set the status.")
def _error_with_200(clue: Clue) -> bool:
    return (
        clue.path == "status"
        and clue.status == 200
        and clue.exchange is not None
        and clue.exchange.envelope is not None
        and clue.exchange.envelope.get("success") is False
    )


@usually(
    "Epoch seconds in place of milliseconds: the code that writes the envelope misses a factor of 1,000."
)
def _epoch_seconds(clue: Clue) -> bool:
    return clue.name == "timestamp" and is_number(clue.actual) and 1e8 < clue.actual < 1e11


@usually("A time is sent as a number: the serializer writes timestamps instead of ISO 8601 text.")
def _epoch_for_iso(clue: Clue) -> bool:
    return is_number(clue.actual) and clue.actual > 1e8 and clue.name.endswith(("At", "Time"))


@usually("A local time without a zone: its type has none. Convert it to UTC and write the Z.")
def _iso_without_zone(clue: Clue) -> bool:
    return (
        isinstance(clue.actual, str)
        and bool(ISO.match(clue.actual))
        and not re.search(r"(Z|[+-]\d\d:?\d\d)$", clue.actual)
    )


@usually("The error handler fills data with a default (an empty object, list or text) instead of null.")
def _error_with_data(clue: Clue) -> bool:
    return (
        clue.path == "data"
        and clue.actual in ({}, [], "", False, 0)
        and clue.exchange is not None
        and not clue.exchange.success
    )


@usually(
    "The object has the same name in another spelling: a naming strategy (snake case, capital letters) "
    "applies to this class."
)
def _renamed(clue: Clue) -> bool:
    plain = _plain(clue.name)
    return clue.is_missing and any(_plain(key) == plain for key in clue.siblings if key != clue.name)


@usually("The field is left out: often a serializer that omits nulls, or a class without the field.")
def _left_out(clue: Clue) -> bool:
    return clue.is_missing and not clue.path.startswith("headers.")


@usually("A number is sent as text: a serializer set to write long numbers or decimals as strings.")
def _quotedis_number(clue: Clue) -> bool:
    wants_number = is_number(clue.expected) or _speaks_of(clue.expected, "integer", "number")
    return isinstance(clue.actual, str) and bool(re.fullmatch(r"-?\d+(\.\d+)?", clue.actual)) and wants_number


@usually(
    "The answer has the bare code in place of the enumeration object (code, value, label): its serializer "
    "is not applied here."
)
def _bare_enumeration(clue: Clue) -> bool:
    wants_object = isinstance(clue.expected, dict) or _speaks_of(clue.expected, "enumeration", "object")
    return wants_object and isinstance(clue.actual, str | int) and not isinstance(clue.actual, bool)


@usually("The page number is off by one: 0-based and 1-based numbers are mixed up in the conversion.")
def _off_by_one(clue: Clue) -> bool:
    in_page = clue.name in ("currentPage", "number")
    return (
        in_page
        and is_number(clue.expected)
        and is_number(clue.actual)
        and abs(clue.expected - clue.actual) == 1
    )


@usually("The number of pages is rounded down: an integer division drops the last, incomplete page.")
def _rounded_down(clue: Clue) -> bool:
    return (
        clue.name == "totalPages"
        and is_number(clue.expected)
        and is_number(clue.actual)
        and clue.actual == clue.expected - 1
    )


@usually("The answer has the size of the page as the size of the whole listing.")
def _page_for_whole(clue: Clue) -> bool:
    return (
        clue.name in ("totalElements", "totalRecords")
        and is_number(clue.actual)
        and is_number(clue.expected)
        and clue.actual < clue.expected
    )


@usually("A boolean is sent as text or as a number.")
def _text_for_boolean(clue: Clue) -> bool:
    as_text = clue.actual in ("true", "false", "True", "False", "Y", "N")
    wants = isinstance(clue.expected, bool) or _speaks_of(clue.expected, "boolean")
    return wants and (as_text or (is_number(clue.actual) and clue.actual in (0, 1)))


@usually("The number belongs to a neighbouring row: the constants table is shifted, or numbered by hand.")
def _neighbour(clue: Clue) -> bool:
    return (
        clue.name == "value"
        and is_number(clue.expected)
        and is_number(clue.actual)
        and abs(clue.expected - clue.actual) < 10
    )


@usually("The portal accepted what it must refuse: the rule is not checked, or only on another path.")
def _accepted(clue: Clue) -> bool:
    wants_refusal = is_number(clue.expected) and 400 <= clue.expected < 500
    return clue.path == "status" and clue.actual in (200, 201, 204) and wants_refusal


@usually("The session is gone: the step before ended it, or another node has it in memory.")
def _session_lost(clue: Clue) -> bool:
    return (
        clue.exchange is not None
        and clue.exchange.code == "AUTH.SESSION_NOT_FOUND"
        and clue.expected != "AUTH.SESSION_NOT_FOUND"
    )


@usually("Another check refused the request first: of a token, a permission or the ingress.")
def _unauthorized(clue: Clue) -> bool:
    return clue.status in (401, 403) and clue.path in ("status", "code", "success")


@usually(
    "The route or record was not found: another path or method, or an id that belongs to another workspace."
)
def _not_found(clue: Clue) -> bool:
    return clue.status in (404, 405) and clue.path in ("status", "code", "success")
