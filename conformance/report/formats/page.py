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
from jinja2 import Environment, FileSystemBytecodeCache, FunctionLoader, StrictUndefined, nodes
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
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
    return CompiledTemplates(str(folder), f"%s.{jinja2.__version__}.{_Compiler.VERSION}.template")


def shown(value: Json) -> str:
    """A value as it stands in a page: visible and escaped. Few texts have anything to escape."""
    if type(value) is not str:
        return value if type(value) is Markup else escape(value)
    text = value if value.isascii() and value.isprintable() else visible(value)
    if "&" in text or "<" in text or ">" in text or '"' in text or "'" in text:
        return escape(text)
    return text


class _Compiler(CodeGenerator):
    """Has each value of a template go through ``shown``, in place of two functions one after the other. No
    template turns escaping off."""

    VERSION = 2
    """What it compiles is not what the compiler of another version compiled: they have files of their own."""

    def _output_child_pre(
        self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        self.write("environment.shown(")

    def _output_child_post(
        self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo
    ) -> None:
        self.write(")")


class _Environment(Environment):
    code_generator_class = _Compiler
    shown = staticmethod(shown)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = _Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
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


def with_code(text: str) -> Markup:
    """A statement, escaped, in which what stands between backticks is code."""
    pieces = [(at, piece) for at, piece in enumerate(text.split("`")) if piece]
    return Markup("".join(code(piece) if at % 2 else shown(piece) for at, piece in pieces))


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
    """The words as the id of an element."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(words)).strip("-") or "part"


def endpoint(key: str) -> tuple[str, str]:
    """Method and path of an endpoint's key."""
    method, _, path = key.partition(" ")
    return method, cut(path, 200)


def _visible(value: Json) -> Json:
    return visible(value) if type(value) is str else value


def _hash(name: str) -> str:
    digest = hashlib.sha256(_source(name).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
