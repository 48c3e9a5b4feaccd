"""Descriptions of the endpoints that the specification does not describe: OpenAPI files of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

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
        return _extra().read(self.files, self.overlays)  # type: ignore[no-any-return]


NO_FILES = DescriptionFiles()


def _extra() -> ModuleType:
    """The module that needs the extra. UsageError: it is not installed."""
    try:
        from conformance.descriptions import reading  # its extra is needed by descriptions alone
    except ImportError as error:
        raise UsageError(
            f"a description needs {error.name}: pip install 'portal-conformance[describe]'."
        ) from error
    return reading
