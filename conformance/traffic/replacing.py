"""Writes files in one step, and never through a link to elsewhere: a failure leaves the old file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NEW_FILE = 0o666
"""The mode of a file that did not exist, before the umask."""

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""Flag of ``os.open``: a link in a folder of reports is not followed out of it."""


def replace_file(path: Path, text: str) -> None:
    """Puts a text in a user's file, so that a reader never sees half of it and a failure leaves the old one.

    Line ends are written as they stand in the text, and a symbolic link stays one. OSError: the folder cannot
    be written.
    """
    _put(path.resolve(), text.encode())


def write_report(path: Path, text: str) -> None:
    """Puts a text in a report's place, as ``replace_file`` does. A link there is replaced, not followed."""
    if path.is_symlink():
        path.unlink()
    _put(path, text.encode(errors="backslashreplace"))


def _put(place: Path, content: bytes) -> None:
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    new = place.with_name(f".{place.name}.{os.getpid()}.new")
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_FILE if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if mode is not None:
            new.chmod(mode)
        os.replace(new, place)
    finally:
        new.unlink(missing_ok=True)


def text_of(path: Path) -> str:
    """Text of a file with unchanged line ends."""
    return path.read_bytes().decode("utf-8")


def not_following(path: str, flags: int) -> int:
    """Opens a file for ``open(…, opener=not_following)``. OSError: it is a link."""
    return os.open(path, flags | NO_LINK, NEW_FILE)


def for_its_owner(path: str, flags: int) -> int:
    """Opens a file that only its owner may read, for ``open(…, opener=for_its_owner)``. OSError: a link."""
    handle = os.open(path, flags | NO_LINK, 0o600)
    os.fchmod(handle, 0o600)
    return handle


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write beside another, in whose place it is put at the end. Where the block fails, the other
    one stays as it was, and the folders that the block created are removed."""
    new = path.with_name(f"{path.name}.part")
    new.unlink(missing_ok=True)  # it may be a link
    created = [folder for folder in path.parents if not folder.exists()]
    try:
        yield new
    except BaseException:
        new.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else has put something there
            for folder in created:
                folder.rmdir()
        raise
    new.replace(path)
