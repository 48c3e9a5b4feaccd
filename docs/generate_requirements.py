"""The requirement pages of the documentation site: a page for each chapter, and on it a place for each id.

The address of a requirement is made of its id alone: ``requirements/login/#LOGIN-022``. An id that it had
before leads to it, by ``requirements/<old chapter>/#<old id>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from conformance.run.outlook.explanation import Explanation, explain
from conformance.spec import REQUIREMENTS
from conformance.spec.requirements import ALIASES

FOLDER = "requirements"
INDEX = f"{FOLDER}/index.md"
LEVELS = ("must", "should", "open")
SHOWN = 12
"""How many endpoints, cases and checks a requirement lists."""

INTRODUCTION = f"""\
# Requirements

{len(REQUIREMENTS)} statements of the specification, by chapter. The level says how the specification says
it: a *must* is stated, a *should* is shown in a sample or implied, and what is *open* is silent or ambiguous.
The address of a requirement holds its id and stays: `requirements/login/#LOGIN-022`.

| chapter | must | should | open | sections of the specification |
| --- | --- | --- | --- | --- |
"""


def chapter_of(id: str) -> str:
    """What an id begins with: ``LOGIN`` of ``LOGIN-022``."""
    return id.rpartition("-")[0]


def page_of(chapter: str) -> str:
    """The file of a chapter's page, below ``docs/``."""
    return f"{FOLDER}/{chapter.lower()}.md"


def pages(aliases: Mapping[str, str] = ALIASES) -> dict[str, str]:
    """Every page by its file: the index, and a page for each chapter that an id or an alias names.

    ``aliases``: the present id by each id that a requirement had before.
    """
    explanations = explain(REQUIREMENTS)
    chapters = dict.fromkeys(chapter_of(id) for id in (*REQUIREMENTS, *aliases))
    texts = {INDEX: _index(explanations)}
    for chapter in chapters:
        rows = [each for each in explanations if chapter_of(each.id) == chapter]
        texts[page_of(chapter)] = "\n".join(_chapter(chapter, rows, aliases))
    return texts


def _index(explanations: Iterable[Explanation]) -> str:
    chapters: dict[str, list[Explanation]] = {}
    for each in explanations:
        chapters.setdefault(chapter_of(each.id), []).append(each)
    rows = []
    for chapter, members in sorted(chapters.items()):
        counts = [str(sum(each.level == level for each in members)) for level in LEVELS]
        sections = ", ".join(dict.fromkeys(each.section for each in members))
        rows.append(f"| [{chapter}]({chapter.lower()}.md) | {' | '.join(counts)} | {sections} |")
    return INTRODUCTION + "\n".join(rows) + "\n"


def _chapter(chapter: str, rows: Iterable[Explanation], aliases: Mapping[str, str]) -> Iterator[str]:
    yield f"# {chapter}\n"
    yield "[All chapters](index.md)\n"
    for each in rows:
        earlier = [old for old, id in aliases.items() if id == each.id]
        yield from _requirement(each, earlier)
    moved = {old: id for old, id in aliases.items() if chapter_of(old) == chapter != chapter_of(id)}
    for old, id in moved.items():
        yield f"## {old} {{ #{old} }}\n"
        yield f"This requirement has another id now: [{id}]({chapter_of(id).lower()}.md#{id}).\n"


def _requirement(each: Explanation, earlier: list[str]) -> Iterator[str]:
    yield f"## {each.id} {{ #{each.id} }}\n"
    for old in earlier:
        if chapter_of(old) == chapter_of(each.id):
            yield f"[]{{ #{old} }}\n"
    yield f"{_escaped(each.statement)}\n"
    yield f"- **{each.level}**: {each.level_reason}"
    yield f"- section: {each.section}"
    if earlier:
        yield f"- earlier ids: {', '.join(earlier)}"
    if each.reading:
        yield f"- reading: `{each.reading}`; `[readings]` of the profile pins it"
    if each.untestable:
        yield f"- never tested: {_escaped(each.untestable)}"
    yield from _listed("endpoints", [f"`{key}`" for key in each.endpoints])
    yield from _listed("decided by", [f"`{row.name}` (needs {row.needs})" for row in each.decided_by])
    if each.serve_failing and each.level != "open":
        yield "\nA portal that differs, and a run that shows it:\n"
        yield f"```sh\n{each.serve_failing}\n{each.judge}\n```"
    yield ""


def _listed(label: str, values: list[str]) -> Iterator[str]:
    if values:
        more = [f"and {len(values) - SHOWN} more"] if len(values) > SHOWN else []
        yield f"- {label}:"
        yield from (f"    - {value}" for value in (*values[:SHOWN], *more))


def _escaped(text: str) -> str:
    """A text in which only backticks are markup."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*_\[\]<>#|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
