"""What keeps the code readable beyond the rules of ruff: short functions, and no ``__dict__``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 40
MOST_DICTS = 2


def product() -> list[Path]:
    packages = (ROOT / "conformance", ROOT / "reference_impl")
    return sorted(file for package in packages for file in package.rglob("*.py") if "tests" not in file.parts)


def name_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines a function has, its docstring not counted."""
    assert function.end_lineno is not None
    total = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None or first.end_lineno is None:
        return total
    return total - (first.end_lineno - first.lineno + 1)


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > MOST_LINES:
            yield f"{node.name} has {lines_of(node)} lines"


def uses_of_dict(source: str) -> int:
    nodes = ast.walk(ast.parse(source))
    return sum(isinstance(node, ast.Attribute) and node.attr == "__dict__" for node in nodes)


def test_functions_are_short() -> None:
    long = {name_of(file): list(long_functions(file.read_text(encoding="utf-8"))) for file in product()}

    assert {name: found for name, found in long.items() if found} == {}


def test_attributes_are_not_set_behind_the_back_of_a_class() -> None:
    uses = {name_of(file): uses_of_dict(file.read_text(encoding="utf-8")) for file in product()}

    assert sum(uses.values()) <= MOST_DICTS


def test_a_function_of_41_lines_is_too_long_and_its_docstring_does_not_count() -> None:
    body = "    pass\n" * (MOST_LINES - 1)
    documented = f'def short():\n    """One.\n\n    Two.\n    """\n{body}'

    assert list(long_functions(f"def short():\n{body}")) == []
    assert list(long_functions(documented)) == []
    assert list(long_functions(f"def long():\n{body}    pass\n")) == ["long has 41 lines"]


def test_each_use_of_dict_counts() -> None:
    assert uses_of_dict("a.__dict__['b'] = c.__dict__") == 2
    assert uses_of_dict("a.b = {}") == 0
