"""The vocabulary that ``cases/`` is written in: marks, comparisons, and the table of the 88 endpoints."""

from __future__ import annotations

from _pytest.mark import ParameterSet

from conformance.checks import CHECKS
from conformance.checks.access.security import IN_USE
from conformance.checks.access.sign_in import HEARD_OF, claims_of, generic_message
from conformance.checks.access.without_token import is_not_of_its_form
from conformance.checks.accounts import SIGNS
from conformance.checks.envelope import ENVELOPE, is_mask
from conformance.checks.model.agreement import KINDS, LAG, are_different
from conformance.checks.model.times import FAR, NEAR
from conformance.checks.records import CLOCKS, are_alike, has_offset, moment, portal_time, records
from conformance.checks.registry import LEFT_TO_CASES, Kind
from conformance.descriptions import DescribedOperation
from conformance.errors import CannotSignIn, OutOfTime, Untestable
from conformance.judging.shapes import Shape
from conformance.run import marks as mark
from conformance.run.needs import BESIDE_ADMIN, lacking
from conformance.run.schedule import Steps, Wait
from conformance.run.search import Machine, Search, Trial, move
from conformance.spec import BY_KEY, CONSTANT_LISTS, OPERATIONS, Operation, operation_of, resources
from conformance.spec import endpoints as op
from conformance.spec.requests import REQUESTS, UNFILTERED
from conformance.spec.tables import (
    CONSTANTS,
    COOLDOWN,
    INVALID_BODY,
    INVALID_PARAMETER,
    LANGUAGES,
    LIMITS,
    NO_SESSION,
    PERMISSION_DENIED,
    PORTAL_TYPES,
    READS_FILE_HEADERS,
    RECORD_OF_PARAMETER,
    RECORD_UNKNOWN,
    STATES,
    SUCCESS_CODE,
    TOKEN_REFUSED,
    WRONG_CODE,
)
from conformance.target.portal import Portal, SignedIn
from conformance.target.portal import ProfileAccount as Account
from conformance.target.portal.accounts import LONG_FROM
from conformance.target.portal.calls.bodies import with_result
from conformance.target.portal.channel import OTHER_WRAPPINGS
from conformance.target.portal.cipher import Scheme, find_id
from conformance.target.portal.inboxes import NothingArrived
from conformance.target.portal.login import METHODS, chosen_factor, offered_factors, text_at
from conformance.target.portal.records import address, addresses_in, own_id, own_ids, records_in, shows
from conformance.target.portal.restoring.made import listed_id, shown_elsewhere, told_id
from conformance.target.portal.restoring.restore import take_away
from conformance.target.portal.restoring.ways import undo_key
from conformance.target.portal.secure import CONTENT_TYPE, SESSION_HEADER, Channel, Wrapping, ended, wrapped
from conformance.target.portal.sign_ins.calls import MAILED_BEFORE
from conformance.target.profile.authenticator import SCHEME, STEP, normal_secret
from conformance.target.profile.placeholders import placeholders_in
from conformance.target.profile.tables import Factor, FixedInbox
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.redaction.encodings import blocks
from conformance.traffic.values import is_integer, is_number
from conformance.verdicts.comparisons import (
    KNOWN_CODES,
    contradicts,
    equal,
    holds,
    is_cooldown,
    is_error,
    is_error_of_table,
    is_from_before_the_portal,
    is_held_back,
    is_invalid_parameter,
    is_not_invalid_parameter,
    is_rate_limited,
    is_refused,
    is_success,
    may_keep_a_rate,
    meets,
    one_of,
    same,
    speaks_of_a_rate,
    summary,
)
from conformance.verdicts.findings import HELD, Comparison, Contradiction, OtherPlace, endpoint_of
from conformance.verdicts.verify import Verify


def extra_fields(row: Operation, exchange: Exchange) -> list[str]:
    """The fields of a successful answer that the specification does not show, without indexes."""
    beside = sorted((exchange.envelope or {}).keys() - ENVELOPE)
    return [*beside, *Shape(row).new_extras(exchange)] if row.data else beside


def offered(key: str) -> str:
    """Id of the requirement that the portal offers an endpoint."""
    return BY_KEY[key].requirement


def judged_in(row: Operation, kind: Kind) -> tuple[str, ...]:
    """The requirements that the checks decide by answers of a kind: what asking brings to light."""
    shown = Shape(row).not_shown if row.data and kind == "success" else set()
    checked = {check.requirement for check in CHECKS if row.key in check.on.keys and kind in check.on.kinds}
    checked -= LEFT_TO_CASES
    return tuple(sorted(shown | checked))
