"""The one door to the bundled reference portal: it is started as any server, and reached by its URL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from conformance.target.profile.model import Profile, parse
from reference_impl import serve as reference
from reference_impl.__main__ import main as serve
from reference_impl.app import build
from reference_impl.faults import FAULTS, Fault
from reference_impl.portal import Portal as ReferencePortal
from reference_impl.profile import profile as profile_of
from reference_impl.variants import VARIANTS, Variant, drawn, grouped

__all__ = [
    "FAULTS",
    "VARIANTS",
    "Fault",
    "InProcess",
    "Variant",
    "drawn",
    "grouped",
    "in_process",
    "running_portal",
    "serve",
]

ADDRESS = "http://127.0.0.1:1"
"""What a portal within this process is called; nothing listens there."""


@dataclass(frozen=True)
class InProcess:
    """A reference portal without a socket: its application, the profile that fits it, and its tools."""

    app: Any
    profile: Profile
    portal: ReferencePortal

    def advance(self, seconds: float) -> float:
        """Moves the portal's clock, and gives its time in epoch seconds."""
        self.portal.clock.advance(seconds)
        return self.portal.now()

    def mails(self, email: str) -> list[dict[str, Any]]:
        """The mails to an address, the newest first."""
        return list(self.portal.outbox.get(email.casefold(), ()))


def in_process(
    *, faults: Sequence[str] = (), variants: Sequence[str] = (), seed: int | None = None
) -> InProcess:
    """A reference portal to be called directly. KeyError: there is no such fault or variant."""
    app = build(faults=faults, variants=variants, seed=seed)
    portal = app.state.portal
    text = profile_of(portal, app.state.seeded, ADDRESS, clock=True, inbox=True)
    return InProcess(app, parse(text, {}, name="bundled"), portal)


@contextmanager
def running_portal() -> Iterator[Profile]:
    """A reference portal on a loopback socket, with the profile that fits it."""
    with reference.start() as running:
        yield parse(running.profile(), {}, name="bundled")
