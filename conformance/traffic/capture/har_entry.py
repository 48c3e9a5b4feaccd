"""One HAR entry as an Exchange: what each tool leaves out becomes a body state, never a value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

import msgspec

from conformance.traffic.capture.bodies import (
    LARGEST_BODY,
    Hold,
    answer_of,
    body_of,
    from_base64,
    is_length,
    unpacked,
)
from conformance.traffic.capture.har_form import Content, Entry, HarRequest, HarResponse, Pair, PostData
from conformance.traffic.exchange import (
    ABSENT,
    NOT_JSON,
    UNKNOWN_FORMS,
    Exchange,
    Form,
    Header,
    Json,
    Request,
    Response,
)

Aside = Literal[
    "answered from a cache",
    "answered by a service worker",
    "answered by the browser",
    "an interim answer",
    "recorded twice",
    "WebSocket",
    "not HTTP",
    "no request",
]
"""Why an entry is set aside: the portal did not send the answer that it shows."""

Attachments = Callable[[str], bytes | None]
"""Reads a body that the tool put into a file of its own, by name; None where it is not there."""

PARTIAL, NOT_MODIFIED = 206, 304
BY_THE_BROWSER = "non-authoritative-reason"
"""A header of a redirection that a browser makes up, such as one from HTTP to HTTPS."""
SECRET_HEADERS = ("authorization", "cookie", "set-cookie")
_REDACTED = re.compile(r"\[[^\]\[]{0,80}redacted\]|\[?redacted\]?|\*{3,}", re.IGNORECASE)
_REDACTED_ENDS = "]*dD"
_OF_BYTES = re.compile("[\0-\x08\x0e-\x1f\ufffd]")
"""What stands in no text, but where a tool took packed bytes for one."""

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS", "CONNECT", "TRACE"})


@dataclass(frozen=True, slots=True)
class Source:
    """Facts of the whole HAR file."""

    lacks: tuple[str, ...] = ()
    attachment: Attachments = lambda name: None
    packed: Counter[str] = field(default_factory=Counter)
    """Bodies that could not be unpacked, by their ``Content-Encoding``."""

    def sentences(self) -> Iterator[str]:
        """Names each encoding whose bodies could not be unpacked, and the remedy."""
        for encoding, bodies in self.packed.items():
            yield (
                f"bodies that are packed as {encoding} cannot be unpacked ({bodies}). Record with"
                " Accept-Encoding: identity."
            )


def aside(entry: Entry) -> Aside | None:
    """The reason to skip an entry; None for an exchange."""
    if entry.request is None or not entry.request.url:
        return "no request"
    if not entry.request.url.startswith(("http://", "https://", "HTTP://", "HTTPS://")):
        return "WebSocket" if entry.request.url.startswith(("ws:", "wss:")) else "not HTTP"
    if entry.kind == "websocket" or entry.webSocketMessages is not msgspec.UNSET:
        return "WebSocket"
    if entry.fromCache or (entry.fetchType and entry.fetchType.lower() in ("memory cache", "disk cache")):
        return "answered from a cache"
    if entry.viaServiceWorker or (entry.response and entry.response.viaServiceWorker):
        return "answered by a service worker"  # which sends a request of its own, an entry of its own
    status = entry.response.status if entry.response else None
    if status == NOT_MODIFIED and _names(entry.request.headers, "if-none-match", "if-modified-since"):
        return "answered from a cache"  # which asked if its copy is still valid
    if entry.response and 300 <= (status or 0) < 400 and _names(entry.response.headers, BY_THE_BROWSER):
        return "answered by the browser"
    return "an interim answer" if 100 <= (status or 0) < 200 else None


def _names(headers: list[Pair] | None, *names: str) -> bool:
    return any(pair.name.lower() in names for pair in headers or ())


def exchange_of(entry: Entry, n: int, started: str, source: Source) -> Exchange:
    """An entry that ``aside`` lets pass, as the record."""
    assert entry.request is not None
    request = _request(entry.request, source)
    answer = entry.response
    response = _response(answer, request, source) if answer and (answer.status or 0) > 0 else None
    return Exchange(
        n=n,
        started=started,
        elapsed_ms=_elapsed(entry),
        client=entry.client,
        request=request,
        response=response,
        error=None if response else _why_unanswered(entry),
        plain=entry.plain,
        hidden=entry.hidden,
    )


def _request(sent: HarRequest, source: Source) -> Request:
    headers, lacks = _headers(sent.headers, sent.lacks + source.lacks)
    method = sent.method.upper()
    body, form = _sent_body(sent, method, headers, source)
    return Request(method=method, url=_url(sent), headers=headers, lacks=lacks, body=body, form=form)


def _response(answer: HarResponse, request: Request, source: Source) -> Response:
    headers, lacks = _headers(answer.headers, answer.lacks + source.lacks)
    status = int(answer.status or 0)
    content = answer.content or Content()
    body: Json = ABSENT
    form: Form | None = None
    if status == PARTIAL and request.header("range") is not None:
        form = "truncated"
    elif request.method != "HEAD" and status not in (204, NOT_MODIFIED):
        body, form = _answered_body(content, answer.bodySize, headers, source)
    return Response(status=status, headers=headers, lacks=lacks, body=body, form=form)


def _headers(pairs: list[Pair] | None, lacks: tuple[str, ...]) -> tuple[list[Header], tuple[str, ...]]:
    if not pairs:
        return [], ("*",)
    kept, removed = _sifted(pairs)
    if not lacks and not removed:
        return kept, ()
    present = {name.lower() for name, _ in kept}
    return kept, tuple(name for name in dict.fromkeys((*lacks, *removed)) if name not in present)


def _sifted(pairs: list[Pair]) -> tuple[list[Header], list[str]]:
    """Without HTTP/2's pseudo-headers, and without those whose value was taken out, which are named apart."""
    kept: list[Header] = []
    removed: list[str] = []
    for pair in pairs:
        if pair.value and pair.value[-1] in _REDACTED_ENDS and _is_redacted(pair.value):
            removed.append(pair.name.lower())
        elif not pair.name.startswith(":"):
            kept.append((pair.name, pair.value))
    return kept, removed


def _is_redacted(value: str) -> bool:
    return _REDACTED.fullmatch(value.removeprefix("Bearer ")) is not None


def _sent_body(
    sent: HarRequest, method: str, headers: list[Header], source: Source
) -> tuple[Json, Form | None]:
    post = sent.postData
    if sent.form == NOT_JSON and is_length(sent.kept):
        return sent.kept, NOT_JSON
    if sent.form in UNKNOWN_FORMS:
        return ABSENT, sent.form  # type: ignore[return-value]
    posted = None if post is None else _posted(post, sent, headers, source)
    if posted is not None:
        return posted
    if method in _BODILESS and (sent.bodySize or 0) <= 0:
        return ABSENT, None
    return _missing_body(sent, headers)


def _posted(
    post: PostData, sent: HarRequest, headers: list[Header], source: Source
) -> tuple[Json, Form | None] | None:
    """The body as the entry holds it; None where it holds none."""
    if post.text:
        return _told(post, headers, source, size=None, hold=body_of)
    if post.file:
        return _attached(source.attachment(post.file), headers, source, hold=body_of)
    if post.params:
        return _form_fields(post)
    return (ABSENT, "omitted") if post.comment else None


def _missing_body(sent: HarRequest, headers: list[Header]) -> tuple[Json, Form | None]:
    """Whether there was a body that the entry does not hold, by the lengths and types that it names."""
    length = _content_length(headers)
    expected = length if length is not None else sent.bodySize
    if expected is not None and expected >= 0:
        return ABSENT, "omitted" if expected > 0 else None
    if not any(name.lower() == "content-type" for name, _ in headers):
        return ABSENT, None
    return ABSENT, "omitted"


def _form_fields(post: PostData) -> tuple[Json, Form | None]:
    """A form whose fields alone are told. A file among them cannot be put together again."""
    fields = post.params or []
    if "multipart" in (post.mimeType or "") or any(param.fileName for param in fields):
        return ABSENT, "omitted"
    return body_of(urlencode([(param.name, param.value) for param in fields]))


def _answered_body(
    content: Content, body_size: int | float | None, headers: list[Header], source: Source
) -> tuple[Json, Form | None]:
    if content.form == NOT_JSON and is_length(content.kept):
        return content.kept, NOT_JSON
    if content.form in UNKNOWN_FORMS:
        return ABSENT, content.form  # type: ignore[return-value]
    if content.text:
        return _told(content, headers, source, size=content.size, hold=answer_of)
    if content.file:
        return _attached(source.attachment(content.file), headers, source, hold=answer_of)
    if content.comment:
        return ABSENT, "omitted"
    length = _content_length(headers)
    sizes = [size for size in (content.size, body_size, length) if size is not None and size >= 0]
    if any(sizes) or not sizes:
        return ABSENT, "omitted"
    return ABSENT, None


def _told(
    holder: PostData | Content,
    headers: list[Header],
    source: Source,
    *,
    size: int | float | None,
    hold: Hold,
) -> tuple[Json, Form | None]:
    """A body that stands in the entry itself: as text, in base64, or packed and written as text."""
    text = holder.text or ""
    if text[0] in "[*rR" and _REDACTED.fullmatch(text):
        return ABSENT, "sanitized"
    raw = from_base64(text) if (holder.encoding or "").lower() == "base64" else None
    body, form = hold(text) if raw is None else _attached(raw, headers, source, hold=hold)
    if form != NOT_JSON:
        return body, form
    if raw is not None and size == len(text):
        return hold(text)  # Firefox says base64 of plain text as well
    if raw is None and _OF_BYTES.search(text) and (encoding := _packing(headers)):
        if "\ufffd" not in text:
            return _attached(text.encode("latin-1", "replace"), headers, source, hold=hold)
        source.packed[encoding] += 1
        return ABSENT, "undecodable"
    return (ABSENT, "truncated") if size is not None and size > body["length"] else (body, form)


def _attached(
    raw: bytes | None, headers: list[Header], source: Source, *, hold: Hold
) -> tuple[Json, Form | None]:
    if raw is None:
        return ABSENT, "omitted"
    encoding = _packing(headers)
    bare = unpacked(raw, encoding) if encoding else raw
    if bare is None:
        source.packed[encoding or ""] += 1
        return ABSENT, "undecodable"
    if len(bare) > LARGEST_BODY:
        return ABSENT, "truncated"
    return hold(bare)


def _packing(headers: list[Header]) -> str | None:
    return next((value for name, value in headers if name.lower() == "content-encoding"), None)


def _url(sent: HarRequest) -> str:
    """The URL with its query, which some tools tell only apart from it, and without its fragment."""
    url = sent.url if "#" not in sent.url else sent.url.partition("#")[0]
    if "?" in url or not sent.queryString:
        return url
    return f"{url}?{urlencode([(pair.name, pair.value) for pair in sent.queryString])}"


def _content_length(headers: list[Header]) -> int | None:
    for name, value in headers:
        if len(name) == 14 and name.lower() == "content-length" and value.isdigit():
            return int(value)
    return None


def _elapsed(entry: Entry) -> float:
    if entry.time is not None and entry.time >= 0:
        return float(entry.time)
    timings = None if entry.timings is msgspec.UNSET else msgspec.json.decode(entry.timings)
    durations = (
        (part for part in timings.values() if isinstance(part, (int, float)))
        if isinstance(timings, dict)
        else ()
    )
    return float(sum(part for part in durations if part > 0))


def _why_unanswered(entry: Entry) -> str:
    reason = entry.response.error if entry.response else None
    return reason or entry.error or "the source recorded no answer"
