"""Descriptions of the endpoints that the specification does not describe: OpenAPI files of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conformance.descriptions.operations import NO_DESCRIPTIONS, Descriptions
from conformance.errors import UsageError

__all__ = ["NO_DESCRIPTIONS", "NO_FILES", "DescriptionFiles", "Descriptions"]


@dataclass(frozen=True, slots=True)
class DescriptionFiles:
    """OpenAPI files, and the OpenAPI Overlays that change them."""

    files: tuple[Path, ...] = ()
    overlays: tuple[Path, ...] = ()

    def read(self) -> Descriptions:
        """The operations that the files describe. UsageError: one cannot be read, describes a path of the
        specification, or the extra is missing."""
        if self.overlays and not self.files:
            raise UsageError(f"{self.overlays[0]}: an overlay changes a description. Name that as well.")
        if not self.files:
            return NO_DESCRIPTIONS
        try:
            from conformance.descriptions.reading import read  # its extra is needed by descriptions alone
        except ImportError as error:
            message = f"a description needs {error.name}: pip install 'portal-conformance[describe]'."
            raise UsageError(message) from error
        return read(self.files, self.overlays)


NO_FILES = DescriptionFiles()
