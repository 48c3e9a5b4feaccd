"""Renders a self-contained HTML page: its style, its script, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from conformance.report.model.visible import visible
from conformance.traffic.clip import cut
from conformance.traffic.exchange import Json

TEMPLATES = files("conformance.report.formats").joinpath("templates")

PYCACHE = Path(__file__).parent / "__pycache__"

LONGEST_WORD = 24
BREAK = re.compile(rf"(?<!\s)[/.,;:](?=[A-Za-z{{\[])|[^\s/.,;:]{{{LONGEST_WORD}}}(?=[^\s/.,;:])")
"""What a narrow cell may break a line after: a part of a path, and much that no space divides."""


def _source(name: str) -> str:
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")


class CompiledTemplates(FileSystemBytecodeCache):
    """Compiled templates in a folder. A page needs none of them: what cannot be read is compiled, and what
    cannot be written is left out."""

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged file can raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def compiled_templates(folder: Path) -> CompiledTemplates | None:
    """The compiled templates beside the compiled modules in a folder; None where none can be written."""
    if not os.access(folder, os.W_OK):
        return None
    return CompiledTemplates(str(folder), f"%s.{jinja2.__version__}.template")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        bytecode_cache=None if sys.dont_write_bytecode else compiled_templates(PYCACHE),
    )
    environment.filters["breaks"] = breaks
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


def spelled(text: str) -> list[tuple[str, bool]]:
    """A statement as pieces of text, each with whether it stands between backticks."""
    return [(piece, at % 2 == 1) for at, piece in enumerate(text.split("`")) if piece]


def breaks(text: str) -> Markup:
    """The text, escaped, with places where a narrow cell may break it: after the parts of a path, and
    within what is longer than any word."""
    return _broken(str(text))


@lru_cache(maxsize=2000)
def _broken(text: str) -> Markup:
    """The same, kept: a page names each endpoint in many rows."""
    marked = BREAK.sub("\\g<0>\0", visible(text))
    return Markup(str(escape(marked)).replace("\0", "<wbr>"))


def anchor(*words: str) -> str:
    """The words as the id of an element."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(words)).strip("-") or "part"


def endpoint(key: str) -> tuple[str, str]:
    """Method and path of an endpoint's key."""
    method, _, path = key.partition(" ")
    return method, cut(path, 200)


def _shown(value: Json) -> Json:
    return visible(value) if type(value) is str else value


def _hash(name: str) -> str:
    digest = hashlib.sha256(_source(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
