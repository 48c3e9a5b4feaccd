"""Changes that were recorded and are not replayed, and whose answers may differ for want of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.spec.endpoints import PORTAL_PATH
from conformance.target.portal.transport import impact_of

RELATED = (
    frozenset({"profile", "accounts"}),
    frozenset({"profile", "invitations"}),
    frozenset({"auth", "security"}),
    frozenset({"auth", "profile"}),
)
"""Areas that show each other's records. Each shows its own."""

OTHER_NAMES = {"notification-channels": "notifications"}
ENDS = ("/logout", "/sessions/terminate", "/sessions/terminate-all", "/password/change", "/password/reset")
"""Ends of paths of what may end a session: every answer after it may have been a 401."""

SESSIONS = "sessions"


@dataclass
class LeftOut:
    """``first`` tells of each area when its first change was left out, in epoch seconds, and which it was."""

    first: dict[str, tuple[float, str]] = field(default_factory=dict)

    def note(self, began: float, method: str, path: str, *, status: int | None) -> None:
        """Takes an exchange that is not replayed. Only what succeeded, and may change something, counts."""
        if status is None or status >= 300 or method == "GET":
            return
        area = area_of(path)
        if area != "auth" and impact_of(method, path) == "read-only":
            return
        areas = (area, SESSIONS) if path.endswith(ENDS) else (area,)
        for one in areas:
            if one not in self.first or began < self.first[one][0]:
                self.first[one] = (began, f"{method} {path[path.find(PORTAL_PATH) :]}")

    def before(self, began: float, path: str, *, status: int | None) -> str | None:
        """The change that may explain why an answer differs; None where none was left out before it."""
        if not self.first:
            return None
        area = area_of(path)
        areas = {area}.union(*(family for family in RELATED if area in family))
        if status == 401:
            areas.add(SESSIONS)
        found = (self.first[one] for one in sorted(areas) if one in self.first)
        return next((change for moment, change in found if moment < began), None)


def area_of(path: str) -> str:
    """The part of the portal that a path is about: ``profile``, ``notifications``."""
    steps = path[path.find(PORTAL_PATH) + len(PORTAL_PATH) :].split("/")
    name = steps[1] if steps[0] == "system" and len(steps) > 1 else steps[0]
    return OTHER_NAMES.get(name, name)
