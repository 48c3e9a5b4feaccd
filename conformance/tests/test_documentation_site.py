"""The documentation site: references that miss nothing, addresses that stay, a build without the network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from conformance.spec import REQUIREMENTS
from conformance.target.profile.model import Profile
from conformance.tests.documents import ROOT
from conformance.tests.installation import BIN

DOCS = ROOT / "docs"
PROFILE = (DOCS / "reference" / "profile.md").read_text(encoding="utf-8")
LAST = "LOGIN-022"

WITHOUT_NETWORK = """
import socket

def refuse(*arguments, **more):
    raise OSError("this build must not reach the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""


def test_the_reference_of_the_profile_has_every_table_and_says_of_each_key_what_it_means() -> None:
    rows = [line for line in PROFILE.splitlines() if line.startswith("| `")]

    assert len(rows) > 50
    assert Profile.model_fields.keys() <= set(re.findall(r"^## `\[*(\w+)\b", PROFILE, re.MULTILINE))
    assert [row for row in rows if re.search(r"\|\s*\|", row)] == []


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    sys.path.insert(0, str(DOCS))
    yield import_module("generate_requirements")
    sys.path.remove(str(DOCS))


def test_the_address_of_a_requirement_is_made_of_its_id_and_old_ids_lead_to_it(generator: ModuleType) -> None:
    pages = generator.pages({"LOGIN-990": LAST, "TOKEN-990": LAST, "OLD-007": LAST})

    for id in REQUIREMENTS:
        assert f"\n## {id} {{ #{id} }}\n" in pages[f"requirements/{id.rpartition('-')[0].lower()}.md"]
    login, token, old = (pages[f"requirements/{name}.md"] for name in ("login", "token", "old"))
    assert f"## {LAST} {{ #{LAST} }}\n\n[]{{ #LOGIN-990 }}\n" in login
    for page, id in ((token, "TOKEN-990"), (old, "OLD-007")):
        place = page.partition(f"\n## {id} {{ #{id} }}\n")[2]
        assert place.lstrip().startswith(f"This requirement has another id now: [{LAST}](login.md#{LAST}).")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built where every connection is refused."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "sitecustomize.py").write_text(WITHOUT_NETWORK, encoding="utf-8")
    build = subprocess.run(
        [str(BIN / "mkdocs"), "build", "--quiet", "--strict", "--site-dir", str(folder / "site")],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
            "NO_MKDOCS_2_WARNING": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    return folder / "site"


def test_the_site_is_built_without_the_network_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    sheets = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.css")}

    assert len(pages) > 50
    loading = r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//"
    assert [str(page) for page, text in pages.items() if re.search(loading, text)] == []
    assert [str(page) for page, text in sheets.items() if re.search(r"url\(\"?(?:https?:)?//", text)] == []


def test_the_site_has_a_place_for_each_requirement_and_shows_no_file_of_code(site: Path) -> None:
    for chapter in {row.chapter for row in REQUIREMENTS.values()}:
        text = (site / "requirements" / chapter.lower() / "index.html").read_text(encoding="utf-8")
        missing = [
            row.id for row in REQUIREMENTS.values() if row.chapter == chapter and f'id="{row.id}"' not in text
        ]
        assert missing == []
    assert not list(site.rglob("*.py"))


def test_the_site_shows_the_library_from_its_docstrings(site: Path) -> None:
    text = (site / "reference" / "api" / "index.html").read_text(encoding="utf-8")

    for name in ("PortalJudge.feed", "JudgingMiddleware", "Ledger", "read"):
        assert re.search(rf'id="conformance\.[\w.]+\.{name}"', text), name
