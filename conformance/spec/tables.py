"""The specification's enumerations, constants, states, errors and limits as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

SUCCESS_CODE = "2000"
PORTAL_VERSION = "2.0.0"
SECURE_SESSION_VERSION = "1.3.0"

CONSTANTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "countries": {"CN": 95010301, "JP": 95010302},
        "timezones": {"UTC": 95010101, "ASIA_SHANGHAI": 95010102},
        "us-states": {"AL": 95010401, "AK": 95010402},
        "currency-config-statuses": {"ENABLED": 55010101, "DISABLED": 55010102},
        "notification-channel-statuses": {"ACTIVE": 80010201, "INACTIVE": 80010202},
        "notification-channel-type-statuses": {"ENABLED": 80010301, "DISABLED": 80010302},
        "notification-channel-types": {"EMAIL": 80010101},
        "order-statuses": {"PROCESSING": 30010101, "AUDITING": 30010102},
        "transfer-statuses": {"PENDING": 35010701, "PROCESSING": 35010702},
        "user-account-statuses": {"REGISTERED": 10010201, "ACTIVE": 10010202},
        "user-institution-statuses": {"PENDING": 10010401, "REVIEWING": 10010402},
        "user-institution-types": {"PLATFORM": 10010601, "TENANT": 10010602},
        "user-invitation-statuses": {"PENDING": 10050301, "ACCEPTED": 10050302},
        "user-join-sources": {"REGISTRATION": 10050201, "INVITATION": 10050202},
        "user-mfa-methods": {"EMAIL": 10011001, "OTP": 10011002},
        "user-permission-statuses": {"ACTIVE": 13010201, "DEPRECATED": 13010202},
        "user-permission-types": {"MENU": 13010101, "BUTTON": 13010102},
        "user-portal-types": {"SYSTEM": 10010101, "TENANT": 10010102},
        "user-workspace-statuses": {"PENDING_TENANT": 10010301, "PENDING_REVIEW": 10010302},
        "wallet-statuses": {"ACTIVE": 35010101, "INACTIVE": 35010102},
        "workspace-role-types": {"OWNER": 10010901, "CUSTOM": 10010902},
    }
)
"""The codes and values seen in each constants list; whether a list is complete is not shown."""

STATES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "Account": {"REGISTERED": 10010201, "ACTIVE": 10010202},
        "Institution": {"PENDING": 10010401, "REVIEWING": 10010402, "ACTIVE": 10010403},
        "Workspace": {"PENDING_TENANT": 10010301, "PENDING_REVIEW": 10010302, "ACTIVE": 10010304},
        "Invitation": {"PENDING": 10050301, "ACCEPTED": 10050302, "EXPIRED": 10050304},
        "Notification channel": {"ACTIVE": 80010201, "INACTIVE": 80010202},
        "Notification channel type": {"ENABLED": 80010301, "DISABLED": 80010302},
        "Permission": {"ACTIVE": 13010201, "DEPRECATED": 13010202},
    }
)

PORTAL_TYPES: Mapping[str, int] = CONSTANTS["user-portal-types"]
MFA_METHODS: Mapping[str, int] = CONSTANTS["user-mfa-methods"]
WORKSPACE_KINDS: Mapping[str, int] = MappingProxyType({"LIVE": 10050101})
ORDER_COMPLETED = (2, "COMPLETED")

CODED_FIELDS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "accountPortal": PORTAL_TYPES,
        "accountStatus": STATES["Account"],
        "mfaMethod": MFA_METHODS,
        "mfaMethods": MFA_METHODS,
        "workspaceStatus": STATES["Workspace"],
        "workspaceKind": WORKSPACE_KINDS,
        "institutionType": CONSTANTS["user-institution-types"],
        "institutionStatus": STATES["Institution"],
        "roleType": CONSTANTS["workspace-role-types"],
        "invitationStatus": STATES["Invitation"],
        "typeStatus": STATES["Notification channel type"],
    }
)
"""Which family an enumeration object in a field belongs to, with the codes and values known of it."""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A row of the error table. ``statuses`` empty: the specification names none."""

    code: str
    statuses: tuple[int, ...]
    condition: str


ERRORS: tuple[ErrorRow, ...] = (
    ErrorRow("AUTH.INVALID_CREDENTIALS", (401, 400), "wrong email or password at initiate"),
    ErrorRow("AUTH.SESSION_NOT_FOUND", (404,), "unknown session at complete or refresh"),
    ErrorRow("AUTH.MFA_SEND_COOLDOWN", (), "resend during the cooldown"),
    ErrorRow("AUTH.MFA_CODE_INVALID", (), "wrong code"),
    ErrorRow("ACCOUNT_PENDING_APPROVAL", (), "initiate of an account that awaits approval"),
    ErrorRow("VALIDATION.INVALID_PARAMETER", (400,), "a body that breaks its rules"),
    ErrorRow("ACCESS.TOKEN_MISSING", (401,), "no bearer token on a protected endpoint"),
    ErrorRow("ACCESS.PERMISSION_DENIED", (403,), "access denied"),
    ErrorRow("RESOURCE.NOT_FOUND", (404,), "unknown business id"),
    ErrorRow("GA2031", (400,), "workspaces/current"),
    ErrorRow("4000", (400,), "validation error; secure-channel key"),
    ErrorRow("4010", (401,), "invalid, expired or absent token"),
    ErrorRow("4030", (), "bot challenge failed"),
    ErrorRow("4040", (), "channel not found"),
)

ERROR_BY_CODE: Mapping[str, ErrorRow] = MappingProxyType({row.code: row for row in ERRORS})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits table. Units beyond ``cooldownSeconds`` are only implied to be seconds."""

    login_initiations: int = 10
    login_session: int = 300
    mfa_code: int = 300
    mfa_cooldown: int = 60
    access_token: int = 3600
    email_max: int = 255
    password_min: int = 8
    password_max: int = 128
    page: int = 0
    size: int = 20
    order_range_days: int = 30


LIMITS = Limits()

LANGUAGES = ("en", "zh", "zh-Hant", "ja", "vi")

READS_FILE_HEADERS = (
    "X-LOCALE", "CF-Connecting-IP", "CF-IPCountry", "CF-Ray", "CF-Visitor",
    "X-Real-IP", "X-PORTAL-ACCESS-CODE", "X-Forwarded-For", "X-Forwarded-Proto",
)  # fmt: skip
