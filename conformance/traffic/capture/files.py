"""Opens captures: plain, UTF-16, gzip, Zstandard, or a zip that holds one. Other files are named."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from conformance.errors import CaptureError
from conformance.traffic.capture.places import Place, StoredStream, size_of, unreadable
from conformance.traffic.documents import GZIP, ZIP, ZSTANDARD, format_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_PACKINGS = 3
"""Packings of a file, one in the other."""
RECORDING = re.compile(r"\.(?:har|jsonl)(?:\.gz|\.zst)?\Z", re.IGNORECASE)
"""How the name of a recording ends."""
BEGINNING = 4096
"""Bytes by which a file is known."""
UTF_16: Mapping[bytes, str] = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"{\0": "utf-16-le",
    b"\0{": "utf-16-be",
}
"""Encodings by the first two bytes of a JSON document that is not UTF-8."""
ZSTANDARD_STEP = 1 << 10
"""Bytes that are unpacked at once: at most 32 MiB come of them, as four bytes may stand for 128 KiB."""
PLAUSIBLE_SIZE, PLAUSIBLE_RATIO = 1 << 30, 200
"""Bytes that any packed HAR may unfold to, and how many times its size a larger one may."""
ENCRYPTED = 0x1
"""Bit of a zip member's flags."""
CHUNK = 1 << 20


class Written(NamedTuple):
    """How many bytes were written to a file, and the checksum of them, before they were packed."""

    size: int = 0
    checksum: int = 0

    def followed_by(self, more: bytes) -> Written:
        return Written(self.size + len(more), zlib.crc32(more, self.checksum))


@contextmanager
def opened(path: Place) -> Iterator[BinaryIO]:
    """The bytes of a capture, unpacked as its first bytes ask for. CaptureError: it cannot be opened."""
    try:
        _expect_file(path)
        with path.open("rb", buffering=CHUNK >> 4) as file:
            with _unpacked(path, cast(io.BufferedReader, file), MOST_PACKINGS) as stream:
                yield stream
    except zipfile.BadZipFile as error:
        raise CaptureError(f"{path}: {damage_of(error)}. Save the file again.") from error
    except NotImplementedError as error:
        raise CaptureError(f"{path}: {error}. Unpack the zip, and give the file.") from error
    except OSError as error:
        raise unreadable(path, error) from error


def _expect_file(path: Place) -> None:
    """CaptureError: the path is a pipe or a terminal, which can be read only once."""
    if isinstance(path, Path) and (
        path == Path("-") or stat.S_ISFIFO(mode := path.stat().st_mode) or stat.S_ISCHR(mode)
    ):
        raise CaptureError(
            f"{path} is not a file, and a recording is read more than once. Save it to a file first: packed"
            " files (.gz, .zst, .zip) are read as they are."
        )


def is_packed(path: Place) -> bool:
    """Whether a file is packed, by its first bytes. CaptureError: it cannot be opened."""
    with opened(path) as stream:
        return not is_plain(stream)


def is_plain(stream: BinaryIO) -> bool:
    """Whether an opened file is read as it lies."""
    return isinstance(stream, io.BufferedReader) and isinstance(stream.raw, (io.FileIO, StoredStream))


@contextmanager
def seekable(path: Place, plausible: int = PLAUSIBLE_SIZE) -> Iterator[tuple[BinaryIO, str | None]]:
    """Like ``opened``, but one can go back in it: what is packed is unpacked to a temporary file first, as
    far as it can be read; the second says what is wrong with the rest, or is None."""
    with opened(path) as stream:
        if isinstance(stream, io.BufferedReader) and stream.seekable():
            yield stream, None
            return
        with tempfile.TemporaryFile() as copy:
            damage = None
            try:
                most = max(plausible, PLAUSIBLE_RATIO * size_of(path))
                while chunk := cast(io.BufferedReader, stream).read1(CHUNK):
                    copy.write(chunk)
                    if copy.tell() > most:
                        raise CaptureError(
                            f"{path} unfolds to more than {most >> 20} MiB. Unpack it, and give the file."
                        )
            except Exception as error:
                damage = damage_of(error)
                if damage is None:
                    raise
            copy.seek(0)
            yield cast(BinaryIO, copy), damage


def damage_of(error: Exception) -> str | None:
    """What is wrong with a packed file that cannot be read on; None where the error is of another kind."""
    is_damage = isinstance(error, (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile))
    if not is_damage and not type(error).__module__.startswith(("zstd", "zstandard")):
        return None
    return f"the packed file ends early or is damaged ({error})"


@contextmanager
def packed_into(file: IO[bytes], path: Path) -> Iterator[BinaryIO]:
    """An open file to write to, packed as its name asks for."""
    if path.suffix == ".gz":
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as packed:
            yield cast(BinaryIO, packed)
    elif path.suffix == ".zst":
        with zstandard(path).ZstdCompressor().stream_writer(file, closefd=False) as stream:
            yield stream
    else:
        yield cast(BinaryIO, file)


def ending(path: Path, text: bytes, written: Written) -> bytes:
    """What ends a packed file behind what was flushed to it: one block that holds a text, and the trailer."""
    size = len(text)
    if path.suffix == ".gz":
        whole = written.followed_by(text)
        block = b"\x01" + struct.pack("<HH", size, size ^ 0xFFFF) + text
        return block + struct.pack("<LL", whole.checksum, whole.size & 0xFFFFFFFF)
    return (size << 3 | 1).to_bytes(3, "little") + text if path.suffix == ".zst" else text


def zstandard(path: Place) -> ModuleType:
    """The Zstandard library. CaptureError: it is not installed, with the extra that brings it."""
    try:
        import zstandard as library  # an extra: whoever reads no .zst needs none of it
    except ImportError as error:
        raise CaptureError(
            f"{path} is packed with Zstandard, which needs: pip install 'portal-conformance[replay]'"
        ) from error
    return library


@contextmanager
def _unpacked(path: Place, file: io.BufferedReader, packings: int) -> Iterator[BinaryIO]:
    """A file without its packings, each known by the first bytes of what the one around it holds."""
    magic = beginning(cast(BinaryIO, file))
    with ExitStack() as stack:
        inner: object = None
        if magic.startswith(GZIP):
            inner = stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))
        elif magic.startswith(ZSTANDARD):
            inner = io.BufferedReader(_Chunks(_frames(zstandard(path), cast(BinaryIO, file))), CHUNK)
        elif magic.startswith(ZIP):
            archive = stack.enter_context(zipfile.ZipFile(file))
            inner = stack.enter_context(archive.open(_recording_in(path, archive)))
        elif magic[:2] in UTF_16:
            inner = io.BufferedReader(_Chunks(_recoded(cast(BinaryIO, file), UTF_16[magic[:2]])), CHUNK)
        if inner is None or not packings:
            _expect_recording(path, magic)
            yield cast(BinaryIO, file)
        else:
            yield stack.enter_context(_unpacked(path, cast(io.BufferedReader, inner), packings - 1))


def beginning(stream: BinaryIO) -> bytes:
    """The first bytes of an opened file, which stay to be read; none of a packed one that breaks so early:
    whoever reads it says so."""
    try:
        return cast(io.BufferedReader, stream).peek(BEGINNING)
    except Exception as error:
        if damage_of(error) is None:
            raise
        return b""


def _expect_recording(path: Place, magic: bytes) -> None:
    """CaptureError: the first bytes are those of another format."""
    if name := format_of(magic):
        raise CaptureError(
            f"{path} is {name}. Give a capture (JSONL) or a HAR file, plain or in a .zip, .gz or .zst."
        )


class _Chunks(io.RawIOBase):
    """Bytes that come in chunks, as a file that is read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while not self._rest and (chunk := next(self._chunks, None)) is not None:
            self._rest = chunk
        count = min(len(self._rest), len(view))
        view[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _recoded(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """The text of a file as UTF-8; U+FFFD in place of what is not of its encoding."""
    decode = codecs.getincrementaldecoder(encoding)(errors="replace").decode
    while chunk := file.read(CHUNK >> 4):
        yield decode(chunk).encode()


def _frames(library: ModuleType, file: BinaryIO) -> Iterator[bytes]:
    """The frames of a file one after the other. EOFError: the last one is cut off."""
    frame = library.ZstdDecompressor().decompressobj
    unpack, is_within = frame(), False
    while packed := unpack.unused_data or file.read(ZSTANDARD_STEP):
        if unpack.eof:
            unpack = frame()
        yield unpack.decompress(packed)
        is_within = not unpack.eof
    if is_within:
        raise EOFError("Compressed file ended before the end-of-stream marker was reached")


def _recording_in(path: Place, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """The recording in a zip, without the notes that macOS adds (``__MACOSX/._NAME``)."""
    members = [
        member
        for member in archive.infolist()
        if RECORDING.search(member.filename) and not PurePosixPath(member.filename).name.startswith("._")
    ]
    if len(members) != 1:
        names = ", ".join(member.filename for member in members) or "none"
        raise CaptureError(
            f"{path}: a zip must hold exactly one .har or .jsonl file, this one holds {names}. Unpack it, and"
            " give the files."
        )
    if members[0].flag_bits & ENCRYPTED:
        raise CaptureError(f"{path}: the zip is encrypted. Unpack it with its password, and give the file.")
    return members[0]
