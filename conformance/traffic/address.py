"""Addresses as a user writes them: of a portal, an inbox, a clock."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"https?://[^/\s?#]+(?:[/?#]\S*)?", re.IGNORECASE)
LAST_PORT = 65_535
LONGEST_LABEL = 63
"""Letters between two dots of a host."""


def is_http_address(text: str) -> bool:
    """Whether a text is an HTTP address with a host and a valid port."""
    from conformance.traffic.http_library import httpx  # only a command with an address needs it

    if not ADDRESS.fullmatch(text) or not text.isprintable():
        return False
    try:
        url = httpx.URL(text)
        labels = url.raw_host.removesuffix(b".").split(b".")
        is_host = bool(url.host) and all(0 < len(label) <= LONGEST_LABEL for label in labels)
        return is_host and (url.port is None or 0 < url.port <= LAST_PORT)
    except (httpx.InvalidURL, ValueError):
        return False
