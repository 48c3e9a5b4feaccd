"""The registries of secrets that a command creates, so that what it prints is redacted by all of them."""

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
    """Adds a registry to those of the command that runs, if one does."""
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
