"""A portal that puts what it can into every string: markup, scripts, control and bidirectional characters."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.tests.sample_run import ACCOUNTS, INITIATE, PROFILE, Sample, conformant, envelope, exchange
from conformance.traffic.exchange import ABSENT, Json

TEN_MEGABYTES = "<b>AAAA</b>" * 950_000

TEXTS = (
    "<script>window.struck = 1</script>",
    "</script><script>window.struck = 1</script>",
    "</style><script>window.struck = 1</script>",
    "<img src=x onerror='window.struck = 1'>",
    "<svg onload=window.struck=1><a xlink:href='javascript:window.struck=1'>x</a></svg>",
    "\"' onmouseover=window.struck=1 autofocus onfocus=window.struck=1 x='\"",
    "javascript:window.struck=1",
    "{{ 7 * 7 }}{% for a in b %}${7*7}<%= 7 %>",
    "<!--><script>window.struck=1</script>--><![CDATA[<script>window.struck=1</script>]]>",
    "<iframe srcdoc='<script>parent.struck=1</script>'></iframe><base href='http://evil.example.test/'>",
    "<link rel=stylesheet href=http://evil.example.test/x.css><meta http-equiv=refresh content='0;url=http://evil.example.test/'>",
    "\u202egnirts desrever\u202c \u2066isolated\u2069 \u200e\u200f\u061c",
    "".join(map(chr, range(0x20))) + "\x7f\x80\x85\x9f\u2028\u2029\ufeff\ufffe",
    "\ud800 \udfff half",
    "Z" + "\u0300" * 5_000,
    "\x1b[2J\x1b]0;owned\x07",
    "](http://evil.example.test) **bold** `code` | pipe | <details open ontoggle=window.struck=1>",
)


def bodies() -> Iterator[Json]:
    """Answers of every form, each with one of the texts, then the long and the broken ones."""
    for text in TEXTS:
        yield envelope({text: text, "items": [text, {text: [text]}]}, message=text, code=text, version=text)
    yield envelope(TEN_MEGABYTES, message=TEN_MEGABYTES)
    yield envelope([{"k": "v" * 100}] * 90_000)
    yield TEN_MEGABYTES
    yield None
    yield ABSENT


def hostile() -> Sample:
    """A run against such a portal in which every answer contradicts several requirements."""
    made = conformant()
    rows = list(made.ledger.requirements)
    for at, body in enumerate(bodies()):
        text = TEXTS[at % len(TEXTS)]
        seen = exchange(
            50 + at,
            f"{INITIATE.split()[0]} /{text}" if at % 5 == 4 else (ACCOUNTS, PROFILE, INITIATE)[at % 3],
            sent={text: text},
            answer=body,
            status=299 + at,
            headers=[(text, text)],
            content_type=text,
        )
        made.add(seen)
        for requirement in rows[at : at + 1]:
            for path in ("data", f"data.{text}", "message", "status", f"headers.{text}"):
                made.contradict(requirement, made.exchanges[0], seen, path=path, expected=text, message=text)
        made.ledger.observe(text, seen, body if body is not ABSENT else None)
        made.ledger.leave_untested(rows[-1 - at], text)
    return made
