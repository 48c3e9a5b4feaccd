"""Whether a target lets the suite in at all: its ingress may refuse every request, whatever it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from conformance.errors import NoAnswer, Untestable
from conformance.spec.endpoints import PROFILE, TOKEN_REFRESH
from conformance.spec.tables import TOKEN_REFUSED
from conformance.target.portal import Portal
from conformance.target.portal.login import refusal
from conformance.target.profile.model import NO_PROFILE
from conformance.traffic.exchange import Exchange

MISMATCH = "ACCESS.PORTAL_MISMATCH"
WITHOUT_CODE = (400, 401, 403)
"""The statuses of an ingress that refuses a request without an access code."""

REFUSALS = (400, 401, 403, 404, 503)
"""The statuses of an ingress that lets nobody in, or of a portal that is down for maintenance."""

ACCOUNTS_TRIED = 3

NO_CODE = "No access code is set, so nothing behind the ingress can be tested. Set PORTAL_ACCESS_CODE."
EMPTY_CODE = (
    "[portal] access_code is empty, so nothing behind the ingress can be tested. Write the code of the "
    'SYSTEM portal there, or "${PORTAL_ACCESS_CODE}" and set that.'
)
WRONG_PATH = (
    "Does the path /{path} belong to [portal] url? It is what stands before /web/v1/ in the portal's "
    "addresses. `portal-conformance doctor` looks for the portal at shorter and longer paths."
)
WRONG_CODE = (
    "Is [portal] access_code the SYSTEM portal's, and does the ingress allow the address of this machine?"
)


@dataclass(frozen=True, slots=True)
class IngressRefusal:
    """Why nothing behind the ingress can be judged. ``is_access_code``: it refuses the access code, so that
    the profile is wrong, and not the portal or what lies between."""

    reason: str
    is_access_code: bool


def refusal_at_ingress(portal: Portal) -> IngressRefusal | None:
    """Why nothing behind the target's ingress can be judged; None where requests get through.

    A portal that looks at the access code before anything else refuses a request without a token, and one
    that needs none, alike. Raises TargetUnreachable.
    """
    try:
        guarded = portal.call(PROFILE)
        if guarded.success or guarded.code in TOKEN_REFUSED:  # it refuses for the missing token alone
            return None
        open_to_all = portal.call(TOKEN_REFRESH, json={"refreshToken": "none"})
    except NoAnswer:
        return None
    are_alike = (open_to_all.status, open_to_all.code) == (guarded.status, guarded.code)
    if not are_alike or guarded.success or guarded.status not in REFUSALS:
        return None
    if guarded.code != MISMATCH and _can_sign_in(portal):
        return None
    reason = f"{portal.url} refuses every request alike ({refusal(guarded)}). {_advice(portal, guarded)}"
    # Either the answer says so, or none was sent to an ingress that refuses who has none.
    is_missing = not portal.profile.portal.access_code and guarded.status in WITHOUT_CODE
    return IngressRefusal(reason, is_access_code=guarded.code == MISMATCH or is_missing)


def unusable_profile(refused: IngressRefusal | None, left_behind: Sequence[str]) -> str:
    """What of the profile ended a run; empty where nothing did. What is not restored is graver."""
    return refused.reason if refused is not None and refused.is_access_code and not left_behind else ""


def _advice(portal: Portal, answer: Exchange) -> str:
    path = urlsplit(portal.url).path.strip("/")
    if path and answer.status == 404:
        return WRONG_PATH.format(path=path)
    if portal.profile.portal.access_code:
        return WRONG_CODE
    return NO_CODE if portal.profile.source == NO_PROFILE else EMPTY_CODE


def _can_sign_in(portal: Portal) -> bool:
    """Whether an account gets in, where the answers alone leave it open. A few are tried: sign-ins are
    limited, and the next window would be waited for."""
    for name in islice(portal.profile.accounts, ACCOUNTS_TRIED):
        try:
            portal.account(name).signed_in()
        except Untestable:
            continue
        return True
    return False
