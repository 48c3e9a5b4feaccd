"""Where the specification is silent or says two things: the answer this portal gives, and why.

A variant of the portal is another ``Choices``. The first literal of each line is the default.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Choices:
    # Envelope. Samples differ in whether version and timestamp are there.
    envelope_version: bool = True
    envelope_timestamp: bool = True
    success_message: Literal["Success", "SUCCESS"] = "Success"  # both are shown
    null_fields: bool = True  # a nullable field is null, or is left out

    # Enumeration objects. A label is a text or a key; a description is there on some endpoints.
    label_style: Literal["text", "key"] = "text"
    descriptions: bool = False
    constants_complete: bool = True  # or only the codes that were seen

    # Values whose form is not stated.
    ids: Literal[
        "uuid", "numeric", "checked", "prefixed", "ulid", "urn", "upper", "counted", "short", "padded"
    ] = "uuid"
    fraction_digits: Literal[3, 9] = 3  # "with fractional seconds", not how many

    # Statuses of errors: two are given, or none.
    invalid_credentials_status: Literal[401, 400] = 401  # the one that HTTP has for it
    mfa_cooldown_status: int = 429  # too many requests is what it is
    mfa_code_invalid_status: int = 400  # the session stays valid, so not 401
    bot_refused_status: int = 403  # 4030 begins with it
    channel_unknown_status: int = 404  # 4040 begins with it
    rate_limited_status: int = 429
    portal_mismatch_status: int = 403
    body_too_large_status: int = 400  # the table gives VALIDATION.INVALID_PARAMETER that status

    # Codes of errors: two are given, or none.
    missing_token_code: Literal["ACCESS.TOKEN_MISSING", "4010"] = "ACCESS.TOKEN_MISSING"
    missing_token_code_where_4010_is_stated: Literal["4010", "ACCESS.TOKEN_MISSING"] = "4010"
    invalid_token_code: str = "4010"  # the only code that names an invalid token
    rate_limited_code: str = "RATE_LIMIT.EXCEEDED"
    portal_mismatch_code: str = "ACCESS.PORTAL_MISMATCH"
    secure_session_unknown_code: str = "VALIDATION.INVALID_PARAMETER"  # as a malformed encrypted body
    secure_channel_invalid_code: Literal["4000", "VALIDATION.INVALID_PARAMETER"] = (
        "4000"  # missing fields there
    )

    # Sign-in.
    factors: tuple[str, ...] = ("EMAIL", "OTP")  # which of them a deployment offers
    authenticator_replaces_email: bool = False  # what verifying one does to the other factor: not shown
    rate_scope: Literal["address", "account", "all"] = "address"
    rate_window: Literal["sliding", "fixed"] = "sliding"
    rate_counts_invalid: bool = True  # whether a body that fails validation uses up the window
    rate_window_known: bool = True  # its length is not shown, so that a profile may lack it
    retry_after: bool = True  # the header is usual, not stated
    cooldown_scope: Literal["session", "account"] = "session"
    pending_at_initiate: Literal["flag", "code"] = "flag"  # pendingApproval, or ACCOUNT_PENDING_APPROVAL
    pending_code_status: int = 200  # "n/a" in the table of errors
    account_status_at_sign_in: Literal["null", "always"] = "null"  # null is shown, an enumeration is allowed
    client_hash_enforced: bool = False  # keeping it is stated as the client's duty
    backup_codes_sign_in: bool = True
    turnstile_required: bool = True  # whether password forgot may leave it out

    # Tokens and sessions.
    access_token: Literal["HS256", "RS256", "ES256", "EdDSA", "opaque"] = "HS256"
    refresh_rotation: bool = True
    logout_ends: Literal["own", "all"] = "own"  # "sessions ended" does not say which
    terminate_all_spares_current: bool = True
    password_change_ends_sessions: bool = False

    # Secure channel (N2, N3, N6).
    key_id_field: str = "keyId"
    public_key_field: str = "publicKey"
    public_key_format: Literal["spki-base64", "pem", "jwk"] = "spki-base64"
    rsa_padding: Literal["oaep-sha256", "oaep-sha1", "pkcs1v15"] = "oaep-sha256"
    mgf1: Literal["sha256", "sha1"] = "sha256"
    wrapped_key: Literal["bytes", "base64"] = "bytes"  # whether RSA wraps the key or its base64 text
    aes_mode: Literal["gcm", "cbc"] = "gcm"
    payload: str = "iv+ciphertext+tag"
    encrypted_body: Literal["string", "object", "either"] = "string"
    responses: Literal["plain", "encrypted"] = "plain"

    # Request bodies and parameters.
    unknown_properties: Literal["accepted", "rejected"] = "accepted"  # rejected at initiate in any case
    statuses_required: bool = False  # marked required, and said to be optional
    statuses_form: Literal["both", "repeated", "comma"] = "both"
    text_filters: Literal["contains", "equals"] = "contains"
    page_out_of_range: Literal["empty", "last", "refused"] = "empty"
    page_negative: Literal["refused", "first"] = "refused"
    size_above_max: Literal["capped", "refused"] = "capped"
    sort_unknown: Literal["refused", "ignored"] = "refused"
    orders_of_unknown_workspace: Literal["refused", "empty"] = "refused"
    edge_headers_required: bool = False  # an edge proxy sets them; nothing says what their absence gives
    request_id_required: bool = False
    bot_challenge_also_on: tuple[str, ...] = ()  # "which further endpoints": not shown
    bot_token_known: bool = True  # a challenge that only people solve gives no token to a profile

    # Answers that are not shown (N4, N5).
    changes_answer: Literal["created", "null", "empty", "success", "true", "text", "array", "resource"] = (
        "created"
    )
    workspaces_mine: Literal["array", "items", "workspaces", "page"] = "array"
    permission_items: Literal["objects", "codes"] = "objects"
    whitelist_enforced: bool = True  # that it keeps others out is what it is for, and not stated
    whitelist_entries: Literal["strings", "objects"] = "strings"
    activated_status: str = "ACTIVE"  # the effect of activate on the status: not shown
    unfinished_orders: bool = False  # completedAt is not said to be nullable

    # What a deployment may hold, and whom it lets in.
    empty_system: bool = False
    few_records: bool = False  # less than a page of everything
    constants_public: bool = False
    constants_need_permission: bool = True
