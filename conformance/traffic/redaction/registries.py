"""Registries of secrets created by a command; its output is redacted by all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Registry(Protocol):
    """What can redact a text."""

    def redact(self, text: str) -> str: ...


_created: ContextVar[list[Registry] | None] = ContextVar("created", default=None)


def attach(registry: Registry) -> None:
    """Adds a registry to the running command, if any."""
    registries = _created.get()
    if registries is not None:
        registries.append(registry)


def redacted_by_all(text: str) -> str:
    """The text without the secrets of any registry of the command that runs."""
    for registry in _created.get() or ():
        text = registry.redact(text)
    return text


@contextmanager
def created_registries() -> Iterator[list[Registry]]:
    """The registries that are created within the block; the list grows as they are."""
    registries: list[Registry] = []
    token = _created.set(registries)
    try:
        yield registries
    finally:
        _created.reset(token)
