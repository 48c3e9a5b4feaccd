"""Header names in title case: below ASGI, since uvicorn writes whatever it is given in lower case."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

END_OF_HEAD = b"\r\n\r\n"


class TitleCased(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # whichever protocol uvicorn has here
    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(_TitleCasing(transport))


class _TitleCasing:
    """A transport on which every response head is changed; uvicorn writes a head in one piece."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, octets: bytes) -> None:
        self._transport.write(_title_cased(octets) if octets.startswith(b"HTTP/1.") else octets)


def _title_cased(octets: bytes) -> bytes:
    head, end, body = octets.partition(END_OF_HEAD)
    status, *headers = head.split(b"\r\n")
    named = (header.partition(b":") for header in headers)
    return (
        b"\r\n".join([status, *(name.title() + colon + value for name, colon, value in named)]) + end + body
    )
