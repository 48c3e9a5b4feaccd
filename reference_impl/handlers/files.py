"""File records (chapter "Files")."""

from typing import Any

from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def file(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("file", portal.find("file", body["fileBizId"]))
