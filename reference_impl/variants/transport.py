"""How answers travel and how their JSON is written: HTTP's and JSON's to say, not the specification's."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl import wire
from reference_impl.changes import Change, chosen, rewritten, title_cased, wrapped
from reference_impl.portal import Portal
from reference_impl.variants.variant import deep, enveloped, may, permitted
from reference_impl.wrappers import (
    Answer,
    BeforeEach,
    Chunked,
    Gzip,
    Reply,
    Respelled,
    Rewrite,
    Seen,
    Slowed,
    WithHeaders,
    collected,
    reply,
)

EVERY = 25
"""Of that many answers one is slow."""

PAGE = b"<!doctype html><html><head><title>404</title></head><body>Not Found</body></html>"


def _spelled(spell: Callable[[Any], bytes]) -> Change:
    return wrapped(lambda app: Respelled(app, lambda octets: spell(wire.decoded(octets))))


def _pretty(value: Any) -> bytes:
    return b"\n" + json.dumps(value, indent=4, ensure_ascii=False).encode() + b"\r\n"


def _reversed(value: Any) -> Any:
    return dict(reversed(list(value.items()))) if isinstance(value, dict) else value


def _float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _amounts_with_exponents(octets: bytes) -> bytes:
    """Numbers as some libraries write them."""
    text = json.dumps(json.loads(octets), ensure_ascii=False)
    return re.sub(r'("(?:amount|feeAmount|totalAmount)": [\d.]+)', r"\1E+0", text).encode()


def _labelled(label: bytes) -> Change:
    def rewriting(seen: Seen, answer: Answer) -> None:
        answer.headers = [(n, v) for n, v in answer.headers if n != b"content-type"]
        answer.headers.append((b"content-type", label))

    return rewritten(rewriting)


def _with_headers(*added: tuple[bytes, bytes]) -> Change:
    return wrapped(lambda app: WithHeaders(app, added=list(added)))


def _data_left_out(seen: Seen, answer: Answer) -> None:
    """Removes null data from an answer, after the changes of other variants."""
    if isinstance(answer.body, dict) and answer.body.get("data", "there") is None:
        del answer.body["data"]


def _created(seen: Seen, answer: Answer) -> None:
    if answer.status == 200 and answer.body["success"] and "/create" in seen.template:
        answer.status = 201


def _extended(value: Any) -> Any:
    return value | {"x-trace": "0", "_links": [], "newField": None} if isinstance(value, dict) else value


def _extra_fields(seen: Seen, answer: Answer) -> None:
    answer.body = deep(answer.body, _extended)


def _with_details(seen: Seen, answer: Answer) -> None:
    if not answer.body["success"]:
        errors = [{"field": None, "reason": "invalid"}]
        answer.body |= {"errors": errors, "traceId": "0", "path": seen.asked.path}


def _elsewhere(status: int, content_type: bytes, body: bytes, location: bytes = b"") -> Change:
    """Answers paths outside the portal's endpoints with a fixed response."""
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode())]
    headers += [(b"location", location)] * bool(location)

    def act(scope: Scope, portal: Portal) -> Reply | None:
        find = scope["app"].state.routes.find_or_none
        is_endpoint = any(find(method, scope["path"]) for method in ("GET", "POST"))
        return None if is_endpoint else (status, headers, body)

    return wrapped(lambda app: BeforeEach(app, act))


_NOBODY = (
    b'{"version":"2.0.0","success":false,"code":"ACCESS.TOKEN_MISSING","message":"No token","data":null}'
)


@dataclass
class EveryMethod:
    """OPTIONS is answered for browsers, and HEAD as GET is, without its body."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope.get("method")
        if method == "OPTIONS":
            allowed = [(b"allow", b"GET, POST, OPTIONS"), (b"access-control-allow-origin", b"*")]
            await reply(send, 204, allowed, b"")
        elif method == "HEAD":
            start, _ = await collected(self.app, {**scope, "method": "GET"}, receive)
            await reply(send, start["status"], start["headers"], b"")
        else:
            await self.app(scope, receive, send)


def _locale_as_language(scope: Scope, portal: Portal) -> None:
    """Texts follow X-LOCALE where it is sent, and Accept-Language elsewhere."""
    headers = dict(scope["headers"])
    if b"x-locale" in headers and b"accept-language" not in headers:
        scope["headers"] = [*scope["headers"], (b"accept-language", headers[b"x-locale"])]


def _now_and_then_slow(app: ASGIApp) -> Slowed:
    requests = count(1)
    return Slowed(app, seconds=0.05, is_slow=lambda: next(requests) % EVERY == 0)


VARIANTS = permitted(
    "how an answer is coded on the wire is HTTP's",
    may("gzip: framing", wrapped(Gzip)),
    "how an answer is framed is HTTP's",
    may("chunked: framing", wrapped(Chunked)),
    "how long a connection lives is HTTP's",
    may("connection-close", _with_headers((b"connection", b"close"))),
    "names of headers have no case",
    may("header-case", title_cased),
    "headers of answers are not described",
    may("further-headers", _with_headers((b"server", b"edge"), (b"x-request-id", b"1"), (b"vary", b"*"))),
    may("cookies", _with_headers((b"set-cookie", b"edge=1; Path=/; HttpOnly"))),
    "how fast an answer comes is not stated",
    may("now-and-then-slow", wrapped(_now_and_then_slow)),
    "other methods are HTTP's to say",
    may("every-method-answered", wrapped(EveryMethod)),
    "what X-LOCALE does is not stated",
    may("language-of-the-locale", wrapped(lambda app: BeforeEach(app, _locale_as_language))),
    # JSON.
    "white space means nothing in JSON",
    may("pretty-json: spelling", _spelled(_pretty)),
    "JSON may escape any character",
    may("escaped-json: spelling", _spelled(lambda value: json.dumps(value).replace("/", "\\/").encode())),
    "JSON objects have no order",
    may("other-order-of-fields: spelling", _spelled(lambda value: wire.encoded(deep(value, _reversed)))),
    "300.0 is the number 300",
    may("integers-with-a-fraction: spelling", _spelled(lambda value: wire.encoded(deep(value, _float)))),
    "JSON has several forms of a number",
    may(
        "amounts-with-exponents: spelling amounts",
        wrapped(lambda app: Respelled(app, _amounts_with_exponents)),
    ),
    "the media type may have parameters",
    may("charset-in-the-label: label", _labelled(b"application/json; charset=utf-8")),
    "a media type may be a kind of JSON",
    may("label-of-its-own: label", _labelled(b"application/vnd.portal+json")),
    "only some fields are shown",
    may("fields-beyond-the-shown: extra-fields", enveloped(_extra_fields)),
    may("errors-with-details: extra-fields", enveloped(_with_details)),
    "data is any or null, and some samples leave fields out",
    may("data-left-out: null-data", wrapped(lambda app: Rewrite(app, _data_left_out))),
    "some samples leave fields out",
    may("nulls-left-out: nulls", chosen(null_fields=False)),
    "the HTTP status of a success is not stated",
    may("created-is-201", enveloped(_created)),
    # Paths.
    "how an unknown path is answered is not described",
    may("unknown-path-in-html: unknown-path", _elsewhere(404, b"text/html", PAGE)),
    may("unknown-path-is-served: unknown-path", _elsewhere(200, b"application/json", b'{"hello":"world"}')),
    may("unknown-path-redirects: unknown-path", _elsewhere(302, b"text/plain", b"", b"/login")),
    may("unknown-path-needs-a-token: unknown-path", _elsewhere(401, b"application/json", _NOBODY)),
)
