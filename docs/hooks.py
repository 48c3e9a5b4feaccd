"""Hooks of MkDocs: pages that are made when the site is built, and pages outside of ``docs/``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generate_messages import page as messages_page
from generate_requirements import pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = re.compile(r"(?<=\]\()\.\./([\w/-]+\.md)(?=[)#])")
"""A link of a page in ``docs/`` to a page of the project outside of it."""

CHANGES = "CHANGELOG.md"
PLACES = {CHANGES: "changelog.md"}
"""Where such a page stands in the site, if not under ``project/``."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages of requirements and messages, the changes, and each other page that a page links to."""
    from mkdocs.structure.files import File, InclusionLevel

    texts = pages() | {"messages.md": messages_page()}
    texts |= {_place(name): (ROOT / name).read_text(encoding="utf-8") for name in {CHANGES, *_outside()}}
    named = str(config.nav)
    for uri, text in texts.items():
        level = InclusionLevel.INCLUDED if uri in named else InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, uri, content=text, inclusion=level))
    return files


def on_page_markdown(markdown: str, page: Page, **more: Any) -> str:
    """Leads the links that point out of ``docs/`` to the pages that were added for them."""
    if page.file.generated_by is not None or "/" in page.file.src_uri:
        return markdown
    return OUTSIDE.sub(lambda link: _place(link[1]), markdown)


def _outside() -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    return {link[1] for text in texts for link in OUTSIDE.finditer(text)}


def _place(name: str) -> str:
    return PLACES.get(name, f"project/{name.lower()}")
