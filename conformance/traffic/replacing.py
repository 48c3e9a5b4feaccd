"""Replaces a file in one step, so that a failure leaves the old one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NEW_FILE = 0o666
"""The mode of a file that did not exist, before the umask."""


def replace_file(path: Path, text: str) -> None:
    """Puts a text in a file's place, so that a reader never sees half of it and a failure leaves the old one.

    Line ends are written as they stand in the text, and a symbolic link stays one. OSError: the folder cannot
    be written.
    """
    place = path.resolve()
    mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else None
    new = place.with_name(f".{place.name}.{os.getpid()}.new")
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, NEW_FILE if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        if mode is not None:
            new.chmod(mode)
        os.replace(new, place)
    finally:
        new.unlink(missing_ok=True)


def text_of(path: Path) -> str:
    """Text of a file with unchanged line ends."""
    return path.read_bytes().decode("utf-8")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file to write beside another, in whose place it is put at the end. Where the block fails, the other
    one stays as it was, and the folders that the block created are removed."""
    new = path.with_name(f"{path.name}.part")
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
