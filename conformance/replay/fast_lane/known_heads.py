"""Known heads: a response whose head came before, byte by byte, is taken without the parser."""

from __future__ import annotations

from typing import NamedTuple

from conformance.replay.engine.wire import Connection, Pipe
from conformance.replay.rebuild.actions import WireResponse

MOST_HEADS = 1_000
LONGEST_HEAD = 4_096
END = b"\r\n\r\n"
END_BYTES = len(END)


class KnownHead(NamedTuple):
    """What the parser made of a head, and the bytes of the body that it announces."""

    status: int
    headers: list[tuple[bytes, bytes]]
    size: int


class KnownHeads:
    """The heads of responses that kept their connection and announced their length. A server whose heads all
    differ is soon given up."""

    def __init__(self) -> None:
        self.by_bytes: dict[bytes, KnownHead] = {}
        self.found = 0
        """How many responses had one of them."""
        self._has_room = True

    def pipe(self, owner: Connection) -> Pipe:
        return HeadKnowingPipe(owner, self)

    def learn(self, head: bytes, parsed: KnownHead) -> None:
        if len(self.by_bytes) >= MOST_HEADS:
            self._has_room = self.found > MOST_HEADS
            self.by_bytes.clear()
            self.found = 0
        if self._has_room:
            self.by_bytes[head] = parsed


class HeadKnowingPipe(Pipe):
    """A pipe that leaves to the parser what does not arrive at once, and every head that is new."""

    def __init__(self, owner: Connection, heads: KnownHeads) -> None:
        super().__init__(owner)
        self._heads = heads
        self._data = b""

    def data_received(self, data: bytes) -> None:
        if self.received or self._is_whole or self._has_no_body or self._parser is None:
            super().data_received(data)
            return
        end = data.find(END) + END_BYTES
        head = self._heads.by_bytes.get(data[:end])
        if head is None or len(data) != end + head.size:
            self._data = data
            super().data_received(data)
            self._data = b""
            return
        self._heads.found += 1
        self.received, self._is_whole = len(data), True
        self._owner.finish(self, WireResponse(head.status, head.headers, data[end:]), reusable=True)

    def _end(self) -> None:
        if self._data and self._is_kept_alive and not self._is_cut and self.received == len(self._data):
            self._learn(self._data)
        super()._end()

    def _learn(self, data: bytes) -> None:
        end, body = data.find(END) + END_BYTES, b"".join(self._chunks)
        framing = [
            value
            for name, value in self._headers
            if name.lower() in (b"content-length", b"transfer-encoding")
        ]
        if framing == [b"%d" % len(body)] and data[end:] == body and end <= LONGEST_HEAD:
            self._heads.learn(data[:end], KnownHead(self._status, self._headers, len(body)))
