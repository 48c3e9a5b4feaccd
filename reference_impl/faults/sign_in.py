"""Sign-in: credentials, login sessions, codes and the rate (chapters "Authentication", "Limits")."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.changes import (
    chosen,
    data_rewritten,
    handled,
    limited,
    moved,
    refused_with,
    rewritten,
    together,
)
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import (
    asked,
    erring,
    fault,
    first,
    lenient,
    optional,
    refusing,
    renamed,
    reported,
    ruled,
)
from reference_impl.faults.operations import COMPLETE, INITIATE, SEND
from reference_impl.limits import Limits
from reference_impl.portal import Caller, MfaCode, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Unfit
from reference_impl.wrappers import Answer, Seen


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


def _known_accounts_only(name: str) -> Callable[[Handler], Handler]:
    """An unknown address is told apart from a wrong password."""

    def around(handler: Handler) -> Handler:
        def telling(portal: Portal, caller: Caller, body: Body) -> Any:
            if portal.account_of(body["email"]) is None:
                raise Refusal(name)
            return handler(portal, caller, body)

        return telling

    return around


def _any_password(portal: Portal, caller: Caller, body: Body) -> None:
    """Only the beginning of a password is compared."""
    account = portal.account_of(body["email"])
    password = portal.passwords.get(account["bizId"]) if account else None
    if account and password and not password.matches(body["password"]):
        portal.passwords[account["bizId"]] = _Lenient(password)  # type: ignore[assignment]


class _Lenient:
    """Lets any password in."""

    def __init__(self, password: Any) -> None:
        self.password = password

    def matches(self, plain: str) -> bool:
        return True


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


def _one_session(handler: Handler) -> Handler:
    """Every initiate for an account gives the same login session."""

    def same(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        new = portal.login_sessions[data["sessionId"]]
        for session in portal.login_sessions.values():
            if session.account_id == new.account_id:
                return data | {"sessionId": session.id}
        return data

    return same


def _unmailed(handler: Handler) -> Handler:
    """The code is made and told as sent, and no mail leaves."""

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        outbox = {to: list(mails) for to, mails in portal.outbox.items()}
        data = handler(portal, caller, body)
        portal.outbox.clear()
        portal.outbox.update(outbox)
        return data

    return sending


EMAIL, OTP = 10011001, 10011002


def _also_by(others: Mapping[int, int]) -> Callable[[Handler], Handler]:
    """A code that is wrong for a method is tried by the other one of that method, if it has one."""

    def around(handler: Handler) -> Handler:
        def trying(portal: Portal, caller: Caller, body: Body) -> Any:
            try:
                return handler(portal, caller, body)
            except Refusal as refusal:
                if refusal.name != "AUTH.MFA_CODE_INVALID":
                    raise
            method = body["method"]
            return handler(portal, caller, body | {"method": others.get(method, method)})

        return trying

    return around


def _sent_to_nobody(handler: Handler) -> Handler:
    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        if body["sessionId"] not in portal.login_sessions:
            return {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}
        return handler(portal, caller, body)

    return sending


def _refusing_method(method: int) -> Callable[[Handler], Handler]:
    """Every code of this method is wrong."""

    def around(handler: Handler) -> Handler:
        def completing(portal: Portal, caller: Caller, body: Body) -> Any:
            wrong = {"code": "none"} if body["method"] == method else {}
            return handler(portal, caller, body | wrong)

        return completing

    return around


def _accepting_any_code(handler: Handler) -> Handler:
    """Six digits are looked at for their form only."""

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        if session and body["method"] == 10011001 and len(body["code"]) == 6 and body["code"].isdigit():
            now = portal.now()
            portal.mfa_codes[session.id] = MfaCode(body["code"], expires=now + 300, sent=now)
        return handler(portal, caller, body)

    return completing


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


def _denied_beside_the_code(seen: Seen, answer: Answer) -> None:
    """The code says that the approval is pending, and the flag says that it is not."""
    if answer.body["code"] == "ACCOUNT_PENDING_APPROVAL":
        answer.body["data"]["isPendingApproval"] = False


def _never_open_again(portal: Portal, caller: Caller, body: Body) -> None:
    """Once the rate was exceeded, the address is refused for a quarter of an hour."""
    now, allowed = portal.now(), portal.limits.login_initiations
    for scope, moments in portal.initiations.items():
        if sum(moment > now - portal.limits.login_window for moment in moments) >= allowed:
            portal.initiations[scope] = [now + 900] * allowed


FAULTS = (
    # Credentials.
    fault("LOGIN-020", "valid-credentials-are-refused-the-third-time", handled(INITIATE, _twice_only)),
    fault("LOGIN-040", "any-password-signs-in", first(INITIATE, _any_password)),
    fault(
        "LOGIN-040",
        "wrong-password-is-forbidden",
        renamed(INITIATE, "AUTH.INVALID_CREDENTIALS", "ACCESS.PERMISSION_DENIED"),
    ),
    fault(
        "LOGIN-041",
        "unknown-email-is-not-found",
        handled(INITIATE, _known_accounts_only("RESOURCE.NOT_FOUND")),
    ),
    fault("LOGIN-043", "initiate-without-email-is-unauthorized", optional(INITIATE, "email", "")),
    fault("LOGIN-044", "initiate-without-password-is-unauthorized", optional(INITIATE, "password", "")),
    fault("LOGIN-045", "initiate-takes-a-number-for-an-email", ruled(INITIATE, "email", _text_of)),
    fault("LOGIN-046", "initiate-takes-a-number-for-a-password", ruled(INITIATE, "password", _text_of)),
    fault("LOGIN-047", "password-of-seven-is-tried", ruled(INITIATE, "password", _octets(7, 128))),
    fault("LOGIN-048", "password-of-129-is-tried", ruled(INITIATE, "password", _octets(8, 129))),
    fault(
        "LOGIN-049",
        "password-of-eight-is-invalid",
        ruled(INITIATE, "password", _octets(9, 128)),
        also="LOGIN-081",
    ),
    fault(
        "LOGIN-050",
        "password-of-128-is-invalid",
        ruled(INITIATE, "password", _octets(8, 127)),
        also="LOGIN-081",
    ),
    fault("LOGIN-051", "email-of-256-is-tried", ruled(INITIATE, "email", _octets(1, 256))),
    fault("LOGIN-052", "email-of-255-is-invalid", ruled(INITIATE, "email", _octets(1, 254))),
    fault("LOGIN-053", "initiate-takes-unknown-properties", lenient(INITIATE)),
    fault(
        "LOGIN-066",
        "unknown-email-has-another-status",
        together(
            erring("UNKNOWN_EMAIL", "AUTH.INVALID_CREDENTIALS", 400),
            handled(INITIATE, _known_accounts_only("UNKNOWN_EMAIL")),
        ),
    ),
    fault(
        "ERROR-001",
        "invalid-credentials-are-403",
        refused_with("AUTH.INVALID_CREDENTIALS", status=403),
        INITIATE,
    ),
    # Login sessions.
    fault("LOGIN-021", "no-method-is-named", reported(INITIATE, "", mfaMethods=lambda methods: [])),
    fault("LOGIN-064", "one-login-session-for-all", handled(INITIATE, _one_session)),
    fault(
        "LOGIN-031",
        "login-session-reusable",
        together(
            moved("login session", "PENDING_MFA", "right code", "PENDING_MFA"),
            first(COMPLETE, forget_used_codes),
            moved("mfa code", "SENT", "right code", "SENT"),
        ),
    ),
    fault("LOGIN-032", "used-up-session-is-400", renamed(COMPLETE, "AUTH.SESSION_NOT_FOUND", INVALID)),
    fault(
        "LOGIN-033",
        "login-session-outlives-its-lifetime",
        together(
            limited(login_session=100_000, mfa_code=100_000),
            reported(INITIATE, "", expiresIn=300),
            reported(SEND, "", codeExpiresIn=300),
        ),
        INITIATE,
        SEND,
        COMPLETE,
    ),
    fault(
        "LOGIN-034",
        "login-session-ends-early",
        together(limited(login_session=120), reported(INITIATE, "", expiresIn=300)),
        INITIATE,
        SEND,
        COMPLETE,
    ),
    fault("LIMIT-005", "login-session-of-600", reported(INITIATE, "", expiresIn=600)),
    fault("LIMIT-005", "login-session-in-milliseconds", reported(INITIATE, "", expiresIn=300_000)),
    fault(
        "LOGIN-036",
        "pending-approval-is-not-told",
        together(data_rewritten(_not_pending, INITIATE), data_rewritten(_not_pending, COMPLETE)),
    ),
    fault(
        "ERROR-023",
        "pending-code-with-a-flag-that-denies-it",
        together(chosen(pending_at_initiate="code"), rewritten(_denied_beside_the_code, INITIATE)),
    ),
    fault("LOGIN-038", "everybody-is-pending", data_rewritten(_always_pending, INITIATE)),
    fault("LOGIN-038", "everybody-is-pending-at-complete", data_rewritten(_always_pending, COMPLETE)),
    # Codes.
    fault("LOGIN-022", "send-is-refused", refusing(SEND, INVALID)),
    fault("LOGIN-022", "first-send-is-in-cooldown", refusing(SEND, "AUTH.MFA_SEND_COOLDOWN")),
    fault("LOGIN-023", "sent-is-false", reported(SEND, "", sent=False)),
    fault("LOGIN-024", "no-mail-arrives", handled(SEND, _unmailed)),
    fault(
        "LOGIN-025", "no-cooldown", together(limited(mfa_cooldown=0), reported(SEND, "", cooldownSeconds=60))
    ),
    fault(
        "LOGIN-025",
        "cooldown-of-ten",
        together(limited(mfa_cooldown=10), reported(SEND, "", cooldownSeconds=60)),
    ),
    fault("LOGIN-025", "no-cooldown-where-mail-comes-first", first(SEND, _cooldown_for_whom_mail_is_first)),
    fault(
        "LOGIN-025",
        "cooldown-has-another-code",
        refused_with("AUTH.MFA_SEND_COOLDOWN", code="RATE_LIMIT.EXCEEDED"),
        SEND,
    ),
    fault(
        "LOGIN-026",
        "cooldown-is-never-lifted",
        together(limited(mfa_cooldown=100_000), reported(SEND, "", cooldownSeconds=60)),
    ),
    fault("LOGIN-026", "cooldown-begins-anew-with-each-try", first(SEND, _blocked_for_good)),
    fault("LIMIT-006", "code-lifetime-of-60", reported(SEND, "", codeExpiresIn=60)),
    fault("LIMIT-007", "cooldown-told-is-30", reported(SEND, "", cooldownSeconds=30)),
    fault("LIMIT-007", "cooldown-of-120", limited(mfa_cooldown=120), SEND, also="LOGIN-026"),
    fault("LOGIN-054", "unknown-session-at-send-is-answered", handled(SEND, _sent_to_nobody)),
    fault("LOGIN-057", "send-without-session-is-404", optional(SEND, "sessionId", "none")),
    fault("LOGIN-027", "authenticator-code-refused", handled(COMPLETE, _refusing_method(10011002))),
    fault("LOGIN-028", "emailed-code-refused", handled(COMPLETE, _refusing_method(10011001))),
    fault(
        "LOGIN-029",
        "wrong-code-is-invalid-parameter",
        refused_with("AUTH.MFA_CODE_INVALID", code=INVALID, status=400),
        COMPLETE,
    ),
    fault(
        "LOGIN-029",
        "wrong-code-is-denied-access",
        refused_with("AUTH.MFA_CODE_INVALID", code="ACCESS.PERMISSION_DENIED", status=403),
        COMPLETE,
    ),
    fault("LOGIN-029", "any-code-of-six-digits-completes", handled(COMPLETE, _accepting_any_code)),
    fault(
        "LOGIN-030",
        "wrong-code-ends-session",
        moved("login session", "PENDING_MFA", "wrong code", "CONSUMED"),
        COMPLETE,
    ),
    fault("LOGIN-030", "second-wrong-code-ends-session", handled(COMPLETE, _second_try_is_the_last)),
    fault(
        "LOGIN-091",
        "a-wrong-code-voids-the-mailed-code",
        moved("mfa code", "SENT", "wrong code", "USED"),
        COMPLETE,
    ),
    fault("LOGIN-029", "the-beginning-of-a-code-completes", handled(COMPLETE, _if_the_code_begins_well)),
    fault(
        "LOGIN-058",
        "unknown-session-at-complete-is-a-wrong-code",
        renamed(COMPLETE, "AUTH.SESSION_NOT_FOUND", "AUTH.MFA_CODE_INVALID"),
        also="LOGIN-032 LOGIN-033",
    ),
    fault(
        "ERROR-002", "session-not-found-is-401", refused_with("AUTH.SESSION_NOT_FOUND", status=401), COMPLETE
    ),
    fault(
        "LOGIN-059", "code-of-another-method-completes", handled(COMPLETE, _also_by({EMAIL: OTP, OTP: EMAIL}))
    ),
    fault("LOGIN-059", "a-mailed-code-is-an-authenticators", handled(COMPLETE, _also_by({OTP: EMAIL}))),
    fault("LOGIN-060", "complete-without-code-is-a-wrong-code", optional(COMPLETE, "code", "none")),
    fault("LOGIN-061", "used-mailed-code-works-again", handled(COMPLETE, _taking_used_mailed_codes)),
    fault(
        "LOGIN-065",
        "unknown-method-completes",
        asked(
            COMPLETE,
            lambda body: (
                body | {"method": body["method"] if body["method"] in (10011001, 10011002) else 10011002}
            ),
        ),
    ),
    # The rate.
    fault("LIMIT-001", "no-rate-limit", limited(login_initiations=1_000_000), INITIATE),
    fault("LIMIT-001", "eleventh-sign-in-is-let-through", limited(login_initiations=11), INITIATE),
    fault("LIMIT-002", "tenth-sign-in-is-refused", limited(login_initiations=9), INITIATE),
    fault("LIMIT-003", "rate-limit-is-never-lifted", first(INITIATE, _never_open_again)),
)
