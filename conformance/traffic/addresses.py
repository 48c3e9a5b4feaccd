"""Which addresses stay on this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host name or an IP address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def is_at_loopback(url: str) -> bool:
    """Whether a URL's host is this machine's own."""
    return is_loopback(urlsplit(url).hostname or "")
