"""The reference portal as a real HTTP server, in a thread or in the foreground."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp

from reference_impl.app import build
from reference_impl.casing import TitleCased
from reference_impl.choices import Choices
from reference_impl.clock import Clock
from reference_impl.limits import Limits
from reference_impl.portal import Portal
from reference_impl.profile import profile
from reference_impl.records import Seeded

STARTING = 10.0


@dataclass
class Running:
    """A portal that answers at ``url`` until it is stopped."""

    host: str
    port: int
    portal: Portal
    seeded: Seeded
    clock: bool
    inbox: bool
    server: uvicorn.Server
    thread: threading.Thread

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def profile(self) -> str:
        """TOML that tells the suite all it needs of this portal."""
        return profile(self.portal, self.seeded, self.url, clock=self.clock, inbox=self.inbox)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=STARTING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    limits: Limits | None = None,
    choices: Choices | None = None,
    faults: Sequence[str] = (),
    variants: Sequence[str] = (),
    clock: bool = True,
    inbox: bool = True,
    seed: int | None = None,
    wrap: Callable[[ASGIApp], ASGIApp] | None = None,
    now: Callable[[], float] = time.time,
) -> Running:
    """Returns when the socket accepts; port 0 takes a free one. Raises OSError where the port is taken.

    ``now`` is what the portal's clock goes by, in seconds since the epoch.
    """
    app = build(
        limits=limits,
        choices=choices,
        clock=Clock(now),
        faults=faults,
        variants=variants,
        seed=seed,
        offer_clock=clock,
        offer_inbox=inbox,
    )
    listening = _listen(host, port)
    server = uvicorn.Server(
        uvicorn.Config(
            wrap(app) if wrap else app,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            http=TitleCased if app.state.title_case else "auto",
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    _await_start(server, thread)
    return Running(
        host=host,
        port=listening.getsockname()[1],
        portal=app.state.portal,
        seeded=app.state.seeded,
        clock=clock,
        inbox=inbox,
        server=server,
        thread=thread,
    )


def run(
    *,
    port: int = 8000,
    host: str = "127.0.0.1",
    faults: Sequence[str] = (),
    variants: Sequence[str] = (),
    profile_out: Path | None = None,
    clock: bool = True,
    inbox: bool = True,
    limits: Mapping[str, float] | None = None,
    seed: int | None = None,
) -> int:
    """Serves until interrupted; ``limits`` are seconds or counts by the names in ``Limits``."""
    numbers: dict[str, Any] = dict(limits or {})
    with start(
        port=port,
        host=host,
        limits=replace(Limits(), **numbers),
        faults=faults,
        variants=variants,
        clock=clock,
        inbox=inbox,
        seed=seed,
    ) as running:
        _announce(running, profile_out)
        with contextlib.suppress(KeyboardInterrupt):
            while running.thread.is_alive():
                running.thread.join(timeout=0.5)
    return 0


def _announce(running: Running, profile_out: Path | None) -> None:
    print(f"The reference portal answers at {running.url} (stop it with Ctrl-C).", flush=True)
    if profile_out is None:
        print(f"\n{running.profile()}", flush=True)
    else:
        profile_out.write_text(running.profile(), encoding="utf-8")
        print(f"A profile that fits it: {profile_out}", flush=True)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, without which asyncio leaves Nagle's algorithm on and each answer takes 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _await_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    until = time.monotonic() + STARTING
    while not server.started:
        if not thread.is_alive() or time.monotonic() > until:
            raise RuntimeError("The reference portal did not start.")
        time.sleep(0.002)
