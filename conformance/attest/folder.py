"""A report folder, or a zip of one, from somebody else: opened with bounds, and nothing in it is followed."""

from __future__ import annotations

import os
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
from conformance.report.formats.manifest import ENVELOPE, EXCHANGES, MANIFEST, digest_of
from conformance.report.formats.write import ATTESTED
from conformance.report.model.evidence import UNREADABLE
from conformance.report.model.words import listed
from conformance.traffic.capture.files import ENCRYPTED, PLAUSIBLE_RATIO, PLAUSIBLE_SIZE

PRODUCT = "PRODUCT.toml"
SUBMITTED = (MANIFEST, ENVELOPE, "results.json", "report.html", EXCHANGES, PRODUCT)
"""The names that a zip may hold, each once, and no other."""

LARGEST_REPORT = 256 << 20
"""Bytes of a report, which is read at once; the exchanges are read line by line."""


class Subject(msgspec.Struct):
    name: str
    digest: dict[str, str]


class Statement(msgspec.Struct, rename="camel"):
    """The part of a manifest that is checked."""

    type: str = msgspec.field(name="_type")
    subject: list[Subject]
    predicate_type: str
    predicate: dict[str, Any]


@contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder itself, or a temporary one with the files of a zip. UsageError: no report is like it."""
    if place.is_dir():
        yield _plain(place)
        return
    with TemporaryDirectory() as unpacked:
        _unpack(place, Path(unpacked))
        yield _plain(Path(unpacked))


def _plain(folder: Path) -> Path:
    """The folder. UsageError: a report in it is a link, is no file, or is too large to be read."""
    for path in (folder / name for name in (*ATTESTED, MANIFEST, ENVELOPE) if os.path.lexists(folder / name)):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise UsageError(f"{path}: it is a link or no file. Give a folder whose reports are files.")
        if path.name != EXCHANGES and path.stat().st_size > LARGEST_REPORT:
            raise UsageError(f"{path}: it is larger than {LARGEST_REPORT >> 20} MiB, as no report is.")
    return folder


def _unpack(place: Path, folder: Path) -> None:
    """Unpacks a zip of fixed names. UsageError: it is none, or would unfold to too much."""
    try:
        with zipfile.ZipFile(place) as archive:
            _refuse(place, archive.infolist())
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError) as wrong:
        raise UsageError(f"{place}: cannot be read as a folder or a zip ({wrong}). Check the path.") from None


def _refuse(place: Path, members: list[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    if not {*names} <= {*SUBMITTED} or len({*names}) < len(names):
        raise UsageError(
            f"{place}: it holds {listed(map(ascii, names))}. A zip of a report holds {', '.join(SUBMITTED)},"
            " each at most once, and nothing else."
        )
    if any(member.flag_bits & ENCRYPTED or stat.S_ISLNK(member.external_attr >> 16) for member in members):
        raise UsageError(f"{place}: a member is encrypted or a link. A zip of a report has plain files.")
    most = max(PLAUSIBLE_SIZE, PLAUSIBLE_RATIO * place.stat().st_size)
    if sum(member.file_size for member in members) > most:
        raise UsageError(f"{place}: it unfolds to more than {most >> 20} MiB. Unpack it yourself.")


def manifest_in(folder: Path) -> Statement:
    """The manifest of a folder. UsageError: there is none, or it is no Statement of a run."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Statement)
    except FileNotFoundError:
        raise UsageError(
            f"{folder / MANIFEST}: there is no such file: only what has it can be verified."
        ) from None
    except (OSError, *UNREADABLE) as wrong:
        raise UsageError(f"{folder / MANIFEST}: this is no manifest of a run ({wrong}).") from None


def refuse_changed_results(folder: Path, place: Path) -> None:
    """UsageError: the results of an opened zip are not those that its manifest lists."""
    stated = {each.name: each.digest for each in manifest_in(folder).subject}
    results = folder / "results.json"
    if results.is_file() and stated.get(results.name) != {"sha256": digest_of(results)}:
        raise UsageError(f"{place}: its results.json was changed: `verify` says what is other.")
