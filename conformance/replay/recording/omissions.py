"""Recorded changes that are not replayed, so that later responses may lawfully differ."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.spec.endpoints import PORTAL_PATH
from conformance.target.portal.transport import impact_of

RELATED = (
    frozenset({"profile", "accounts"}),
    frozenset({"profile", "invitations"}),
    frozenset({"auth", "security"}),
)
"""Areas that show each other's records. Each shows its own, but for ``auth``."""

LOGOUT = "/logout"
"""The end of the one path of ``auth`` whose response shows how many sessions there were."""

OTHER_NAMES = {"notification-channels": "notifications"}
ENDS = (
    LOGOUT,
    "/sessions/terminate",
    "/sessions/terminate-all",
    "/password/change",
    "/password/reset",
    "/password/init",
)
"""Ends of paths that may end a session: every response after it may have been a 401."""

SESSIONS = "sessions"


@dataclass
class Omissions:
    """``first`` is, by area, the first change that is not replayed: its epoch seconds, and its name."""

    first: dict[str, tuple[float, str]] = field(default_factory=dict)

    def note(self, began: float, method: str, path: str, *, status: int | None) -> None:
        """Takes an exchange that is not replayed. Only a success that may change something counts."""
        if status is None or status >= 300 or method == "GET":
            return
        area = area_of(path)
        if area != "auth" and impact_of(method, path) == "read-only":
            return
        areas = (area, SESSIONS) if path.endswith(ENDS) else (area,)
        for changed in areas:
            if changed not in self.first or began < self.first[changed][0]:
                self.first[changed] = (began, f"{method} {path[path.find(PORTAL_PATH) :]}")

    def before(self, began: float, path: str, *, is_open_still: bool) -> str | None:
        """The omitted change that may explain a difference; None where there is none before it.
        ``is_open_still``: a session that had ended when recorded is accepted."""
        if not self.first:
            return None
        area = area_of(path)
        areas = {area}.union(*(family for family in RELATED if area in family))
        if area == "auth" and not path.endswith(LOGOUT):
            areas.discard(area)
        if is_open_still:
            areas.add(SESSIONS)
        omitted = (self.first[related] for related in sorted(areas) if related in self.first)
        return next((change for moment, change in omitted if moment < began), None)


def area_of(path: str) -> str:
    """The part of the portal that a path is about: ``profile``, ``notifications``."""
    steps = path[path.find(PORTAL_PATH) + len(PORTAL_PATH) :].split("/")
    name = steps[1] if steps[0] == "system" and len(steps) > 1 else steps[0]
    return OTHER_NAMES.get(name, name)
