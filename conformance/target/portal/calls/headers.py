"""The headers of a request: the specification's common ones, the edge's, the profile's, the case's own."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping

from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Header

CLIENT_ADDRESS = "203.0.113.7"
"""From a block that is set apart for documentation."""


def edge_headers() -> dict[str, str]:
    """What an edge proxy would set, for a target that is reached without one."""
    return {
        "CF-Connecting-IP": CLIENT_ADDRESS,
        "Cf-Ray": f"{secrets.token_hex(8)}-SUI",
        "cf-ipcountry": "US",
        "CF-Visitor": '{"scheme":"https"}',
        "X-Real-IP": CLIENT_ADDRESS,
        "X-Forwarded-For": CLIENT_ADDRESS,
        "X-Forwarded-Proto": "https",
    }


def request_headers(
    profile: Profile,
    *,
    client_hash: str,
    token: str | None,
    content_type: str | None,
    bot_token: str | None,
    own: Mapping[str, str | None],
) -> list[Header]:
    """All headers of one request. ``own`` adds, replaces, and with None removes; names in any case."""
    pairs: dict[str, tuple[str, str | None]] = {}
    layers: list[Mapping[str, str | None]] = [
        {
            "X-PORTAL-ACCESS-CODE": profile.portal.access_code or None,
            "X-Client-Hash": client_hash,
            "X-Request-Id": str(uuid.uuid4()),
            "X-LOCALE": "en",
            "Accept": "application/json",
            "Content-Type": content_type,
            "Authorization": None if token is None else f"Bearer {token}",
            profile.bot_challenge.header: bot_token,
        },
        edge_headers() if profile.portal.edge_headers else {},
        profile.portal.headers,
        own,
    ]
    for layer in layers:
        for name, value in layer.items():
            pairs[name.lower()] = (name, value)
    return [(name, value) for name, value in pairs.values() if value is not None]
