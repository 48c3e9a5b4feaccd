"""The profile that fits a portal, as TOML: what the suite must know of it."""

from reference_impl.people import SignIn
from reference_impl.portal import Portal
from reference_impl.records import Seeded

_TYPES = "/web/v1/system/notifications/channel-types"
_CHANNELS = "/web/v1/system/notifications/channels"
_EMAIL_CONFIG = (
    '{ smtpHost = "smtp.example.test", smtpPort = 587, senderEmail = "suite@example.test", '
    'senderName = "Suite", username = "suite", password = "mail-{unique}", useSsl = false, '
    "useStartTls = true, connectionTimeout = 5000, readTimeout = 5000 }"
)
_MAIL_SERVER = (
    '{ host = "%s.example.test", port = %d, username = "suite", password = "mail-{unique}", useSsl = true }'
)
_BY_CODE = '{ email = "{email}", code = "{code}", newPassword = "{new_password}" }'

# Bodies the specification does not show (N1, N3, N6), in the order of its endpoints.
BODIES = (
    ("POST /web/v1/system/auth/password/reset", _BY_CODE),
    ("POST /web/v1/system/auth/password/init", _BY_CODE),
    (
        "POST /web/v1/system/auth/password/change",
        '{ oldPassword = "{password}", newPassword = "{new_password}" }',
    ),
    ("POST /web/v1/secure-channel/session/close", '{ sessionId = "{session_id}" }'),
    ("POST /web/v1/system/security/mfa/otp/verify", '{ code = "{otp}" }'),
    ("POST /web/v1/system/security/sessions/terminate", '{ sessionId = "{session_id}" }'),
    (
        "POST /web/v1/system/accounts/admin/update",
        '{ userBizId = "{account}", accountName = "{unique}", accountRemark = "{unique}" }',
    ),
    (
        "POST /web/v1/system/accounts/admin/status",
        '{ userBizId = "{account}", accountStatus = "REGISTERED" }',
    ),
    (
        "POST /web/v1/system/accounts/admin/password/reset",
        '{ userBizId = "{account}", newPassword = "{new_password}" }',
    ),
    ("POST /web/v1/system/currency-grants", '{ workspaceBizId = "{workspace}", currencyCode = "SGD" }'),
    ("POST /web/v1/system/currency-grants/revoke", '{ bizId = "{result_id}" }'),
    (
        f"POST {_TYPES}/create",
        '{ typeCode = "{unique}", typeName = "Type {unique}", typeDescription = "Made by a test" }',
    ),
    (f"POST {_TYPES}/update", '{ bizId = "{result_id}", typeName = "{unique}" }'),
    (f"POST {_TYPES}/delete", '{ bizId = "{result_id}" }'),
    (f"POST {_TYPES}/enable", '{ bizId = "{result_id}" }'),
    (f"POST {_TYPES}/disable", '{ bizId = "{result_id}" }'),
    (
        f"POST {_CHANNELS}/create",
        (
            '{ channelName = "{unique}", channelHost = "smtp.example.test", channelCategory = "EMAIL", '
            f"emailConfig = {_EMAIL_CONFIG} }}"
        ),
    ),
    (f"POST {_CHANNELS}/update", '{ bizId = "{result_id}", channelName = "{unique}" }'),
    (f"POST {_CHANNELS}/delete", '{ bizId = "{result_id}" }'),
    (f"POST {_CHANNELS}/activate", '{ bizId = "{result_id}" }'),
    (f"POST {_CHANNELS}/deactivate", '{ bizId = "{result_id}" }'),
    ("POST /web/v1/system/notifications/email/validate/imap", _MAIL_SERVER % ("imap", 993)),
    ("POST /web/v1/system/notifications/email/validate/smtp", _MAIL_SERVER % ("smtp", 465)),
)

CREATES = frozenset(
    {"POST /web/v1/system/currency-grants", f"POST {_TYPES}/create", f"POST {_CHANNELS}/create"}
)
INVITE = "POST /web/v1/system/invitations"
OTP_SETUP = "POST /web/v1/system/security/mfa/otp/setup"


def profile(portal: Portal, seeded: Seeded, url: str, *, clock: bool, inbox: bool) -> str:
    sections = [
        "profile = 1",
        _section("portal", _portal(portal, url)),
        *(_account(sign_in, inbox=inbox) for sign_in in seeded.sign_ins.values()),
        *([_inbox(portal, url)] if inbox else []),
        _section("records", seeded.ids),
        _section("secure_channel", _secure_channel(portal)),
        *([_bot_challenge(portal)] if portal.choices.bot_token_known else []),
        *(_operation(portal, name, body) for name, body in BODIES),
        *([_section(f'operations."{INVITE}"', {"result_id": "data.bizId"})] if _tells_id(portal) else []),
        _section(f'operations."{OTP_SETUP}"', {"secret": "data.secret"}),
        _limits(portal),
        *([_section("clock", {"advance": f"{url}/clock/advance"})] if clock else []),
    ]
    return "\n\n".join(sections) + "\n"


def _portal(portal: Portal, url: str) -> dict[str, str]:
    return {
        "url": url,
        "access_code": portal.access_code,
        "other_access_code": portal.other_access_code,
        "api_key": portal.api_key,
    }


def _account(sign_in: SignIn, *, inbox: bool) -> str:
    keys = {"email": sign_in.email, "password": sign_in.password, "mfa": sign_in.mfa}
    if sign_in.otp_secret:
        keys["otp_secret"] = sign_in.otp_secret
    if inbox:
        keys["inbox"] = "mail"
    return _section(f"accounts.{sign_in.name}", keys)


def _inbox(portal: Portal, url: str) -> str:
    """Codes of passwords have six digits, whatever those of sign-ins have."""
    digits = "6" if portal.limits.mfa_code_digits == 6 else f"6,{portal.limits.mfa_code_digits}"
    section = _section("inboxes.mail", {"kind": "http", "url": f"{url}/inbox/{{email}}"})
    return f"{section}\npattern = '\\b(\\d{{{digits}}})\\b'"


def _secure_channel(portal: Portal) -> dict[str, str]:
    choices = portal.choices
    return {
        "key_id_field": choices.key_id_field,
        "public_key_field": choices.public_key_field,
        "public_key_format": choices.public_key_format,
        "rsa_padding": choices.rsa_padding,
        "mgf1": choices.mgf1,
        "body": "object" if choices.encrypted_body == "object" else "string",
        "responses": choices.responses,
        "aes_mode": choices.aes_mode,
        "payload": choices.payload,
    }


def _bot_challenge(portal: Portal) -> str:
    return _section("bot_challenge", {"token": portal.bot_token, "header": "X-Turnstile-Token"})


def _limits(portal: Portal) -> str:
    """Mails and failed sign-ins cost nobody anything here."""
    is_stated = portal.choices.rate_window_known
    window = f"login_window = {portal.limits.login_window:g}\n" if is_stated else ""
    return f"[limits]\n{window}max_mails = 500\nmax_failed_sign_ins = 100"


def _operation(portal: Portal, name: str, body: str) -> str:
    result_id = '\nresult_id = "data.bizId"' if name in CREATES and _tells_id(portal) else ""
    return f'[operations."{name}"]\nbody = {body}{result_id}'


def _tells_id(portal: Portal) -> bool:
    return portal.choices.changes_answer in ("created", "resource")


def _section(name: str, keys: dict[str, str]) -> str:
    return "\n".join([f"[{name}]", *(f'{key} = "{value}"' for key, value in keys.items())])
