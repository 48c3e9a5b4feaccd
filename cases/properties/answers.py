"""What holds of any answer, whatever was sent: judged on the wire, and what a flawed body adds to it."""

from __future__ import annotations

from cases.properties.bodies import NO_OBJECTS, Drawn
from conformance.cases import Exchange, Trial, holds

ANSWERED = (
    "ENV-001", "ENV-002", "ENV-003", "ENV-004", "ENV-006", "ENV-008", "ENV-014", "ENV-015", "ENV-018",
    "ERROR-003", "ERROR-008", "ERROR-014",
)  # fmt: skip
"""Judged of every answer: its envelope, that it is no server error, and that it follows the error table."""


def refuses_what_is_no_object(trial: Trial, drawn: Drawn, answer: Exchange) -> None:
    """A body that is JSON but no object is refused by a client error; of ``null`` nothing is said."""
    if drawn.has("shape") and drawn.body in NO_OBJECTS:
        refused = not answer.success and 400 <= (answer.status or 0) < 500
        trial.verify("ERROR-016", holds(answer, "status", refused, "a client error, 400 to 499"))
