"""Where ids, tokens and codes come from: the system's randomness, or a seeded one for repeatable runs."""

import base64
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


UNGUESSABLE = frozenset({"login session", "session", "secure session", "key"})
"""What whoever knows its id may use."""


class Draw:
    def __init__(self, seed: int | None = None) -> None:
        self._random: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
        self._counts: Counter[str] = Counter()

    def bytes(self, count: int) -> bytes:
        return self._random.getrandbits(8 * count).to_bytes(count, "big")

    def token(self) -> str:
        return base64.urlsafe_b64encode(self.bytes(32)).rstrip(b"=").decode()

    def digits(self, count: int) -> str:
        return f"{self._random.randrange(10**count):0{count}d}"

    def base32(self) -> str:
        return base64.b32encode(self.bytes(20)).decode()

    def choice(self, items: Any) -> Any:
        return self._random.choice(items)

    def between(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def id(self, form: str, kind: str) -> str:
        """An id in one of the forms a deployment may use; nobody can guess it unless records are counted."""
        if form in _COUNTED and kind not in UNGUESSABLE:
            self._counts[kind] += 1
            return _COUNTED[form](self._counts[kind], kind)
        return _FORMS[form](self._random.getrandbits(128), kind)


def is_of_its_kind(form: str, id: str) -> bool:
    """Whether an id may be one of the form ``short`` or ``padded``, or one that nobody can guess."""
    return bool(re.fullmatch(r"[1-9]\d{5}" if form == "short" else r"[a-z_]+_\d{6}", id)) or len(id) == 36


def has_its_check_digit(id: str) -> bool:
    """Whether an id of the form ``checked`` may be one: its digits add up to a multiple of ten."""
    return id.isascii() and id.isdigit() and sum(map(int, id)) % 10 == 0


def _uuid(bits: int) -> str:
    """A UUID of version 4. ``uuid.UUID`` takes several times as long, and a portal has a thousand of them."""
    digits = f"{bits & ~_FIXED | _VERSION_4:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_FIXED = 0xF000 << 64 | 0xC000 << 48
_VERSION_4 = 0x4000 << 64 | 0x8000 << 48


def _checked(bits: int) -> str:
    digits = str(10**17 + bits % (9 * 10**17))
    return digits + str(-sum(map(int, digits)) % 10)


_COUNTED: Mapping[str, Callable[[int, str], str]] = {
    "counted": lambda number, kind: str(number),
    "short": lambda number, kind: str(100000 + number),
    "padded": lambda number, kind: f"{kind.replace(' ', '_')}_{number:06d}",
}
_FORMS: Mapping[str, Callable[[int, str], str]] = {
    **dict.fromkeys(("uuid", *_COUNTED), lambda bits, kind: _uuid(bits)),
    "upper": lambda bits, kind: _uuid(bits).upper(),
    "numeric": lambda bits, kind: str(10**18 + bits % (9 * 10**18)),
    "checked": lambda bits, kind: _checked(bits),
    "prefixed": lambda bits, kind: f"{kind.replace(' ', '_')}_{bits:032x}",
    "urn": lambda bits, kind: f"urn:{kind.replace(' ', '-')}:{bits:x}==",
    "ulid": lambda bits, kind: "".join(_CROCKFORD[(bits >> (5 * n)) & 31] for n in range(26)),
}
