"""Request headers and languages (chapter "Common request headers")."""

from collections.abc import Callable

from starlette.types import Scope

from reference_impl import wire
from reference_impl.changes import Change, rewritten, wrapped
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import first
from reference_impl.faults.requests import Names, adding, names, other_door, session_of
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, BeforeEach, Reply, Seen

LANGUAGES = ("en", "zh", "zh-Hant", "ja", "vi")
ACCESS_CODE = "x-portal-access-code"
REFUSED = wire.encoded({"success": False, "code": "HEADER.REFUSED", "message": "Not accepted.", "data": None})
JSON = [(b"content-type", b"application/json"), (b"content-length", str(len(REFUSED)).encode())]


def _turned_away(status: int, test: Callable[[Names], bool], *operations: str) -> Change:
    """Turns requests away by their headers, where a test says so."""

    def act(scope: Scope, portal: Portal) -> Reply | None:
        return (status, JSON, REFUSED) if test(names(scope)) else None

    return wrapped(lambda app: BeforeEach(app, act), *operations)


def _ingress_open(scope: Scope, names: Names) -> Names:
    return {ACCESS_CODE: scope["app"].state.portal.access_code} | names


def _any_code_lets_in(scope: Scope, names: Names) -> Names:
    """Accepts any value of the access code header."""
    right = scope["app"].state.portal.access_code
    return names | ({ACCESS_CODE: right} if ACCESS_CODE in names else {})


def _other_portals_code_lets_in(scope: Scope, names: Names) -> Names:
    """Which portal an access code is of is not looked at."""
    portal: Portal = scope["app"].state.portal
    is_other = names.get(ACCESS_CODE) == portal.other_access_code
    return names | ({ACCESS_CODE: portal.access_code} if is_other else {})


def _code_that_begins_well(scope: Scope, names: Names) -> Names:
    right = scope["app"].state.portal.access_code
    return names | {ACCESS_CODE: right} if names.get(ACCESS_CODE, "").startswith(right[:8]) else names


def _language_is(*languages: str) -> Callable[[Names], bool]:
    return lambda names: names.get("accept-language", "") in languages


def _other_status_in_vietnamese(seen: Seen, answer: Answer) -> None:
    if seen.asked.headers.get("accept-language") == "vi" and answer.status == 401:
        answer.body["code"], answer.status = "ACCESS.PERMISSION_DENIED", 403


def _in_the_language_of_the_account(scope: Scope, names: Names) -> Names:
    portal: Portal = scope["app"].state.portal
    session = session_of(scope, names)
    if session is None or "accept-language" in names:
        return names
    return names | {"accept-language": portal.find("account", session.account_id)["defaultLanguage"]}


def _first_workspace_required(portal: Portal, caller: Caller, body: Body) -> None:
    if caller.workspace_id is None:
        raise Refusal(INVALID)


ROWS = {
    "HEADER-001 ingress-is-not-checked": adding(_ingress_open),
    "HEADER-001 a-sign-in-begins-without-access-code": adding(_ingress_open, op.INITIATE),
    "HEADER-001 a-pair-is-refreshed-without-access-code": adding(_ingress_open, op.REFRESH),
    "HEADER-001 a-channel-opens-without-access-code": adding(_ingress_open, op.SECURE_SESSION),
    "HEADER-002 any-access-code-lets-in": adding(_any_code_lets_in),
    "HEADER-002 another-portals-access-code-lets-in": adding(_other_portals_code_lets_in),
    **{f"HEADER-004 {name}-is-not-served": _turned_away(406, _language_is(name)) for name in LANGUAGES},
    "HEADER-004 no-workspace-in-japanese": _turned_away(406, _language_is("ja"), op.CURRENT_WORKSPACE),
    "HEADER-005 language-is-required": _turned_away(400, lambda names: "accept-language" not in names),
    "HEADER-020 without-a-language-it-is-japanese": adding(
        lambda scope, names: {"accept-language": "ja"} | names
    ),
    "HEADER-021 ja-is-answered-in-zh": adding(
        lambda scope, names: (
            names | ({"accept-language": "zh"} if names.get("accept-language") == "ja" else {})
        )
    ),
    "HEADER-022 an-access-code-need-only-begin-well": adding(_code_that_begins_well),
    "HEADER-025 two-slashes-lead-past-the-ingress": other_door(
        lambda scope, names: scope["path"].replace("//", "/") if "//" in scope["path"] else None,
        _ingress_open,
    ),
    "HEADER-001 HEADER-023 an-account-is-updated-without-access-code": adding(
        _ingress_open, op.ACCOUNT_UPDATE
    ),
    "HEADER-006 accept-is-required": _turned_away(406, lambda names: "accept" not in names),
    "HEADER-007 vietnamese-has-another-status": rewritten(_other_status_in_vietnamese),
    "HEADER-008 unlisted-language-is-refused": _turned_away(
        406, lambda names: names.get("accept-language", "en") not in (*LANGUAGES, "*")
    ),
    "HEADER-015 charset-is-refused": _turned_away(
        415, lambda names: "charset" in names.get("content-type", ""), op.ACCOUNTS_QUERY
    ),
    "HEADER-024 errors-in-the-language-of-the-account": adding(_in_the_language_of_the_account, op.ROLE),
    "HEADER-009 workspace-header-is-required": first(op.CURRENT_WORKSPACE, _first_workspace_required),
}
