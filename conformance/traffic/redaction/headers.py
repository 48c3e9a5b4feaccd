"""The headers that hold no secret of a deployment's own."""

from __future__ import annotations

DESCRIBED_HEADERS = frozenset(
    [
        "x-portal-access-code",
        "x-client-hash",
        "x-request-id",
        "x-forwarded-proto",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-real-ip",
        "x-locale",
        "x-secure-channel-session-id",
        "x-workspace-id",
        "authorization",
        "cookie",
        "set-cookie",
        "host",
        "user-agent",
        "referer",
        "origin",
        "etag",
        "if-none-match",
        "date",
        "server",
        "via",
        "location",
        "allow",
        "vary",
        "link",
        "expires",
        "age",
        "last-modified",
        "if-modified-since",
        "traceparent",
        "tracestate",
        "baggage",
        "strict-transport-security",
        "content-security-policy",
        "permissions-policy",
        "report-to",
        "nel",
        "alt-svc",
        "server-timing",
        "p3p",
        "pragma",
        "range",
    ]
)
"""Headers that hold no secret, or whose secrets are redacted by their place."""

HARMLESS_BEGINNINGS = (
    "accept",
    "access-control-",
    "cf-",
    "content-",
    "sec-ch-",
    "sec-fetch-",
    "sec-websocket-key",
    "sec-websocket-accept",
    "sec-websocket-version",
    "sec-websocket-extensions",
    "cdn-",
    "cache-",
    "x-amz-cf-",
)
OF_URLS = frozenset({"referer", "location", "content-location", "link", "refresh", "origin"})
"""Headers that hold no secret but for those in the parameters of their URLs."""

TRACING = frozenset({"trace", "span", "correlation", "request", "ray", "b3"})
"""Words in the names of headers that follow requests through a deployment."""
