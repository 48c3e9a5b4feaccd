"""The page of messages: every message that a user can meet, collected from the code and the templates.

python docs/generate_messages.py    prints the page; the documentation site has it as ``messages.md``
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, nodes

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "conformance"
TEMPLATES = PACKAGE / "report" / "formats" / "templates"
LEFT_OUT = ("tests/", "spec/", "judging/", "target/profile/template.py")
"""Places without messages: the texts of the specification, those of checks, and a profile to fill in."""

HELP = ("help", "summary", "description")
"""The arguments that say what a command, an option or a key of the profile does."""

INTRODUCTION = """\
# Messages

Every message that a user can meet, by the place that has it. `{…}` stands for a value.
"""


def messages() -> Iterator[tuple[str, list[str]]]:
    """Yields each file that has messages, with these in its order."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith(LEFT_OUT):
            yield place, Collector().collected(ast.parse(path.read_text(encoding="utf-8")))
    for path in sorted(TEMPLATES.glob("*.j2")):
        yield path.name, list(_texts_of_template(path.read_text(encoding="utf-8")))


def page() -> str:
    """The whole page."""
    blocks = [INTRODUCTION]
    for source, lines in messages():
        if lines:
            blocks.append(f"## {source}\n")
            blocks.append("\n".join(f"- {_escaped(line)}" for line in dict.fromkeys(lines)) + "\n")
    return "\n".join(blocks)


class Collector(ast.NodeVisitor):
    """Collects the sentences of one module; docstrings and comments are none of them."""

    def __init__(self) -> None:
        self._is_help = False
        self._messages: list[str] = []

    def collected(self, tree: ast.AST) -> list[str]:
        self.visit(tree)
        return self._messages

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        before, self._is_help = self._is_help, self._is_help or node.arg in HELP
        self.visit(node.value)
        self._is_help = before

    def visit_Compare(self, node: ast.Compare) -> None:
        """A text that a value is compared with is no message."""
        for side in (node.left, *node.comparators):
            if _text_of(side) is None:
                self.visit(side)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """A key of what a check remembers is no message; others are counted texts."""
        if not (isinstance(node.value, ast.Name) and node.value.id == "memory"):
            self.generic_visit(node)

    def visit(self, node: ast.AST) -> None:
        text = _text_of(node) if isinstance(node, ast.expr) else None
        if text is None:
            super().visit(node)
        elif _is_message(text) or (self._is_help and " " in text.strip()):
            self._messages += filter(None, map(str.strip, text.split("\n")))


def _text_of(node: ast.AST) -> str | None:
    """Text of a literal, an f-string or a concatenation; None for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        value = ast.unparse(node.value)
        return "{" + (value if re.fullmatch(r"[\w.]{1,30}(\[\w+\])?", value) else "…") + "}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = _text_of(node.left), _text_of(node.right)
        return None if None in sides else "".join(side or "" for side in sides)
    return None


def _is_message(text: str) -> bool:
    """Whether a text is a sentence or a part of one: three words, and neither markup, SQL nor a pattern."""
    words = re.findall(r"(?<!\S)(?:[A-Za-z][a-z'’-]*|[A-Z]+)[,.:;?!]?(?!\S)", text)
    return len(words) >= 3 and not re.search(
        r"<\w+ |\\[dwsSAZ]|\(\?|^\s*(SELECT|INSERT|CREATE|PRAGMA)\b", text
    )


def _texts_of_template(source: str) -> Iterator[str]:
    """What a template shows besides values: its own text, and the sentences in its expressions."""
    tree = Environment(autoescape=True).parse(source)
    for constant in tree.find_all(nodes.Const):
        if isinstance(constant.value, str) and _is_message(constant.value):
            yield constant.value.strip()
    text = re.sub(r"{%.*?%}", "\n", re.sub(r"{{.*?}}", "{…}", source, flags=re.DOTALL), flags=re.DOTALL)
    text = re.sub(r"</?(b|code|small|kbd)\b[^>]*>", "", text)
    for line in re.sub(r"<[^>]*>|&nbsp;", "\n", text).split("\n"):
        if re.search(r"[A-Za-z]{2,} \S*[A-Za-z]{2,}", line):
            yield line.strip()


def _escaped(line: str) -> str:
    return line.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    print(page(), end="")
