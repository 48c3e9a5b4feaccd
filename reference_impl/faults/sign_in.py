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
    first,
    lenient,
    of,
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
    of(
        "LOGIN-020",
        "valid-credentials-are-refused-the-third-time",
        INITIATE,
        apply=handled(INITIATE, _twice_only),
    ),
    of("LOGIN-040", "any-password-signs-in", INITIATE, apply=first(INITIATE, _any_password)),
    of(
        "LOGIN-040",
        "wrong-password-is-forbidden",
        INITIATE,
        apply=renamed(INITIATE, "AUTH.INVALID_CREDENTIALS", "ACCESS.PERMISSION_DENIED"),
    ),
    of(
        "LOGIN-041",
        "unknown-email-is-not-found",
        INITIATE,
        apply=handled(INITIATE, _known_accounts_only("RESOURCE.NOT_FOUND")),
    ),
    of(
        "LOGIN-043", "initiate-without-email-is-unauthorized", INITIATE, apply=optional(INITIATE, "email", "")
    ),
    of(
        "LOGIN-044",
        "initiate-without-password-is-unauthorized",
        INITIATE,
        apply=optional(INITIATE, "password", ""),
    ),
    of(
        "LOGIN-045",
        "initiate-takes-a-number-for-an-email",
        INITIATE,
        apply=ruled(INITIATE, "email", _text_of),
    ),
    of(
        "LOGIN-046",
        "initiate-takes-a-number-for-a-password",
        INITIATE,
        apply=ruled(INITIATE, "password", _text_of),
    ),
    of(
        "LOGIN-047",
        "password-of-seven-is-tried",
        INITIATE,
        apply=ruled(INITIATE, "password", _octets(7, 128)),
    ),
    of("LOGIN-048", "password-of-129-is-tried", INITIATE, apply=ruled(INITIATE, "password", _octets(8, 129))),
    of(
        "LOGIN-049",
        "password-of-eight-is-invalid",
        INITIATE,
        apply=ruled(INITIATE, "password", _octets(9, 128)),
        also="LOGIN-081",
    ),
    of(
        "LOGIN-050",
        "password-of-128-is-invalid",
        INITIATE,
        apply=ruled(INITIATE, "password", _octets(8, 127)),
        also="LOGIN-081",
    ),
    of("LOGIN-051", "email-of-256-is-tried", INITIATE, apply=ruled(INITIATE, "email", _octets(1, 256))),
    of("LOGIN-052", "email-of-255-is-invalid", INITIATE, apply=ruled(INITIATE, "email", _octets(1, 254))),
    of("LOGIN-053", "initiate-takes-unknown-properties", INITIATE, apply=lenient(INITIATE)),
    of(
        "LOGIN-066",
        "unknown-email-has-another-status",
        INITIATE,
        apply=together(
            (
                erring("UNKNOWN_EMAIL", "AUTH.INVALID_CREDENTIALS", 400),
                handled(INITIATE, _known_accounts_only("UNKNOWN_EMAIL")),
            )
        ),
    ),
    of(
        "ERROR-001",
        "invalid-credentials-are-403",
        INITIATE,
        apply=refused_with("AUTH.INVALID_CREDENTIALS", status=403),
    ),
    # Login sessions.
    of(
        "LOGIN-021",
        "no-method-is-named",
        INITIATE,
        apply=reported(INITIATE, "", mfaMethods=lambda methods: []),
    ),
    of(
        "LOGIN-064",
        "one-login-session-for-all",
        INITIATE,
        apply=handled(INITIATE, _one_session),
        spreads=True,
    ),
    of(
        "LOGIN-031",
        "login-session-reusable",
        COMPLETE,
        apply=together(
            (
                moved("login session", "PENDING_MFA", "right code", "PENDING_MFA"),
                first(COMPLETE, forget_used_codes),
                moved("mfa code", "SENT", "right code", "SENT"),
            )
        ),
        spreads=True,
    ),
    of(
        "LOGIN-032",
        "used-up-session-is-400",
        COMPLETE,
        apply=renamed(COMPLETE, "AUTH.SESSION_NOT_FOUND", INVALID),
    ),
    of(
        "LOGIN-033",
        "login-session-outlives-its-lifetime",
        INITIATE,
        SEND,
        COMPLETE,
        apply=together(
            (
                limited(login_session=100_000, mfa_code=100_000),
                reported(INITIATE, "", expiresIn=300),
                reported(SEND, "", codeExpiresIn=300),
            )
        ),
    ),
    of(
        "LOGIN-034",
        "login-session-ends-early",
        INITIATE,
        SEND,
        COMPLETE,
        apply=together((limited(login_session=120), reported(INITIATE, "", expiresIn=300))),
    ),
    of("LIMIT-005", "login-session-of-600", INITIATE, apply=reported(INITIATE, "", expiresIn=600)),
    of(
        "LIMIT-005",
        "login-session-in-milliseconds",
        INITIATE,
        apply=reported(INITIATE, "", expiresIn=300_000),
    ),
    of(
        "LOGIN-036",
        "pending-approval-is-not-told",
        INITIATE,
        COMPLETE,
        apply=together((data_rewritten(_not_pending, INITIATE), data_rewritten(_not_pending, COMPLETE))),
    ),
    of(
        "ERROR-023",
        "pending-code-with-a-flag-that-denies-it",
        INITIATE,
        apply=together((chosen(pending_at_initiate="code"), rewritten(_denied_beside_the_code, INITIATE))),
    ),
    of("LOGIN-038", "everybody-is-pending", INITIATE, apply=data_rewritten(_always_pending, INITIATE)),
    of(
        "LOGIN-038",
        "everybody-is-pending-at-complete",
        COMPLETE,
        apply=data_rewritten(_always_pending, COMPLETE),
    ),
    # Codes.
    of("LOGIN-022", "send-is-refused", SEND, apply=refusing(SEND, INVALID)),
    of("LOGIN-022", "first-send-is-in-cooldown", SEND, apply=refusing(SEND, "AUTH.MFA_SEND_COOLDOWN")),
    of("LOGIN-023", "sent-is-false", SEND, apply=reported(SEND, "", sent=False)),
    of("LOGIN-024", "no-mail-arrives", SEND, apply=handled(SEND, _unmailed)),
    of(
        "LOGIN-025",
        "no-cooldown",
        SEND,
        apply=together((limited(mfa_cooldown=0), reported(SEND, "", cooldownSeconds=60))),
    ),
    of(
        "LOGIN-025",
        "cooldown-of-ten",
        SEND,
        apply=together((limited(mfa_cooldown=10), reported(SEND, "", cooldownSeconds=60))),
    ),
    of(
        "LOGIN-025",
        "no-cooldown-where-mail-comes-first",
        SEND,
        apply=first(SEND, _cooldown_for_whom_mail_is_first),
    ),
    of(
        "LOGIN-025",
        "cooldown-has-another-code",
        SEND,
        apply=refused_with("AUTH.MFA_SEND_COOLDOWN", code="RATE_LIMIT.EXCEEDED"),
    ),
    of(
        "LOGIN-026",
        "cooldown-is-never-lifted",
        SEND,
        apply=together((limited(mfa_cooldown=100_000), reported(SEND, "", cooldownSeconds=60))),
    ),
    of("LOGIN-026", "cooldown-begins-anew-with-each-try", SEND, apply=first(SEND, _blocked_for_good)),
    of("LIMIT-006", "code-lifetime-of-60", SEND, apply=reported(SEND, "", codeExpiresIn=60)),
    of("LIMIT-007", "cooldown-told-is-30", SEND, apply=reported(SEND, "", cooldownSeconds=30)),
    of("LIMIT-007", "cooldown-of-120", SEND, apply=limited(mfa_cooldown=120), also="LOGIN-026"),
    of("LOGIN-054", "unknown-session-at-send-is-answered", SEND, apply=handled(SEND, _sent_to_nobody)),
    of("LOGIN-057", "send-without-session-is-404", SEND, apply=optional(SEND, "sessionId", "none")),
    of(
        "LOGIN-027",
        "authenticator-code-refused",
        COMPLETE,
        apply=handled(COMPLETE, _refusing_method(10011002)),
    ),
    of("LOGIN-028", "emailed-code-refused", COMPLETE, apply=handled(COMPLETE, _refusing_method(10011001))),
    of(
        "LOGIN-029",
        "wrong-code-is-invalid-parameter",
        COMPLETE,
        apply=refused_with("AUTH.MFA_CODE_INVALID", code=INVALID, status=400),
    ),
    of(
        "LOGIN-029",
        "wrong-code-is-denied-access",
        COMPLETE,
        apply=refused_with("AUTH.MFA_CODE_INVALID", code="ACCESS.PERMISSION_DENIED", status=403),
    ),
    of(
        "LOGIN-029",
        "any-code-of-six-digits-completes",
        COMPLETE,
        apply=handled(COMPLETE, _accepting_any_code),
    ),
    of(
        "LOGIN-030",
        "wrong-code-ends-session",
        COMPLETE,
        apply=moved("login session", "PENDING_MFA", "wrong code", "CONSUMED"),
    ),
    of(
        "LOGIN-030",
        "second-wrong-code-ends-session",
        COMPLETE,
        apply=handled(COMPLETE, _second_try_is_the_last),
    ),
    of(
        "LOGIN-091",
        "a-wrong-code-voids-the-mailed-code",
        COMPLETE,
        apply=moved("mfa code", "SENT", "wrong code", "USED"),
    ),
    of(
        "LOGIN-029",
        "the-beginning-of-a-code-completes",
        COMPLETE,
        apply=handled(COMPLETE, _if_the_code_begins_well),
    ),
    of(
        "LOGIN-058",
        "unknown-session-at-complete-is-a-wrong-code",
        COMPLETE,
        apply=renamed(COMPLETE, "AUTH.SESSION_NOT_FOUND", "AUTH.MFA_CODE_INVALID"),
        also="LOGIN-032 LOGIN-033",
    ),
    of(
        "ERROR-002",
        "session-not-found-is-401",
        COMPLETE,
        apply=refused_with("AUTH.SESSION_NOT_FOUND", status=401),
    ),
    of(
        "LOGIN-059",
        "code-of-another-method-completes",
        COMPLETE,
        apply=handled(COMPLETE, _also_by({EMAIL: OTP, OTP: EMAIL})),
    ),
    of(
        "LOGIN-059",
        "a-mailed-code-is-an-authenticators",
        COMPLETE,
        apply=handled(COMPLETE, _also_by({OTP: EMAIL})),
    ),
    of(
        "LOGIN-060",
        "complete-without-code-is-a-wrong-code",
        COMPLETE,
        apply=optional(COMPLETE, "code", "none"),
    ),
    of(
        "LOGIN-061",
        "used-mailed-code-works-again",
        COMPLETE,
        apply=handled(COMPLETE, _taking_used_mailed_codes),
    ),
    of(
        "LOGIN-065",
        "unknown-method-completes",
        COMPLETE,
        apply=asked(
            COMPLETE,
            lambda body: (
                body | {"method": body["method"] if body["method"] in (10011001, 10011002) else 10011002}
            ),
        ),
    ),
    # The rate.
    of("LIMIT-001", "no-rate-limit", INITIATE, apply=limited(login_initiations=1_000_000)),
    of("LIMIT-001", "eleventh-sign-in-is-let-through", INITIATE, apply=limited(login_initiations=11)),
    of("LIMIT-002", "tenth-sign-in-is-refused", INITIATE, apply=limited(login_initiations=9)),
    of("LIMIT-003", "rate-limit-is-never-lifted", INITIATE, apply=first(INITIATE, _never_open_again)),
)
