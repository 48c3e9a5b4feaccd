"""A report folder, or a zip of one, from somebody else: opened with bounds, and nothing in it is followed."""

from __future__ import annotations

import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from conformance.errors import UsageError
from conformance.report.formats.manifest import ENVELOPE, EXCHANGES, MANIFEST
from conformance.report.formats.write import ATTESTED
from conformance.report.model.evidence import UNREADABLE
from conformance.traffic.capture.files import ENCRYPTED, PLAUSIBLE_RATIO, PLAUSIBLE_SIZE
from conformance.traffic.documents import LARGEST_REPORT

PRODUCT = "PRODUCT.toml"
SUBMITTED = (MANIFEST, ENVELOPE, "results.json", "report.html", EXCHANGES, PRODUCT)
"""The names that a zip may hold, each once, and no other."""


class Subject(msgspec.Struct):
    """A file of the manifest, with its digests."""

    name: str
    digest: dict[str, str]


class Statement(msgspec.Struct):
    """The part of a manifest that is checked."""

    type: str = msgspec.field(name="_type")
    subject: list[Subject]
    predicate_type: str = msgspec.field(name="predicateType")
    predicate: dict[str, Any]


@contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder itself, or a temporary one with the files of the zip. UsageError: it is neither, or has what
    no report folder has."""
    if place.is_dir():
        yield _plain(place)
        return
    with TemporaryDirectory() as unpacked:
        _unpack(place, Path(unpacked))
        yield _plain(Path(unpacked))


def _plain(folder: Path) -> Path:
    """The folder. UsageError: a report in it is a link, is no file, or is too large to be read."""
    for name in (*ATTESTED, MANIFEST, ENVELOPE):
        path = folder / name
        mode = path.lstat().st_mode if path.is_symlink() or path.exists() else stat.S_IFREG
        if not stat.S_ISREG(mode):
            raise UsageError(f"{path}: it is a link or no file. Give a folder whose reports are files.")
        if name != EXCHANGES and path.exists() and path.stat().st_size > LARGEST_REPORT:
            raise UsageError(f"{path}: it is larger than {LARGEST_REPORT >> 20} MiB, as no report is.")
    return folder


def _unpack(place: Path, folder: Path) -> None:
    """Unpacks a zip of fixed names. UsageError: it is none, or would unfold to too much."""
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            _refuse(place, members)
            for member in members:
                with archive.open(member) as packed, (folder / member.filename).open("xb") as file:
                    shutil.copyfileobj(packed, file)  # never more than the size that was checked
    except FileNotFoundError:
        raise UsageError(f"{place}: there is no such folder or zip. Check the path.") from None
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as wrong:
        raise UsageError(f"{place}: cannot be read as a zip ({wrong}). Get it anew.") from None


def _refuse(place: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    foreign = [name for name in names if name not in SUBMITTED or names.count(name) > 1]
    if foreign:
        raise UsageError(
            f"{place}: it holds {foreign[0]!a}. A zip of a report holds {', '.join(SUBMITTED)},"
            " each at most once, and nothing else."
        )
    if any(member.flag_bits & ENCRYPTED or stat.S_ISLNK(member.external_attr >> 16) for member in members):
        raise UsageError(f"{place}: a member is encrypted or a link. A zip of a report has plain files.")
    most = max(PLAUSIBLE_SIZE, PLAUSIBLE_RATIO * place.stat().st_size)
    if sum(member.file_size for member in members) > most:
        raise UsageError(
            f"{place}: it unfolds to more than {most >> 20} MiB. Unpack it, and give the folder."
        )


def manifest_in(folder: Path) -> Statement:
    """The manifest of a folder. UsageError: there is none, or it is no Statement of a run."""
    path = folder / MANIFEST
    try:
        return msgspec.json.decode(path.read_bytes(), type=Statement)
    except FileNotFoundError:
        raise UsageError(
            f"{path}: there is no such file. Only a folder that has it can be verified."
        ) from None
    except UNREADABLE as wrong:
        raise UsageError(f"{path}: this is no manifest of a run ({wrong}). Get the report anew.") from None
