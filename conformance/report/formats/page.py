"""Renders a self-contained HTML page: its style, its script, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from conformance.report.model.marked import literal
from conformance.report.model.visible import one_line, visible
from conformance.traffic.clip import cut
from conformance.traffic.exchange import Json

TEMPLATES = files("conformance.report.formats").joinpath("templates")

Cells = SimpleNamespace
"""Named values for a template."""
LONGEST_WORD = 24
BREAK = re.compile(rf"(?<!\s)[/.,;:](?=[A-Za-z{{\[])|[^\s/.,;:]{{{LONGEST_WORD}}}(?=[^\s/.,;:])")
"""What a narrow cell may break a line after: a part of a path, and much that no space divides."""


def _source(name: str) -> str:
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    environment.filters.update(breaks=breaks, code=with_code, line=one_line, literal=literal)
    environment.globals.update(
        style=Markup(_source("page.css")), script=Markup(_source("page.js")), policy=policy()
    )
    return environment


def policy() -> str:
    """The Content-Security-Policy of every page: only the style and the script whose hashes it names."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash('page.js')}'",
            f"style-src '{_hash('page.css')}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )


def render(template: str, **context: Any) -> str:
    """The page or part; every text in it is made visible and escaped."""
    return _environment().get_template(template).render(**context)


def part(template: str, **context: Any) -> Markup:
    """A part of a page, already escaped."""
    return Markup(render(template, **context))


def with_code(text: str) -> Markup:
    """A statement, escaped, in which what stands between backticks is code."""
    pieces = [(at, piece) for at, piece in enumerate(text.split("`")) if piece]
    return Markup("".join(code(piece) if at % 2 else escape(visible(piece)) for at, piece in pieces))


def code(text: str) -> Markup:
    """The text, escaped, as code that a narrow cell may break."""
    return Markup(f"<code>{breaks(text)}</code>")


def breaks(text: str) -> Markup:
    """The text, escaped, with places where a narrow cell may break it: after the parts of a path, and
    within what is longer than any word."""
    return _broken(str(text))


@lru_cache(maxsize=2000)
def _broken(text: str) -> Markup:
    """The same, kept: a page names each endpoint in many rows, and most words of a command in all."""
    first, *others = text.split(" ")
    return Markup("".join([_broken_word(first), *[_broken_word(f" {word}") for word in others]]))


@lru_cache(maxsize=2000)
def _broken_word(word: str) -> str:
    """A word, with the blank before it."""
    marked = BREAK.sub("\\g<0>\0", visible(word))
    return str(escape(marked)).replace("\0", "<wbr>")


def anchor(*words: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(words)).strip("-") or "part"


def endpoint(key: str) -> tuple[str, str]:
    method, _, path = key.partition(" ")
    return method, cut(path, 200)


def _visible(value: Json) -> Json:
    return visible(value) if type(value) is str else value


def _hash(name: str) -> str:
    digest = hashlib.sha256(_source(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
