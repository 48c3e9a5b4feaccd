"""Why a recorded request cannot be rebuilt, or not yet."""

from __future__ import annotations


class Lost(Exception):
    """A value is needed that the response at this position lacked."""

    def __init__(self, value: str, position: int) -> None:
        super().__init__(value)
        self.value, self.position = value, position


class Pending(Exception):
    """A value is needed that the response at this position has yet to return."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class CannotRebuild(Exception):
    """Neither the recording nor the profile determines what is to be sent; the text says why."""
