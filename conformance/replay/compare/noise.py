"""Noise, learned from replaying the same build: it makes a comparison weaker, and never silences it."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from conformance.errors import UsageError
from conformance.replay.compare.kinds import shape_of
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

if TYPE_CHECKING:
    from conformance.replay.compare.comparer import Difference

Weaker = Literal["shape", "type", "range"]

NEVER = frozenset({"status", "code", "type", "missing"})
"""Kinds of difference that are never noise."""


class Rule(msgspec.Struct, omit_defaults=True):
    """What is compared instead, at one place (indexes left out) of one operation's answers."""

    operation: str
    path: str
    kind: str
    compare: Weaker
    low: float | None = None
    high: float | None = None
    times: int = 1


@dataclass
class Noise:
    """``rules`` by operation, place and kind of difference. ``excused`` counts what they weakened."""

    rules: dict[tuple[str, str, str], Rule] = field(default_factory=dict)
    excused: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def excuses(self, operation: str, found: Difference) -> bool:
        """Whether a difference is none by the weaker comparison that was learned for its place."""
        if not self.rules:
            return False
        key = (operation, pattern(found), found.kind)
        rule = self.rules.get(key)
        if rule is None or found.kind in NEVER or _is_of_an_enumeration(found):
            return False
        excused = _holds(rule, found)
        if excused:
            self.excused[key] += 1
        return excused

    def note(self, operation: str, found: Difference) -> None:
        """Counts a difference that is none by the nature of its place."""
        self.excused[operation, pattern(found), found.kind] += 1

    def knows(self, operation: str, found: Difference) -> bool:
        """Whether this place was learned to differ in this way."""
        return (operation, pattern(found), found.kind) in self.rules

    def learn(self, operation: str, found: Difference) -> bool:
        """Makes the comparison at a place as weak as this difference needs; False where it may not be."""
        if found.kind in NEVER or _is_of_an_enumeration(found):
            return False
        key = (operation, pattern(found), found.kind)
        old = self.rules.get(key)
        compare, low, high = _needed(found)
        if old is not None:
            compare = max(compare, old.compare, key=WEAKNESS.index)
            low, high = _joined(low, old.low, min), _joined(high, old.high, max)
        self.rules[key] = Rule(
            *key, compare=compare, low=low, high=high, times=1 if old is None else old.times + 1
        )
        return True


WEAKNESS: tuple[Weaker, ...] = ("shape", "range", "type")


def pattern(found: Difference) -> str:
    """The place of a difference without indexes: ``data.items[].bizId``."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in found.place).lstrip(".")


def load(path: Path) -> Noise:
    """The noise that a file holds. UsageError: it cannot be read, or is none."""
    try:
        text = path.read_text(encoding="utf-8")
        rows = msgspec.convert(tomllib.loads(text).get("noise", []), list[Rule])
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file. `replay … --learn {path}` writes it.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: this is no file of learned noise: {error}.") from None
    return Noise({(row.operation, row.path, row.kind): row for row in rows})


def save(noise: Noise, path: Path) -> None:
    """Writes the rules, a table each. UsageError: the file cannot be written."""
    head = "# Places that differ from one replay of the same build to the next, and how each is compared.\n"
    tables = (_table(rule) for _, rule in sorted(noise.rules.items()))
    try:
        path.write_text("\n".join((head, *tables)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}).") from None


def _table(rule: Rule) -> str:
    rows = (
        f"{name} = {_toml(value)}" for name, value in msgspec.to_builtins(rule).items() if value is not None
    )
    return "\n".join(("[[noise]]", *rows, ""))


def _toml(value: Json) -> str:
    return msgspec.json.encode(value).decode()


def _needed(found: Difference) -> tuple[Weaker, float | None, float | None]:
    """The strongest comparison under which both values are the same."""
    old, new = found.recorded, found.replayed
    if is_number(old) and is_number(new):
        return "range", min(old, new), max(old, new)
    return ("shape" if shape_of(old) == shape_of(new) else "type"), None, None


def _holds(rule: Rule, found: Difference) -> bool:
    old, new = found.recorded, found.replayed
    if rule.compare == "range":
        return is_number(new) and (rule.low or 0) <= new <= (rule.high or 0)
    if found.kind in ("order", "extra"):
        return True
    if rule.compare == "shape":
        return bool(shape_of(old) == shape_of(new))
    return type(old) is type(new) or (is_number(old) and is_number(new))


def _is_of_an_enumeration(found: Difference) -> bool:
    """``code`` and ``value`` say what a coded field means."""
    return bool(found.place) and found.place[-1] in ("code", "value") and found.kind == "value"


def _joined(one: float | None, other: float | None, choose: object) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return choose(known) if known else None  # type: ignore[operator]
