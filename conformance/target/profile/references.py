"""What ``${NAME}`` and ``${file:PATH}`` in a profile stand for, and where in the profile they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.errors import ProfileError
from conformance.target.profile.errors import NESTED, head_of, nearest
from conformance.target.profile.positions import Positions
from conformance.traffic.documents import document_text

REFERENCE = re.compile(r"\$\$\{|\$\{([^}]+)\}")
PLACEHOLDER = "…"
"""Stands in the template for a value that only the deployment's own documents or people know."""

NOT_FILLED_IN = f'is still "{PLACEHOLDER}", which stands for a value: write the value, or take the line out.'

LEAST_SIMILARITY = 0.75
"""How alike the name of a variable that is set must be to be the one that was meant."""


class References:
    """Takes the values from the environment and from files. ``problems`` collects what cannot be taken, and
    what is not filled in, so that all of it is reported at once; ``hidden`` are the values that are secrets
    by their place."""

    def __init__(self, positions: Positions, environ: Mapping[str, str], folder: Path) -> None:
        self.problems: list[str] = []
        self.hidden: list[str] = []
        self.positions = positions
        self._environ, self._folder = environ, folder

    def filled(self, value: Any, place: tuple[str, ...]) -> Any:
        """The value with every reference replaced; ``$${`` stands for ``${``."""
        if isinstance(value, dict):
            return {key: self.filled(inner, (*place, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.filled(inner, place) for inner in value]
        if value == PLACEHOLDER:
            self.problems.append(f"{self.positions.of(place)}: {spoken(place)} {NOT_FILLED_IN}")
        if isinstance(value, str) and "${" in value:
            return REFERENCE.sub(
                lambda match: self.value(match[1].strip(), place) if match[1] else "${", value
            )
        return value

    def value(self, reference: str, place: tuple[str, ...]) -> str:
        """The resolved value of a reference; empty if unset, which is reported as a problem."""
        try:
            return self._value(reference, place)
        except ProfileError as problem:
            self.problems.append(str(problem))
            return ""

    def _value(self, reference: str, place: tuple[str, ...]) -> str:
        where = f"{self.positions.of(place)}: {spoken(place)}"
        if reference.startswith("file:"):
            path = self._folder / Path(reference.removeprefix("file:")).expanduser()
            try:
                text = document_text(path).rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as problem:
                raise ProfileError(
                    f"{where} cannot be read from {path} ({problem}). Check the path."
                ) from None
        elif reference in self._environ:
            text = self._environ[reference].rstrip("\r\n")
        else:
            hint = nearest(reference, self._environ, cutoff=LEAST_SIMILARITY)
            end = f" Did you mean {hint}, which is set?" if hint else ""
            raise ProfileError(f"{where} needs the environment variable {reference}, which is not set.{end}")
        if not text:
            kind = "file" if reference.startswith("file:") else "environment variable"
            raise ProfileError(f"{where} needs the {kind} {reference}, which is empty. Fill it.")
        if place[0] == "operations" or place[1:2] == ("headers",):
            self.hidden.append(text)
        return text


def spoken(place: tuple[str, ...]) -> str:
    """A place in the profile as its writer knows it: ``[accounts.admin] password``."""
    depth = min(2 if place[0] in NESTED else 1, len(place))
    return " ".join((head_of(place[:depth]), ".".join(place[depth:]))).strip()
