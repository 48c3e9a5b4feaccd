"""The kind of each field of a message, by its name: a value, an identity, a time, or a shape."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal

from conformance.traffic.exchange import Json
from conformance.traffic.values import REDACTED

Kind = Literal["value", "identity", "time", "shape", "address", "message"]

IDENTITIES = frozenset(["createdBy", "updatedBy", "objectKey", "etag", "kid", "jti", "sub", "sid"])
TIMES = frozenset(["timestamp", "date", "time", "exp", "iat", "nbf"])
ADDRESSES = frozenset(["clientIp", "lastLoginIp", "ip", "ipAddress", "remoteAddress"])

RECORDS = {
    "x-workspace-id": "workspace",
    "fromWalletId": "wallet",
    "toWalletId": "wallet",
    "userBizId": "account",
    "accountBizId": "account",
    "inviteeAccountBizId": "account",
    "inviterBizId": "account",
    "createdBy": "account",
    "updatedBy": "account",
}
"""By name of a field, the kind of record that an id in it identifies, where the name does not say it."""

SIGN_IN = "sign-in"

RECORDS_OF_PATHS = (
    ("/permissions/", "permission"),
    ("/roles/", "role"),
    ("/accounts/", "account"),
    ("/invitations/", "invitation"),
    ("/profile/", "account"),
    ("/workspaces/", "workspace"),
    ("/institutions/", "institution"),
    ("/files/", "file"),
    ("/channel-types/", "channel type"),
    ("channels/", "channel"),
    ("/currency-grants/", "grant"),
    ("/sessions/history/", SIGN_IN),
    ("/orders/", "order"),
)
"""By part of a path, the kind of record that it is about."""

SHORTEST_OPAQUE = 16
"""From this length on an id is taken for unique among all records."""

_ID = re.compile(r"(?:.*[a-z0-9]I[dD]s?|.*_id|id|ID|.*ID|.*Uuid|uuid|.*Token)\Z")
_SHAPE = re.compile(
    r"(?:public_?[kK]ey(?:Pem|Jwk)?|key|pem|jwk|n|p|secret(?:Key)?|otpauth(?:Ur[li])?|qrCode(?:Url)?"
    r"|(?:backupC|recoveryC|c)odes|enc(?:Req|Resp)Key)\Z"
)
"""Random values that nobody refers to: only their form is compared."""

_TIME = re.compile(r"(?:.*(?:At|Time|Date|On)|expires|.*_at)\Z")
ISO = re.compile(r"\d{4}-?\d\d-?\d\d[Tt ]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?\Z")
OPAQUE = re.compile(
    r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z"
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}\Z"
    r"|(?:[a-z]+[_-])*[0-9a-f]{24,}\Z"
    r"|\d{15,}\Z"
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]*\Z"
    r"|\[[a-z-]+-\d+\]\Z"
)
"""Texts that are plainly an identity or a secret, in any field; the last is the recorder's placeholder."""


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind:
    """How a field of this name is compared, whatever its value."""
    if _SHAPE.match(name):
        return "shape"
    if name == "timezone" or name.endswith(("Language", "Country", "Timezone")):
        return "value"
    if name in IDENTITIES or _ID.match(name):
        return "identity"
    if name in TIMES or _TIME.match(name):
        return "time"
    if name in ADDRESSES:
        return "address"
    return "message" if name in ("message", "failureReason") else "value"


@lru_cache(maxsize=4096)
def record_of(name: str, operation: str) -> str | None:
    """What record an id in a field of this name identifies, at this operation; None where nobody says."""
    if name in RECORDS:
        return RECORDS[name]
    if name != "bizId":
        return name.removesuffix("Id").removesuffix("Biz") if _ID.match(name) else None
    return next((record for part, record in RECORDS_OF_PATHS if part in f"{operation}/"), None)


def is_counted(value: str) -> bool:
    """Whether an id is so short that records of two kinds may have the same."""
    return len(value) < SHORTEST_OPAQUE and not is_opaque(value) and REDACTED.search(value) is None


def is_opaque(value: str) -> bool:
    """Whether a text is plainly an identifier that a machine generated."""
    return len(value) >= 9 and OPAQUE.match(value) is not None


def is_alike(old: Json, new: Json) -> bool:
    """Whether two random values have the same form. A redacted one may have been any text or whole number."""
    if isinstance(old, str) and REDACTED.fullmatch(old):
        return (isinstance(new, str) and bool(new)) or type(new) is int
    return bool(shape_of(old) == shape_of(new))


def shape_of(value: Json) -> Json:
    """The form of a random value, without its content."""
    if isinstance(value, str):
        return text_shape(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list):
        return [shape_of(item) for item in value]
    return {name: shape_of(item) for name, item in value.items()} if isinstance(value, dict) else value


def text_shape(value: str) -> str:
    """The form of a text: a time, an address, base64, hex, digits, or a text."""
    if (time := ISO.match(value)) is not None:
        return "time with a zone" if time[1] else "time without a zone"
    if value.startswith("-----BEGIN"):
        return "PEM"
    if REDACTED.fullmatch(value):
        return "redacted"
    if re.fullmatch(r"\w+:.*", value):
        return f"{value.partition(':')[0]} address"
    if value.isdigit():
        return "digits"
    return "text" if value else "empty text"


def is_address(value: Json) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def magnitude(value: float) -> str:
    """Whether a number counts seconds or milliseconds since the epoch, or neither."""
    if 1e8 <= value < 1e11:
        return "seconds"
    return "milliseconds" if 1e11 <= value < 1e14 else "a number"
