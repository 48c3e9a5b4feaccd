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


_LISTS = (
    ConstantList(endpoints.COUNTRIES, "CONSTANT-020", "CONSTANT-041", {"CN": 95010301, "JP": 95010302}),
    ConstantList(
        endpoints.TIMEZONES, "CONSTANT-021", "CONSTANT-042", {"UTC": 95010101, "ASIA_SHANGHAI": 95010102}
    ),
    ConstantList(endpoints.US_STATES, "CONSTANT-022", "CONSTANT-043", {"AL": 95010401, "AK": 95010402}),
    ConstantList(
        endpoints.CURRENCY_CONFIG_STATUSES,
        "CONSTANT-023",
        "CONSTANT-044",
        {"ENABLED": 55010101, "DISABLED": 55010102},
    ),
    ConstantList(
        endpoints.NOTIFICATION_CHANNEL_STATUSES,
        "CONSTANT-024",
        "CONSTANT-045",
        {"ACTIVE": 80010201, "INACTIVE": 80010202},
    ),
    ConstantList(
        endpoints.NOTIFICATION_CHANNEL_TYPE_STATUSES,
        "CONSTANT-025",
        "CONSTANT-046",
        {"ENABLED": 80010301, "DISABLED": 80010302},
    ),
    ConstantList(endpoints.NOTIFICATION_CHANNEL_TYPES, "CONSTANT-026", "CONSTANT-047", {"EMAIL": 80010101}),
    ConstantList(
        endpoints.ORDER_STATUSES,
        "CONSTANT-027",
        "CONSTANT-048",
        {"PROCESSING": 30010101, "AUDITING": 30010102},
    ),
    ConstantList(
        endpoints.TRANSFER_STATUSES,
        "CONSTANT-028",
        "CONSTANT-049",
        {"PENDING": 35010701, "PROCESSING": 35010702},
    ),
    ConstantList(
        endpoints.USER_ACCOUNT_STATUSES,
        "CONSTANT-029",
        "CONSTANT-050",
        {"REGISTERED": 10010201, "ACTIVE": 10010202},
    ),
    ConstantList(
        endpoints.USER_INSTITUTION_STATUSES,
        "CONSTANT-030",
        "CONSTANT-051",
        {"PENDING": 10010401, "REVIEWING": 10010402},
    ),
    ConstantList(
        endpoints.USER_INSTITUTION_TYPES,
        "CONSTANT-031",
        "CONSTANT-052",
        {"PLATFORM": 10010601, "TENANT": 10010602},
    ),
    ConstantList(
        endpoints.USER_INVITATION_STATUSES,
        "CONSTANT-032",
        "CONSTANT-053",
        {"PENDING": 10050301, "ACCEPTED": 10050302},
    ),
    ConstantList(
        endpoints.USER_JOIN_SOURCES,
        "CONSTANT-033",
        "CONSTANT-054",
        {"REGISTRATION": 10050201, "INVITATION": 10050202},
    ),
    ConstantList(
        endpoints.USER_MFA_METHODS, "CONSTANT-034", "CONSTANT-055", {"EMAIL": 10011001, "OTP": 10011002}
    ),
    ConstantList(
        endpoints.USER_PERMISSION_STATUSES,
        "CONSTANT-035",
        "CONSTANT-056",
        {"ACTIVE": 13010201, "DEPRECATED": 13010202},
    ),
    ConstantList(
        endpoints.USER_PERMISSION_TYPES,
        "CONSTANT-036",
        "CONSTANT-057",
        {"MENU": 13010101, "BUTTON": 13010102},
    ),
    ConstantList(
        endpoints.USER_PORTAL_TYPES, "CONSTANT-037", "CONSTANT-058", {"SYSTEM": 10010101, "TENANT": 10010102}
    ),
    ConstantList(
        endpoints.USER_WORKSPACE_STATUSES,
        "CONSTANT-038",
        "CONSTANT-059",
        {"PENDING_TENANT": 10010301, "PENDING_REVIEW": 10010302},
    ),
    ConstantList(
        endpoints.WALLET_STATUSES, "CONSTANT-039", "CONSTANT-060", {"ACTIVE": 35010101, "INACTIVE": 35010102}
    ),
    ConstantList(
        endpoints.WORKSPACE_ROLE_TYPES,
        "CONSTANT-040",
        "CONSTANT-061",
        {"OWNER": 10010901, "CUSTOM": 10010902},
    ),
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
