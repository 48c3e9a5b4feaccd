"""Where captures lie: files of this machine, and those of a store that has an address (``s3://``, ``gs://``)."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

from conformance.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
"""How an address begins; a drive has one letter."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a store, which fsspec reads; it is opened as a ``Path`` is. Its text leaves out credentials
    that stand in its address."""

    url: str

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        query = "" if parts.scheme.lower() in ("http", "https") else parts.query
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query).geturl()

    @property
    def suffixes(self) -> list[str]:
        return PurePosixPath(urlsplit(self.url).path).suffixes

    def open(self, mode: str = "rb", buffering: int = io.DEFAULT_BUFFER_SIZE) -> BinaryIO:
        """To read, and to go back in. OSError: it cannot be read, now or on the way."""
        store, name = _store_of(self.url)
        file = _asked(lambda: store.open(name, mode))
        return io.BufferedReader(StoredStream(file), buffering)

    def size(self) -> int:
        """In bytes. OSError: it cannot be found out."""
        store, name = _store_of(self.url)
        size = _asked(lambda: store.size(name))
        if size is None:
            raise OSError("its store does not say how long it is")
        return int(size)

    def absolute(self) -> StoredFile:
        return self


class StoredStream(io.RawIOBase):
    """What fsspec opened. OSError: whatever the library of the store raises."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        return int(_asked(lambda: self._file.seek(place, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        chunk = _asked(lambda: self._file.read(len(view)))
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


Place = Path | StoredFile
"""Where a capture lies."""


def place_of(text: str | Place) -> Place:
    """The file that a path or an address names; ``file://`` is one of this machine."""
    if isinstance(text, (Path, StoredFile)):
        return text
    if not ADDRESS.match(text):
        return Path(text)
    parts = urlsplit(text)
    return Path(url2pathname(parts.path)) if parts.scheme.lower() == "file" else StoredFile(text)


def size_of(place: Place) -> int:
    """In bytes. CaptureError: there is no such file, or it cannot be read."""
    try:
        return place.size() if isinstance(place, StoredFile) else place.stat().st_size
    except OSError as error:
        raise unreadable(place, error) from error


def unreadable(place: Place, error: OSError) -> CaptureError:
    if isinstance(error, IsADirectoryError):
        return CaptureError(f"{place} is a folder. Give its files: {place}/*.har, or {place}/*.jsonl.")
    return CaptureError(f"{place}: {reason(place, error)}. Give a capture (JSONL) or a HAR file.")


def reason(place: Place, error: OSError) -> str:
    """Why a file cannot be read, without credentials of its address."""
    if isinstance(error, FileNotFoundError):
        return "No such file or directory"  # some stores say its name alone
    text = str(error.strerror or error)
    return text.replace(place.url, str(place)) if isinstance(place, StoredFile) else text


def matching(text: str) -> list[Place]:
    """The files of a pattern such as ``captures/*.jsonl`` or ``s3://captures/*.jsonl`` in the order of their
    names; a name that is no pattern, or a file's own, stays. UsageError: no file matches."""
    place = place_of(text)
    if isinstance(place, Path):
        return [place] if not has_magic(str(place)) or place.exists() else _matching_here(str(place))
    if not has_magic(text) or urlsplit(text).scheme.lower() in ("http", "https"):
        return [place]
    try:
        store, name = _store_of(text)
        names = _asked(lambda: sorted(store.glob(name)))
    except OSError as error:
        raise unreadable(place, error) from error
    if not names:
        raise _no_match(str(place))
    return [StoredFile(store.unstrip_protocol(each)) for each in names]


def _matching_here(pattern: str) -> list[Place]:
    matches = sorted(path for path in glob(pattern, recursive=True) if Path(path).is_file())
    if not matches:
        raise _no_match(pattern)
    return [Path(path) for path in matches]


def _no_match(pattern: str) -> UsageError:
    return UsageError(f"{pattern}: no file matches this pattern.")


def _store_of(url: str) -> tuple[Any, str]:
    """The store at an address, and the file's name there. OSError: no library for it is installed."""
    try:
        from fsspec.core import url_to_fs  # an extra: whoever reads files of this machine needs none of it
    except ImportError:
        raise OSError("an address needs the extra scale: pip install 'portal-conformance[scale]'") from None
    return cast("tuple[Any, str]", _asked(lambda: url_to_fs(url)))


def _asked(ask: Callable[[], T]) -> T:
    """What the library of a store answers. OSError: that it raised, whatever it was."""
    try:
        return ask()
    except OSError:
        raise
    except Exception as error:
        text = str(error).partition("\n")[0].rstrip(".")
        raise OSError(text or type(error).__name__) from error
