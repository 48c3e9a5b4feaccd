"""An access token that is over, as every endpoint that reads answers it (chapter "Authentication")."""

from __future__ import annotations

from cases.reading import READABLE, read
from conformance.cases import Exchange, Portal, Untestable, Verify, is_held_back, is_refused

READ_BY_TOKEN = tuple(row for row in READABLE if not row.is_prelogin)


def is_refused_everywhere(portal: Portal, verify: Verify, token: str, refused: Exchange) -> None:
    """``refused``: how it was refused at one endpoint. What is served without any token says nothing."""
    for row in READ_BY_TOKEN:
        try:
            answer = read(portal, row, token=token)
        except Untestable:
            continue
        if not is_held_back(answer) and not (answer.success and read(portal, row).success):
            message = "a token that is over, and was refused elsewhere, was accepted"
            verify("AUTHN-024", is_refused(answer, refused, message=message))
