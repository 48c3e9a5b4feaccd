"""Rates of sign-ins and codes, and what refusals and challenges lead to (chapter "Limits")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Apply, Change, chosen, limited, wrapped
from reference_impl.errors import Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import erring
from reference_impl.portal import Caller, Portal
from reference_impl.routes import ROWS, Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import around, at_most, enveloped, keeping, may, permitted, refuse
from reference_impl.wrappers import Answer, Seen, Slowed

BUCKET_SECONDS = 2.0


def _from_a_bucket() -> Change:
    """Limits requests of each address by a token bucket of ten places, which refills continuously."""
    buckets: dict[str, tuple[float, float]] = {}

    def limiting(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        now = portal.now()
        places, filled = buckets.get(caller.client_ip, (10.0, now))
        places = min(10.0, places + (now - filled) * 10 / BUCKET_SECONDS)
        buckets[caller.client_ip] = (places - 1 if places >= 1 else places), now
        if places < 1:
            raise Refusal("RATE_LIMITED")
        return handler(portal, caller, body)

    return around(limiting, op.INITIATE)


def _told_by_a_page(code: str) -> Change:
    """What the portal refuses by a code is told by a proxy, which has no envelope."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        if answer.body["code"] == code:
            answer.status, answer.headers = 429, [(b"content-type", b"text/html")]
            answer.body = b"<html>Too Many Requests</html>"

    return enveloped(rewriting, op.SEND, op.INITIATE)


def _slow_down_once_refused(seen: Seen, answer: Answer) -> None:
    """After one refusal there is a rate, for ten minutes."""
    now, last = seen.portal.now(), seen.memory.get("last", 0.0)
    if answer.body["success"]:
        return
    if now < last + 600:
        refuse(answer, 403, "SECURITY.SLOW_DOWN")
    else:
        seen.memory["last"] = now


Owner = Callable[[Portal, Body], str]


def _locking(operation: str, refused: str, owner: Owner, *, error: str) -> Change:
    """After three refusals in a row the account is shut for ten minutes."""

    def counting() -> Apply:
        wrong: dict[str, list[float]] = {}

        def guarded(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
            account = owner(portal, body)
            recent = [moment for moment in wrong.get(account, []) if moment > portal.now() - 600]
            if account and len(recent) >= 3:
                raise Refusal(error)
            try:
                data = handler(portal, caller, body)
            except Refusal as refusal:
                if refusal.name == refused:
                    wrong[account] = [*recent, portal.now()]
                raise
            wrong.pop(account, None)
            return data

        return around(guarded, operation)

    return keeping(counting)


def _address(portal: Portal, body: Body) -> str:
    return str(body["email"]).casefold()


def _address_of_an_account(portal: Portal, body: Body) -> str:
    return _address(portal, body) if portal.account_of(body["email"]) else ""


def _account_of_the_session(portal: Portal, body: Body) -> str:
    session = portal.login_sessions.get(body["sessionId"])
    return session.account_id if session else ""


def _serving_thrice(seen: Seen, answer: Answer) -> None:
    """A token of the challenge serves three times."""
    if answer.status == 401 or answer.body["code"] == "4030":
        return
    seen.memory["served"] = seen.memory.get("served", 0) + 1
    if seen.memory["served"] > 3:
        refuse(answer, 403, "4030")


CHALLENGED = tuple(row.name for row in ROWS if row.bot)
BEFORE_SIGN_IN = tuple(row.path for row in ROWS if row.auth == "none" and "/auth/" in row.path)
_INITIATE_PATH = "/web/v1/system/auth/login/initiate"
_ADMINS_PATH = "/web/v1/system/accounts/admin/query"

VARIANTS = permitted(
    # Rates.
    "what the rate is counted for is not stated",
    may("rate-of-an-account: rate-scope", chosen(rate_scope="account")),
    may("rate-of-all: rate-scope", chosen(rate_scope="all")),
    "the window is not described",
    may("fixed-window", chosen(rate_window="fixed")),
    may(
        "rate-fills-up-place-by-place: rate-scope fixed-window long-window rate-counts-valid-bodies",
        limited(login_window=BUCKET_SECONDS, login_initiations=1_000_000),
        keeping(_from_a_bucket),
        wrapped(lambda app: Slowed(app, 0.05), op.INITIATE),
    ),
    "what a request within the rate is, is not stated",
    may("rate-counts-valid-bodies", chosen(rate_counts_invalid=False)),
    "the form of a rate-limit response is not shown",
    may("rate-kept-by-the-edge: rate-answer", _told_by_a_page("RATE_LIMIT.EXCEEDED")),
    "neither the window nor the status and code of a rate-limit response are shown",
    may(
        "sign-ins-by-the-quarter-hour: rate-answer long-window fixed-window",
        limited(login_window=900),
        chosen(
            rate_limited_code="AUTH.LOGIN_TOO_FREQUENT",
            rate_limited_status=400,
            retry_after=False,
            rate_window_known=False,
        ),
        is_alone=True,
    ),
    "rate-limit responses are reported for MFA send, and neither status nor code of one is shown",
    may("sends-counted-at-the-edge: code-rate cooldown-status", _told_by_a_page("AUTH.MFA_SEND_COOLDOWN")),
    "rate-limit responses are reported for login, and neither status nor code of one is shown",
    may("refused-sign-ins-have-a-rate: lock rate-answer", enveloped(_slow_down_once_refused, op.INITIATE)),
    "rate-limit responses are reported for it, and neither status nor code of one is shown",
    may(
        "codes-have-a-rate: code-rate",
        erring("SLOW_DOWN", "SECURITY.SLOW_DOWN", 403),
        at_most(4, op.SEND, within=600, refusal="SLOW_DOWN"),
        at_most(6, op.COMPLETE, within=600, refusal="SLOW_DOWN"),
        is_alone=True,
    ),
    may(
        "passwords-have-a-rate: password-rate",
        enveloped(_slow_down_once_refused, op.RESET, op.INIT, op.CHANGE),
    ),
    "rate-limit responses are reported for it",
    may(
        "forgot-has-a-rate",
        at_most(5, op.FORGOT, within=60, refusal="RATE_LIMITED", headers={"retry-after": "60"}),
    ),
    # Locks and challenges.
    "what several refusals in a row lead to is not described",
    may(
        "locked-silently-after-three-passwords: lock",
        _locking(op.INITIATE, "AUTH.INVALID_CREDENTIALS", _address, error="AUTH.INVALID_CREDENTIALS"),
    ),
    may(
        "locked-by-423: lock",
        erring("ACCOUNT_LOCKED", "ACCOUNT.LOCKED", 423),
        _locking(op.INITIATE, "AUTH.INVALID_CREDENTIALS", _address_of_an_account, error="ACCOUNT_LOCKED"),
    ),
    may(
        "locked-after-three-codes: code-lock",
        erring("CODES_LOCKED", "AUTH.MFA_LOCKED", 423),
        _locking(op.COMPLETE, "AUTH.MFA_CODE_INVALID", _account_of_the_session, error="CODES_LOCKED"),
    ),
    "the HTTP status is unspecified",
    may("challenge-401: challenge-status", chosen(bot_refused_status=401)),
    may("challenge-400: challenge-status", chosen(bot_refused_status=400)),
    "which further endpoints require it is not shown",
    may("challenge-in-more-places: challenge-places", chosen(bot_challenge_also_on=(_ADMINS_PATH,))),
    may("challenge-at-sign-in: challenge-places", chosen(bot_challenge_also_on=(_INITIATE_PATH,))),
    "which further endpoints require it is not shown, nor where a client has a token from",
    may(
        "challenge-only-people-solve: challenge-places",
        chosen(bot_challenge_also_on=BEFORE_SIGN_IN, bot_token_known=False),
        is_alone=True,
    ),
    may("no-token-for-the-challenge: challenge-token", chosen(bot_token_known=False), is_alone=True),
    "how often a token serves is not stated",
    may("challenge-tokens-serve-thrice: challenge-token", enveloped(_serving_thrice, *CHALLENGED)),
    "whether turnstileToken may be left out is not stated",
    may("forgot-without-challenge", chosen(turnstile_required=False)),
)
