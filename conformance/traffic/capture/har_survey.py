"""Looks a HAR through before it is read: whether its entries stand in order, and what its tool leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from conformance.traffic.capture.scan import CHUNK

_SENT = b'"startedDateTime"'
_SENT_AT = re.compile(
    rb'"startedDateTime"\s*:\s*"(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[-+]\d\d:\d\d)"|[^"\\]*")'
)
"""When an entry was sent: its digits and its zone, where it is told as tools usually do."""

_SANITIZES = re.compile(rb'"creator"\s*:\s*\{[^{}]*"WebInspector"')
"""Chrome leaves out cookies and Authorization unless told otherwise."""

_NAMES_A_SECRET = re.compile(rb'"name"\s*:\s*"(?:authorization|cookie|set-cookie)"', re.IGNORECASE)
_SECRETS_END = (b'uthorization"', b'ookie"')

_HEAD = 1 << 20
_OVERLAP = 256
"""Bytes within which a name and its value stand: so many on both sides of where a chunk ends are looked at
once more."""

Time: TypeAlias = tuple[bytes, bytes]
"""The digits of a time, and its zone."""


@dataclass(frozen=True)
class Survey:
    is_sorted: bool
    """Whether the entries certainly stand in the order of their times."""
    is_sanitized: bool
    """Whether its tool leaves out secret headers, and none stands in it."""


def surveyed(file: BinaryIO) -> Survey:
    """Looks the file through without decoding it, and goes back to its start."""
    is_sanitized = _SANITIZES.search(file.read(_HEAD)) is not None
    file.seek(0)
    latest: Time | None = (b"", b"")
    rest = b""
    while (latest or is_sanitized) and (chunk := file.read(CHUNK)):
        for text in (rest + chunk[:_OVERLAP], chunk):
            latest = latest and _latest_in(text, latest)
            is_sanitized = is_sanitized and not _names_a_secret(text)
        rest = chunk[-_OVERLAP:]
    file.seek(0)
    return Survey(is_sorted=latest is not None, is_sanitized=is_sanitized)


def _latest_in(text: bytes, latest: Time) -> Time | None:
    """The last time in a text. None where one is before the one ahead of it, or only a closer look tells:
    times in the usual form and of one zone follow each other as their digits do."""
    digits, zone = latest
    at = text.find(_SENT)
    while at >= 0:
        match = _SENT_AT.match(text, at)
        if match:
            sent = match.groups()
            if sent[0] is None or sent[0] < digits or sent[1] != (zone or sent[1]):
                return None
            digits, zone = sent
        at = text.find(_SENT, at + len(_SENT))
    return digits, zone


def _names_a_secret(text: bytes) -> bool:
    """Looks for the ends of the names, which are found faster than names in any case."""
    for end in _SECRETS_END:
        at = text.find(end)
        while at >= 0:
            if _NAMES_A_SECRET.search(text, max(at - _OVERLAP, 0), at + len(end)):
                return True
            at = text.find(end, at + 1)
    return False
