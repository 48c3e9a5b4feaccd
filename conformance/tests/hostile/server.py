"""A raw-socket server before a correct portal: it plays one row of the hostile table."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from conformance.tests.hostile.certificates import authority, context_with
from conformance.tests.hostile.wire import Answer, Asked, Gone, Row, Turn, Wire, forwarded, read_request

GIVEN = re.compile(rb'"(?:accessToken|refreshToken)":"([^"]{8,})"')


@dataclass
class Hostile:
    """Plays ``row`` before the portal at ``origin``; ``folder`` takes its certificates."""

    row: Row
    origin: str
    folder: Path
    asked: list[Asked] = field(default_factory=list)
    """Every request that arrived, in order."""
    trapped: list[bytes] = field(default_factory=list)
    """What arrived at the address that only a redirect names."""
    given: set[str] = field(default_factory=set)
    """The tokens that the correct portal gave."""

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._context: ssl.SSLContext | None = None
        if self.row.certificate:
            self._context = context_with(self.row.certificate, self.folder)
        self._listening = _listening()
        self._trap = _listening()
        for serve, listening in ((self._serve, self._listening), (self._spring, self._trap)):
            threading.Thread(target=self._accept, args=(listening, serve), daemon=True).start()

    @property
    def url(self) -> str:
        """The address as the profile has it."""
        scheme = self.row.scheme or ("https" if self.row.certificate else "http")
        return f"{scheme}://127.0.0.1:{self._listening.getsockname()[1]}"

    @property
    def trap(self) -> str:
        return f"http://localhost:{self._trap.getsockname()[1]}"

    def profile(self, text: str, *, timeout: float) -> str:
        """The correct portal's profile, made to lead here."""
        own = f'url = "{self.url}"\ntimeout = {timeout}'
        if self.row.certificate == "trusted":
            own += f'\nverify = "{authority(self.folder)}"'
        changed = text.replace(f'url = "{self.origin}"', own, 1)
        if self.row.is_clock:
            changed = changed.replace(f'advance = "{self.origin}', f'advance = "{self.url}')
        return changed

    def stop(self) -> None:
        self._is_over.set()
        for listening in (self._listening, self._trap):
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _accept(self, listening: socket.socket, serve: object) -> None:
        assert callable(serve)
        while not self._is_over.is_set():
            try:
                accepted, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(accepted,), daemon=True).start()

    def _spring(self, accepted: socket.socket) -> None:
        accepted.settimeout(1.0)
        with contextlib.suppress(OSError):
            self.trapped.append(accepted.recv(65536))
        accepted.close()

    def _serve(self, accepted: socket.socket) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire = Wire(accepted)
        try:
            self._speak(wire)
        except (Gone, OSError, ValueError):
            wire.socket.close()

    def _speak(self, wire: Wire) -> None:
        if self.row.greet is not None:
            self.row.greet(wire)
        if wire.is_open and self._context is not None:
            wire.socket.settimeout(5.0)
            wire.socket = self._context.wrap_socket(wire.socket, server_side=True)
        if not wire.is_open:
            return
        wire.socket.settimeout(120.0)
        stream = wire.socket.makefile("rb")
        while wire.is_open and not self._is_over.is_set():
            asked = read_request(stream)
            if asked is None:
                wire.close()
                return
            wire.ends = time.monotonic() + 60.0
            turn = Turn(self._numbered(asked), asked, wire, self._forward, self.trap)
            play = self.row.play if self._is_meant(turn) else Turn.be_correct
            play(turn)

    def _is_meant(self, turn: Turn) -> bool:
        """A mailbox is none of the portal's endpoints; a clock is where the row says so."""
        path = turn.asked.path
        is_beside = path.startswith("/inbox/") or (path.startswith("/clock/") and not self.row.is_clock)
        return not is_beside and self.row.when(turn)

    def _numbered(self, asked: Asked) -> int:
        with self._lock:
            self.asked.append(asked)
            return next(self._numbers)

    def _forward(self, asked: Asked) -> Answer:
        place = urlsplit(self.origin)
        answer = forwarded(asked, (place.hostname or "", place.port or 80))
        self.given.update(found.decode() for found in GIVEN.findall(answer.body))
        return answer


def _listening() -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    return listening
