"""Small changes to a module's syntax tree, each of which a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
SISTERS = {"any": "all", "all": "any", "min": "max", "max": "min", "lower": "upper", "startswith": "endswith"}
WORDING = {"holds": 3, "meets": 3, "contradicts": 2}
"""Where these comparisons are told in words what was expected."""

ANNOTATED = ("annotation", "returns", "type_params")


@dataclass(frozen=True)
class Mutant:
    """``number`` counts the module's mutants from 0; ``kind`` is what was done, ``change`` how the line reads
    before and after."""

    module: str
    number: int
    kind: str
    line: int
    end: int
    change: str


Change = Callable[[ast.AST], ast.AST]
Changes = Iterator[tuple[str, Change]]


def mutants(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in line order."""
    tree = ast.parse(source)
    return [
        Mutant(module, number, kind, *_lines(node), _shown(node, change))
        for number, (node, kind, change) in enumerate(_possible(tree))
    ]


def _lines(node: ast.AST) -> tuple[int, int]:
    """The first and the last line of a node; of a filter in a comprehension, those of its loop."""
    placed = node.iter if isinstance(node, ast.comprehension) else node
    line = getattr(placed, "lineno", 0)
    return line, getattr(placed, "end_lineno", line)


def mutated(source: str, number: int) -> ast.Module:
    """The module with one mutant in it. Raises StopIteration where it has fewer."""
    tree = ast.parse(source)
    node, _, change = next(possible for at, possible in enumerate(_possible(tree)) if at == number)
    changed = change(copy.deepcopy(node))
    if node is changed:
        raise AssertionError("a mutant that changes nothing")
    _put(tree, node, ast.copy_location(changed, node))
    return ast.fix_missing_locations(tree)


def _put(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return
            if isinstance(value, list):
                for at, inner in enumerate(value):
                    if inner is old:
                        value[at] = new
                        return
    raise AssertionError("the node stands nowhere in the tree")


def _shown(node: ast.AST, change: Change) -> str:
    before = ast.unparse(node).splitlines()[0]
    after = ast.unparse(ast.fix_missing_locations(change(copy.deepcopy(node)))).splitlines()[0]
    return f"{before[:90]}  ->  {after[:90]}"


def _possible(tree: ast.Module) -> Iterator[tuple[ast.AST, str, Change]]:
    for node in _nodes(tree):
        for kind, change in _changes(node):
            yield node, kind, change


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that does something when the module runs: no annotations, docstrings and imports."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ANNOTATED or _is_idle(node):
            continue
        for at, inner in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(inner, ast.AST) and not _is_wording(node, name, at, inner):
                yield from _nodes(inner)


def _is_wording(node: ast.AST, name: str, at: int, inner: ast.AST) -> bool:
    """Whether it is a text for people: a message, an expectation in words, what an error says."""
    if not isinstance(inner, ast.Constant | ast.JoinedStr):
        return False
    if isinstance(node, ast.keyword):
        return node.arg == "message"
    if isinstance(node, ast.Call) and name == "args":
        function = node.func
        called = function.id if isinstance(function, ast.Name) else ""
        return WORDING.get(called) == at or called.endswith("Error")
    return False


def _is_idle(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    # An alias of types, by the house's way of writing: Name = X | Y, Callable[...], or Literal[...].
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
        names = [inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)]
        return bool(names) and all(
            name[0].isupper() or name in ("str", "int", "type", "tuple") for name in names
        )
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@singledispatch
def _changes(node: ast.AST) -> Changes:
    """Mutations that a syntax node permits."""
    return iter(())


@_changes.register
def _of_comparison(node: ast.Compare) -> Changes:
    for at, operator in enumerate(node.ops):
        others = [*node.ops]
        others[at] = SWAPPED[type(operator)]()
        yield "comparison", _with(ops=others)


@_changes.register
def _of_boolean(node: ast.BoolOp) -> Changes:
    yield "and/or", _with(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for at in range(len(node.values)):
        yield "condition dropped", _without("values", at)


@_changes.register
def _of_unary(node: ast.UnaryOp) -> Changes:
    if isinstance(node.op, ast.Not):
        yield "not", lambda inner: inner.operand  # type: ignore[attr-defined]


@_changes.register
def _of_arithmetic(node: ast.BinOp) -> Changes:
    if type(node.op) in ARITHMETIC:
        yield "arithmetic", _with(op=ARITHMETIC[type(node.op)]())


@_changes.register
def _of_comprehension(node: ast.comprehension) -> Changes:
    for at in range(len(node.ifs)):
        yield "filter dropped", _without("ifs", at)


@_changes.register
def _of_test(node: ast.If | ast.IfExp | ast.While) -> Changes:
    if not _is_negated_otherwise(node.test):
        yield "test negated", _with(test=ast.UnaryOp(ast.Not(), node.test))


def _is_negated_otherwise(test: ast.expr) -> bool:
    """Whether another mutant makes the opposite of it."""
    opposites = ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(test.ops[0], opposites)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


@_changes.register
def _of_constant(node: ast.Constant) -> Changes:
    value = node.value
    if isinstance(value, bool):
        yield "true/false", lambda _: ast.Constant(not value)
    elif isinstance(value, int | float):
        yield "number", lambda _: ast.Constant(value + 1)
    elif isinstance(value, str):
        yield "text", lambda _: ast.Constant(f"{value}~")


@_changes.register
def _of_call(node: ast.Call) -> Changes:
    function = node.func
    if isinstance(function, ast.Name) and function.id in SISTERS:
        yield "sister", _with(func=ast.Name(SISTERS[function.id], ast.Load()))
    elif isinstance(function, ast.Attribute) and function.attr in SISTERS:
        yield "sister", _with(func=ast.Attribute(function.value, SISTERS[function.attr], ast.Load()))
    for at in range(len(node.keywords)):
        yield "argument dropped", _without("keywords", at)


@_changes.register
def _of_statement(node: ast.stmt) -> Changes:
    if _is_idle(node):
        return
    if isinstance(node, ast.Return) and node.value is not None:
        if not isinstance(node.value, ast.Constant):
            yield "returns nothing", lambda _: ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield | ast.YieldFrom):
        yield "yields nothing", lambda _: ast.Expr(ast.YieldFrom(ast.Tuple([], ast.Load())))
    elif _acts(node):
        yield "statement dropped", lambda _: ast.Pass()
    elif isinstance(node, ast.Continue):
        yield "continue/break", lambda _: ast.Break()
    elif isinstance(node, ast.Break):
        yield "continue/break", lambda _: ast.Continue()


def _acts(node: ast.stmt) -> bool:
    """Whether a statement has an effect beyond its names: one that binds a name is needed further on."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    return isinstance(node, ast.Expr | ast.AugAssign | ast.Delete | ast.Raise)


# What is done to a copy of the node.


def _with(**fields: object) -> Change:
    def change(node: ast.AST) -> ast.AST:
        for name, value in fields.items():
            setattr(node, name, value)
        return node

    return change


def _without(name: str, at: int) -> Change:
    """The node without one of several; of two conditions the other is left alone."""

    def change(node: ast.AST) -> ast.AST:
        parts = getattr(node, name)
        del parts[at]
        return parts[0] if name == "values" and len(parts) == 1 else node

    return change
