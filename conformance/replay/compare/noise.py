"""Noise, learned from replaying the same build: it makes a comparison weaker, and never silences it."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from conformance.errors import UsageError
from conformance.replay.compare.difference import Difference
from conformance.replay.compare.written import COUNTS
from conformance.replay.recording.kinds import shape_of
from conformance.traffic.documents import document_text
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

Weaker = Literal["shape", "type", "range"]

NEVER = frozenset({"status", "code", "type", "missing"})
"""Kinds of difference that are never noise."""


class Rule(msgspec.Struct, omit_defaults=True):
    """The weaker comparison at one place (without indexes) of one operation's responses."""

    operation: str
    path: str
    kind: str
    compare: Weaker
    low: float | None = None
    """None: there is no lower bound."""
    high: float | None = None
    times: int = 1


@dataclass
class Noise:
    """``rules`` by operation, place and kind of difference. ``excused`` counts what they weakened."""

    rules: dict[tuple[str, str, str], Rule] = field(default_factory=dict)
    excused: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def excuses(self, operation: str, difference: Difference) -> bool:
        """Whether a difference is none by the weaker comparison that was learned for its place."""
        if not self.rules:
            return False
        key = (operation, pattern(difference), difference.kind)
        rule = self.rules.get(key)
        if rule is None or difference.kind in NEVER or _is_of_an_enumeration(difference):
            return False
        excused = _holds(rule, difference)
        if excused:
            self.excused[key] += 1
        return excused

    def note(self, operation: str, difference: Difference) -> None:
        """Counts a difference that is none by the nature of its place."""
        self.excused[operation, pattern(difference), difference.kind] += 1

    def is_learned(self, operation: str, difference: Difference) -> bool:
        return (operation, pattern(difference), difference.kind) in self.rules

    def learn(self, operation: str, difference: Difference) -> bool:
        """Makes the comparison at a place as weak as this difference needs; False where it may not be."""
        if difference.kind in NEVER or _is_of_an_enumeration(difference):
            return False
        key = (operation, pattern(difference), difference.kind)
        old = self.rules.get(key)
        compare, low, high = _needed(difference)
        if old is not None:
            if compare == old.compare == "range":
                low, high = _joined(low, old.low, min), _joined(high, old.high, max)
                if not _is_count(difference) and not _holds(old, difference):
                    compare, low, high = "type", None, None  # no range holds what moves again
            compare = max(compare, old.compare, key=WEAKNESS.index)
        self.rules[key] = Rule(
            *key, compare=compare, low=low, high=high, times=1 if old is None else old.times + 1
        )
        return True


WEAKNESS: tuple[Weaker, ...] = ("shape", "range", "type")


def pattern(difference: Difference) -> str:
    """The place of a difference without indexes: ``data.items[].bizId``."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in difference.place).lstrip(".")


def load(path: Path) -> Noise:
    """The noise that a file holds. UsageError: it cannot be read, or is none."""
    try:
        text = document_text(path)
        rows = msgspec.convert(tomllib.loads(text).get("noise", []), list[Rule])
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file. `replay … --learn {path}` writes it.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: this is not a noise file: {error}.") from None
    return Noise({(row.operation, row.path, row.kind): row for row in rows})


def save(noise: Noise, path: Path) -> None:
    """Writes the rules, a table each. UsageError: the file cannot be written."""
    head = "# Places that differ from one replay of the same build to the next, and how each is compared.\n"
    tables = (_table(rule) for _, rule in sorted(noise.rules.items()))
    try:
        path.write_text("\n".join((head, *tables)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}). Name another file.") from None


def _table(rule: Rule) -> str:
    rows = (
        f"{name} = {_toml(value)}" for name, value in msgspec.to_builtins(rule).items() if value is not None
    )
    return "\n".join(("[[noise]]", *rows, ""))


def _toml(value: Json) -> str:
    return msgspec.json.encode(value).decode()


def _needed(difference: Difference) -> tuple[Weaker, float | None, float | None]:
    """The strongest comparison under which both values are the same. What counts records goes on in the
    direction in which it moved."""
    old, new = difference.recorded, difference.replayed
    if is_number(old) and is_number(new):
        low, high = (old, None) if new > old else (None, old)
        return ("range", low, high) if _is_count(difference) else ("range", min(old, new), max(old, new))
    return ("shape" if _is_of_one_form(old, new) else "type"), None, None


def _is_count(difference: Difference) -> bool:
    return difference.kind == "length" or not COUNTS.isdisjoint(difference.place[-1:])


def _is_of_one_form(old: Json, new: Json) -> bool:
    """Whether two values have the same form. A random text may be of digits only."""
    if isinstance(old, str) and isinstance(new, str) and len(old) == len(new) and (old + new).isalnum():
        return True
    return bool(shape_of(old) == shape_of(new))


def _holds(rule: Rule, difference: Difference) -> bool:
    old, new = difference.recorded, difference.replayed
    if rule.compare == "range":
        low = -math.inf if rule.low is None else rule.low
        return is_number(new) and low <= new <= (math.inf if rule.high is None else rule.high)
    if difference.kind in ("order", "extra"):
        return True
    if rule.compare == "shape":
        return _is_of_one_form(old, new)
    return type(old) is type(new) or (is_number(old) and is_number(new))


def _is_of_an_enumeration(difference: Difference) -> bool:
    """``code`` and ``value`` say what a coded field means."""
    return bool(difference.place) and difference.place[-1] in ("code", "value") and difference.kind == "value"


def _joined(
    bound: float | None, other: float | None, choose: Callable[[float, float], float]
) -> float | None:
    """The bound of two ranges together: none where one of them has none."""
    return None if bound is None or other is None else choose(bound, other)
