"""How a secret may look on its way out: raw, JSON-escaped, URL-encoded, hex, and base64 at any alignment."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from urllib.parse import quote, quote_plus

ALIGNED_SHORTEST = 6
"""Fewer characters of base64 than this stand in a longer block by chance."""


UNESCAPED = re.compile(rb"[A-Za-z0-9_.~-]*")
"""What nothing escapes or encodes in a text, as most tokens are."""


def texts(value: bytes) -> set[str]:
    """The text itself, escaped for JSON once and twice, and encoded for URLs as the usual libraries do."""
    try:
        plain = value.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return set()
    forms = {plain}
    if UNESCAPED.fullmatch(value):
        return forms
    for ascii_only in (True, False):
        once = json.dumps(plain, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1], once.replace("/", "\\/")}
    for safe in ("", "/", "!'()*~", "!$&'()*+,;=:@/?"):
        forms |= _both_cases(quote(value, safe=safe))
    return forms | _both_cases(quote_plus(value))


def blocks(value: bytes) -> set[str]:
    """In hex, and in base64 of both alphabets: whole, and what is fixed wherever it begins in a longer
    block."""
    forms = {value.hex(), value.hex().upper()}
    for encode in (b64encode, urlsafe_b64encode):
        whole = encode(value).decode()
        forms |= {whole, whole.rstrip("="), *_cores(value, encode)}
    for form in [form for form in forms if "/" in form or "+" in form or "=" in form]:
        forms |= {form.replace("/", "\\/"), *_both_cases(quote(form, safe=""))}
    return forms


def _both_cases(encoded: str) -> set[str]:
    head, *rest = encoded.split("%")
    return {encoded, "%".join((head, *(part[:2].lower() + part[2:] for part in rest)))}


def _cores(value: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    for shift in range(3):
        first = -(-shift * 8 // 6)
        last = (shift + len(value)) * 8 // 6
        if last - first >= ALIGNED_SHORTEST:
            yield encode(bytes(shift) + value).decode()[first:last]
