"""The constants lists (chapter "Constants")."""

from collections.abc import Callable
from typing import Any

from reference_impl.enumerations import shown
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def listed(name: str) -> Callable[[Portal, Caller, Body], Any]:
    def handler(portal: Portal, caller: Caller, body: Body) -> Any:
        return [
            portal.enumeration(name, code.code) | dict(code.extra)
            for code in shown(portal.lists[name], portal.choices)
        ]

    return handler
