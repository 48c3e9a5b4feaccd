"""Headers, languages and bodies that are none (chapters "Common request headers", "Errors")."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl import wire
from reference_impl.asked import read_body
from reference_impl.changes import Change, refused_with, rewritten, wrapped
from reference_impl.faults.fault import fault
from reference_impl.faults.operations import (
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    CHANGE,
    COMPLETE,
    CURRENT_WORKSPACE,
    DISABLE_WHITELIST,
    FILE,
    INITIATE,
    PROFILE_UPDATE,
    PUBLIC_KEY,
    REFRESH,
    ROLES,
    SECURE_CLOSE,
    SECURE_SESSION,
    SEND,
    SET_SESSION_CONFIG,
    TERMINATE,
)
from reference_impl.portal import Portal, Record, Session
from reference_impl.wrappers import Answer, Headers, Seen, collected, replayed

LANGUAGES = ("en", "zh", "zh-Hant", "ja", "vi")
Names = dict[str, str]
ACCESS_CODE = "x-portal-access-code"
SESSION_HEADER = "x-secure-channel-session-id"


@dataclass
class Turning:
    """Turns requests away by their headers, where a test says so."""

    app: ASGIApp
    test: Callable[[Names], bool]
    status: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.test(_names(scope)):
            await self.app(scope, receive, send)
            return
        body = {
            "success": False,
            "code": "HEADER.REFUSED",
            "message": "A header is not accepted.",
            "data": None,
        }
        await _answer(send, self.status, wire.encoded(body))


@dataclass
class Adding:
    """Requests reach the portal with other headers than were sent."""

    app: ASGIApp
    change: Callable[[Scope, Names], Names]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changed = self.change(scope, _names(scope))
        headers = [(name.encode(), value.encode("latin-1")) for name, value in changed.items()]
        await self.app({**scope, "headers": headers}, receive, send)


@dataclass
class Bodies:
    """Requests reach the portal with another body; None is a server error."""

    app: ASGIApp
    change: Callable[[bytes], bytes | None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        octets = self.change(await read_body(receive, 1 << 20) or b"")
        if octets is None:
            body = {"success": False, "code": "INTERNAL", "message": "Something went wrong.", "data": None}
            await _answer(send, 500, wire.encoded(body))
            return

        async def changed() -> Message:
            return {"type": "http.request", "body": octets, "more_body": False}

        await self.app(scope, changed, send)


def _names(scope: Scope) -> Names:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


async def _answer(send: Send, status: int, body: bytes) -> None:
    headers: Headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _turned_away(status: int, test: Callable[[Names], bool], *operations: str) -> Change:
    return wrapped(lambda app: Turning(app, test, status), *operations)


def adding(change: Callable[[Scope, Names], Names], *operations: str) -> Change:
    return wrapped(lambda app: Adding(app, change), *operations)


def _bodies(operation: str, change: Callable[[bytes], bytes | None]) -> Change:
    return wrapped(lambda app: Bodies(app, change), operation)


def _any_scheme(scope: Scope, names: Names) -> Names:
    scheme, _, token = names.get("authorization", "").partition(" ")
    return names | ({"authorization": f"Bearer {token}"} if scheme and token.count(".") == 2 else {})


def _access_code(scope: Scope) -> str:
    return str(scope["app"].state.portal.access_code)


def _ingress_open(scope: Scope, names: Names) -> Names:
    return {"x-portal-access-code": _access_code(scope)} | names


def _any_code_lets_in(scope: Scope, names: Names) -> Names:
    """Only whether the header is there is looked at."""
    sent = "x-portal-access-code" in names
    return names | ({"x-portal-access-code": _access_code(scope)} if sent else {})


def _other_portals_code_lets_in(scope: Scope, names: Names) -> Names:
    """Which portal an access code is of is not looked at."""
    portal: Portal = scope["app"].state.portal
    is_other = names.get(ACCESS_CODE) == portal.other_access_code
    return names | ({ACCESS_CODE: portal.access_code} if is_other else {})


def _api_key_signs_in(scope: Scope, names: Names) -> Names:
    """Whoever sends an API key is taken for somebody who may read files."""
    if not any("api-key" in name or value.startswith("ApiKey ") for name, value in names.items()):
        return names
    return _signed_in_to_read(scope, names)


def _issued_api_key_signs_in(scope: Scope, names: Names) -> Names:
    """So is whoever sends one that the portal has issued."""
    key = scope["app"].state.portal.api_key
    return _signed_in_to_read(scope, names) if names.get("x-api-key") == key else names


def _signed_in_to_read(scope: Scope, names: Names) -> Names:
    portal: Portal = scope["app"].state.portal
    able = [s for s in portal.sessions.values() if "file:read" in portal.permissions(_account(portal, s))]
    return names | ({"authorization": _bearer(portal, able[0])} if able else {})


def _account(portal: Portal, session: Session) -> Record:
    return portal.find("account", session.account_id)


def _bearer(portal: Portal, session: Session) -> str:
    return f"Bearer {portal.tokens.issue({'sid': session.id, 'exp': portal.now() + 60})}"


def _any_token_signs_in(scope: Scope, names: Names) -> Names:
    """A token is not looked at: whoever sends one is taken for the account that signed in last."""
    portal: Portal = scope["app"].state.portal
    session = next(reversed(portal.sessions.values()), None)
    if session is None or not names.get("authorization", "").startswith("Bearer "):
        return names
    return names | {"authorization": _bearer(portal, session)}


@dataclass
class AnyChannel:
    """A body is tried with every secure-channel session, where the one named is known, or where it is not."""

    app: ASGIApp
    known: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sessions = scope["app"].state.portal.secure_sessions
        named = _names(scope).get(SESSION_HEADER, "")
        if (named in sessions) != self.known:
            await self.app(scope, receive, send)
            return
        octets, sent = await read_body(receive, 1 << 20) or b"", _names(scope)
        for id in (named, *sessions):
            tried = sent | {SESSION_HEADER: id}
            headers = [(name.encode(), value.encode("latin-1")) for name, value in tried.items()]
            start, body = await collected(self.app, {**scope, "headers": headers}, replayed(octets))
            if start["status"] != 400:
                break
        await send(start)
        await send({"type": "http.response.body", "body": body})


def _spoken_as(asked: str, given: str) -> Callable[[Scope, Names], Names]:
    """Who asks for one language is answered in another."""

    def change(scope: Scope, names: Names) -> Names:
        return names | {"accept-language": given} if names.get("accept-language") == asked else names

    return change


def _code_in_any_case(scope: Scope, names: Names) -> Names:
    right = scope["app"].state.portal.access_code
    is_right = names.get(ACCESS_CODE, "").casefold() == right.casefold()
    return names | {ACCESS_CODE: right} if is_right else names


def _code_that_begins_well(scope: Scope, names: Names) -> Names:
    right = scope["app"].state.portal.access_code
    return names | {ACCESS_CODE: right} if names.get(ACCESS_CODE, "").startswith(right[:8]) else names


def _token_of_a_cookie(scope: Scope, names: Names) -> Names:
    """Who sends no token in its header is known by a cookie."""
    cookies = dict(each.strip().partition("=")[::2] for each in names.get("cookie", "").split(";"))
    token = cookies.get("access_token")
    return {"authorization": f"Bearer {token}"} | names if token else names


def _language_is(*languages: str) -> Callable[[Names], bool]:
    return lambda names: names.get("accept-language", "") in languages


def _other_codes_in_chinese(seen: Seen, answer: Answer) -> None:
    if seen.asked.headers.get("accept-language", "").startswith("zh") and answer.status == 404:
        answer.body["code"] = "RESOURCE.UNKNOWN"


def _other_status_in_vietnamese(seen: Seen, answer: Answer) -> None:
    if seen.asked.headers.get("accept-language") == "vi" and answer.status == 401:
        answer.body["code"], answer.status = "ACCESS.PERMISSION_DENIED", 403


def _is_json(octets: bytes) -> bool:
    try:
        wire.decoded(octets or b"{}")
    except wire.Malformed:
        return False
    return True


def _broken_is_an_error(octets: bytes) -> bytes | None:
    return octets if _is_json(octets) else None


def _list_is_empty(octets: bytes) -> bytes:
    """JSON that is no object is taken for an empty one."""
    return b"{}" if _is_json(octets) and not octets.lstrip().startswith(b"{") else octets


def _message_of_ga2031(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] == "GA2031":
        answer.body["message"] = "No workspace is chosen."


UNGUARDED = {
    "a-sign-in-begins": INITIATE,
    "a-code-is-sent": SEND,
    "a-sign-in-ends": COMPLETE,
    "a-pair-is-refreshed": REFRESH,
    "a-channel-opens": SECURE_SESSION,
    "a-channel-closes": SECURE_CLOSE,
    "sessions-are-limited": SET_SESSION_CONFIG,
    "a-whitelist-is-disabled": DISABLE_WHITELIST,
}

FAULTS = (
    fault("HEADER-001", "ingress-is-not-checked", adding(_ingress_open)),
    fault("HEADER-001", "public-key-without-access-code", adding(_ingress_open, PUBLIC_KEY)),
    *(
        fault("HEADER-001", f"{name}-without-access-code", adding(_ingress_open, key))
        for name, key in UNGUARDED.items()
    ),
    fault(
        "HEADER-002", "a-profile-is-updated-with-any-access-code", adding(_any_code_lets_in, PROFILE_UPDATE)
    ),
    fault("HEADER-002", "any-access-code-lets-in", adding(_any_code_lets_in)),
    fault("HEADER-002", "another-portals-access-code-lets-in", adding(_other_portals_code_lets_in)),
    fault("HEADER-002", "roles-with-any-access-code", adding(_any_code_lets_in, ROLES)),
    *(
        fault("HEADER-004", f"{name}-is-not-served", _turned_away(406, _language_is(name)))
        for name in LANGUAGES
    ),
    fault(
        "HEADER-005", "language-is-required", _turned_away(400, lambda names: "accept-language" not in names)
    ),
    fault(
        "HEADER-020",
        "without-a-language-it-is-japanese",
        adding(lambda scope, names: {"accept-language": "ja"} | names),
    ),
    fault("HEADER-021", "ja-is-answered-in-zh", adding(_spoken_as("ja", "zh"))),
    fault("HEADER-022", "an-access-code-is-taken-in-any-case", adding(_code_in_any_case)),
    fault("HEADER-022", "an-access-code-need-only-begin-well", adding(_code_that_begins_well)),
    fault("HEADER-023", "sessions-are-terminated-without-access-code", adding(_ingress_open, TERMINATE)),
    fault("HEADER-023", "an-account-is-updated-without-access-code", adding(_ingress_open, ACCOUNT_UPDATE)),
    fault("AUTHN-022", "a-token-in-a-cookie-signs-in", adding(_token_of_a_cookie)),
    fault("HEADER-006", "accept-is-required", _turned_away(406, lambda names: "accept" not in names)),
    fault("HEADER-007", "chinese-has-other-codes", rewritten(_other_codes_in_chinese)),
    fault("HEADER-007", "vietnamese-has-another-status", rewritten(_other_status_in_vietnamese)),
    fault(
        "HEADER-008",
        "unlisted-language-is-refused",
        _turned_away(406, lambda names: names.get("accept-language", "en") not in (*LANGUAGES, "*")),
    ),
    fault(
        "HEADER-015",
        "charset-is-refused",
        _turned_away(415, lambda names: "charset" in names.get("content-type", ""), ACCOUNTS_QUERY),
    ),
    fault("AUTHN-020", "a-token-under-any-scheme", adding(_any_scheme)),
    fault("AUTHN-013", "accounts-query-takes-any-token", adding(_any_token_signs_in, ACCOUNTS_QUERY)),
    fault(
        "PASSWORD-015",
        "unknown-secure-session-opens-a-body",
        wrapped(lambda app: AnyChannel(app, known=False), CHANGE),
    ),
    fault(
        "SECURE-025",
        "any-secure-session-opens-a-body",
        wrapped(lambda app: AnyChannel(app, known=True), CHANGE),
    ),
    fault("FILE-022", "api-key-opens-the-file", adding(_api_key_signs_in, FILE)),
    fault("FILE-022", "issued-api-key-opens-the-file", adding(_issued_api_key_signs_in, FILE)),
    fault("ERROR-007", "no-workspace-is-404", refused_with("GA2031", status=404), CURRENT_WORKSPACE),
    fault("ERROR-012", "ga2031-says-more-than-its-code", rewritten(_message_of_ga2031, CURRENT_WORKSPACE)),
    fault(
        "ERROR-015", "broken-json-is-a-server-error", _bodies(INITIATE, _broken_is_an_error), also="ENV-018"
    ),
    fault("ERROR-016", "list-for-an-object-is-taken", _bodies(ACCOUNTS_QUERY, _list_is_empty)),
)
