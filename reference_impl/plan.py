"""Everything a portal is built from, as tables that a variant or a fault may change before it is built."""

from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.types import ASGIApp

from reference_impl import enumerations, states
from reference_impl import fields as shown_fields
from reference_impl import tokens as token_kinds
from reference_impl.choices import Choices
from reference_impl.draw import Draw
from reference_impl.errors import Error, table
from reference_impl.limits import Limits
from reference_impl.routes import ROWS, Row

Wrapper = Callable[[ASGIApp], ASGIApp]


@dataclass
class Plan:
    limits: Limits
    choices: Choices
    rows: dict[str, Row] = field(default_factory=lambda: {row.name: row for row in ROWS})
    moves: states.Moves = field(default_factory=states.moves)
    lists: enumerations.Lists = field(default_factory=enumerations.enumerations)
    fields: shown_fields.Fields = field(default_factory=shown_fields.fields)
    errors: dict[str, Error] = field(default_factory=dict)  # rows in place of those the choices give
    tokens: Callable[[Choices, Draw], token_kinds.Tokens] = token_kinds.tokens
    rewrites: list[Wrapper] = field(default_factory=list)  # innermost first
    wrappers: list[Wrapper] = field(default_factory=list)  # outside of the rewrites
    title_case: bool = False  # header names on the wire

    def error_table(self) -> dict[str, Error]:
        return table(self.choices) | self.errors

    def move_tables(self) -> states.Moves:
        """State transitions, with the chosen state of an activated channel; its moves are those of ACTIVE."""
        activate = ("INACTIVE", "activate")
        channel = self.moves["channel"]
        if channel.get(activate) == "ACTIVE":
            activated = self.choices.activated_status
            as_active = {(activated, move): to for (state, move), to in channel.items() if state == "ACTIVE"}
            channel = as_active | channel | {activate: activated}
        return self.moves | {"channel": channel}
