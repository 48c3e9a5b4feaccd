"""How a secure-channel session is closed where neither the body nor the answer is shown (N3)."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.cases import ABSENT, Channel, Exchange, Portal, op


def close(portal: Portal, channel: Channel, *, headers: Mapping[str, str | None] | None = None) -> Exchange:
    """Closes as the profile says, else by the session's id; ``headers`` in place of the usual ones."""
    settings = portal.profile.operations.get(op.SECURE_SESSION_CLOSE)
    has_body = settings is not None and settings.body is not None
    body = (
        portal.operation_body(op.SECURE_SESSION_CLOSE, session_id=channel.session_id) if has_body else ABSENT
    )
    return portal.secure.close(body, channel=channel, headers=headers)
