"""What a difference means: a contradiction, a breaking change, a permitted change, or drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.judging.fields import field_of, item_of, model_of
from conformance.replay.compare.difference import Difference
from conformance.replay.compare.owners import BASIS as FOREIGN_SESSION
from conformance.replay.compare.owners import IDS
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec import BY_KEY, Operation
from conformance.spec.endpoints import (
    CURRENCY_GRANTS,
    IP_WHITELIST,
    MFA,
    PUBLIC_KEY,
    ROLE_PERMISSIONS,
    SECURE_SESSION,
)
from conformance.spec.resources import RESOURCES
from conformance.spec.tables import ERROR_BY_CODE


class Meaning(StrEnum):
    """The four kinds of difference, the gravest first."""

    CONTRADICTION = "contradiction"
    """The replayed response contradicts the specification where the recorded one does not."""
    BREAKING = "breaking"
    """The specification permits it, and a client of the recorded portal may not work any more."""
    PERMITTED = "permitted"
    """The specification leaves it open, and a tolerant client does not care."""
    DRIFT = "drift"
    """State, time or data."""


GRAVEST_FIRST = tuple(Meaning)


@dataclass(frozen=True, slots=True)
class MeaningOfDifference:
    """``basis`` is the requirement that is contradicted, or the sentence or gap that permits it."""

    meaning: Meaning
    basis: str
    requirement: str = ""
    """The requirement that states or shows it otherwise."""


def _permitted(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.PERMITTED, basis)


def _breaking(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.BREAKING, basis)


def _drift(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.DRIFT, basis)


PEOPLE = frozenset(
    [
        "accountName",
        "accountPhone",
        "accountEmail",
        "accountRemark",
        "defaultLanguage",
        "defaultTimezone",
        "defaultCountry",
        "inviterName",
        "inviteeEmail",
        "inviteeAccountName",
    ]
)
"""Fields that say who somebody is."""

GAPS = {
    "N2": "N2: the shape of the public key is not shown",
    "N3": "N3: the response of a closed channel is not shown",
    "N4": "N4: the response of the caller's workspaces is not shown",
    "N5": "N5: the success response of this endpoint is not shown",
}

ITEM_GAPS = {
    ROLE_PERMISSIONS: "the fields of role permissions are not shown",
    IP_WHITELIST: "the fields of whitelist entries are not shown",
    CURRENCY_GRANTS: "the fields of a currency grant are not shown",
}

STATUSES = {
    "AUTH.INVALID_CREDENTIALS": "AUTH.INVALID_CREDENTIALS is 401 in one description and 400 in another",
    "AUTH.MFA_SEND_COOLDOWN": "the HTTP status of AUTH.MFA_SEND_COOLDOWN is not shown",
    "AUTH.MFA_CODE_INVALID": "the HTTP status of AUTH.MFA_CODE_INVALID is not shown",
    "4030": "the HTTP status of 4030 is not shown",
    "4040": "the HTTP status of 4040 is not shown",
}

TEXTS = {
    "message": "a message is for people, and its wording is not stated",
    "label": "a label may be a display text or a translation key",
    "description": "a description is present on some endpoints only",
}

CATALOGUE = "the complete error catalogue is not shown"
SUCCESSES = range(200, 300)
VERSIONS = ("2.0.0", "1.3.0")
MASK = "a password is returned masked, and how is not shown"

SAMPLES = {
    "expiresIn": "its value is that of samples",
    "codeExpiresIn": "its value is that of samples",
    "cooldownSeconds": "its value is that of samples",
    "maxSessions": "its value is that of samples",
    "loginResult": "the meaning of its values is unspecified",
    "paginated": "when it is true is not stated",
    "refreshToken": "whether a refresh replaces the refresh token is not stated",
}
"""Fields whose values the specification only shows."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """Decides the meaning of what contradicts nothing. ``stand_ins``: other people than the recorded ones
    sign in."""

    stand_ins: bool = False

    def contradicted(
        self, pair: ReplayedExchange, requirement: str, *, is_stated: bool
    ) -> MeaningOfDifference:
        """The meaning of a difference that a requirement speaks against. What is only shown binds nobody."""
        if is_stated:
            return MeaningOfDifference(Meaning.CONTRADICTION, requirement, requirement)
        if pair.operation == PUBLIC_KEY:
            return MeaningOfDifference(Meaning.PERMITTED, GAPS["N2"], requirement)
        basis = f"the specification only shows it ({requirement})"
        return MeaningOfDifference(Meaning.BREAKING, basis, requirement)

    def of(self, pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference:
        """The meaning of a difference, by the first rule that speaks of it."""
        decided = (rule(pair, difference) for rule in RULES)
        meaning = next((each for each in decided if each is not None), None)
        if meaning is not None and meaning.meaning is not Meaning.BREAKING:
            return meaning
        if self.stand_ins and difference.place and difference.place[-1] in PEOPLE:
            return _drift("another account stands for the recorded one, and is another person")
        return meaning or _breaking(_gap_of_value(pair))


Rule = Callable[[ReplayedExchange, Difference], MeaningOfDifference | None]


def _preflight(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if pair.recorded.request.method != "OPTIONS":
        return None
    return _drift("a preflight is answered by whatever stands before the portal")


def _status_and_code(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place not in (("status",), ("code",), ("success",)):
        return None
    statuses = (difference.recorded, difference.replayed)
    if difference.kind == "status" and all(status in SUCCESSES for status in statuses):
        return _permitted("the HTTP status of a success is not stated")
    codes = [code for code in (pair.recorded.code, pair.live.code) if code in STATUSES]
    if difference.kind == "status" and codes:
        return _breaking(STATUSES[str(codes[0])])
    is_shown = pair.live.code in ERROR_BY_CODE
    return _breaking(f"{CATALOGUE}: which code a cause has may differ" if is_shown else CATALOGUE)


def _envelope(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place not in (("version",), ("timestamp",)):
        return None
    if difference.kind in ("missing", "extra"):
        return _permitted(f"some samples omit {difference.place[0]}")
    if difference.replayed in VERSIONS and difference.recorded in VERSIONS:
        return _permitted("the version is 2.0.0, and 1.3.0 on one sample")
    return None


def _text(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    name = difference.place[-1] if difference.place else ""
    if name not in TEXTS or difference.kind not in ("value", "missing", "extra"):
        return None
    if difference.kind == "missing" and name != "description":
        return None
    return _permitted(TEXTS[str(name)])


def _extra(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind == "extra":
        return _permitted("no sentence forbids further fields")
    return None


def _undescribed(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    operation = BY_KEY.get(pair.operation)
    if operation is None or not difference.place or difference.place[0] != "data" or not pair.live.success:
        return None
    gap = ITEM_GAPS.get(operation.key) if len(difference.place) > 1 else None
    gap = gap or _gap(operation)
    if gap is None:
        return None
    if operation.key == PUBLIC_KEY:
        return _permitted(gap)
    is_command = operation.method == "POST" and operation.impact != "read-only"
    return _permitted(gap) if is_command and difference.kind != "value" else _breaking(gap)


def _secure_channel(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if pair.operation == SECURE_SESSION and difference.kind == "value":
        return _permitted("a secure channel has new keys, and when they are replaced is not stated")
    return None


def _constants(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if "/constants/" not in pair.operation:
        return None
    if difference.kind == "order":
        return _permitted("the order of a constants list is not stated")
    if difference.kind == "length":
        is_longer = isinstance(difference.replayed, int) and difference.replayed > difference.recorded
        return (_permitted if is_longer else _breaking)("whether a constants list is complete is not shown")
    return None


def _nullable(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    """A field that may be null was filled, became null, or was left out instead."""
    is_null = difference.recorded is None or difference.replayed is None
    if not is_null or difference.kind not in ("type", "missing"):
        return None
    if difference.kind == "missing":
        is_empty = difference.recorded is None
        return _permitted("some samples leave out what others show as null") if is_empty else None
    if _is_nullable(BY_KEY.get(pair.operation), difference):
        return _permitted("the field is stated to be nullable")
    return None


def _masked(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    values = (difference.recorded, difference.replayed)
    is_password = bool(difference.place) and difference.place[-1] == "password" and difference.kind == "value"
    if is_password and all(isinstance(value, str) for value in values):
        return _permitted(MASK)  # one that is not masked contradicts the specification
    return None


def _token_form(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind == "type" and difference.place[-1:] == ("accessToken",):
        return _permitted("a client reads the profile endpoint and does not decode the access token")
    return None


def _sample(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    name = str(difference.place[-1]) if difference.place else ""
    if difference.kind == "value" and name in SAMPLES:
        return _permitted(SAMPLES[name])
    return None


def _media_type(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place != ("headers", "content-type"):
        return None
    labels = [str(value).partition(";")[0].strip() for value in (difference.recorded, difference.replayed)]
    basis = "the media type of a response is not stated"
    return (_permitted if all(label.endswith("json") for label in labels) else _breaking)(basis)


def _factors(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind != "length" or not isinstance(difference.replayed, int):
        return None
    is_of_factors = difference.place[-1:] == ("mfaMethods",) or pair.operation == MFA
    if is_of_factors and difference.replayed > difference.recorded:
        return _permitted("which factors a portal offers is not stated")
    return None


def _order(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind == "order":
        return _breaking("the order of a listing is not stated")
    if difference.kind == "length":
        return _breaking("how many entries a list has is not stated")
    if difference.kind == "type":
        return _breaking("the form in which the field is written is not stated")
    if difference.kind == "missing":
        return _breaking("some samples omit fields, and further fields are not described")
    return None


def _foreign_session(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    is_added = difference.kind == "value" and difference.recorded is None
    return _breaking(FOREIGN_SESSION) if is_added and pair.operation in IDS else None


RULES: tuple[Rule, ...] = (
    _foreign_session,
    _preflight,
    _status_and_code,
    _envelope,
    _text,
    _extra,
    _secure_channel,
    _nullable,
    _masked,
    _undescribed,
    _constants,
    _token_form,
    _sample,
    _media_type,
    _factors,
    _order,
)


def _gap(operation: Operation) -> str | None:
    """The gap because of which nothing is stated of a successful response's data."""
    if operation.data is not None and operation.key != PUBLIC_KEY:
        return None
    return next((GAPS[gap] for gap in operation.gaps if gap in GAPS), None)


def _gap_of_value(pair: ReplayedExchange) -> str:
    if pair.operation not in BY_KEY:
        return "N7: this endpoint is not described"
    return "which value it has is not stated, and a sample value binds nobody"


def _is_nullable(operation: Operation | None, difference: Difference) -> bool:
    if operation is None or operation.data is None or difference.place[:1] != ("data",):
        return False
    annotation: Any = RESOURCES.get(operation.data.removesuffix("[]"))
    is_nullable = False
    for step in difference.place[1:]:
        if isinstance(step, int):
            annotation = item_of(annotation) or annotation
            continue
        model = model_of(annotation)
        field = field_of(model, step) if model is not None else None
        if field is None:
            return False
        annotation, is_nullable = field.annotation, not field.is_required()
    return is_nullable
