"""What a refusal says on the wire: code and HTTP status by name (chapter "Errors")."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from reference_impl.choices import Choices


@dataclass(frozen=True, slots=True)
class Error:
    code: str
    status: int


class Refusal(Exception):
    """A request that is turned down, by the name of its row in the table of errors."""

    def __init__(self, name: str, *, data: Any = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.data = data
        self.headers = headers or {}


INVALID = "VALIDATION.INVALID_PARAMETER"


def table(choices: Choices) -> dict[str, Error]:
    return {
        # The stated codes, in their order.
        "AUTH.INVALID_CREDENTIALS": Error("AUTH.INVALID_CREDENTIALS", choices.invalid_credentials_status),
        "AUTH.SESSION_NOT_FOUND": Error("AUTH.SESSION_NOT_FOUND", 404),
        "AUTH.MFA_SEND_COOLDOWN": Error("AUTH.MFA_SEND_COOLDOWN", choices.mfa_cooldown_status),
        "AUTH.MFA_CODE_INVALID": Error("AUTH.MFA_CODE_INVALID", choices.mfa_code_invalid_status),
        "ACCOUNT_PENDING_APPROVAL": Error("ACCOUNT_PENDING_APPROVAL", choices.pending_code_status),
        INVALID: Error(INVALID, 400),
        "ACCESS.TOKEN_MISSING": Error(choices.missing_token_code, 401),
        "ACCESS.PERMISSION_DENIED": Error("ACCESS.PERMISSION_DENIED", 403),
        "RESOURCE.NOT_FOUND": Error("RESOURCE.NOT_FOUND", 404),
        "GA2031": Error("GA2031", 400),
        "4000": Error("4000", 400),
        "4010": Error("4010", 401),
        "4030": Error("4030", choices.bot_refused_status),
        "4040": Error("4040", choices.channel_unknown_status),
        # Conditions that are stated without a code of their own.
        "TOKEN_INVALID": Error(choices.invalid_token_code, 401),
        "TOKEN_MISSING_4010": Error(choices.missing_token_code_where_4010_is_stated, 401),
        "SECURE_CHANNEL_INVALID": Error(choices.secure_channel_invalid_code, 400),
        "SECURE_SESSION_UNKNOWN": Error(choices.secure_session_unknown_code, 400),
        "COMMAND_INVALID": Error("4000", 400),
        "PORTAL_MISMATCH": Error(choices.portal_mismatch_code, choices.portal_mismatch_status),
        "RATE_LIMITED": Error(choices.rate_limited_code, choices.rate_limited_status),
        # Conditions the specification does not name.
        "ADDRESS_REFUSED": Error("ACCESS.PERMISSION_DENIED", 403),
        "ACCOUNT_CLOSED": Error("ACCESS.PERMISSION_DENIED", 403),
        "INVITATION_CLOSED": Error("INVITATION.NOT_OPEN", 409),
        "LAST_FACTOR": Error("MFA.LAST_FACTOR", 409),
        "DUPLICATE": Error("RESOURCE.DUPLICATE", 409),
        "METHOD_NOT_ALLOWED": Error("METHOD_NOT_ALLOWED", 405),
        "PATH_UNKNOWN": Error("RESOURCE.NOT_FOUND", 404),
        "BODY_TOO_LARGE": Error(INVALID, choices.body_too_large_status),
    }


# How a group of endpoints words what others say by name: the name of one row, and of the row taken instead.
Dialect = Mapping[str, str]

NAMED: Dialect = MappingProxyType({})
SECURE_CHANNEL: Dialect = MappingProxyType(
    {INVALID: "SECURE_CHANNEL_INVALID", "SECURE_SESSION_UNKNOWN": "SECURE_CHANNEL_INVALID"}
)
COMMAND: Dialect = MappingProxyType(
    {
        INVALID: "COMMAND_INVALID",
        "ACCESS.TOKEN_MISSING": "TOKEN_MISSING_4010",
        "TOKEN_INVALID": "4010",
        "RESOURCE.NOT_FOUND": "4040",
    }
)
TRANSFER: Dialect = MappingProxyType(
    {INVALID: "COMMAND_INVALID", "ACCESS.TOKEN_MISSING": "TOKEN_MISSING_4010", "TOKEN_INVALID": "4010"}
)
