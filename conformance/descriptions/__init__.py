"""Descriptions of the endpoints that the specification does not describe: OpenAPI files of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.descriptions.operations import NO_DESCRIPTIONS, Descriptions
from conformance.errors import UsageError

__all__ = ["NO_DESCRIPTIONS", "Descriptions", "described_by"]


def described_by(files: Sequence[Path], overlays: Sequence[Path] = ()) -> Descriptions:
    """The operations that OpenAPI files describe, with the OpenAPI Overlays that change them. UsageError: one
    cannot be read, describes a path of the specification, or the extra is missing."""
    if overlays and not files:
        raise UsageError(f"{overlays[0]}: an overlay changes a description. Name that as well.")
    if not files:
        return NO_DESCRIPTIONS
    try:
        from conformance.descriptions.reading import read  # its extra is needed by descriptions alone
    except ImportError as error:
        message = f"a description needs {error.name}: pip install 'portal-conformance[describe]'."
        raise UsageError(message) from error
    return read(files, overlays)
