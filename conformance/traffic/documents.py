"""Reads the small files that a user names: a profile, a secret, a baseline."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import time
from pathlib import Path
from select import select

LARGEST_DOCUMENT = 16 << 20
"""Bytes of a document."""

PIPE_SECONDS = 30.0
"""The longest wait for the writer of a pipe, such as ``<(decrypt portal.toml)``."""

CHUNK = 1 << 16


def document_text(path: Path, *, pipe_seconds: float = PIPE_SECONDS) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark.

    Raises OSError, with the reason, where it cannot be read, is too large, or is a pipe that stays open;
    UnicodeDecodeError.
    """
    raw = _bytes(path, pipe_seconds)
    is_utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf_16 else "utf-8-sig")


def _bytes(path: Path, pipe_seconds: float) -> bytes:
    """Opened without blocking, as a pipe may have no writer."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb", buffering=0) as file:
        is_pipe = stat.S_ISFIFO(os.fstat(handle).st_mode)
        until = time.monotonic() + pipe_seconds
        raw = b""
        while len(raw) <= LARGEST_DOCUMENT:
            if is_pipe and not select([handle], [], [], max(0.0, until - time.monotonic()))[0]:
                raise OSError(errno.ETIMEDOUT, f"the writer of this pipe took more than {pipe_seconds:g} s")
            chunk = file.read(CHUNK)
            if not chunk:
                return raw
            raw += chunk
    raise OSError(errno.EFBIG, f"it is larger than {LARGEST_DOCUMENT >> 20} MiB")
