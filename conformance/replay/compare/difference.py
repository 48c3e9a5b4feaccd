"""One difference between a recorded response and the live one: its kind, its place, both values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from conformance.traffic.exchange import Json

Kind = Literal["status", "code", "type", "missing", "extra", "value", "order", "length"]
Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the responses differ. ``place`` is empty for the body as a whole."""

    kind: Kind
    place: Steps
    recorded: Json
    replayed: Json

    @property
    def path(self) -> str:
        """As reports write it: ``data.items[0].bizId``, ``status``, ``headers.content-type``."""
        text = ""
        for step in self.place:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text

    def within(self, *steps: str | int) -> Difference:
        return Difference(self.kind, (*steps, *self.place), self.recorded, self.replayed)
