"""Coded values: the constants lists in the specification's order, then lists that no endpoint shows."""

from typing import Any, NamedTuple

from reference_impl.choices import Choices


class Code(NamedTuple):
    code: str
    value: int
    label: str
    shown: bool = False
    extra: tuple[tuple[str, Any], ...] = ()


Lists = dict[str, tuple[Code, ...]]


def _country(
    value: int, alpha2: str, alpha3: str, numeric: int, phone: str, label: str, shown: bool = False
) -> Code:
    extra = (("alpha2Code", alpha2), ("alpha3Code", alpha3), ("numericCode", numeric), ("phoneCode", phone))
    return Code(alpha2, value, label, shown, extra)


def _timezone(code: str, value: int, zone: str, offset: str, label: str, shown: bool = False) -> Code:
    return Code(code, value, label, shown, (("zoneIdCode", zone), ("utcOffset", offset)))


def _us_state(code: str, value: int, label: str, shown: bool = False) -> Code:
    return Code(code, value, label, shown, (("isoCode", f"US-{code}"),))


CONSTANTS: Lists = {
    "countries": (
        _country(95010301, "CN", "CHN", 156, "+86", "China", True),
        _country(95010302, "JP", "JPN", 392, "+81", "Japan", True),
        _country(95010303, "US", "USA", 840, "+1", "United States"),
        _country(95010304, "GB", "GBR", 826, "+44", "United Kingdom"),
        _country(95010305, "SG", "SGP", 702, "+65", "Singapore"),
        _country(95010306, "VN", "VNM", 704, "+84", "Vietnam"),
    ),
    "timezones": (
        _timezone("UTC", 95010101, "UTC", "+00:00", "Coordinated Universal Time", True),
        _timezone("ASIA_SHANGHAI", 95010102, "Asia/Shanghai", "+08:00", "Shanghai", True),
        _timezone("ASIA_TOKYO", 95010103, "Asia/Tokyo", "+09:00", "Tokyo"),
        _timezone("ASIA_HO_CHI_MINH", 95010104, "Asia/Ho_Chi_Minh", "+07:00", "Ho Chi Minh City"),
    ),
    "us-states": (
        _us_state("AL", 95010401, "Alabama", True),
        _us_state("AK", 95010402, "Alaska", True),
        _us_state("AZ", 95010403, "Arizona"),
        _us_state("AR", 95010404, "Arkansas"),
        _us_state("CA", 95010405, "California"),
    ),
    "currency-config-statuses": (
        Code("ENABLED", 55010101, "Enabled", True),
        Code("DISABLED", 55010102, "Disabled", True),
    ),
    "notification-channel-statuses": (
        Code("ACTIVE", 80010201, "Active", True),
        Code("INACTIVE", 80010202, "Inactive", True),
    ),
    "notification-channel-type-statuses": (
        Code("ENABLED", 80010301, "Enabled", True),
        Code("DISABLED", 80010302, "Disabled", True),
    ),
    "notification-channel-types": (
        Code("EMAIL", 80010101, "Email", True),
        Code("SMS", 80010102, "Text message"),
        Code("WEBHOOK", 80010103, "Webhook"),
    ),
    "order-statuses": (
        Code("PROCESSING", 30010101, "Processing", True),
        Code("AUDITING", 30010102, "Under audit", True),
        Code("COMPLETED", 30010103, "Completed"),
        Code("FAILED", 30010104, "Failed"),
    ),
    "transfer-statuses": (
        Code("PENDING", 35010701, "Pending", True),
        Code("PROCESSING", 35010702, "Processing", True),
        Code("COMPLETED", 35010703, "Completed"),
        Code("FAILED", 35010704, "Failed"),
    ),
    "user-account-statuses": (
        Code("REGISTERED", 10010201, "Registered", True),
        Code("ACTIVE", 10010202, "Active", True),
        Code("SUSPENDED", 10010203, "Suspended"),
        Code("CLOSED", 10010204, "Closed"),
    ),
    "user-institution-statuses": (
        Code("PENDING", 10010401, "Pending", True),
        Code("REVIEWING", 10010402, "In review", True),
        Code("ACTIVE", 10010403, "Active"),
    ),
    "user-institution-types": (
        Code("PLATFORM", 10010601, "Platform", True),
        Code("TENANT", 10010602, "Tenant", True),
    ),
    "user-invitation-statuses": (
        Code("PENDING", 10050301, "Pending", True),
        Code("ACCEPTED", 10050302, "Accepted", True),
        Code("DECLINED", 10050303, "Declined"),
        Code("EXPIRED", 10050304, "Expired"),
        Code("CANCELLED", 10050305, "Cancelled"),
    ),
    "user-join-sources": (
        Code("REGISTRATION", 10050201, "Registration", True),
        Code("INVITATION", 10050202, "Invitation", True),
    ),
    "user-mfa-methods": (
        Code("EMAIL", 10011001, "Email code", True),
        Code("OTP", 10011002, "Authenticator", True),
    ),
    "user-permission-statuses": (
        Code("ACTIVE", 13010201, "Active", True),
        Code("DEPRECATED", 13010202, "Deprecated", True),
    ),
    "user-permission-types": (
        Code("MENU", 13010101, "Menu", True),
        Code("BUTTON", 13010102, "Button", True),
        Code("API", 13010103, "Interface"),
    ),
    "user-portal-types": (Code("SYSTEM", 10010101, "System", True), Code("TENANT", 10010102, "Tenant", True)),
    "user-workspace-statuses": (
        Code("PENDING_TENANT", 10010301, "Awaiting the tenant", True),
        Code("PENDING_REVIEW", 10010302, "Awaiting review", True),
        Code("ACTIVE", 10010304, "Active"),
    ),
    "wallet-statuses": (
        Code("ACTIVE", 35010101, "Active", True),
        Code("INACTIVE", 35010102, "Inactive", True),
    ),
    "workspace-role-types": (
        Code("OWNER", 10010901, "Owner", True),
        Code("CUSTOM", 10010902, "Custom", True),
    ),
}

HIDDEN: Lists = {
    "workspace-kinds": (Code("LIVE", 10050101, "Live", True), Code("TEST", 10050102, "Test")),
    "file-categories": (Code("DOCUMENT", 90010101, "Document"), Code("IMAGE", 90010102, "Image")),
    "file-statuses": (Code("UPLOADED", 90010201, "Uploaded"), Code("DELETED", 90010202, "Deleted")),
}


def enumerations() -> Lists:
    """A copy of all lists, one per portal; every code may stand in a record."""
    return CONSTANTS | HIDDEN


def shown(codes: tuple[Code, ...], choices: Choices) -> tuple[Code, ...]:
    """What a constants endpoint tells of a list."""
    return codes if choices.constants_complete else tuple(code for code in codes if code.shown)


def enumeration(lists: Lists, name: str, symbol: str, choices: Choices) -> dict[str, Any]:
    code = next(code for code in lists[name] if code.code == symbol)
    wire: dict[str, Any] = {"code": code.code, "value": code.value, "label": label(name, code, choices)}
    if choices.descriptions:
        wire["description"] = f"{code.label} ({name})"
    return wire


def label(name: str, code: Code, choices: Choices) -> str:
    if choices.label_style == "text":
        return code.label
    return f"enum.{name.replace('-', '_')}.{code.code.lower()}"
