"""Sign-in, tokens, the secure channel, and the statuses and codes that are open."""

from base64 import b64decode
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
from reference_impl.faults.fault import first, renamed
from reference_impl.faults.operations import COMPLETE, FORGOT, INITIATE, SECURE_SESSION, SEND
from reference_impl.faults.tokens import Issued
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen


def _earlier_codes_too(plan: Plan) -> None:
    """A code stays valid when another one was sent for the same session."""
    sent: dict[str, list[str]] = {}

    def noting(handler: Handler) -> Handler:
        def sending(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            newest = portal.mfa_codes.get(body["sessionId"])
            sent.setdefault(body["sessionId"], []).extend([newest.text] if newest else [])
            return data

        return sending

    def accepting(handler: Handler) -> Handler:
        def completing(portal: Portal, caller: Caller, body: Body) -> Any:
            newest = portal.mfa_codes.get(body["sessionId"])
            if newest and body.get("method") == 10011001 and body["code"] in sent.get(body["sessionId"], []):
                newest.text = body["code"]
            return handler(portal, caller, body)

        return completing

    handled(SEND, noting)(plan)
    handled(COMPLETE, accepting)(plan)


def _keys_are_base64(portal: Portal, caller: Caller, body: Body) -> None:
    """The fields are validated before a key is looked up or decrypted."""
    for name in ("encReqKey", "encRespKey"):
        try:
            b64decode(body[name], validate=True)
        except ValueError:
            raise Refusal(INVALID) from None


def _one_login_session(handler: Handler) -> Handler:
    """A sign-in that begins ends the login session that the account had before."""

    def initiating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        begun = portal.login_sessions.get(data["sessionId"])
        for other in list(portal.login_sessions.values()):
            if begun is not None and other.account_id == begun.account_id and other is not begun:
                del portal.login_sessions[other.id]
        return data

    return initiating


def _otp_needs_no_sending(handler: Handler) -> Handler:
    """Asked to send for the authenticator, the portal says that it need not."""

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        if body.get("method") == 10011002 and body["sessionId"] in portal.login_sessions:
            return {"sent": False, "cooldownSeconds": 0, "codeExpiresIn": 0}
        return handler(portal, caller, body)

    return sending


def _only_so_often(handler: Handler, *, most: int = 5, window: float = 60) -> Handler:
    """Five for an address in a minute; the rest are refused."""
    times: dict[str, list[float]] = {}

    def limiting(portal: Portal, caller: Caller, body: Body) -> Any:
        now = portal.now()
        recent = [moment for moment in times.get(caller.client_ip, []) if moment > now - window]
        if len(recent) >= most:
            raise Refusal("RATE_LIMITED", headers={"retry-after": str(int(window))})
        times[caller.client_ip] = [*recent, now]
        return handler(portal, caller, body)

    return limiting


def _numeric_codes(plan: Plan) -> None:
    """Invalid bodies are told by 4000."""
    for name in plan.rows:
        renamed(name, INVALID, "COMMAND_INVALID")(plan)


def _pending_by_another_name(data: Any) -> Any:
    data["isPendingApproval"] = data.pop("pendingApproval")
    return data


def _refused_when_pending(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] == "ACCOUNT_PENDING_APPROVAL":
        answer.body["success"], answer.body["data"], answer.status = False, None, 403


def _from_the_edge(seen: Seen, answer: Answer) -> None:
    """The rate is kept by a proxy, which has no envelope."""
    if answer.status == 429 and answer.body["code"] == "RATE_LIMIT.EXCEEDED":
        answer.body, answer.headers = b"<html>Too Many Requests</html>", [(b"content-type", b"text/html")]


def _name_as_subject(plan: Plan) -> None:
    """A library that knows no ``sub`` finds the id under ``name``."""
    usual = plan.tokens
    plan.tokens = lambda choices, draw: Issued(
        usual(choices, draw), lambda claims: claims | {"name": claims["sub"]}
    )


def _address_repeated(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and isinstance(seen.body, dict):
        email = str(seen.body.get("email")).lower()
        answer.body["data"]["message"] = f"If {email} has an account, a mail is on its way."


def _two_keys(data: Any) -> Any:
    """The public key with more about it."""
    return data | {
        "algorithm": "RSA-OAEP-256",
        "expiresAt": 4_102_444_800_000,
        "padding": {"hash": "SHA-256"},
    }


_OPEN = "the HTTP status is unspecified"
_N2 = "N2 and N6: the key's shape and the cipher are not shown"
_LOGIN = "/web/v1/system/auth/login/initiate"

VARIANTS: tuple[Variant, ...] = (
    # Credentials and login sessions.
    may("credentials-400", "401 and 400 are both given", chosen(invalid_credentials_status=400)),
    may(
        "email-only", "which factors a deployment offers is not stated", chosen(factors=("EMAIL",)), "factors"
    ),
    may("otp-only", "which factors a deployment offers is not stated", chosen(factors=("OTP",)), "factors"),
    may(
        "no-backup-codes-at-sign-in",
        "what backup codes are good for is not shown",
        chosen(backup_codes_sign_in=False),
    ),
    may(
        "client-hash-enforced",
        "the same hash is to be kept across the login steps",
        chosen(client_hash_enforced=True),
    ),
    may("pending-code", "flag and result code are both given", chosen(pending_at_initiate="code"), "pending"),
    may(
        "pending-code-with-403",
        "the HTTP status of the result code is n/a",
        together(
            chosen(pending_at_initiate="code", pending_code_status=403),
            rewritten(enveloped(_refused_when_pending), INITIATE),
        ),
        "pending",
    ),
    may(
        "pending-by-another-name",
        "pendingApproval and isPendingApproval are both given",
        data_rewritten(_pending_by_another_name, INITIATE, COMPLETE),
        "pending",
    ),
    may(
        "account-status-told",
        "accountStatus is null or an enumeration",
        chosen(account_status_at_sign_in="always"),
    ),
    # Codes.
    may("cooldown-400", _OPEN, chosen(mfa_cooldown_status=400), "cooldown-status"),
    may("cooldown-409", _OPEN, chosen(mfa_cooldown_status=409), "cooldown-status"),
    may("wrong-code-401", _OPEN, chosen(mfa_code_invalid_status=401), "wrong-code-status"),
    may("wrong-code-422", _OPEN, chosen(mfa_code_invalid_status=422), "wrong-code-status"),
    may(
        "cooldown-of-the-account",
        "whether the cooldown is the session's or the account's is not stated",
        chosen(cooldown_scope="account"),
    ),
    may("earlier-codes-stay-valid", "whether a resend replaces the code is not stated", _earlier_codes_too),
    may(
        "otp-needs-no-sending",
        "how a send for the authenticator is answered is not stated",
        handled(SEND, _otp_needs_no_sending),
    ),
    # The rate.
    may(
        "rate-of-an-account",
        "what the rate is counted for is not stated",
        chosen(rate_scope="account"),
        "rate-scope",
    ),
    may("rate-of-all", "what the rate is counted for is not stated", chosen(rate_scope="all"), "rate-scope"),
    may("fixed-window", "the window is not described", chosen(rate_window="fixed")),
    may("long-window", "the length of the window is not shown", limited(login_window=600)),
    may(
        "rate-counts-valid-bodies",
        "what a request within the rate is, is not stated",
        chosen(rate_counts_invalid=False),
    ),
    may("no-retry-after", "headers of answers are not described", chosen(retry_after=False), "rate-answer"),
    may(
        "rate-by-another-code",
        "the code of a rate-limit response is not shown",
        chosen(rate_limited_code="TOO_MANY_REQUESTS", rate_limited_status=403, retry_after=False),
        "rate-answer",
    ),
    may(
        "rate-kept-by-the-edge",
        "the form of a rate-limit response is not shown",
        rewritten(enveloped(_from_the_edge), INITIATE),
        "rate-answer",
    ),
    may(
        "forgot-repeats-the-address",
        "the generic text is not shown",
        rewritten(enveloped(_address_repeated), FORGOT),
        "forgot-text",
    ),
    may("forgot-has-a-rate", "rate-limit responses are reported for it", handled(FORGOT, _only_so_often)),
    # Tokens and sessions.
    may("rs256-tokens", "the algorithm is not stated", chosen(access_token="RS256"), "tokens"),
    may("es256-tokens", "the algorithm is not stated", chosen(access_token="ES256"), "tokens"),
    may("eddsa-tokens", "the algorithm is not stated", chosen(access_token="EdDSA"), "tokens"),
    may("opaque-tokens", "clients read the profile, not the token", chosen(access_token="opaque"), "tokens"),
    may(
        "tokens-name-their-subject-twice",
        "claims are not described beyond that profile data is none",
        _name_as_subject,
        "claims",
    ),
    may(
        "no-rotation",
        "whether the refresh token changes is not stated",
        chosen(refresh_rotation=False),
        "rotation",
    ),
    may(
        "old-refresh-tokens-stay-valid",
        "whether a refresh token may be used again is not stated",
        moved("refresh token", "VALID", "refresh", "VALID"),
        "rotation",
    ),
    may(
        "one-login-session-an-account",
        "whether a login session outlives the next one of its account is not stated",
        handled(INITIATE, _one_login_session),
    ),
    may("logout-ends-all", "sessions ended: which, is not stated", chosen(logout_ends="all")),
    may("terminate-all-ends-all", "N5 and N1", chosen(terminate_all_spares_current=False)),
    may(
        "password-change-ends-sessions",
        "what a password change does to sessions is not shown",
        chosen(password_change_ends_sessions=True),
    ),
    may("few-sessions", "maxSessions has no stated value", limited(max_sessions=5)),
    # Codes and statuses of other errors.
    may("token-missing-4010", "two codes are given", chosen(missing_token_code="4010")),
    may(
        "token-missing-by-name-everywhere",
        "two codes are given",
        chosen(missing_token_code_where_4010_is_stated="ACCESS.TOKEN_MISSING"),
    ),
    may(
        "token-invalid-by-name",
        "the catalogue of errors is not complete",
        chosen(invalid_token_code="ACCESS.TOKEN_INVALID"),
    ),
    may("invalid-parameter-4000", "4000 is a validation error too", _numeric_codes, "validation-code"),
    may(
        "secure-channel-invalid-by-name",
        "two codes are given for a body that breaks its rules",
        chosen(secure_channel_invalid_code="VALIDATION.INVALID_PARAMETER"),
        "validation-code",
    ),
    may(
        "refused-keys-by-the-general-code",
        "two codes are given for an invalid field",
        refused_with("4000", code=INVALID),
        "refused-keys",
    ),
    may(
        "key-without-base64-is-an-invalid-field",
        "two codes are given for an invalid field",
        together(
            *[
                first(SECURE_SESSION, _keys_are_base64),
                chosen(secure_channel_invalid_code="VALIDATION.INVALID_PARAMETER"),
            ]
        ),
        "refused-keys validation-code",
    ),
    may("challenge-401", _OPEN, chosen(bot_refused_status=401), "challenge-status"),
    may("challenge-400", _OPEN, chosen(bot_refused_status=400), "challenge-status"),
    may("channel-unknown-400", _OPEN, chosen(channel_unknown_status=400)),
    may(
        "mismatch-401",
        "a portal mismatch has no stated status or code",
        chosen(portal_mismatch_status=401, portal_mismatch_code="PORTAL_MISMATCH"),
        "mismatch",
    ),
    may(
        "mismatch-404",
        "a portal mismatch has no stated status or code",
        chosen(portal_mismatch_status=404, portal_mismatch_code="NOT_HERE"),
        "mismatch",
    ),
    may("body-too-large-413", "how large a body may be is not stated", chosen(body_too_large_status=413)),
    may(
        "wrong-method-404",
        "how a wrong method is answered is not described",
        refused_with("METHOD_NOT_ALLOWED", code="RESOURCE.NOT_FOUND", status=404),
    ),
    may(
        "challenge-in-more-places",
        "which further endpoints require it is not shown",
        chosen(bot_challenge_also_on=("/web/v1/system/accounts/admin/query",)),
        "challenge-places",
    ),
    may(
        "challenge-at-sign-in",
        "which further endpoints require it is not shown",
        chosen(bot_challenge_also_on=(_LOGIN,)),
        "challenge-places",
    ),
    may(
        "forgot-without-challenge",
        "whether turnstileToken may be left out is not stated",
        chosen(turnstile_required=False),
    ),
    may("request-id-required", "the reference lists it as required", chosen(request_id_required=True)),
    may("edge-headers-required", "the reference lists them as required", chosen(edge_headers_required=True)),
    # The secure channel.
    may(
        "key-as-pem",
        _N2,
        chosen(public_key_format="pem", public_key_field="pem", key_id_field="id"),
        "public-key",
    ),
    may(
        "key-as-jwk",
        _N2,
        chosen(public_key_format="jwk", public_key_field="jwk", key_id_field="jwk.kid"),
        "public-key",
    ),
    may(
        "key-with-more-about-it",
        _N2,
        data_rewritten(_two_keys, "GET /web/v1/secure-channel/public-key"),
        "public-key",
    ),
    may("pkcs1-padding", _N2, chosen(rsa_padding="pkcs1v15"), "rsa"),
    may("oaep-sha1", _N2, chosen(rsa_padding="oaep-sha1", mgf1="sha1"), "rsa"),
    may("oaep-sha256-with-mgf1-sha1", _N2, chosen(rsa_padding="oaep-sha256", mgf1="sha1"), "rsa"),
    may("cbc", _N2, chosen(aes_mode="cbc", payload="iv+ciphertext"), "aes"),
    may("cbc-with-the-iv-last", _N2, chosen(aes_mode="cbc", payload="ciphertext+iv"), "aes"),
    may("tag-before-ciphertext", _N2, chosen(payload="iv+tag+ciphertext"), "aes"),
    may("iv-last", _N2, chosen(payload="ciphertext+tag+iv"), "aes"),
    may(
        "encrypted-objects",
        "the body is shown as a string whose content is an object",
        chosen(encrypted_body="object"),
        "body-form",
    ),
    may(
        "encrypted-strings-or-objects",
        "the body is shown as a string whose content is an object",
        chosen(encrypted_body="either"),
        "body-form",
    ),
    may("encrypted-answers", "there is a key for responses", chosen(responses="encrypted"), "responses"),
    may(
        "sealed-objects",
        _N2,
        chosen(
            encrypted_body="object",
            aes_mode="cbc",
            payload="iv+ciphertext",
            public_key_format="jwk",
            responses="encrypted",
            rsa_padding="oaep-sha1",
            mgf1="sha1",
        ),
        "body-form aes public-key rsa responses",
    ),
    may(
        "short-secure-sessions",
        "how long a secure-channel session lasts is not stated",
        limited(secure_session=120.0),
    ),
    may(
        "unknown-secure-session-404",
        "status and code are not shown",
        refused_with("SECURE_SESSION_UNKNOWN", code="SECURE_CHANNEL.SESSION_UNKNOWN", status=404),
    ),
)
