"""The rules of a command: those of the specification, with those that files and packages of the user add."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType

from conformance.checks.registry import Check
from conformance.errors import RuleError
from conformance.rules.rule import OwnRule, in_words, line_of, prove
from conformance.rules.table import rules_in
from conformance.spec import REQUIREMENTS, Requirement
from conformance.target.profile.model import extension_of
from conformance.traffic.documents import user_text
from conformance.traffic.exchange import Json

PREFIX = "OWN"
PACKAGES = "portal_conformance.rules"
"""The group of entry points by which packages offer modules with rules."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file with rules: its name in messages, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class OwnRules:
    """Rules of the user's own. They are pickled as their files, and made anew where they arrive."""

    rules: tuple[OwnRule, ...] = ()
    files: tuple[RuleFile, ...] = ()
    prefix: str = PREFIX

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(rule.check for rule in self.rules)

    @property
    def requirements(self) -> Mapping[str, Requirement]:
        """Every requirement by id, the specification's first."""
        own = {rule.id: rule.requirement for rule in self.rules}
        return MappingProxyType({**REQUIREMENTS, **own}) if own else REQUIREMENTS

    def __reduce__(self) -> tuple[object, ...]:
        return own_rules, (self.files, self.prefix)


NO_OWN_RULES = OwnRules()


def rules_named_by(files: Iterable[Path], profile: Path | None) -> OwnRules:
    """The rules of files, and of those that the profile names. RuleError: a rule is wrong. ProfileError."""
    extension = extension_of(profile)
    of_profile = [] if profile is None else [profile.parent / name for name in extension.rules]
    return own_rules(tuple(map(_read, dict.fromkeys([*files, *of_profile]))), extension.prefix)


def _read(path: Path) -> RuleFile:
    if path.suffix not in (".py", ".toml"):
        raise RuleError(f"{path}: rules are in files that end with .py or .toml.")
    missing = "Name one with rules, or leave it out."
    return RuleFile(str(path), user_text(path, error=RuleError, missing=missing))


def own_rules(files: Sequence[RuleFile], prefix: str = PREFIX) -> OwnRules:
    """The rules of files and of installed packages, each tried on its examples. RuleError: one is wrong."""
    rules: dict[str, OwnRule] = {}
    for rule in (*(rule for file in files for rule in _rules_of(file)), *_rules_of_packages()):
        if not rule.id.startswith(f"{prefix}-"):
            raise RuleError(
                f"{rule.where}: {rule.id} does not begin with {prefix}-. Rename it, or give the profile "
                "another [extend] prefix."
            )
        if rule.id in rules:
            raise RuleError(f"{rule.where}: {rules[rule.id].where} has a rule {rule.id} too. Rename one.")
        try:
            prove(rule)
        except RuleError as mistake:
            is_placed = str(mistake).startswith(rule.where.rpartition(":")[0])
            raise RuleError(str(mistake) if is_placed else f"{rule.where}: {mistake}") from None
        rules[rule.id] = rule
    return OwnRules(tuple(rules.values()), tuple(files), prefix) if rules else NO_OWN_RULES


def _rules_of(file: RuleFile) -> Sequence[OwnRule]:
    rules = list(rules_in(file.text, file.name) if file.name.endswith(".toml") else _rules_in(_module(file)))
    if not rules:
        raise RuleError(
            f"{file.name}: there is no rule in it. `portal-conformance docs rest-of-your-portal` shows one."
        )
    return rules


def function_of(path: Path, name: str) -> Callable[..., bool]:
    """A function of a module of the user's own. RuleError: the module has none of this name; or, when it is
    called, it raises."""
    function = getattr(_module(_read(path)), name, None)
    if not callable(function):
        raise RuleError(f"{path}: there is no function {name} in it.")

    def called(*values: Json) -> bool:
        try:
            return bool(function(*values))
        except Exception as bug:
            raise RuleError(f"{line_of(bug, f'{path}:1')}: {in_words(bug)}") from None

    return called


def _module(file: RuleFile) -> ModuleType:
    """Runs the text of a module. RuleError: it raises, or is not Python."""
    module = ModuleType(f"own_rules_{sha256(file.name.encode()).hexdigest()[:8]}")
    sys.modules[module.__name__] = module  # dataclasses look for the module of a class there
    module.__file__ = file.name
    try:
        exec(compile(file.text, file.name, "exec"), vars(module))
    except SyntaxError as wrong:
        raise RuleError(f"{file.name}:{wrong.lineno}: this is not Python: {wrong.msg}.") from None
    except (Exception, SystemExit) as bug:
        raise RuleError(f"{line_of(bug, f'{file.name}:1')}: {in_words(bug)}") from None
    return module


def _rules_in(module: object) -> Iterator[OwnRule]:
    """The rules of a module, each once, in its order."""
    yield from dict.fromkeys(value for value in vars(module).values() if isinstance(value, OwnRule))


def _rules_of_packages() -> Iterator[OwnRule]:
    for point in entry_points(group=PACKAGES):
        try:
            module = point.load()
        except Exception as bug:
            raise RuleError(f"the package of {point.value} cannot be loaded: {in_words(bug)}.") from None
        yield from _rules_in(module)
