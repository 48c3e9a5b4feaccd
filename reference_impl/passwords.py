"""How passwords are kept: scrypt with a random salt, at a cost (about 1 ms) that suits a test portal."""

import hashlib
import hmac
from dataclasses import dataclass, field
from functools import lru_cache

from reference_impl.draw import Draw


@dataclass(frozen=True, slots=True)
class Password:
    salt: bytes
    digest: bytes = field(repr=False)

    def matches(self, plain: str) -> bool:
        return hmac.compare_digest(_digest(plain, self.salt), self.digest)


def hashed(plain: str, draw: Draw) -> Password:
    salt = draw.bytes(16)
    return Password(salt, _digest(plain, salt))


@lru_cache(maxsize=512)
def _digest(plain: str, salt: bytes) -> bytes:
    return hashlib.scrypt(plain.encode(), salt=salt, n=256, r=8, p=1)
