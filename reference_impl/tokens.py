"""Access tokens: minimal claims, signed or opaque (chapter "Login and token resources")."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import jwt

from reference_impl import keys
from reference_impl.choices import Choices
from reference_impl.draw import Draw
from reference_impl.errors import Refusal

Claims = dict[str, Any]


class Tokens(Protocol):
    def issue(self, claims: Claims) -> str: ...

    def read(self, token: str) -> Claims:
        """The claims of a token this portal issued; raises Refusal. Says nothing of its expiry."""
        ...


# Expiry is judged by the portal's own clock.
_UNTIMED = {"verify_exp": False, "verify_iat": False, "verify_nbf": False}


VERIFIED_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Signed:
    algorithm: str
    signing: Any = field(repr=False)
    verifying: Any = field(repr=False)
    verified: dict[str, Claims] = field(default_factory=dict, repr=False)
    """The claims of tokens whose signature was verified: it stays valid."""

    def issue(self, claims: Claims) -> str:
        return jwt.encode(claims, self.signing, self.algorithm)

    def read(self, token: str) -> Claims:
        claims = self.verified.get(token)
        if claims is None:
            claims = self._verified(token)
            if len(self.verified) >= VERIFIED_KEPT:
                self.verified.clear()
            self.verified[token] = claims
        return dict(claims)

    def _verified(self, token: str) -> Claims:
        try:
            claims: Claims = jwt.decode(token, self.verifying, [self.algorithm], options=_UNTIMED)  # type: ignore[arg-type]
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise Refusal("TOKEN_INVALID") from None
        return claims


@dataclass(frozen=True, slots=True)
class Opaque:
    draw: Draw
    issued: dict[str, Claims] = field(default_factory=dict, repr=False)

    def issue(self, claims: Claims) -> str:
        token = self.draw.token()
        self.issued[token] = claims
        return token

    def read(self, token: str) -> Claims:
        claims = self.issued.get(token)
        if claims is None:
            raise Refusal("TOKEN_INVALID")
        return claims


_KEYS: dict[str, Callable[[], Any]] = {"RS256": keys.rsa_key, "ES256": keys.ec_key, "EdDSA": keys.ed_key}


def tokens(choices: Choices, draw: Draw) -> Tokens:
    if choices.access_token == "opaque":
        return Opaque(draw)
    if choices.access_token == "HS256":
        secret = draw.bytes(32)
        return Signed("HS256", secret, secret)
    key = _KEYS[choices.access_token]()
    return Signed(choices.access_token, key, key.public_key())
