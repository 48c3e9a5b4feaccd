"""Sign-in: credentials, login sessions, codes and the rate (chapters "Authentication", "Limits")."""

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.changes import (
    Change,
    data_rewritten,
    handled,
    limited,
    moved,
    refused_with,
    rewritten,
    together,
)
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    Serving,
    asked,
    erring,
    first,
    lenient,
    on_success,
    optional,
    refusing,
    renamed,
    reported,
    ruled,
    served,
    then,
)
from reference_impl.faults.verbs import where_refused
from reference_impl.limits import Limits
from reference_impl.passwords import hashed
from reference_impl.plan import Plan
from reference_impl.portal import Caller, MfaCode, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Unfit
from reference_impl.wrappers import Answer, Seen

EARLY = 3.0


def _cooldown_ends_early(call: Call) -> Any:
    last = call.portal.mfa_codes.get(call.body["sessionId"])
    if last is None:
        return call.run()
    last.sent -= EARLY
    try:
        return call.run()
    finally:
        last.sent += EARLY


def _session_ends_early(call: Call) -> Any:
    session = call.portal.login_sessions.get(call.body["sessionId"])
    if session is not None and session.expires - EARLY <= call.portal.now():
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    return call.run()


def _code_ends_early(portal: Portal, caller: Caller, body: Body) -> None:
    """A mailed code lives for a minute, whatever was said when it was sent."""
    code = portal.mfa_codes.get(body["sessionId"])
    if code is not None and portal.now() > code.sent + 60:
        code.expires = min(code.expires, portal.now())


def _unknown_to_send(plan: Plan) -> None:
    """A login session for which a wrong code was sent is unknown where another is to be mailed."""
    tried: set[str] = set()

    def completing(handler: Handler) -> Handler:
        def trying(portal: Portal, caller: Caller, body: Body) -> Any:
            try:
                return handler(portal, caller, body)
            except Refusal:
                tried.add(body["sessionId"])
                raise

        return trying

    def sending(portal: Portal, caller: Caller, body: Body) -> None:
        if body["sessionId"] in tried:
            raise Refusal("AUTH.SESSION_NOT_FOUND")

    together(handled(op.COMPLETE, completing), first(op.SEND, sending))(plan)


def _codes_of_others_end(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    for id, code in portal.mfa_codes.items():
        other = portal.login_sessions.get(id)
        if session is not None and other is not None and other.account_id != session.account_id:
            code.expires = min(code.expires, portal.now())


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_!"


def or_else(operation: str, code: str, others: Callable[[Body], list[Body]]) -> Change:
    """Where the handler refuses by a name of the table of errors, it is asked again with other bodies."""

    def trying(call: Call) -> Any:
        for other in (call.body, *others(call.body)):
            try:
                return call.run_with(other)
            except Refusal as refusal:
                if refusal.name != code:
                    raise
                last = refusal
        raise last

    return served(operation, trying)


def _by_its_octets(value: Any, limits: Limits) -> Any:
    if not isinstance(value, str) or not limits.password_min <= len(value.encode()) <= limits.password_max:
        raise Unfit
    return value


def _refused_unless_null(seen: Seen, answer: Answer) -> None:
    """Of what is unknown only that counts which is not null."""
    sent = seen.body if isinstance(seen.body, dict) else {}
    if any(value is not None for name, value in sent.items() if name not in ("email", "password")):
        answer.status = 400
        answer.body |= {"success": False, "code": "VALIDATION.INVALID_PARAMETER", "data": None}


def _cooldown_of_the_first(call: Call) -> Any:
    """A second code is sent after the cooldown, and a third at once."""
    last = call.portal.mfa_codes.get(call.body["sessionId"])
    data = call.run()
    if last is not None:
        call.portal.mfa_codes[call.body["sessionId"]].sent = last.sent
    return data


def _mailed_anyway(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body.get("sessionId", ""))
    if session is not None:
        email = portal.find("account", session.account_id)["accountEmail"]
        portal.mail(email, "Your sign-in code", code=portal.draw.digits(portal.limits.mfa_code_digits))


def _login_sessions_ended(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    for id, session in list(portal.login_sessions.items()):
        if account is not None and session.account_id == account["bizId"]:
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


def _text_of(value: Any, limits: Limits) -> str:
    """Whatever was sent, as text."""
    return str(value)


def _octets(least: int, most: int) -> Any:
    """Lengths counted in octets instead of characters."""

    def rule(value: Any, limits: Limits) -> str:
        if not isinstance(value, str) or not least <= len(value.encode()) <= most:
            raise Unfit
        return value

    return rule


def _known_accounts_only(name: str) -> Serving:
    """An unknown address is told apart from a wrong password."""

    def telling(call: Call) -> Any:
        if call.portal.account_of(call.body["email"]) is None:
            raise Refusal(name)
        return call.run()

    return telling


def _any_password(call: Call) -> Any:
    """The password that is sent is right for the time of the call."""
    account = call.portal.account_of(call.body["email"])
    if account is None:
        return call.run()
    kept = call.portal.passwords[account["bizId"]]
    call.portal.passwords[account["bizId"]] = hashed(call.body["password"], call.portal.draw)
    try:
        return call.run()
    finally:
        call.portal.passwords[account["bizId"]] = kept


def forget_used_codes(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session:
        portal.security(session.account_id)["usedCodes"] = []


def _twice_only(handler: Handler) -> Handler:
    """An account that has signed in twice is refused."""
    begun: Counter[str] = Counter()

    def initiating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        begun[body["email"]] += 1
        if begun[body["email"]] > 2:
            raise Refusal("AUTH.INVALID_CREDENTIALS")
        return data

    return initiating


def _one_session(call: Call) -> Any:
    """Every initiate for an account gives the same login session."""
    data = call.run()
    new = call.portal.login_sessions[data["sessionId"]]
    for session in call.portal.login_sessions.values():
        if session.account_id == new.account_id:
            return data | {"sessionId": session.id}
    return data


def _unmailed(call: Call) -> Any:
    """The code is made and told as sent, and no mail leaves."""
    outbox = {to: list(mails) for to, mails in call.portal.outbox.items()}
    data = call.run()
    call.portal.outbox.clear()
    call.portal.outbox.update(outbox)
    return data


EMAIL, OTP = 10011001, 10011002


def _also_by(others: Mapping[int, int]) -> Serving:
    """A code that is wrong for a method is tried by the other one of that method, if it has one."""

    def trying(call: Call) -> Any:
        try:
            return call.run()
        except Refusal as refusal:
            if refusal.name != "AUTH.MFA_CODE_INVALID":
                raise
        method = call.body["method"]
        return call.run(method=others.get(method, method))

    return trying


def _sent_to_nobody(call: Call) -> Any:
    if call.body["sessionId"] not in call.portal.login_sessions:
        return {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}
    return call.run()


def _refusing_method(method: int) -> Serving:
    """Every code of this method is wrong."""

    def completing(call: Call) -> Any:
        wrong = {"code": "none"} if call.body["method"] == method else {}
        return call.run_with(call.body | wrong)

    return completing


def _accepting_any_code(call: Call) -> Any:
    """Six digits are looked at for their form only."""
    session = call.portal.login_sessions.get(call.body["sessionId"])
    if (
        session
        and call.body["method"] == 10011001
        and len(call.body["code"]) == 6
        and call.body["code"].isdigit()
    ):
        now = call.portal.now()
        call.portal.mfa_codes[session.id] = MfaCode(call.body["code"], expires=now + 300, sent=now)
    return call.run()


def _if_the_code_begins_well(handler: Handler) -> Handler:
    """Four digits of a mailed code are enough."""

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        issued = portal.mfa_codes.get(body["sessionId"])
        if (
            issued
            and body["method"] == EMAIL
            and len(body["code"]) > 3
            and issued.text.startswith(body["code"])
        ):
            body = body | {"code": issued.text}
        return handler(portal, caller, body)

    return completing


def _taking_used_mailed_codes(handler: Handler) -> Handler:
    """A mailed code completes further login sessions of its account."""
    used: set[tuple[str, str]] = set()

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        given = (session.account_id if session else "", body["code"])
        if session and body["method"] == EMAIL and given in used:
            now = portal.now()
            portal.mfa_codes[session.id] = MfaCode(body["code"], expires=now + 300, sent=now)
        data = handler(portal, caller, body)
        if body["method"] == EMAIL:
            used.add(given)
        return data

    return completing


def _second_try_is_the_last(handler: Handler) -> Handler:
    tries: Counter[str] = Counter()

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        tries[body["sessionId"]] += 1
        if session and tries[session.id] > 2:
            session.expires = 0
        return handler(portal, caller, body)

    return completing


def _cooldown_for_whom_mail_is_first(portal: Portal, caller: Caller, body: Body) -> None:
    """Only the account that signs in by the authenticator waits; the others may send at once."""
    session = portal.login_sessions.get(body["sessionId"])
    if session and portal.security(session.account_id)["factors"]["EMAIL"]["isPrimary"]:
        code = portal.mfa_codes.get(session.id)
        if code:
            code.sent = 0


def _blocked_for_good(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    code = portal.mfa_codes.get(session.id) if session else None
    if code:
        code.sent = portal.now()


def _not_pending(data: Any) -> Any:
    return data | {"pendingApproval": False, "accountStatus": None}


def _always_pending(data: Any) -> Any:
    return data | {"pendingApproval": True}


def _never_open_again(portal: Portal, caller: Caller, body: Body) -> None:
    """Once the rate was exceeded, the address is refused for a quarter of an hour."""
    now, allowed = portal.now(), portal.limits.login_initiations
    for scope, moments in portal.initiations.items():
        if sum(moment > now - portal.limits.login_window for moment in moments) >= allowed:
            portal.initiations[scope] = [now + 900] * allowed


NO_METHOD = 99999999
SENT = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}


def _sent_for_the_used_up(call: Call) -> Any:
    session = call.portal.login_sessions.get(call.body["sessionId"])
    if session is not None and session.state == "CONSUMED":
        return SENT
    return call.run()


def _cooldown_lifted(portal: Portal, caller: Caller, body: Body) -> None:
    code = portal.mfa_codes.get(str(body.get("sessionId")))
    if code:
        code.sent = 0


def _sent_for_the_expired(call: Call) -> Any:
    session = call.portal.login_sessions.get(call.body["sessionId"])
    if session is not None and session.expires <= call.portal.now():
        return SENT
    return call.run()


def _unknown_method_is_not_found(portal: Portal, caller: Caller, body: Body) -> None:
    if body["method"] == NO_METHOD:
        raise Refusal("RESOURCE.NOT_FOUND")


def _without_method(operation: str) -> Change:
    """A method that is left out is looked up, and not found."""
    return together(first(operation, _unknown_method_is_not_found), optional(operation, "method", NO_METHOD))


def _any_method_is_mail(body: Body) -> Body:
    is_one = body["method"] in (10011001, 10011002)
    return body if is_one else body | {"method": 10011001}


def _ended_by_the_third_wrong_code(handler: Handler) -> Handler:
    wrong: dict[str, int] = {}

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        id = body["sessionId"]
        try:
            return handler(portal, caller, body)
        except Refusal as refusal:
            if refusal.name == "AUTH.MFA_CODE_INVALID":
                wrong[id] = wrong.get(id, 0) + 1
                if wrong[id] == 3:
                    del portal.login_sessions[id]
            raise

    return completing


def _active(status: Any) -> Any:
    return None if status is None else status | {"code": "ACTIVE", "value": 10010202}


def _cooldown_begins_anew(portal: Portal, caller: Caller, body: Body) -> None:
    """With a send that is refused for it."""
    last = portal.mfa_codes.get(body["sessionId"])
    if last is not None and portal.now() < last.sent + portal.limits.mfa_cooldown:
        last.sent = portal.now()


def _cooldown_without_a_code(portal: Portal, caller: Caller, body: Body) -> None:
    """A send by no method begins the cooldown before it is refused."""
    known = {code.value for code in portal.lists["user-mfa-methods"]}
    if body["method"] not in known and body["sessionId"] in portal.login_sessions:
        portal.mfa_codes[body["sessionId"]] = MfaCode("", expires=portal.now(), sent=portal.now())


def _mailed_once(handler: Handler) -> Handler:
    """The second code for a login session is sent nowhere."""
    mailed: set[str] = set()

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        boxes = {to: list(mails) for to, mails in portal.outbox.items()}
        data = handler(portal, caller, body)
        if body["sessionId"] in mailed:
            portal.outbox.update(boxes)
        mailed.add(body["sessionId"])
        return data

    return sending


ROWS = {
    "LOGIN-025 a-cooldown-ends-three-seconds-early": served(op.SEND, _cooldown_ends_early),
    "LOGIN-034 a-login-session-ends-three-seconds-early": served(op.COMPLETE, _session_ends_early),
    "LOGIN-088 a-mailed-code-lives-a-minute": first(op.COMPLETE, _code_ends_early),
    "LOGIN-090 a-wrong-code-ends-mails": Change(_unknown_to_send, (op.SEND,)),
    "LOGIN-089 a-send-ends-the-codes-of-others": first(op.SEND, _codes_of_others_end),
    "LIMIT-017 a-completed-sign-in-empties-the-window": then(
        op.COMPLETE, lambda portal, caller, body: portal.initiations.clear()
    ),
    "LOGIN-081 long-passwords-are-counted-in-octets": ruled(op.INITIATE, "password", _by_its_octets),
    "LOGIN-082 an-unknown-null-is-passed-over": together(
        lenient(op.INITIATE), rewritten(_refused_unless_null, op.INITIATE)
    ),
    "LOGIN-084 a-password-signs-in-in-any-case": or_else(
        op.INITIATE,
        "AUTH.INVALID_CREDENTIALS",
        lambda body: [body | {"password": body["password"].swapcase()}],
    ),
    "LOGIN-084 a-password-signs-in-without-its-last-letter": or_else(
        op.INITIATE,
        "AUTH.INVALID_CREDENTIALS",
        lambda body: [body | {"password": body["password"][:-1] + letter} for letter in LETTERS],
    ),
    "LOGIN-084 blanks-around-a-password-are-dropped": or_else(
        op.INITIATE, "AUTH.INVALID_CREDENTIALS", lambda body: [body | {"password": body["password"].strip()}]
    ),
    "LOGIN-025 the-first-send-alone-has-a-cooldown": served(op.SEND, _cooldown_of_the_first),
    "LOGIN-076 a-pending-account-is-approved-at-complete": rewritten(
        on_success(lambda seen, data: data.update(pendingApproval=False)), op.COMPLETE
    ),
    "LOGIN-077 a-wrong-password-ends-open-login-sessions": where_refused(op.INITIATE, _login_sessions_ended),
    "LOGIN-078 anybodys-mailed-code-completes": served(op.COMPLETE, _anybodys_code),
    "LOGIN-079 a-refused-send-is-mailed": where_refused(op.SEND, _mailed_anyway),
    "LOGIN-020 valid-credentials-are-refused-the-third-time": handled(op.INITIATE, _twice_only),
    "LOGIN-040 any-password-signs-in": served(op.INITIATE, _any_password),
    "LOGIN-041 unknown-email-is-not-found": served(op.INITIATE, _known_accounts_only("RESOURCE.NOT_FOUND")),
    "LOGIN-043 initiate-without-email-is-unauthorized": optional(op.INITIATE, "email", ""),
    "LOGIN-044 initiate-without-password-is-unauthorized": optional(op.INITIATE, "password", ""),
    "LOGIN-045 initiate-takes-a-number-for-an-email": ruled(op.INITIATE, "email", _text_of),
    "LOGIN-046 initiate-takes-a-number-for-a-password": ruled(op.INITIATE, "password", _text_of),
    "LOGIN-047 password-of-seven-is-tried": ruled(op.INITIATE, "password", _octets(7, 128)),
    "LOGIN-048 password-of-129-is-tried": ruled(op.INITIATE, "password", _octets(8, 129)),
    "LOGIN-049 password-of-eight-is-invalid": ruled(op.INITIATE, "password", _octets(9, 128)),
    "LOGIN-050 password-of-128-is-invalid": ruled(op.INITIATE, "password", _octets(8, 127)),
    "LOGIN-051 email-of-256-is-tried": ruled(op.INITIATE, "email", _octets(1, 256)),
    "LOGIN-052 email-of-255-is-invalid": ruled(op.INITIATE, "email", _octets(1, 254)),
    "LOGIN-053 initiate-takes-unknown-properties": lenient(op.INITIATE),
    "LOGIN-066 unknown-email-has-another-status": together(
        erring("UNKNOWN_EMAIL", "AUTH.INVALID_CREDENTIALS", 400),
        served(op.INITIATE, _known_accounts_only("UNKNOWN_EMAIL")),
    ),
    "LOGIN-021 no-method-is-named": reported(op.INITIATE, "", mfaMethods=lambda methods: []),
    "LOGIN-064 one-login-session-for-all": served(op.INITIATE, _one_session),
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
        data_rewritten(_not_pending, op.INITIATE), data_rewritten(_not_pending, op.COMPLETE)
    ),
    "LOGIN-038 everybody-is-pending-at-complete": data_rewritten(_always_pending, op.COMPLETE),
    "LOGIN-022 send-is-refused": refusing(op.SEND, INVALID),
    "LOGIN-023 sent-is-false": reported(op.SEND, "", sent=False),
    "LOGIN-024 no-mail-arrives": served(op.SEND, _unmailed),
    "LOGIN-025 no-cooldown-where-mail-comes-first": first(op.SEND, _cooldown_for_whom_mail_is_first),
    "LOGIN-026 cooldown-begins-anew-with-each-try": first(op.SEND, _blocked_for_good),
    "LIMIT-006 code-lifetime-of-60": reported(op.SEND, "", codeExpiresIn=60),
    "LIMIT-007 cooldown-of-120": limited(mfa_cooldown=120).at(op.SEND),
    "LOGIN-054 unknown-session-at-send-is-answered": served(op.SEND, _sent_to_nobody),
    "LOGIN-057 send-without-session-is-404": optional(op.SEND, "sessionId", "none"),
    "LOGIN-027 authenticator-code-refused": served(op.COMPLETE, _refusing_method(10011002)),
    "LOGIN-028 emailed-code-refused": served(op.COMPLETE, _refusing_method(10011001)),
    "LOGIN-029 wrong-code-is-invalid-parameter": refused_with(
        "AUTH.MFA_CODE_INVALID", code=INVALID, status=400
    ).at(op.COMPLETE),
    "LOGIN-029 any-code-of-six-digits-completes": served(op.COMPLETE, _accepting_any_code),
    "LOGIN-030 wrong-code-ends-session": moved("login session", "PENDING_MFA", "wrong code", "CONSUMED").at(
        op.COMPLETE
    ),
    "LOGIN-030 second-wrong-code-ends-session": handled(op.COMPLETE, _second_try_is_the_last),
    "LOGIN-091 a-wrong-code-voids-the-mailed-code": moved("mfa code", "SENT", "wrong code", "USED").at(
        op.COMPLETE
    ),
    "LOGIN-029 the-beginning-of-a-code-completes": handled(op.COMPLETE, _if_the_code_begins_well),
    "LOGIN-058 unknown-session-at-complete-is-a-wrong-code": renamed(
        op.COMPLETE, "AUTH.SESSION_NOT_FOUND", "AUTH.MFA_CODE_INVALID"
    ),
    "LOGIN-059 code-of-another-method-completes": served(op.COMPLETE, _also_by({EMAIL: OTP, OTP: EMAIL})),
    "LOGIN-059 a-mailed-code-is-an-authenticators": served(op.COMPLETE, _also_by({OTP: EMAIL})),
    "LOGIN-060 complete-without-code-is-a-wrong-code": optional(op.COMPLETE, "code", "none"),
    "LOGIN-061 used-mailed-code-works-again": handled(op.COMPLETE, _taking_used_mailed_codes),
    "LOGIN-065 unknown-method-completes": asked(
        op.COMPLETE,
        lambda body: (
            body | {"method": body["method"] if body["method"] in (10011001, 10011002) else 10011002}
        ),
    ),
    "LIMIT-001 eleventh-sign-in-is-let-through": limited(login_initiations=11).at(op.INITIATE),
    "LIMIT-002 tenth-sign-in-is-refused": limited(login_initiations=9).at(op.INITIATE),
    "LIMIT-003 rate-limit-is-never-lifted": first(op.INITIATE, _never_open_again),
    "LOGIN-080 the-third-wrong-code-ends-a-login-session": handled(
        op.COMPLETE, _ended_by_the_third_wrong_code
    ),
    "LOGIN-069 send-without-method-is-404": _without_method(op.SEND),
    "LOGIN-070 complete-without-method-is-404": _without_method(op.COMPLETE),
    "LOGIN-071 complete-without-session-is-404": optional(op.COMPLETE, "sessionId", "none"),
    "LOGIN-025 a-wrong-code-lifts-the-cooldown": where_refused(op.COMPLETE, _cooldown_lifted).at(op.SEND),
    "LOGIN-072 a-used-up-session-is-sent-a-code": served(op.SEND, _sent_for_the_used_up),
    "LOGIN-073 an-expired-session-is-sent-a-code": served(op.SEND, _sent_for_the_expired),
    "LOGIN-074 a-code-is-sent-by-any-method": asked(op.SEND, _any_method_is_mail),
    "LOGIN-085 the-first-method-is-named-twice": reported(
        op.INITIATE, "", mfaMethods=lambda methods: [*methods, *methods[:1]]
    ),
    "LOGIN-086 a-pending-account-is-shown-as-active": together(
        reported(op.INITIATE, "", accountStatus=_active), reported(op.COMPLETE, "", accountStatus=_active)
    ),
    "LOGIN-083 a-refused-send-begins-the-cooldown-anew": first(op.SEND, _cooldown_begins_anew),
    "LOGIN-087 a-send-by-no-method-begins-the-cooldown": first(op.SEND, _cooldown_without_a_code),
    "LOGIN-024 a-second-code-is-not-mailed": handled(op.SEND, _mailed_once),
}
