"""A request as it came in, read once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost", "testclient"})
EDGE_ADDRESS = ("cf-connecting-ip", "x-real-ip")


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    query_string: bytes
    peer: str
    octets: bytes | None  # None where the body was larger than the portal reads
    response_key: bytes | None = None  # where the body came encrypted

    @classmethod
    def of(cls, scope: Scope, octets: bytes | None) -> "Asked":
        return cls(
            method=scope["method"],
            path=scope["path"],
            headers={
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
            },
            query_string=scope.get("query_string", b""),
            peer=(scope.get("client") or ("127.0.0.1", 0))[0],
            octets=octets,
        )

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """Every value sent under each name, in order."""
        values: dict[str, list[str]] = {}
        for name, value in parse_qsl(self.query_string.decode("latin-1"), keep_blank_values=True):
            values.setdefault(name, []).append(value)
        return values

    @property
    def client_ip(self) -> str:
        """Client address: from the edge's headers if the peer is local, else the peer's address."""
        if self.peer in LOOPBACK:
            return next((self.headers[name] for name in EDGE_ADDRESS if self.headers.get(name)), self.peer)
        return self.peer

    @property
    def bearer(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() or None if scheme.lower() == "bearer" else None

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


async def read_body(receive: Receive, most: int) -> bytes | None:
    """The whole body; None where it is larger than ``most``, when it is read to its end and dropped."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message: Any = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= most:
            chunks.append(chunk)
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return b"".join(chunks) if size <= most else None
