"""httpx stands behind one module, and the page about a move to another library lists what is used of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import httpx2

from conformance.embed.judge import exchange_of

ROOT = Path(__file__).parents[2]
DOOR = "conformance/traffic/http_library.py"
PAGE = (ROOT / "docs" / "http-library.md").read_text(encoding="utf-8")
TREES = {
    file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
    for package in ("conformance", "cases")
    for file in (ROOT / package).rglob("*.py")
    if "tests" not in file.parts
}


def imports(tree: ast.AST) -> set[str]:
    """The libraries that a module imports, wherever the import stands."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules


def test_one_module_of_the_suite_imports_the_library() -> None:
    assert [name for name, tree in TREES.items() if "httpx" in imports(tree)] == [DOOR]


def test_the_page_lists_every_name_that_is_used_of_it() -> None:
    used = {
        node.attr
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "httpx"
    }
    table = PAGE.partition("| where | names |")[2].partition("\n\n")[0]

    assert used
    assert set(re.findall(r"`(\w+)`", table)) == used


def test_a_response_of_the_successor_is_judged_as_well() -> None:
    request = httpx2.Request("GET", "http://localhost/web/v1/system/roles", headers={"X-LOCALE": "en"})

    exchange = exchange_of(httpx2.Response(200, json={"code": "2000"}, request=request))

    assert exchange.request.url == "http://localhost/web/v1/system/roles"
    assert ("X-LOCALE", "en") in [(name.upper(), value) for name, value in exchange.request.headers]
    assert exchange.response is not None
    assert exchange.response.body == {"code": "2000"}
