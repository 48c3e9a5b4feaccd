"""The page of messages: every message that a user can meet, collected from the code and the templates.

python docs/generate_messages.py    prints the page; the documentation site has it as ``messages.md``
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, nodes

from conformance import errors

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "conformance"
TEMPLATES = PACKAGE / "report" / "formats" / "templates"
LEFT_OUT = ("tests", "spec", "judging")
"""Folders without messages: the specification's own texts, and the judge, whose texts are those of checks."""

NO_MESSAGES = (
    "report/model/script.py",
    "report/model/script_text.py",
    "selftest/pages.py",
    "target/profile/template.py",
)
"""Modules whose texts are code, a style sheet, or the profile that ``setup --print`` prints."""

HELP = ("help", "summary", "description")
"""The arguments that say what a command, an option or a key of the profile does."""

INTRODUCTION = """\
# Messages

Every message that a user can meet, by the place that has it. `{…}` stands for a value.
"""


@dataclass(frozen=True, slots=True)
class Message:
    """A message text; ``group`` is a chapter of the page, ``source`` a heading in that chapter."""

    group: str
    source: str
    text: str


def messages() -> Iterator[Message]:
    """Yields every message, ordered by file and line."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in LEFT_OUT and place.as_posix() not in NO_MESSAGES:
            yield from Collector(place.as_posix()).collected(ast.parse(path.read_text(encoding="utf-8")))
    for path in sorted(TEMPLATES.glob("*.j2")):
        for text in _texts_of_template(path.read_text(encoding="utf-8")):
            yield Message("Report pages", path.name, text)


def page() -> str:
    """The whole page."""
    groups: dict[str, dict[str, list[str]]] = {name: {} for name in GROUPS}
    for message in messages():
        lines = groups[message.group].setdefault(message.source, [])
        if message.text not in lines:
            lines.append(message.text)
    blocks = [INTRODUCTION]
    for group, sources in groups.items():
        blocks.append(f"## {group}\n")
        for source, lines in sources.items():
            blocks.append(f"### {source}\n")
            blocks.append("\n".join(f"- {_escaped(line)}" for line in lines) + "\n")
    return "\n".join(blocks)


GROUPS = ("Commands and options", "Errors", "Reasons for UNTESTED", "Report pages", "Other texts")


def _group_of_error(name: str) -> str | None:
    """Group of an error class's messages; None for other names."""
    error = ValueError if name == "ValueError" else getattr(errors, name, None)
    if not (isinstance(error, type) and issubclass(error, Exception)):
        return None
    return "Reasons for UNTESTED" if issubclass(error, errors.Untestable) else "Errors"


class Collector(ast.NodeVisitor):
    """Collects the sentences of one module; docstrings and comments are none of them."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._group = "Other texts"
        self._messages: list[Message] = []

    def collected(self, tree: ast.AST) -> list[Message]:
        self.visit(tree)
        return self._messages

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        group = _group_of_error(name)
        for child in (node.func, *node.args):
            self._within(group, child)
        for keyword in node.keywords:
            self._within("Commands and options" if keyword.arg in HELP else group, keyword.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        """A text that a value is compared with is no message."""
        for side in (node.left, *node.comparators):
            if _text_of(side) is None:
                self.visit(side)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """A key of what a check remembers is no message; others are counted texts."""
        if not (isinstance(node.value, ast.Name) and node.value.id == "memory"):
            self.generic_visit(node)

    def _within(self, group: str | None, node: ast.AST) -> None:
        before, self._group = self._group, group or self._group
        self.visit(node)
        self._group = before

    def visit(self, node: ast.AST) -> None:
        text = _text_of(node) if isinstance(node, ast.expr) else None
        if text is None:
            super().visit(node)
        elif _is_message(text) or (self._group == "Commands and options" and " " in text.strip()):
            for line in text.split("\n"):
                if line.strip():
                    self._messages.append(Message(self._group, self._source, line.strip()))


def _text_of(node: ast.AST) -> str | None:
    """Text of a literal, an f-string or a concatenation; None for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return "{" + _short(ast.unparse(node.value)) + "}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = _text_of(node.left), _text_of(node.right)
        return None if None in sides else "".join(side or "" for side in sides)
    return None


def _short(expression: str) -> str:
    return expression if re.fullmatch(r"[\w.]{1,30}(\[\w+\])?", expression) else "…"


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
