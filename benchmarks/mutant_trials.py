"""Mutants tried in forked processes: quickly by exchanging code, else by importing all of it anew."""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import IO, Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol
from mutators import Mutant, mutated

ROOT = Path(__file__).resolve().parent.parent
TOO_LONG = 30
"""Seconds of a processor after which a mutant is taken for one that never ends."""

MOST = 300
"""Of the tests of other modules, that may come to a line by the thousand, so many meet a mutant."""

OF_THE_TABLES = "conformance/tests/test_checks.py"
"""Looks at what is registered while modules are loaded, and so comes to none of their functions."""

LAST = "test_checks_places"
"""Of many tests the slowest."""

CACHING = type(lru_cache(len))

QUIET = ("-q", "-x", "--no-header", "--assert=plain", "--noconftest", "-pno:cacheprovider", "-pno:html")
ELSEWHERE = "elsewhere"
"""Said of a mutant that is not in a function, or in what exists only while the module is loaded."""

Job = Callable[[], str]
Note = Callable[[Mutant, str], None]
Span = tuple[str, int, int]
"""A module, and the first and the last line of a function in it, or of the whole."""


@dataclass
class Reaching:
    """For each function of some modules the tests that call it; "" stands for what runs at loading."""

    modules: frozenset[str]
    tests_of: dict[Span, set[str]] = field(default_factory=dict)
    test: str = ""
    _seen: dict[int, tuple[CodeType, set[str]]] = field(default_factory=dict)

    def tests(self, mutant: Mutant) -> set[str]:
        """Tests that call the mutated function; for code that runs at loading, all tests of the module."""
        tests = self._around(mutant)
        if "" in tests:
            own = (some for span, some in self.tests_of.items() if span[0] == mutant.module)
            tests = set().union(*own)
        return tests - {""}

    def loading(self, module: str) -> set[int]:
        """The first lines of the functions that do their work while the module is loaded."""
        return {first for (name, first, _), tests in self.tests_of.items() if name == module and "" in tests}

    def _around(self, mutant: Mutant) -> set[str]:
        around = [
            span for span in self.tests_of if span[0] == mutant.module and span[1] <= mutant.line <= span[2]
        ]
        innermost = min(around, key=lambda span: span[2] - span[1], default=None)
        return self.tests_of[innermost] if innermost else set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """A trace function."""
        code = frame.f_code
        cached = self._seen.get(id(code))
        if cached is None:
            # Kept, so that no other code is given the same id.
            cached = self._seen[id(code)] = (code, self._tests_of(code))
        cached[1].add(self.test)

    def _tests_of(self, code: CodeType) -> set[str]:
        file = code.co_filename
        module = file[len(str(ROOT)) + 1 :] if file.startswith(str(ROOT)) else ""
        if module not in self.modules:
            return set()
        lines = [line for _, _, line in code.co_lines() if line]
        return self.tests_of.setdefault((module, code.co_firstlineno, max(lines)), set())


def reached(modules: Iterable[str], tests: Sequence[str]) -> Reaching:
    """Runs the tests in a process of their own with every call watched. Raises SystemExit where one fails."""

    def watched() -> str:
        reaching = Reaching(frozenset(modules))
        sys.settrace(reaching)
        code = pytest.main([*QUIET, *tests], plugins=[_Naming(reaching)])
        sys.settrace(None)
        rows = [[span, sorted(some)] for span, some in reaching.tests_of.items()]
        return json.dumps([int(code), rows])

    (printed,) = (output for _, output in forked([("", watched)], jobs=1))
    code, rows = json.loads(printed)
    if code:
        raise SystemExit("the tests fail without any mutant")
    return Reaching(frozenset(modules), {tuple(span): set(some) for span, some in rows})


@dataclass
class _Naming:
    reaching: Reaching

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.reaching.test = nodeid

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.reaching.test = ""


# Quickly: everything is loaded and collected once, and a child exchanges the code of what is loaded.


def tried_quickly(
    chosen: Sequence[Mutant], reaching: Reaching, tests: Sequence[str], note: Note, *, jobs: int
) -> None:
    """Notes of each mutant within functions whether it was killed, survived, or never came to an end."""
    collecting = _Collecting(chosen, reaching, note, jobs)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        pytest.main([*QUIET, "--collect-only", *tests], plugins=[collecting])


@dataclass
class _Collecting:
    """Runs inside pytest, once it has collected the tests."""

    chosen: Sequence[Mutant]
    reaching: Reaching
    note: Note
    jobs: int
    functions: dict[str, list[FunctionType]] = field(default_factory=dict)
    caches: list[Any] = field(default_factory=list)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        session.config.option.collectonly = False
        gc.collect()
        for tracked in gc.get_objects():
            if isinstance(tracked, FunctionType):
                self.functions.setdefault(tracked.__code__.co_filename, []).append(tracked)
            elif isinstance(tracked, CACHING) and tracked.__module__.startswith("conformance."):
                self.caches.append(tracked)
        gc.freeze()
        by_name = {str(number): mutant for number, mutant in enumerate(self.chosen)}
        waiting = ((name, self._job(mutant, session.items)) for name, mutant in by_name.items())
        for number, (name, output) in enumerate(forked(waiting, jobs=self.jobs), start=1):
            if output != ELSEWHERE:
                self.note(by_name[name], output or "killed")
            if number % 100 == 0:
                print(f"{number} of {len(by_name)}", file=sys.stderr, flush=True)
        session.items = []

    def _job(self, mutant: Mutant, items: Sequence[pytest.Item]) -> Job:
        tests = _some(self.reaching.tests(mutant), Path(mutant.module).stem)
        own = f"test_checks_{Path(mutant.module).stem}.py"
        wanted = sorted(
            (item for item in items if item.nodeid in tests),
            key=lambda test: (own not in test.nodeid, LAST in test.nodeid),
        )
        functions = self.functions.get(str(ROOT / mutant.module), [])
        loading = self.reaching.loading(mutant.module)

        def job() -> str:
            return _by_exchange(wanted) if _exchanged(mutant, functions, loading) else ELSEWHERE

        for cache in self.caches:
            cache.cache_clear()
        return job


def _some(tests: set[str], stem: str) -> set[str]:
    """Selects the tests in the module's file, and a sample of up to ``MOST`` further tests."""
    own = {test for test in tests if f"test_checks_{stem}.py" in test or f"test_{stem}.py" in test}
    others = sorted(tests - own)
    return own | set(others[:: 1 + len(others) // MOST])


def _by_exchange(items: Sequence[pytest.Item]) -> str:
    for item in items:
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
            return "killed"
    return "survived"


def _exchanged(mutant: Mutant, functions: Sequence[FunctionType], loading: set[int]) -> bool:
    """Exchanges the code of loaded functions; False where the mutant stands outside of functions.

    ``functions``: the module's. ``loading``: the first lines of those that have done their work already.
    """
    source = (ROOT / mutant.module).read_text(encoding="utf-8")
    file = str(ROOT / mutant.module)
    before = _codes(compile(ast.parse(source), file, "exec", dont_inherit=True))
    after = _codes(compile(mutated(source, mutant.number), file, "exec", dont_inherit=True))
    differing = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    if not before.keys() >= differing <= after.keys():
        return False
    if any(_bare(before[key]) != _bare(after[key]) and key[1] in loading for key in differing):
        return False
    changed = 0
    for function in functions:
        key = (function.__code__.co_qualname, function.__code__.co_firstlineno)
        if key in differing:
            function.__code__ = after[key]
            changed += 1
    return changed > 0


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The code of a module and of every function in it, however deep, by name and line."""
    codes: dict[tuple[str, int], CodeType] = {}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            codes |= _codes(constant)
    return {**codes, (code.co_qualname, code.co_firstlineno): code}


def _bare(code: CodeType) -> CodeType:
    """Without the code of the functions within."""
    return code.replace(co_consts=tuple(inner for inner in code.co_consts if not isinstance(inner, CodeType)))


# Slowly: a child imports the module with the mutant in it, and all that stands on it.


class Spoiled(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and loads it with a mutant in it."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.name = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        file = ROOT / self.mutant.module
        package = [str(file.parent)] if file.stem == "__init__" else None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=self, submodule_search_locations=package
        )

    def exec_module(self, module: ModuleType) -> None:
        source = (ROOT / self.mutant.module).read_text(encoding="utf-8")
        tree = mutated(source, self.mutant.number)
        exec(compile(tree, str(ROOT / self.mutant.module), "exec", dont_inherit=True), module.__dict__)


KEPT = (
    "conformance.spec",
    "conformance.traffic.exchange",
    "conformance.errors",
    "conformance.traffic.redaction.encodings",
)
"""What no mutant is in, and what stands on none."""


def tried_anew(
    chosen: Sequence[Mutant], reaching: Reaching, also: Mapping[str, str], note: Note, *, jobs: int
) -> None:
    """Notes of each mutant whether it was killed, survived, or never came to an end.

    ``also``: for a module a file of tests that are run beside those that come to the line.
    """
    for name in [name for name in sys.modules if name.startswith("conformance.")]:
        if not name.startswith(KEPT):
            del sys.modules[name]
    gc.collect()
    gc.freeze()
    by_name = {str(number): mutant for number, mutant in enumerate(chosen)}
    waiting = ((name, _anew(mutant, reaching, also.get(mutant.module))) for name, mutant in by_name.items())
    for name, output in forked(waiting, jobs=jobs):
        note(by_name[name], output or "killed")


def _anew(mutant: Mutant, reaching: Reaching, also: str | None) -> Job:
    def job() -> str:
        sys.meta_path.insert(0, Spoiled(mutant))
        wanted = reaching.tests(mutant)
        files = sorted({test.split("::")[0] for test in wanted})
        own = [file for file in files if file.endswith(f"test_checks_{Path(mutant.module).stem}.py")]
        for some in (own, [file for file in files if file not in own]):
            if some and pytest.main([*QUIET, *some], plugins=[_Only(wanted)]) != pytest.ExitCode.OK:
                return "killed"
        for file in (OF_THE_TABLES, also):
            if file and pytest.main([*QUIET, file]) != pytest.ExitCode.OK:
                return "killed"
        return "survived"

    return job


@dataclass
class _Only:
    """Lets pytest run these tests and no others."""

    wanted: set[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.wanted]


# Processes.


def forked(waiting: Iterable[tuple[str, Job]], *, jobs: int) -> Iterator[tuple[str, str]]:
    """What each job says, in the order in which they end: "" of one that breaks, "endless" of one that takes
    too long."""
    left, running = iter(waiting), dict[int, tuple[str, IO[bytes]]]()
    while True:
        while len(running) < jobs and (named := next(left, None)) is not None:
            name, job = named
            file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when its job has ended
            pid = os.fork()
            if not pid:
                _do(job, file, is_limited=bool(name))
            running[pid] = name, file
        if not running:
            return
        pid, status = os.wait()
        name, file = running.pop(pid)
        file.seek(0)
        yield name, "endless" if os.WIFSIGNALED(status) else file.read().decode()
        file.close()


def _do(job: Job, file: IO[bytes], *, is_limited: bool) -> NoReturn:
    with contextlib.suppress(BaseException):
        if is_limited:
            resource.setrlimit(resource.RLIMIT_CPU, (TOO_LONG, TOO_LONG))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        file.write(job().encode())
        file.flush()
    os._exit(0)
