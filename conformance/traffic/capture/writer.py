"""Writes captures: appended line by line and flushed, or as HAR."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl

import msgspec

from conformance.errors import CaptureError
from conformance.traffic.capture.bodies import bytes_of
from conformance.traffic.capture.files import Written, ending, opened, packed_into
from conformance.traffic.exchange import NOT_JSON, Exchange, Message, Request, Response

_ENCODE = msgspec.json.Encoder().encode


class Writer:
    """A capture that is written to: our JSONL, or HAR (``.har``); ``.gz`` and ``.zst`` at the end pack it.

    Each line is with the operating system when ``write`` returns, so that a killed process loses none.
    CaptureError: the file exists, or cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.is_har = ".har" in self.path.suffixes
        self._stack = ExitStack()
        self._between = b""
        self._written = Written()
        self._is_cut_back = False
        try:
            self._handle = self._stack.enter_context(self.path.open("xb"))
            self._whole = self._size()
            self._file = self._stack.enter_context(packed_into(self._handle, self.path))
        except FileExistsError:
            raise CaptureError(
                f"{path} exists already, and is not overwritten. Choose another name."
            ) from None
        except OSError as error:
            raise CaptureError(f"{path} cannot be written: {error.strerror or error}.") from error
        if self.is_har:
            self._put(_HAR_HEAD)

    def write(self, exchange: Exchange) -> None:
        """Appends one exchange. CaptureError: the disk is full, or the file went away."""
        self.write_line(self.line(exchange))

    def line(self, exchange: Exchange) -> bytes:
        """The exchange as it will stand in the file: a JSON object, without a line's end."""
        return har_entry(exchange) if self.is_har else _ENCODE(exchange)

    def write_line(self, line: bytes) -> None:
        """Appends what ``line`` gave, perhaps with something taken out of it. CaptureError: as ``write``; the
        file then ends behind the line before, and takes no more."""
        whole = self._between + line if self.is_har else line + b"\n"
        self._put(whole)
        if self.is_har:
            self._between = b",\n"

    def _put(self, whole: bytes) -> None:
        if self._is_cut_back:
            raise CaptureError(f"{self.path} cannot be written any more. Write to another file.")
        try:
            self._file.write(whole)
            self._file.flush()
        except OSError as error:
            self._cut_back()
            raise CaptureError(f"{self.path} cannot be written: {error.strerror or error}.") from error
        self._written = self._written.followed_by(whole)
        self._whole = self._size()

    @property
    def size(self) -> int:
        """Bytes of the file, to the end of its last exchange."""
        return self._whole

    def _size(self) -> int:
        return os.fstat(self._handle.fileno()).st_size

    def _cut_back(self) -> None:
        """Ends the file behind its last whole line, so that it can be read, where it can be cut at all. What
        is still in the buffers goes nowhere."""
        self._is_cut_back = True
        file = os.dup(self._handle.fileno())
        try:
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._handle.fileno())
            self._stack.close()
            os.ftruncate(file, self._whole)
            if self._written.size:
                os.lseek(file, 0, os.SEEK_END)
                os.write(file, ending(self.path, _HAR_END if self.is_har else b"", self._written))
        except OSError:
            pass  # it is no regular file, or has not room for its end: read with --salvage
        finally:
            os.close(file)

    def close(self) -> None:
        """CaptureError: the end cannot be written."""
        if self.is_har and not self._file.closed and not self._is_cut_back:
            self._put(_HAR_END)
        try:
            self._stack.close()
        except OSError as error:
            raise CaptureError(f"{self.path} cannot be written: {error.strerror or error}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Changes the exchanges of a capture that ``Writer`` has written and closed, each given as JSON.

    CaptureError: it cannot be written; then it stays as it was.
    """
    clean = path.with_name(f".clean-{path.name}")
    try:
        with opened(path) as lines, clean.open("wb") as file, packed_into(file, clean) as out:
            for line in lines:
                text = line.decode().rstrip("\n")
                bare = text.rstrip(",")
                is_exchange = bare.startswith('{"') and bare.endswith("}")
                changed = f"{change(bare)}{text[len(bare) :]}" if is_exchange else text
                out.write(f"{changed}\n".encode())
        clean.replace(path)
    except OSError as error:
        clean.unlink(missing_ok=True)
        raise CaptureError(f"{path} cannot be rewritten: {error.strerror or error}.") from error


_HAR_END = b"\n]}}\n"
_HAR_HEAD = (
    b'{"log": {"version": "1.2", "creator": {"name": "portal-conformance", "version": "1"}, "entries": [\n'
)


def har_entry(exchange: Exchange) -> bytes:
    """One HAR 1.2 entry. What HAR has no place for stands in members that begin with an underscore."""
    answer = exchange.response
    entry: dict[str, object] = {
        "startedDateTime": exchange.started,
        "time": exchange.elapsed_ms,
        "request": _request(exchange.request),
        "response": _response(answer) if answer else _no_response(exchange.error),
        "cache": {},
        "timings": {"send": 0, "wait": exchange.elapsed_ms, "receive": 0},
        "_client": exchange.client,
    }
    if exchange.plain is not None:
        entry["_plain"] = exchange.plain
    if exchange.hidden:
        entry["_hidden"] = exchange.hidden
    return _ENCODE(entry)


def _request(request: Request) -> dict[str, object]:
    entry: dict[str, object] = {
        "method": request.method,
        "url": request.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(request),
        "queryString": _query(request),
        "headersSize": -1,
        "bodySize": _size(request),
        **_marks(request),
    }
    if request.state == "json":
        mime_type = request.header("content-type") or ""
        entry["postData"] = {"mimeType": mime_type, "text": bytes_of(request).decode()}
    return entry


def _response(response: Response) -> dict[str, object]:
    content: dict[str, object] = {
        "size": _size(response),
        "mimeType": response.header("content-type") or "",
        **_marks(response),
    }
    if response.state == "json":
        content["text"] = bytes_of(response).decode()
    return {
        "status": response.status,
        "statusText": "",
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(response),
        "content": content,
        "redirectURL": response.header("location") or "",
        "headersSize": -1,
        "bodySize": -1,
        **({"_lacks": response.lacks} if response.lacks else {}),
    }


def _no_response(error: str | None) -> dict[str, object]:
    return _response(Response(status=0)) | {"httpVersion": "", "_error": error or "no answer"}


def _pairs(message: Message) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in message.headers]


def _query(request: Request) -> list[dict[str, str]]:
    pairs = parse_qsl(request.parts.query, keep_blank_values=True)
    return [{"name": name, "value": value} for name, value in pairs]


def _size(message: Message) -> int:
    """Body size in bytes; -1 if unrecorded."""
    if message.state == NOT_JSON:
        return int(message.body["length"])
    return -1 if message.is_unknown else len(bytes_of(message))


def _marks(message: Message) -> dict[str, object]:
    marks: dict[str, object] = {}
    if message.form is not None:
        marks["_form"] = message.form
    if message.state == NOT_JSON:
        marks["_kept"] = message.body
    if message.lacks and isinstance(message, Request):
        marks["_lacks"] = message.lacks
    return marks
