"""Which move leads from which state to which (chapter "States and transitions").

A move that has no row is refused. Where no transition is stated the rows are this portal's reading.
"""

from types import MappingProxyType

# family -> (state, trigger) -> next state
Moves = dict[str, dict[tuple[str, str], str]]

MOVES = MappingProxyType(
    {
        # Stated.
        "login session": {
            ("NONE", "initiate"): "PENDING_MFA",
            ("PENDING_MFA", "send"): "PENDING_MFA",
            ("PENDING_MFA", "right code"): "CONSUMED",
            ("PENDING_MFA", "wrong code"): "PENDING_MFA",
        },
        "refresh token": {("VALID", "refresh"): "ROTATED"},
        "session": {
            ("ACTIVE", "refresh"): "ACTIVE",
            ("ACTIVE", "logout"): "ENDED",
            ("ACTIVE", "terminate"): "ENDED",
            ("ACTIVE", "displace"): "ENDED",
            ("ACTIVE", "call"): "ACTIVE",
        },
        "channel": {
            ("ACTIVE", "deactivate"): "INACTIVE",
            ("INACTIVE", "deactivate"): "INACTIVE",
            ("INACTIVE", "activate"): "ACTIVE",
            ("ACTIVE", "activate"): "ACTIVE",
        },
        "invitation": {
            ("PENDING", "accept"): "ACCEPTED",
            ("PENDING", "decline"): "DECLINED",
            ("PENDING", "cancel"): "CANCELLED",
            ("PENDING", "expire"): "EXPIRED",
        },
        # Not stated.
        "channel type": {
            ("DISABLED", "enable"): "ENABLED",
            ("ENABLED", "enable"): "ENABLED",
            ("ENABLED", "disable"): "DISABLED",
            ("DISABLED", "disable"): "DISABLED",
        },
        "mfa code": {("SENT", "right code"): "USED", ("SENT", "wrong code"): "SENT"},
        "backup code": {("UNUSED", "right code"): "USED"},
        "secure session": {("OPEN", "close"): "CLOSED", ("OPEN", "use"): "OPEN"},
        "currency grant": {("ENABLED", "revoke"): "DISABLED"},
        "ip whitelist": {
            ("DISABLED", "enable"): "ENABLED",
            ("ENABLED", "enable"): "ENABLED",
            ("ENABLED", "disable"): "DISABLED",
            ("DISABLED", "disable"): "DISABLED",
        },
    }
)


def moves() -> Moves:
    """A copy of the tables, one per portal."""
    return {family: dict(rows) for family, rows in MOVES.items()}
