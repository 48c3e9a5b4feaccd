"""The recorded exchanges of a replay, read by position from the capture or a copy."""

from __future__ import annotations

import tempfile
from array import array
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

import msgspec

from conformance.errors import CaptureError
from conformance.traffic import capture
from conformance.traffic.capture.placeholders import RecordingNumber
from conformance.traffic.exchange import Exchange

_ENCODE = msgspec.json.Encoder().encode
decoded = msgspec.json.Decoder(Exchange).decode


class Store:
    """Lines of exchanges by position, from 0, in the order in which they stand. Keeps 12 bytes for each.

    A plain capture is read where it lies; anything else is copied as one, into a temporary file. Processes
    that are forked may read the same one: nothing depends on where a file was read last.
    """

    def __init__(self, files: Sequence[str | Path], *, salvage: bool = False) -> None:
        self.ignored: Counter[str] = Counter()
        self.notes: list[str] = []
        self._stack = ExitStack()
        self._files: list[BinaryIO] = []
        self._named: list[tuple[Path, int]] = []
        self._recordings = [RecordingNumber(number, len(files)) for number in range(len(files))]
        self._file_of = array("i")
        self._starts = array("q")
        self._lengths = array("i")
        for path in files:
            if _is_plain(Path(path)):
                self._index(Path(path), salvage=salvage)
            else:
                self._copy(Path(path), salvage=salvage)

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, at: int) -> bytes:
        """The bytes of a line. CaptureError: its file has become shorter."""
        number, length = self._file_of[at], self._lengths[at]
        file = self._files[number]
        file.seek(self._starts[at])
        line = file.read(length)
        if len(line) < length:
            path, first = self._named[number]
            raise CaptureError(
                f"{path}:{at - first + 1}: the file became shorter while it was read. Replay a copy of it."
            )
        return self._recordings[number].line(line)

    def file_of(self, at: int) -> int:
        """The number of the file in which an exchange stands, from 0."""
        return self._file_of[at]

    def length(self, at: int) -> int:
        return self._lengths[at]

    def exchange(self, at: int) -> Exchange:
        return decoded(self.line(at))

    def close(self) -> None:
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def broken(self, at: int, error: Exception) -> CaptureError:
        path, first = self._named[self._file_of[at]]
        return CaptureError(
            f"{path}:{at - first + 1}: the line is not an exchange: {error}. Remove the line."
        )

    def _index(self, path: Path, *, salvage: bool) -> None:
        self._named.append((path, len(self)))
        place, number = 0, len(self._files)
        file_of, starts, lengths = self._file_of.append, self._starts.append, self._lengths.append
        with path.open("rb") as file:
            for line in file:
                file_of(number)
                starts(place)
                lengths(len(line.rstrip(b"\r\n")))
                place += len(line)
        unbuffered = cast(BinaryIO, path.open("rb", buffering=0))
        self._files.append(self._stack.enter_context(unbuffered))
        self._drop_cut_off(path, salvage=salvage)

    def _drop_cut_off(self, path: Path, *, salvage: bool) -> None:
        """Drops a last line that a crash cut off. CaptureError: the user did not allow that."""
        first = self._named[-1][1]
        while len(self) > first and self._lengths[-1] == 0:
            self._drop_last()
        try:
            if len(self) > first:
                self.exchange(len(self) - 1)
        except ValueError as error:
            count = len(self) - first - 1
            problem = f"{path}:{count + 1}: the last line is cut off or broken ({error})."
            if not salvage or not count:
                hint = f" To use the {count} lines before it, add --salvage." if count else ""
                raise CaptureError(problem + hint) from error
            self._drop_last()
            self.notes.append(f"{problem} The {count} lines before it were used.")

    def _drop_last(self) -> None:
        for column in (self._file_of, self._starts, self._lengths):
            column.pop()

    def _copy(self, path: Path, *, salvage: bool) -> None:
        file = cast(BinaryIO, self._stack.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
        self._named.append((path, len(self)))
        place = 0
        reader = capture.read(path, salvage=salvage)
        for exchange in reader:
            line = _ENCODE(exchange)
            file.write(line + b"\n")
            self._note(place, len(line))
            place += len(line) + 1
        file.flush()
        self.ignored.update(reader.set_aside)
        self.notes.extend(reader.notes)
        self._files.append(file)

    def _note(self, start: int, length: int) -> None:
        self._file_of.append(len(self._files))
        self._starts.append(start)
        self._lengths.append(length)


def _is_plain(path: Path) -> bool:
    """Whether a file is our own capture, not packed: then its lines can be fetched where they lie."""
    try:
        with path.open("rb") as file:
            return file.read(6).startswith((b'{"n":', b'{"n" :'))
    except OSError:
        return False
