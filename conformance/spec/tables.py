"""The specification's enumerations, constants, states, errors and limits as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from conformance.spec import endpoints

SUCCESS_CODE = "2000"
PORTAL_VERSION = "2.0.0"
SECURE_SESSION_VERSION = "1.3.0"


@dataclass(frozen=True, slots=True)
class ConstantList:
    """One constants list: the endpoint that serves it, and the codes with their values that the specification
    shows of it; whether a list is complete is not shown.

    ``values`` is the requirement that these codes have these values, ``presence`` that the list has them all.
    """

    endpoint: str
    values: str
    presence: str
    codes: Mapping[str, int]

    @property
    def suffix(self) -> str:
        """The last segment of the endpoint's path, which is the list's name."""
        return self.endpoint.rpartition("/")[2]


def _list(number: int, endpoint: str, **codes: int) -> ConstantList:
    """The row whose requirements are CONSTANT-020 and CONSTANT-041, and so on."""
    return ConstantList(endpoint, f"CONSTANT-{number:03}", f"CONSTANT-{number + 21:03}", codes)


_LISTS = (
    _list(20, endpoints.COUNTRIES, CN=95010301, JP=95010302),
    _list(21, endpoints.TIMEZONES, UTC=95010101, ASIA_SHANGHAI=95010102),
    _list(22, endpoints.US_STATES, AL=95010401, AK=95010402),
    _list(23, endpoints.CURRENCY_CONFIG_STATUSES, ENABLED=55010101, DISABLED=55010102),
    _list(24, endpoints.NOTIFICATION_CHANNEL_STATUSES, ACTIVE=80010201, INACTIVE=80010202),
    _list(25, endpoints.NOTIFICATION_CHANNEL_TYPE_STATUSES, ENABLED=80010301, DISABLED=80010302),
    _list(26, endpoints.NOTIFICATION_CHANNEL_TYPES, EMAIL=80010101),
    _list(27, endpoints.ORDER_STATUSES, PROCESSING=30010101, AUDITING=30010102),
    _list(28, endpoints.TRANSFER_STATUSES, PENDING=35010701, PROCESSING=35010702),
    _list(29, endpoints.USER_ACCOUNT_STATUSES, REGISTERED=10010201, ACTIVE=10010202),
    _list(30, endpoints.USER_INSTITUTION_STATUSES, PENDING=10010401, REVIEWING=10010402),
    _list(31, endpoints.USER_INSTITUTION_TYPES, PLATFORM=10010601, TENANT=10010602),
    _list(32, endpoints.USER_INVITATION_STATUSES, PENDING=10050301, ACCEPTED=10050302),
    _list(33, endpoints.USER_JOIN_SOURCES, REGISTRATION=10050201, INVITATION=10050202),
    _list(34, endpoints.USER_MFA_METHODS, EMAIL=10011001, OTP=10011002),
    _list(35, endpoints.USER_PERMISSION_STATUSES, ACTIVE=13010201, DEPRECATED=13010202),
    _list(36, endpoints.USER_PERMISSION_TYPES, MENU=13010101, BUTTON=13010102),
    _list(37, endpoints.USER_PORTAL_TYPES, SYSTEM=10010101, TENANT=10010102),
    _list(38, endpoints.USER_WORKSPACE_STATUSES, PENDING_TENANT=10010301, PENDING_REVIEW=10010302),
    _list(39, endpoints.WALLET_STATUSES, ACTIVE=35010101, INACTIVE=35010102),
    _list(40, endpoints.WORKSPACE_ROLE_TYPES, OWNER=10010901, CUSTOM=10010902),
)

CONSTANT_LISTS: Mapping[str, ConstantList] = MappingProxyType({row.suffix: row for row in _LISTS})
"""By suffix, in the specification's order."""

CONSTANTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {suffix: row.codes for suffix, row in CONSTANT_LISTS.items()}
)
"""The codes and values that the specification shows of each constants list."""

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

INVALID_BODY = "VALIDATION.INVALID_PARAMETER"

INVALID_PARAMETER = (INVALID_BODY, "4000")
"""The table has two codes for a body that breaks its rules; both are lawful."""

TOKEN_REFUSED = ("ACCESS.TOKEN_MISSING", "4010")
"""The table has two codes for a missing token; both are lawful."""

RECORD_UNKNOWN = ("RESOURCE.NOT_FOUND", "4040")
"""The table has a code for an id that no record has, and one for that of a channel."""

WRONG_CODE = "AUTH.MFA_CODE_INVALID"
COOLDOWN = "AUTH.MFA_SEND_COOLDOWN"
NO_SESSION = "AUTH.SESSION_NOT_FOUND"
PERMISSION_DENIED = "ACCESS.PERMISSION_DENIED"

CHALLENGE_FAILED = "4030"
"""The code of a bot challenge that was not passed."""

ERROR_BY_CODE: Mapping[str, ErrorRow] = MappingProxyType({row.code: row for row in ERRORS})


@dataclass(frozen=True, slots=True)
class StatedLimits:
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


LIMITS = StatedLimits()

RECORD_OF_PARAMETER: Mapping[str, str] = MappingProxyType(
    {
        "userBizId": "account",
        "institutionBizId": "institution",
        "roleBizId": "role",
        "fileBizId": "file",
        "workspaceId": "workspace",
    }
)
"""The kind of record whose id stands in each parameter of a path, as a profile's ``[records]`` names it."""

LANGUAGES = ("en", "zh", "zh-Hant", "ja", "vi")

READS_FILE_HEADERS = (
    "X-LOCALE", "CF-Connecting-IP", "CF-IPCountry", "CF-Ray", "CF-Visitor",
    "X-Real-IP", "X-PORTAL-ACCESS-CODE", "X-Forwarded-For", "X-Forwarded-Proto",
)  # fmt: skip
