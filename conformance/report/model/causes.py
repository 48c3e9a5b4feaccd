"""The likely causes of contradictions, by pattern. The first pattern that fits gives the cause."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.report.model.marked import at, place
from conformance.report.model.run import FindingEntry
from conformance.spec.requirements import PINNED
from conformance.spec.tables import ERROR_BY_CODE, INVALID_PARAMETER
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json, dig
from conformance.traffic.values import is_number

ISO: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
ZONE: Final = re.compile(r"(Z|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True, slots=True)
class Clue:
    """What a pattern looks at: the place of a finding, the two values, and the exchange.

    Where there is no exchange, no pattern fits that asks it.
    """

    path: str
    name: str
    expected: Json
    actual: Json
    exchange: Any

    @property
    def of_outcome(self) -> bool:
        """Whether the response had another outcome, and not only another value."""
        return self.path in ("status", "code", "success")

    @property
    def is_missing(self) -> bool:
        return bool(self.path) and at(self.exchange, self.path) is ABSENT

    @property
    def is_renamed(self) -> bool:
        """Whether the object around the place has the name in another spelling."""
        names = dig(self.exchange.envelope, place(self.path)[:-1])
        return any(_plain(key) == _plain(self.name) for key in names.keys() - {self.name})

    @property
    def wants_invalid(self) -> bool:
        if not isinstance(self.expected, dict) or self.path not in ("code", "status"):
            return False
        code = self.expected.get("code", self.expected)
        return isinstance(code, dict) and code.get("one of") == list(INVALID_PARAMETER)

    @property
    def more(self) -> float:
        """By how much the number that came is too large; not a number where either is none."""
        both = is_number(self.actual) and is_number(self.expected)
        return self.actual - self.expected if both else float("nan")

    def wants(self, *words: str) -> bool:
        """Whether the expectation is a text with such a word."""
        return isinstance(self.expected, str) and any(word in self.expected.lower() for word in words)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


class Cause(NamedTuple):
    """A pattern, and the usual cause of what it fits."""

    fits: Callable[[Clue], bool]
    text: str


# The most certain patterns come first.
CAUSES: Final = (
    Cause(
        lambda clue: clue.exchange.status >= 500 and clue.exchange.code in ERROR_BY_CODE,
        "The answer has a code of the specification, and another status than that code has.",
    ),
    Cause(
        lambda clue: clue.exchange.status >= 500,
        "The portal failed with an exception that nothing handles. Search its log for the X-Request-Id of "
        "the exchange.",
    ),
    Cause(
        lambda clue: clue.exchange.status == 429 and clue.expected != 429,
        "A rate limit answered before the requirement applied. Raise the limit for the run, or set [limits] "
        "login_window in the profile.",
    ),
    Cause(
        lambda clue: clue.exchange.status in (301, 302, 303, 307, 308),
        "A proxy or framework redirects: often http to https, or a trailing slash. Use the address of the "
        "redirect in the profile.",
    ),
    Cause(
        lambda clue: "html" in clue.exchange.response.header("content-type").lower(),
        "The answer is a web page: a gateway, a proxy or a framework's error page answered in the portal's "
        "place.",
    ),
    Cause(
        lambda clue: clue.path in ("", "body") and clue.exchange.response.state == NOT_JSON,
        "The answer is not JSON: an error page, an empty body or a wrong content type, often of a proxy "
        "before the portal.",
    ),
    Cause(
        lambda clue: clue.exchange.status == 422 and clue.of_outcome,
        "The framework validated the body itself and chose its own status: map its validation error to 400 "
        "with the portal's code.",
    ),
    Cause(
        lambda clue: clue.exchange.status in (401, 403) and clue.wants_invalid,
        "The rule of the body is not checked, or too late: the request went on and was refused by what "
        "comes next, such as a wrong password, a token or a permission.",
    ),
    Cause(
        lambda clue: (
            clue.path == "status"
            and clue.exchange.status == 200
            and clue.exchange.envelope["success"] is False
        ),
        "An error has status 200: the handler writes the error envelope, but does not set the status.",
    ),
    Cause(
        lambda clue: clue.name == "timestamp" and 1e8 < clue.actual < 1e11,
        "Epoch seconds in place of milliseconds: the code that writes the envelope misses a factor of 1,000.",
    ),
    Cause(
        lambda clue: bool(ISO.match(clue.actual)) and not ZONE.search(clue.actual),
        "A local time without a zone: its type has none. Convert it to UTC and write the Z.",
    ),
    Cause(
        lambda clue: (
            clue.path == "data" and clue.actual in ({}, [], "", False, 0) and clue.exchange.success is False
        ),
        "The error handler fills data with a default (an empty object, list or text) instead of null.",
    ),
    Cause(
        lambda clue: clue.is_missing and clue.is_renamed,
        "The object has the same name in another spelling: a naming strategy (snake case, capital letters) "
        "applies to this class.",
    ),
    Cause(
        lambda clue: clue.is_missing and not clue.path.startswith("headers."),
        "The field is left out: often a serializer that omits nulls, or a class without the field.",
    ),
    Cause(
        lambda clue: (
            bool(re.fullmatch(r"-?\d+(\.\d+)?", clue.actual))
            and (is_number(clue.expected) or clue.wants("integer", "number"))
        ),
        "A number is sent as text: a serializer set to write long numbers or decimals as strings.",
    ),
    Cause(
        lambda clue: (
            (clue.wants("enumeration", "object") or "one of" not in dict(clue.expected))
            and (isinstance(clue.actual, str | int) and not isinstance(clue.actual, bool))
        ),
        "The answer has the bare code in place of the enumeration object (code, value, label): its "
        "serializer is not applied here.",
    ),
    Cause(
        lambda clue: clue.name in ("currentPage", "number") and abs(clue.more) == 1,
        "The page number is off by one: 0-based and 1-based numbers are mixed up in the conversion.",
    ),
    Cause(
        lambda clue: clue.name == "totalPages" and clue.more == -1,
        "The number of pages is rounded down: an integer division drops the last, incomplete page.",
    ),
    Cause(
        lambda clue: clue.name in ("totalElements", "totalRecords") and clue.more < 0,
        "The answer has the size of the page as the size of the whole listing.",
    ),
    Cause(
        lambda clue: clue.name == "value" and abs(clue.more) < 10,
        "The number belongs to a neighbouring row: the constants table is shifted, or numbered by hand.",
    ),
)


def cause(finding: FindingEntry, exchange: Exchange | None) -> str | None:
    """The likely cause in a sentence or two; None where no pattern fits, or only a pinned reading differs."""
    if finding.requirement.startswith(PINNED):
        return None
    name = str(next(reversed(place(finding.path)), ""))
    clue = Clue(finding.path, name, finding.expected, finding.actual, exchange)
    return next((cause.text for cause in CAUSES if _fits(cause, clue)), None)


def _fits(cause: Cause, clue: Clue) -> bool:
    try:
        return cause.fits(clue)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError):
        return False  # a hint is never worth an error: what the target sent has any shape
