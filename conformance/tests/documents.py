"""The README and the pages of ``docs/``, with the commands that they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ("docs/reference/options.md", "docs/reference/profile.md")
PROGRAMS = (
    *("portal-conformance", "pytest", "pip", "pipx", "uvx", "make", "python", "docker", "eval"),
    ".venv/bin/",
)
"""What a command begins with. A line of a shell block that begins with anything else is an error."""

FENCE = re.compile(
    r"(?:^<!-- needs: (?P<needs>\w+) -->\n)?^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
INDENTED = re.compile(r"^ {4}([a-z.][^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page. ``needs``: what a command of it cannot do without, such as docker."""

    page: str
    language: str
    text: str
    needs: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command as a page shows it, in one line and without its comment."""

    page: str
    text: str
    needs: str = ""

    @property
    def program(self) -> str:
        return self.text.split()[0]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(language: str) -> list[Block]:
    """The fenced blocks of a language, in all pages."""
    return [
        Block(name_of(page), match["language"], match["text"], match["needs"] or "")
        for page in PAGES
        for match in FENCE.finditer(page.read_text(encoding="utf-8"))
        if match["language"] == language
    ]


def commands() -> list[Command]:
    """Every command that a page shows: in a shell block, in a CI configuration, or within a sentence."""
    return list(dict.fromkeys([*_of_blocks(), *_of_configurations(), *_of_sentences()]))


def _of_blocks() -> Iterator[Command]:
    for block in blocks("sh"):
        for line in block.text.splitlines():
            text = _without_comment(line)
            if text:
                yield Command(block.page, text, block.needs)


def _of_configurations() -> Iterator[Command]:
    for block in blocks("yaml"):
        for text in _texts(yaml.safe_load(block.text)):
            for line in text.splitlines():
                if is_command(line):
                    yield Command(block.page, line.strip(), block.needs)


def _of_sentences() -> Iterator[Command]:
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        shown = [*INLINE.findall(text), *INDENTED.findall(text)]
        for words in shown:
            line = _without_comment(" ".join(words.split()))
            if is_command(line) and " " in line:
                yield Command(name_of(page), line)


def _without_comment(line: str) -> str:
    return re.sub(r"\s+#.*$", "", line).strip()


def is_command(line: str) -> bool:
    """Whether a line begins with a program that the tests know."""
    return line.strip().startswith(tuple(f"{name} " for name in PROGRAMS[:-1]) + PROGRAMS[-1:])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
