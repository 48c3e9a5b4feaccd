"""How answers travel and how their JSON is written: HTTP's and JSON's to say, not the specification's."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl import wire
from reference_impl.changes import chosen, rewritten, title_cased, wrapped
from reference_impl.routes import Routes
from reference_impl.variants.variant import deep, enveloped, may
from reference_impl.wrappers import Answer, Chunked, Gzip, Respelled, Rewrite, Seen, WithHeaders

EVERY = 25  # of that many answers one is slow
PAGE = b"<!doctype html><html><head><title>404</title></head><body>Not Found</body></html>"


@dataclass
class NowAndThenSlow:
    """One answer of some waits."""

    app: ASGIApp
    seconds: float = 0.05
    count: list[None] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.count.append(None)
        if len(self.count) % EVERY == 0:
            await asyncio.sleep(self.seconds)
        await self.app(scope, receive, send)


@dataclass
class Elsewhere:
    """Answers paths that are none of the portal's, in a way of its own."""

    app: ASGIApp
    status: int
    content_type: bytes
    body: bytes
    location: bytes = b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        routes: Routes = scope["app"].state.routes
        path = scope["path"]
        is_endpoint = any(routes.find_or_none(method, path) for method in ("GET", "POST"))
        if is_endpoint or not path.startswith("/web/"):
            await self.app(scope, receive, send)
            return
        headers = [(b"content-type", self.content_type), (b"content-length", str(len(self.body)).encode())]
        headers += [(b"location", self.location)] * bool(self.location)
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def _labelled(label: bytes) -> Callable[[Seen, Answer], None]:
    def rewriting(seen: Seen, answer: Answer) -> None:
        answer.headers = [(n, v) for n, v in answer.headers if n != b"content-type"]
        answer.headers.append((b"content-type", label))

    return rewriting


def _respelled(spell: Callable[[Any], bytes]) -> Any:
    return wrapped(lambda app: Respelled(app, lambda octets: spell(wire.decoded(octets))))


def _pretty(value: Any) -> bytes:
    return b"\n" + json.dumps(value, indent=4, ensure_ascii=False).encode() + b"\r\n"


def _ascii(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).replace("/", "\\/").encode()


def _reversed(value: Any) -> Any:
    return dict(reversed(list(value.items()))) if isinstance(value, dict) else value


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _nothing_left_out(seen: Seen, answer: Answer) -> None:
    if answer.body["data"] is None:
        del answer.body["data"]


def _created(seen: Seen, answer: Answer) -> None:
    if answer.status == 200 and answer.body["success"] and "/create" in seen.template:
        answer.status = 201


def _extended(value: Any) -> Any:
    return value | {"x-trace": "0", "_links": [], "newField": None} if isinstance(value, dict) else value


def _extra(seen: Seen, answer: Answer) -> None:
    answer.body = deep(answer.body, _extended)


VARIANTS = (
    may("gzip", "how an answer is coded on the wire is HTTP's", wrapped(Gzip), "framing"),
    may("chunked", "how an answer is framed is HTTP's", wrapped(Chunked), "framing"),
    may(
        "connection-close",
        "how long a connection lives is HTTP's",
        wrapped(lambda app: WithHeaders(app, added=[(b"connection", b"close")])),
    ),
    may("header-case", "names of headers have no case", title_cased),
    may(
        "further-headers",
        "headers of answers are not described",
        wrapped(
            lambda app: WithHeaders(
                app, added=[(b"server", b"edge"), (b"x-request-id", b"1"), (b"vary", b"*")]
            )
        ),
    ),
    may(
        "cookies",
        "headers of answers are not described",
        wrapped(lambda app: WithHeaders(app, added=[(b"set-cookie", b"edge=1; Path=/; HttpOnly")])),
    ),
    may("now-and-then-slow", "how fast an answer comes is not stated", wrapped(NowAndThenSlow)),
    may("pretty-json", "white space means nothing in JSON", _respelled(_pretty), "spelling"),
    may("escaped-json", "JSON may escape any character", _respelled(_ascii), "spelling"),
    may(
        "other-order-of-fields",
        "JSON objects have no order",
        _respelled(lambda value: wire.encoded(deep(value, _reversed))),
        "spelling",
    ),
    may(
        "integers-with-a-fraction",
        "300.0 is the number 300",
        _respelled(lambda value: wire.encoded(deep(value, _float))),
        "spelling",
    ),
    may(
        "charset-in-the-label",
        "the media type may have parameters",
        rewritten(_labelled(b"application/json; charset=utf-8")),
        "label",
    ),
    may(
        "label-of-its-own",
        "a media type may be a kind of JSON",
        rewritten(_labelled(b"application/vnd.portal+json")),
        "label",
    ),
    may(
        "fields-beyond-the-shown", "only some fields are shown", rewritten(enveloped(_extra)), "extra-fields"
    ),
    may(
        "data-left-out",
        "data is any or null, and some samples leave fields out",
        wrapped(lambda app: Rewrite(app, enveloped(_nothing_left_out))),
        "null-data",
    ),
    may("nulls-left-out", "some samples leave fields out", chosen(null_fields=False), "nulls"),
    may("created-is-201", "the HTTP status of a success is not stated", rewritten(enveloped(_created))),
    may(
        "unknown-path-in-text",
        "how an unknown path is answered is not described",
        chosen(unknown_path="text"),
        "unknown-path",
    ),
    may(
        "unknown-path-in-html",
        "how an unknown path is answered is not described",
        wrapped(lambda app: Elsewhere(app, 404, b"text/html", PAGE)),
        "unknown-path",
    ),
    may(
        "unknown-path-is-served",
        "how an unknown path is answered is not described",
        wrapped(lambda app: Elsewhere(app, 200, b"application/json", b'{"hello":"world"}')),
        "unknown-path",
    ),
    may(
        "unknown-path-redirects",
        "how an unknown path is answered is not described",
        wrapped(lambda app: Elsewhere(app, 302, b"text/plain", b"", b"/login")),
        "unknown-path",
    ),
)
