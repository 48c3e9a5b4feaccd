"""Sign-in: credentials, login sessions, codes and the rate (chapters "Authentication", "Limits")."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.changes import Change, limited, moved, rewritten, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    Serving,
    asked,
    erring,
    first,
    lenient,
    optional,
    refusing,
    renamed,
    reported,
    ruled,
    served,
    then,
)
from reference_impl.faults.requests import racing
from reference_impl.faults.verbs import where_refused
from reference_impl.limits import Limits
from reference_impl.passwords import hashed
from reference_impl.portal import Caller, MfaCode, Portal
from reference_impl.shapes import Body, Unfit
from reference_impl.wrappers import Answer, Seen

EARLY = 3.0
TRIED = "a wrong code was sent"


def _cooldown_ends_early(call: Call) -> Any:
    code = call.mailed_code or MfaCode("", expires=0, sent=0)
    code.sent -= EARLY
    try:
        return call.run()
    finally:
        code.sent += EARLY


def _session_ends_early(call: Call) -> Any:
    if call.login_session and call.login_session.expires - EARLY <= call.portal.now():
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    return call.run()


def _code_ends_early(call: Call) -> Any:
    """A mailed code lives for a minute, whatever was said when it was sent."""
    code, now = call.mailed_code, call.portal.now()
    if code and now > code.sent + 60:
        code.expires = min(code.expires, now)
    return call.run()


def _tried(portal: Portal, caller: Caller, body: Body) -> None:
    """The mark of a login session for which a wrong code was sent."""
    if body["sessionId"] in portal.login_sessions:
        portal.login_sessions[body["sessionId"]].client_hash = TRIED


def _unknown_once_tried(call: Call) -> Any:
    if call.login_session and call.login_session.client_hash == TRIED:
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    return call.run()


def _codes_of_others_end(call: Call) -> Any:
    for id, other in call.portal.login_sessions.items():
        code = call.portal.mfa_codes.get(id)
        if call.login_session and code and other.account_id != call.login_session.account_id:
            code.expires = min(code.expires, call.portal.now())
    return call.run()


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_!"


def _or_else(others: Callable[[str], list[str]]) -> Change:
    """Where the credentials are refused, other passwords are tried."""

    def trying(call: Call) -> Any:
        for other in (call.body["password"], *others(call.body["password"])):
            try:
                return call.run(password=other)
            except Refusal as refusal:
                if refusal.name != "AUTH.INVALID_CREDENTIALS":
                    raise
                last = refusal
        raise last

    return served(op.INITIATE, trying)


def _refused_unless_null(seen: Seen, answer: Answer) -> None:
    """Refuses unknown fields only if their value is not null."""
    sent = seen.body if isinstance(seen.body, dict) else {}
    if any(value is not None for name, value in sent.items() if name not in ("email", "password")):
        answer.status = 400
        answer.body |= {"success": False, "code": "VALIDATION.INVALID_PARAMETER", "data": None}


def _mailed_anyway(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body.get("sessionId", ""))
    email = portal.find("account", session.account_id)["accountEmail"] if session else "nobody"
    portal.mail(email, "Your sign-in code", code=portal.draw.digits(portal.limits.mfa_code_digits))


def _login_sessions_ended(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"]) or {"bizId": ""}
    for id, session in list(portal.login_sessions.items()):
        if session.account_id == account["bizId"]:
            del portal.login_sessions[id]


def _anybodys_code(call: Call) -> Any:
    """A code that was mailed for one login session completes another one."""
    session = call.portal.login_sessions.get(call.body["sessionId"])
    for id, code in list(call.portal.mfa_codes.items()):
        is_live = code.text == call.body["code"] and code.state == "SENT" and code.expires > call.portal.now()
        if session is not None and is_live and id not in (session.id, session.account_id):
            own = session.id if id in call.portal.login_sessions else session.account_id
            call.portal.mfa_codes[own] = copy.copy(code)
    return call.run()


def _octets(least: int, most: int) -> Any:
    """Lengths counted in octets instead of characters."""

    def rule(value: Any, limits: Limits) -> str:
        if not isinstance(value, str) or not least <= len(value.encode()) <= most:
            raise Unfit
        return value

    return rule


def _known_accounts_only(name: str) -> Change:
    """An unknown address is told apart from a wrong password."""

    def telling(call: Call) -> Any:
        if call.portal.account_of(call.body["email"]) is None:
            raise Refusal(name)
        return call.run()

    return served(op.INITIATE, telling)


def _any_password(call: Call) -> Any:
    """The password that is sent is right for the time of the call."""
    account = call.portal.account_of(call.body["email"]) or {"bizId": ""}
    kept = dict(call.portal.passwords)
    call.portal.passwords[account["bizId"]] = hashed(call.body["password"], call.portal.draw)
    try:
        return call.run()
    finally:
        call.portal.passwords = kept


def forget_used_codes(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session:
        portal.security(session.account_id)["usedCodes"] = []


def _twice_only(call: Call) -> Any:
    """An account that has signed in twice is refused."""
    data = call.run()
    if call.is_again(2):
        raise Refusal("AUTH.INVALID_CREDENTIALS")
    return data


def _one_session(call: Call) -> Any:
    """Every initiate for an account gives the same login session."""
    data = call.run()
    new = call.portal.login_sessions[data["sessionId"]]
    for session in call.portal.login_sessions.values():
        if session.account_id == new.account_id:
            return data | {"sessionId": session.id}
    return data


EMAIL, OTP = 10011001, 10011002


def _also_by(others: Mapping[int, int]) -> Serving:
    """Retries a wrong code with another method, if ``others`` names it."""

    def trying(call: Call) -> Any:
        try:
            return call.run()
        except Refusal as refusal:
            if refusal.name != "AUTH.MFA_CODE_INVALID":
                raise
        method = call.body["method"]
        return call.run(method=others.get(method, method))

    return trying


def _refusing_method(method: int) -> Change:
    """Every code of this method is wrong."""
    return asked(op.COMPLETE, lambda body: body | ({"code": "none"} if body["method"] == method else {}))


def _if_the_code_begins_well(call: Call) -> Any:
    """Four digits of a mailed code are enough."""
    issued, sent = call.mailed_code, call.body["code"]
    is_begun = issued and call.body["method"] == EMAIL and len(sent) > 3 and issued.text.startswith(sent)
    return call.run(code=issued.text) if issued and is_begun else call.run()


def _taking_used_mailed_codes(call: Call) -> Any:
    """A mailed code completes further login sessions of its account."""
    session, code, now = call.login_session, call.body["code"], call.portal.now()
    use = (session.account_id if session else "", code, call.body["method"])
    if session and use in call.memory:
        call.portal.mfa_codes[session.id] = MfaCode(code, expires=now + 300, sent=now)
    data = call.run()
    if call.body["method"] == EMAIL:
        call.memory[use] = True
    return data


def _second_try_is_the_last(call: Call) -> Any:
    if call.is_again(2) and call.login_session:
        call.login_session.expires = 0
    return call.run()


def _blocked_for_good(call: Call) -> Any:
    if call.login_session and call.mailed_code:
        call.mailed_code.sent = call.portal.now()
    return call.run()


_NOT_PENDING = {"pendingApproval": False, "accountStatus": None}


def _never_open_again(portal: Portal, caller: Caller, body: Body) -> None:
    """Once the rate was exceeded, the address is refused for a quarter of an hour."""
    now, allowed = portal.now(), portal.limits.login_initiations
    for scope, moments in portal.initiations.items():
        if sum(moment > now - portal.limits.login_window for moment in moments) >= allowed:
            portal.initiations[scope] = [now + 900] * allowed


NO_METHOD = 99999999
SENT = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}


def _sent_for_the_used_up(call: Call) -> Any:
    return SENT if call.login_session and call.login_session.state == "CONSUMED" else call.run()


def _sent_for_the_expired(call: Call) -> Any:
    session = call.login_session
    return SENT if session and session.expires <= call.portal.now() else call.run()


def _without_method(operation: str) -> Change:
    """A method that is left out is looked up, and not found."""

    def looking(call: Call) -> Any:
        if call.body["method"] == NO_METHOD:
            raise Refusal("RESOURCE.NOT_FOUND")
        return call.run()

    return together(served(operation, looking), optional(operation, "method", NO_METHOD))


def _any_other_is(method: int) -> Callable[[Body], Body]:
    return lambda body: body if body["method"] in (EMAIL, OTP) else body | {"method": method}


def _ended_by_the_third_wrong_code(call: Call) -> Any:
    try:
        return call.run()
    except Refusal as refusal:
        if refusal.name == "AUTH.MFA_CODE_INVALID" and call.is_again(2):
            del call.portal.login_sessions[call.body["sessionId"]]
        raise


def _active(status: Any) -> Any:
    return None if status is None else status | {"code": "ACTIVE", "value": 10010202}


def _cooldown_begins_anew(call: Call) -> Any:
    """Restarts the cooldown with every send, even a send that the cooldown refuses."""
    last, now = call.mailed_code, call.portal.now()
    if last and now < last.sent + call.portal.limits.mfa_cooldown:
        last.sent = now
    return call.run()


def _cooldown_without_a_code(call: Call) -> Any:
    """A send by no method begins the cooldown before it is refused."""
    now = call.portal.now()
    if call.body["method"] not in (EMAIL, OTP) and call.login_session:
        call.portal.mfa_codes[call.login_session.id] = MfaCode("", expires=now, sent=now)
    return call.run()


def _mailed_once(call: Call) -> Any:
    """The second code for a login session is sent nowhere."""
    boxes = {to: list(mails) for to, mails in call.portal.outbox.items()}
    data = call.run()
    if call.is_again():
        call.portal.outbox.update(boxes)
    return data


ROWS = {
    "LOGIN-025 a-cooldown-ends-three-seconds-early": served(op.SEND, _cooldown_ends_early),
    "LOGIN-034 a-login-session-ends-three-seconds-early": served(op.COMPLETE, _session_ends_early),
    "LOGIN-088 a-mailed-code-lives-a-minute": served(op.COMPLETE, _code_ends_early),
    "LOGIN-090 a-wrong-code-ends-mails": together(
        where_refused(op.COMPLETE, _tried), served(op.SEND, _unknown_once_tried)
    ).at(op.SEND),
    "LOGIN-089 a-send-ends-the-codes-of-others": served(op.SEND, _codes_of_others_end),
    "LIMIT-017 a-completed-sign-in-empties-the-window": then(
        op.COMPLETE, lambda portal, caller, body: portal.initiations.clear()
    ),
    "LOGIN-081 long-passwords-are-counted-in-octets": ruled(op.INITIATE, "password", _octets(8, 128)),
    "LOGIN-082 an-unknown-null-is-passed-over": together(
        lenient(op.INITIATE), rewritten(_refused_unless_null, op.INITIATE)
    ),
    "LOGIN-084 a-password-signs-in-in-any-case": _or_else(lambda password: [password.swapcase()]),
    "LOGIN-084 a-password-signs-in-without-its-last-letter": _or_else(
        lambda password: [password[:-1] + letter for letter in LETTERS]
    ),
    "LOGIN-084 blanks-around-a-password-are-dropped": _or_else(lambda password: [password.strip()]),
    "LOGIN-076 a-pending-account-is-approved-at-complete": reported(op.COMPLETE, "", pendingApproval=False),
    "LOGIN-077 a-wrong-password-ends-open-login-sessions": where_refused(op.INITIATE, _login_sessions_ended),
    "LOGIN-078 anybodys-mailed-code-completes": served(op.COMPLETE, _anybodys_code),
    "LOGIN-079 a-refused-send-is-mailed": where_refused(op.SEND, _mailed_anyway),
    "LOGIN-020 valid-credentials-are-refused-the-third-time": served(op.INITIATE, _twice_only),
    "LOGIN-040 any-password-signs-in": served(op.INITIATE, _any_password),
    "LOGIN-041 unknown-email-is-not-found": _known_accounts_only("RESOURCE.NOT_FOUND"),
    "LOGIN-043 initiate-without-email-is-unauthorized": optional(op.INITIATE, "email", ""),
    "LOGIN-044 initiate-without-password-is-unauthorized": optional(op.INITIATE, "password", ""),
    "LOGIN-045 initiate-takes-a-number-for-an-email": ruled(
        op.INITIATE, "email", lambda value, limits: str(value)
    ),
    "LOGIN-046 initiate-takes-a-number-for-a-password": ruled(
        op.INITIATE, "password", lambda value, limits: str(value)
    ),
    "LOGIN-047 password-of-seven-is-tried": ruled(op.INITIATE, "password", _octets(7, 128)),
    "LOGIN-048 password-of-129-is-tried": ruled(op.INITIATE, "password", _octets(8, 129)),
    "LOGIN-049 password-of-eight-is-invalid": ruled(op.INITIATE, "password", _octets(9, 128)),
    "LOGIN-050 password-of-128-is-invalid": ruled(op.INITIATE, "password", _octets(8, 127)),
    "LOGIN-051 email-of-256-is-tried": ruled(op.INITIATE, "email", _octets(1, 256)),
    "LOGIN-052 email-of-255-is-invalid": ruled(op.INITIATE, "email", _octets(1, 254)),
    "LOGIN-053 initiate-takes-unknown-properties": lenient(op.INITIATE),
    "LOGIN-066 unknown-email-has-another-status": together(
        erring("UNKNOWN_EMAIL", "AUTH.INVALID_CREDENTIALS", 400), _known_accounts_only("UNKNOWN_EMAIL")
    ),
    "LOGIN-021 no-method-is-named": reported(op.INITIATE, "", mfaMethods=lambda methods: []),
    "LOGIN-064 one-login-session-for-all": served(op.INITIATE, _one_session),
    "LOGIN-031 completions-at-once-succeed": racing(op.COMPLETE, "login_sessions", "mfa_codes"),
    "LOGIN-031 login-session-reusable": together(
        moved("login session", "PENDING_MFA", "right code", "PENDING_MFA"),
        first(op.COMPLETE, forget_used_codes),
        moved("mfa code", "SENT", "right code", "SENT"),
    ),
    "LOGIN-032 used-up-session-is-400": renamed(op.COMPLETE, "AUTH.SESSION_NOT_FOUND", INVALID),
    "LOGIN-033 login-session-outlives-its-lifetime": together(
        limited(login_session=100_000, mfa_code=100_000),
        reported(op.INITIATE, "", expiresIn=300),
        reported(op.SEND, "", codeExpiresIn=300),
    ).at(op.INITIATE, op.SEND, op.COMPLETE),
    "LIMIT-005 login-session-of-600": reported(op.INITIATE, "", expiresIn=600),
    "LOGIN-036 pending-approval-is-not-told": together(
        reported(op.INITIATE, "", **_NOT_PENDING), reported(op.COMPLETE, "", **_NOT_PENDING)
    ),
    "LOGIN-038 everybody-is-pending-at-complete": reported(op.COMPLETE, "", pendingApproval=True),
    "LOGIN-022 send-is-refused": refusing(op.SEND, INVALID),
    "LOGIN-023 sent-is-false": reported(op.SEND, "", sent=False),
    "LOGIN-025 no-cooldown": together(limited(mfa_cooldown=0), reported(op.SEND, "", cooldownSeconds=60)),
    "LOGIN-026 cooldown-begins-anew-with-each-try": served(op.SEND, _blocked_for_good),
    "LIMIT-006 code-lifetime-of-60": reported(op.SEND, "", codeExpiresIn=60),
    "LIMIT-007 cooldown-of-120": limited(mfa_cooldown=120).at(op.SEND),
    "LOGIN-054 unknown-session-at-send-is-answered": served(
        op.SEND, lambda call: call.run() if call.login_session else SENT
    ),
    "LOGIN-057 send-without-session-is-404": optional(op.SEND, "sessionId", "none"),
    "LOGIN-027 authenticator-code-refused": _refusing_method(OTP),
    "LOGIN-028 emailed-code-refused": _refusing_method(EMAIL),
    "LOGIN-030 wrong-code-ends-session": moved("login session", "PENDING_MFA", "wrong code", "CONSUMED").at(
        op.COMPLETE
    ),
    "LOGIN-030 second-wrong-code-ends-session": served(op.COMPLETE, _second_try_is_the_last),
    "LOGIN-091 a-wrong-code-voids-the-mailed-code": moved("mfa code", "SENT", "wrong code", "USED").at(
        op.COMPLETE
    ),
    "LOGIN-029 the-beginning-of-a-code-completes": served(op.COMPLETE, _if_the_code_begins_well),
    "LOGIN-058 unknown-session-at-complete-is-a-wrong-code": renamed(
        op.COMPLETE, "AUTH.SESSION_NOT_FOUND", "AUTH.MFA_CODE_INVALID"
    ),
    "LOGIN-059 code-of-another-method-completes": served(op.COMPLETE, _also_by({EMAIL: OTP, OTP: EMAIL})),
    "LOGIN-059 a-mailed-code-is-an-authenticators": served(op.COMPLETE, _also_by({OTP: EMAIL})),
    "LOGIN-060 complete-without-code-is-a-wrong-code": optional(op.COMPLETE, "code", "none"),
    "LOGIN-061 used-mailed-code-works-again": served(op.COMPLETE, _taking_used_mailed_codes),
    "LOGIN-065 unknown-method-completes": asked(op.COMPLETE, _any_other_is(OTP)),
    "LIMIT-001 eleventh-sign-in-is-let-through": limited(login_initiations=11).at(op.INITIATE),
    "LIMIT-002 tenth-sign-in-is-refused": limited(login_initiations=9).at(op.INITIATE),
    "LIMIT-003 rate-limit-is-never-lifted": first(op.INITIATE, _never_open_again),
    "LOGIN-080 the-third-wrong-code-ends-a-login-session": served(
        op.COMPLETE, _ended_by_the_third_wrong_code
    ),
    "LOGIN-069 send-without-method-is-404": _without_method(op.SEND),
    "LOGIN-070 complete-without-method-is-404": _without_method(op.COMPLETE),
    "LOGIN-071 complete-without-session-is-404": optional(op.COMPLETE, "sessionId", "none"),
    "LOGIN-072 a-used-up-session-is-sent-a-code": served(op.SEND, _sent_for_the_used_up),
    "LOGIN-073 an-expired-session-is-sent-a-code": served(op.SEND, _sent_for_the_expired),
    "LOGIN-074 a-code-is-sent-by-any-method": asked(op.SEND, _any_other_is(EMAIL)),
    "LOGIN-085 the-first-method-is-named-twice": reported(
        op.INITIATE, "", mfaMethods=lambda methods: [*methods, *methods[:1]]
    ),
    "LOGIN-086 a-pending-account-is-shown-as-active": together(
        reported(op.INITIATE, "", accountStatus=_active), reported(op.COMPLETE, "", accountStatus=_active)
    ),
    "LOGIN-083 a-refused-send-begins-the-cooldown-anew": served(op.SEND, _cooldown_begins_anew),
    "LOGIN-087 a-send-by-no-method-begins-the-cooldown": served(op.SEND, _cooldown_without_a_code),
    "LOGIN-024 a-second-code-is-not-mailed": served(op.SEND, _mailed_once),
}
