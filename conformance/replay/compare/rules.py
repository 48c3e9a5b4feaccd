"""What a difference means that contradicts nothing: rules, with the sentence or gap that each rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from conformance.judging.fields import fields_along
from conformance.replay.compare.callers import BASIS as FOREIGN_SESSION
from conformance.replay.compare.callers import IDS, NOT_OFFERED, is_not_offered
from conformance.replay.compare.clocks import ENDS, UPDATED
from conformance.replay.compare.json_comparison import STAYING
from conformance.replay.compare.outcome import (
    Difference,
    Kind,
    MeaningOfDifference,
    ReplayedExchange,
    breaking,
    drift,
    permitted,
)
from conformance.report.model.words import listed
from conformance.spec import BY_KEY, REQUIREMENTS, Operation
from conformance.spec import endpoints as op
from conformance.spec.tables import (
    CHALLENGE_FAILED,
    ERROR_BY_CODE,
    INVALID_PARAMETER,
    RECORD_UNKNOWN,
    TOKEN_REFUSED,
)
from conformance.target.portal.cipher import find_key
from conformance.traffic.exchange import ABSENT, dig
from conformance.traffic.redaction.places import MASKED
from conformance.verdicts.comparisons import is_from_before_the_portal

GAPS = {
    "N2": "N2: the shape of the public key is not shown",
    "N3": "N3: the response of a closed channel is not shown",
    "N4": "N4: the response of the caller's workspaces is not shown",
    "N5": "N5: the success response of this endpoint is not shown",
}

BOT_CHALLENGED = "the endpoint is stated to need a bot challenge, and the token that is sent now is refused"
KEY_NAMES = {"id_field": "keyId", "key_field": "publicKey"}
NO_KEY_ID = "the public key comes with a key id, and no RSA key with an id is here now"

ITEM_GAPS = {
    op.ROLE_PERMISSIONS: "the fields of role permissions are not shown",
    op.IP_WHITELIST: "the fields of whitelist entries are not shown",
    op.CURRENCY_GRANTS: "the fields of a currency grant are not shown",
}

STATUSES = {
    "AUTH.INVALID_CREDENTIALS": "AUTH.INVALID_CREDENTIALS is 401 in one description and 400 in another",
    "AUTH.MFA_SEND_COOLDOWN": "the HTTP status of AUTH.MFA_SEND_COOLDOWN is not shown",
    "AUTH.MFA_CODE_INVALID": "the HTTP status of AUTH.MFA_CODE_INVALID is not shown",
    "4030": "the HTTP status of 4030 is not shown",
    "4040": "the HTTP status of 4040 is not shown",
}

SYNONYMS = {
    frozenset(codes): f"the error table has two codes for {cause}, {codes[0]} and {codes[1]}"
    for codes, cause in (
        (TOKEN_REFUSED, "an absent token"),
        (INVALID_PARAMETER, "a validation error"),
        (RECORD_UNKNOWN, "a record that is not found"),
    )
}
"""By pair of codes, the cause for which the specification has both."""

TEXTS = {
    "message": "a message is for people, and its wording is not stated",
    "label": "a label may be a display text or a translation key",
    "description": "a description is present on some endpoints only",
}

CATALOGUE = "the complete error catalogue is not shown"
SUCCESSES = range(200, 300)
VERSIONS = ("2.0.0", "1.3.0")
SHOWN_IN_PART = re.compile(r"(?=.*[*•●·])(?=.*[A-Za-z0-9]{2}).+")
"""A mask beside letters or digits."""
NOT_A_MASK = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[^*•●·\s]{6,}|[^*•●·\s]{16,}")
"""What may be a password: letters and digits, or a long word."""

NEW_KEYS = "a secure channel has new keys, and when they are replaced is not stated"
MASK = "a password is returned masked, and how is not shown"

SAMPLES = {
    "expiresIn": "only samples show its value",
    "codeExpiresIn": "only samples show its value",
    "cooldownSeconds": "only samples show its value",
    "maxSessions": "how many sessions an account may have is a setting of each portal",
    "loginResult": "the meaning of its values is unspecified",
    "paginated": "when it is true is not stated",
    "refreshToken": "whether a refresh replaces the refresh token is not stated",
}
"""Fields whose values the specification only shows, or leaves to the portal."""


Rule = Callable[[ReplayedExchange, Difference], MeaningOfDifference | None]


@dataclass(frozen=True, slots=True)
class Row:
    """A rule gives every difference of a kind its meaning. Its fields and operations limit it, where it names
    any."""

    kind: Kind
    meaning: MeaningOfDifference
    names: Collection[str] = ()
    operations: Collection[str] = ()

    def __call__(self, pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
        is_of_kind = difference.kind == self.kind and (
            not self.operations or pair.operation in self.operations
        )
        is_named = not self.names or (difference.place and difference.place[-1] in self.names)
        return self.meaning if is_of_kind and is_named else None


def _preflight(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if pair.recorded.request.method != "OPTIONS":
        return None
    return drift("a proxy or gateway before the portal may answer a preflight")


def _update(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if (
        difference.kind == "time"
        and difference.place == ("data", UPDATED)
        and pair.recorded.sent is not ABSENT
    ):
        return breaking("whether an update is answered with the record before or after it is not stated")
    return None


def _gateway(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if not is_from_before_the_portal(pair.live) or difference.kind == "extra":
        return None
    return breaking("a proxy or gateway before the portal answered in its place, and is not described")


def _status_and_code(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place not in (("status",), ("code",), ("success",)):
        return None
    statuses = (difference.recorded, difference.replayed)
    if difference.kind == "status" and all(status in SUCCESSES for status in statuses):
        return permitted("the HTTP status of a success is not stated")
    before, after = str(pair.recorded.code), str(pair.live.code)
    if before == after and before in STATUSES:
        return breaking(STATUSES[before])
    if after == CHALLENGE_FAILED and pair.recorded.success:
        is_stated = pair.operation in BY_KEY and BY_KEY[pair.operation].bot_challenge
        return breaking(
            BOT_CHALLENGED if is_stated else "which further endpoints require a bot challenge is not shown"
        )
    if is_not_offered(pair):
        return breaking(NOT_OFFERED)
    stating = _rules_with(before, pair.operation) if not pair.recorded.success else ""
    if stating:
        return breaking(
            f"{before} is stated here ({stating}), but this response does not show whether its cause was "
            "there"
        )
    is_shown = after in ERROR_BY_CODE
    otherwise = f"{CATALOGUE}: which code a cause has may differ" if is_shown else CATALOGUE
    return breaking(SYNONYMS.get(frozenset({before, after}), otherwise))


def _rules_with(code: str, operation: str) -> str:
    """The rules that state a refusal of this code at an endpoint, the first three by id; empty: none."""
    words = (f"`{code}`", "as an invalid parameter") if code in INVALID_PARAMETER else (f"`{code}`",)
    rules = [
        row.id
        for row in REQUIREMENTS.values()
        if row.level != "open"
        and operation in row.operations
        and any(word in row.statement for word in words)
    ]
    return listed(rules, 3)


def _envelope(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place not in (("version",), ("timestamp",)):
        return None
    if difference.kind in ("missing", "extra"):
        return permitted(f"some samples omit {difference.place[0]}")
    if difference.replayed in VERSIONS and difference.recorded in VERSIONS:
        return permitted("the version is 2.0.0, and 1.3.0 on one sample")
    return None


def _text(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    name = difference.place[-1] if difference.place else ""
    if name not in TEXTS or difference.kind not in ("value", "missing", "extra"):
        return None
    if difference.kind == "missing" and name != "description":
        return None
    if name == "description" and difference.kind == "value" and not _is_in_an_enumeration(pair, difference):
        return None
    return permitted(TEXTS[str(name)])


def _is_in_an_enumeration(pair: ReplayedExchange, difference: Difference) -> bool:
    """Whether a field stands in an enumeration object; that of a record is the record's own data."""
    around = dig(pair.recorded.envelope, difference.place[:-1])
    return isinstance(around, dict) and ("code" in around or "value" in around)


def _undescribed(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    operation = BY_KEY.get(pair.operation)
    if operation is None or not difference.place or difference.place[0] != "data" or not pair.live.success:
        return None
    gap = ITEM_GAPS.get(operation.key) if len(difference.place) > 1 else None
    gap = gap or _gap(operation)
    if gap is None:
        return None
    if operation.key == op.PUBLIC_KEY:
        return breaking(NO_KEY_ID) if _lost_its_id(pair) else permitted(gap)
    is_command = operation.method == "POST" and operation.impact != "read-only"
    return permitted(gap) if is_command and difference.kind != "value" else breaking(gap)


def _lost_its_id(pair: ReplayedExchange) -> bool:
    """Whether a key with an id was recorded, and a key comes without one now, or none at all."""
    recorded, live = (find_key(each.data, **KEY_NAMES) for each in (pair.recorded, pair.live))
    return recorded is not None and live is None


def _constants(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if "/constants/" not in pair.operation:
        return None
    if difference.kind == "order":
        return permitted("the order of a constants list is not stated")
    if difference.kind == "length":
        is_longer = isinstance(difference.replayed, int) and difference.replayed > difference.recorded
        return (permitted if is_longer else breaking)("whether a constants list is complete is not shown")
    return None


def _nullable(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    """A field that may be null was filled, became null, or was left out instead."""
    is_null = difference.recorded is None or difference.replayed is None
    if not is_null or difference.kind not in ("type", "missing"):
        return None
    if difference.kind == "missing":
        is_empty = difference.recorded is None
        return permitted("some samples leave out what others show as null") if is_empty else None
    if _is_nullable(BY_KEY.get(pair.operation), difference):
        return permitted("the field is stated to be nullable")
    return None


def _masked(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    values = (difference.recorded, difference.replayed)
    is_password = bool(difference.place) and difference.place[-1] == "password" and difference.kind == "value"
    if not is_password or not all(isinstance(value, str) for value in values):
        return None
    if MASKED.match(str(difference.recorded)):
        if NOT_A_MASK.fullmatch(str(difference.replayed)):
            return breaking(f"{MASK}: what is here now may be the password itself")
        if SHOWN_IN_PART.match(str(difference.replayed)):
            return breaking(f"{MASK}: a part of it may be shown now")
    return permitted(MASK)  # one that the recording itself set is a contradiction where it is shown


def _reason(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    """Decides a sign-in of equal result that gained or lost its ``failureReason``."""
    if difference.place[-1:] != ("failureReason",) or difference.kind != "type":
        return None
    beside = (*difference.place[:-1], "loginResult")
    results = [dig(body, beside) for body in (pair.recorded_body, pair.live_body)]
    if results[0] != results[1] or not isinstance(results[0], int):
        return None
    return breaking("a refused sign-in has a reason and a completed one has none, as far as samples show")


def _media_type(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.place != ("headers", "content-type"):
        return None
    labels = [str(value).partition(";")[0].strip() for value in (difference.recorded, difference.replayed)]
    basis = "the media type of a response is not stated"
    return (permitted if all(label.endswith("json") for label in labels) else breaking)(basis)


def _factors(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind != "length" or not isinstance(difference.replayed, int):
        return None
    is_of_factors = difference.place[-1:] == ("mfaMethods",) or pair.operation == op.MFA
    if is_of_factors and difference.replayed > difference.recorded:
        return permitted("which factors a portal offers is not stated")
    return None


def _order(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    if difference.kind == "order":
        old, new = (sorted(map(str, each)) for each in (difference.recorded, difference.replayed))
        basis = "the order of a listing is not stated"
        has_others = old != new and pair.operation != op.SESSIONS_HISTORY
        return breaking(basis if not has_others else f"{basis}, nor which records it has: it has others now")
    return None


def _foreign_session(pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference | None:
    is_added = difference.kind == "value" and difference.recorded is None
    return breaking(FOREIGN_SESSION) if is_added and pair.operation in IDS else None


RULES: tuple[Rule, ...] = (
    _foreign_session,
    _preflight,
    Row("repetition", permitted(NEW_KEYS), operations=[op.PUBLIC_KEY]),
    Row(
        "repetition",
        breaking("what is read twice, while nobody changes it, is the same, as far as samples show"),
    ),
    Row("time", breaking("a portal has one clock, as far as samples show"), ["timestamp"]),
    _update,
    Row(
        "time",
        breaking("a portal dates what it writes by the clock of its responses, as far as samples show"),
    ),
    _gateway,
    _status_and_code,
    _envelope,
    _text,
    Row("extra", permitted("no sentence forbids further fields")),
    Row("value", permitted(NEW_KEYS), operations=[op.SECURE_SESSION]),
    _reason,
    Row(
        "value",
        breaking("a record that nobody changes shows one time in all answers, as far as samples show"),
        STAYING,
    ),
    Row(
        "value",
        breaking("how long the new record is valid is not stated, and it is now valid for another time"),
        [ENDS],
    ),
    _nullable,
    _masked,
    _undescribed,
    _constants,
    Row(
        "type",
        permitted("a client reads the profile endpoint and does not decode the access token"),
        ["accessToken"],
    ),
    *(Row("value", permitted(basis), [name]) for name, basis in SAMPLES.items()),
    _media_type,
    _factors,
    _order,
    Row(
        "length",
        breaking("which sign-ins a history holds, and how soon, is not stated"),
        operations=[op.SESSIONS_HISTORY],
    ),
    Row(
        "length", breaking("how many entries a list has is not stated: other data, lost entries, or too many")
    ),
    Row("type", breaking("the form in which the field is written is not stated")),
    Row("missing", breaking("some samples omit fields, and further fields are not described")),
)


def _gap(operation: Operation) -> str | None:
    """The gap because of which nothing is stated of a successful response's data."""
    if operation.data is not None and operation.key != op.PUBLIC_KEY:
        return None
    return next((GAPS[gap] for gap in operation.gaps if gap in GAPS), None)


def gap_of_value(pair: ReplayedExchange) -> str:
    if pair.operation not in BY_KEY:
        return "N7: this endpoint is not described"
    return "which value it has is not stated: a value in a sample is an example"


def _is_nullable(operation: Operation | None, difference: Difference) -> bool:
    way = fields_along(operation, difference.place)
    return bool(way) and not way[-1][1].is_required()
