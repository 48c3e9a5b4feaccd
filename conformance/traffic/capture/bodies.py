"""Converts body bytes to their recorded form, and back."""

from __future__ import annotations

import json
import re
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

import msgspec

from conformance.traffic.exchange import ABSENT, NOT_JSON, Form, Json, Message

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes that one recorded body may unfold to."""

LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes of an answer that are read, on the wire and at each layer of unpacking, where the profile's
``[limits] max_answer`` says no other number. As JSON in memory it is some ten times as much."""

PACKINGS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd"})

MOST_LAYERS = 2
"""Layers of compression that are undone: a correct server applies one, and a proxy perhaps another."""

MOST_DEPTH = 100
"""Levels of JSON that are held; no documented answer has ten."""

DIGEST_BYTES = 2
"""Bytes of the digest of a response that is no JSON: enough to see that it changed, and too few to tell which
secret it may have held."""

_DECODE = msgspec.json.Decoder().decode
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def body_of(raw: bytes | str) -> tuple[Json, Form | None]:
    """A body as the record holds it: its JSON value where it is JSON, else its length. A text alone is no
    JSON here, unless it holds some: nothing else says whether it is a secret.

    The form is given where the value is none, or cannot be judged: JSON too deep to be held is
    ``undecodable``. Of a number beyond a double the largest stands, of half a surrogate pair U+FFFD.
    """
    if not raw:
        return ABSENT, None
    try:
        value = _DECODE(raw)
    except RecursionError:
        return ABSENT, "undecodable"
    except (ValueError, UnicodeDecodeError):
        return _odd_body(_bytes(raw))
    if _is_deep(raw, value):
        return ABSENT, "undecodable"
    if type(value) is str and json_in(value) is None:
        return _not_json(_bytes(raw))
    return value, None


def answer_of(raw: bytes | str) -> tuple[Json, Form | None]:
    """A response body in the form of ``body_of``, with a digest if it is no JSON."""
    body, form = body_of(raw)
    if form == NOT_JSON:
        body["digest"] = blake2b(_bytes(raw), digest_size=DIGEST_BYTES).hexdigest()
    return body, form


def json_in(text: str) -> Json:
    """The object or the list that a text holds as JSON; None where it holds none."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return _DECODE(text)
    except (ValueError, RecursionError):
        return None


def from_base64(text: str) -> bytes | None:
    """The bytes of a text in base64, of either alphabet, over lines, with or without its padding; None where
    it is none."""
    letters = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return b64decode(letters + "=" * (-len(letters) % 4), validate=True)
    except ValueError:
        return None


PACKED_JSON = ("eyJ", "W3", "%7B", "%5B")
"""How JSON begins that is in base64, or encoded for a URL."""


def packed_json_in(text: str) -> Json:
    """The object or the list that a text holds as JSON, in base64 or encoded for a URL as well; None where it
    holds none."""
    if not text.startswith(PACKED_JSON):
        return json_in(text)
    raw = unquote_to_bytes(text) if text[0] == "%" else from_base64(text)
    return None if raw is None else json_in(raw.decode(errors="replace"))


def is_length(body: Json) -> bool:
    """Whether a body is what the record holds of one that is no JSON."""
    return (
        isinstance(body, dict)
        and type(body.get("length")) is int
        and body.keys() <= {"length", "digest"}
        and len(str(body.get("digest", ""))) <= 2 * DIGEST_BYTES
    )


def _not_json(raw: bytes) -> tuple[Json, Form | None]:
    return {"length": len(raw)}, NOT_JSON


def _is_deep(raw: bytes | str, value: Json) -> bool:
    """Whether JSON is nested deeper than those that walk through it can follow."""
    openings = raw.count("[") + raw.count("{") if isinstance(raw, str) else raw.count(b"[") + raw.count(b"{")
    if openings <= MOST_DEPTH:
        return False
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _bytes(body: bytes | str) -> bytes:
    return body if isinstance(body, bytes) else body.encode()


def bytes_of(message: Message) -> bytes:
    """The bytes of a JSON body, written compactly: what was between its tokens is not recorded. None of
    another body is."""
    return msgspec.json.encode(message.body) if message.state == "json" else b""


Hold = Callable[[bytes | str], tuple[Json, Form | None]]
"""Makes of the bytes of a body what the record holds of it: ``body_of`` or ``answer_of``."""


def answered(
    raw: bytes,
    encoding: str | None,
    *,
    is_cut: bool = False,
    most: int = LARGEST_ANSWER,
    hold: Hold = answer_of,
) -> tuple[Json, Form | None]:
    """The body of an answer as the record holds it, whoever read it: a run, a replay, or a recorder.

    ``is_cut``: there was more than was read. What unfolds to more than ``most`` bytes is ``truncated``, what
    is not what its ``Content-Encoding`` says is ``undecodable``; neither is judged.
    """
    if is_cut:
        return ABSENT, "truncated"
    if encoding is not None and raw and _last(encoding) in PACKINGS and _is_text(raw):
        return ABSENT, "undecodable"
    bare = raw if encoding is None else unpacked(raw, encoding, most=most)
    if bare is None:
        return ABSENT, "undecodable"
    if len(bare) > most:
        return ABSENT, "truncated"
    return hold(bare)


def unpacked(raw: bytes, encoding: str | None, *, most: int = LARGEST_BODY) -> bytes | None:
    """A body without its ``Content-Encoding``; None where it cannot be undone here.

    No layer unfolds to more than ``most`` bytes and one: that one says that there is more. A body that the
    source had already undone (its first bytes are not the encoding's) is returned as it is.
    """
    names = [part.strip().lower() for part in (encoding or "").split(",")]
    if len([name for name in names if name not in ("", "identity")]) > MOST_LAYERS:
        return None
    for name in reversed(names):
        if len(raw) > most:
            break
        if name in ("gzip", "x-gzip") and raw[:2] == b"\x1f\x8b":
            layer = _inflated(raw, 31, most)
        elif name == "deflate" and not _is_text(raw):
            layer = _inflated(raw, 15 if raw[:1] == b"\x78" else -15, most)
        elif name not in ("", "identity") and not _is_text(raw):
            return None
        else:
            continue
        if layer is None:
            return None
        raw = layer
    return raw


def _last(encoding: str) -> str:
    return encoding.rpartition(",")[2].strip().lower()


def _inflated(raw: bytes, window: int, most: int) -> bytes | None:
    """The bytes of one layer, its members joined; None where it is broken, cut off, or followed by others."""
    whole, rest = b"", raw
    while rest:
        unfolding = zlib.decompressobj(window)
        try:
            whole += unfolding.decompress(rest, most + 1 - len(whole))
        except zlib.error:
            return None
        if len(whole) > most:
            return whole
        if not unfolding.eof:
            return None
        rest = unfolding.unused_data
    return whole


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _odd_body(raw: bytes) -> tuple[Json, Form | None]:
    """What the fast decoder refuses: not JSON at all, or JSON that holds what a record cannot."""
    try:
        value: Any = json.loads(raw, parse_constant=_no_such_constant, parse_float=_finite)
    except RecursionError:
        return ABSENT, "undecodable"
    except ValueError:
        return _not_json(raw)
    try:
        value = _DECODE(_LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return ABSENT, "undecodable"
    if _is_deep(raw, value):
        return ABSENT, "undecodable"
    return _not_json(raw) if isinstance(value, str) else (value, None)


def _finite(digits: str) -> float:
    """The nearest double: a number beyond all of them is JSON all the same."""
    return max(-sys.float_info.max, min(sys.float_info.max, float(digits)))


def _no_such_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")
