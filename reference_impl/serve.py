"""The reference portal as a real HTTP server, in a thread or in the foreground."""

import contextlib
import shutil
import socket
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, Unpack

import uvicorn
from starlette.types import ASGIApp

from reference_impl.app import Settings, build
from reference_impl.casing import TitleCased
from reference_impl.clock import Clock
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
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

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
    clock: bool = True,
    inbox: bool = True,
    wrap: Callable[[ASGIApp], ASGIApp] | None = None,
    now: Callable[[], float] = time.time,
    **settings: Unpack[Settings],
) -> Running:
    """Returns when the socket accepts; port 0 takes a free one. Raises OSError where the port is taken.

    ``clock`` and ``inbox`` say whether time can be moved and mails be read; ``now`` is what the portal's
    clock goes by, in seconds since the epoch.
    """
    app = build(clock=Clock(now), offer_clock=clock, offer_inbox=inbox, **settings)
    listening = listen(host, port)
    server = _server(wrap(app) if wrap else app, title_case=app.state.title_case)
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


def _server(app: ASGIApp, *, title_case: bool) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            http=TitleCased if title_case else "auto",
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
    )


def until_interrupted(running: Running, profile_out: Path | None = None) -> None:
    """Says where the portal answers, and returns once interrupted. OSError: no profile can be written."""
    _announce(running, profile_out)
    with contextlib.suppress(KeyboardInterrupt):
        # Not `join`: an interrupt there has Python 3.11 take the thread for ended, and crash at its exit.
        while running.thread.is_alive():
            time.sleep(0.2)


def _announce(running: Running, profile_out: Path | None) -> None:
    say(f"The reference portal answers at {running.url} (stop it with Ctrl-C).", sys.stdout)
    if profile_out is None:
        print(f"\n{running.profile()}", flush=True)
    else:
        profile_out.write_text(running.profile(), encoding="utf-8")
        say(f"A profile that fits it: {profile_out}", sys.stdout)


def say(line: str, stream: TextIO, *, indent: str = "") -> None:
    """Prints a line at once; on a terminal it is broken between words, and goes on behind the indent."""
    if stream.isatty():
        width = shutil.get_terminal_size().columns
        wrapped = textwrap.TextWrapper(
            width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        line = wrapped.fill(line)
    print(line, file=stream, flush=True)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises OSError where the port is taken."""
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
