"""What the models of several runs have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A value that does not change, and that pydantic writes as JSON."""

    model_config = ConfigDict(frozen=True)
