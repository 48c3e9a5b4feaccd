"""The cases as pytest collects them, without running any: what decides what, and what each costs."""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, cast

import pytest

from conformance.checks import CHECKS
from conformance.judging.fields import requirements_of
from conformance.spec import OPERATIONS, REQUIREMENTS, Impact
from conformance.spec.resources import RESOURCES
from conformance.target.profile.tables import ACCOUNTS

SHARING = ("admin", "spare", "limited")
"""The accounts whose session is begun by the first case that uses it, and shared by the others."""

SIGNED_IN_BY = {"admin": "somebody"}
"""Fixtures that sign an account in where it can be, for cases that do not need it."""


@dataclass(frozen=True)
class CaseRow:
    """One case: what it decides, what it needs, and what it costs. ``waits`` in seconds; ``after_waits`` are
    the requirements that it decides only after it has waited, ``shares`` the accounts whose sessions it
    shares with other cases, ``pauses`` the seconds for which it waits while no other runs."""

    id: str
    requirements: tuple[str, ...]
    impact: Impact
    needs: tuple[str, ...]
    sign_ins: int
    waits: float
    reuses: int = 0
    leaves: int = 0
    after_waits: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    pauses: float = 0.0


@dataclass
class _Collector:
    rows: list[CaseRow] = field(default_factory=list)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.rows = [row_of(item) for item in session.items if ids_of(item)]


class Interruptible:
    """A plugin that lets Ctrl-C end the caller as well: pytest would only return an exit code."""

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        if type(excinfo.value) is KeyboardInterrupt:  # pytest's own subclass says that a module is broken
            raise excinfo.value


def ids_of(item: pytest.Item) -> tuple[str, ...]:
    """The requirements that a case declares."""
    return _arguments(item, "requirement")


def row_of(item: pytest.Item) -> CaseRow:
    """Describes a case by its marks, and by the accounts among its arguments."""
    names = getattr(item, "fixturenames", ())
    accounts = (f"accounts.{name}" for name in ACCOUNTS if name in names)
    sign_ins, waits = item.get_closest_marker("sign_ins"), item.get_closest_marker("waits")
    return CaseRow(
        item.nodeid,
        ids_of(item),
        impact=cast(Impact, _argument(item, "impact", "read-only")),
        needs=tuple(dict.fromkeys([*_arguments(item, "needs"), *accounts])),
        sign_ins=int(_argument(item, "sign_ins", 0)),
        waits=float(_argument(item, "waits", 0)),
        reuses=sign_ins.kwargs.get("reuses", 0) if sign_ins else 0,
        leaves=sign_ins.kwargs.get("leaves", 0) if sign_ins else 0,
        after_waits=tuple(waits.kwargs.get("then", ())) if waits else (),
        shares=tuple(name for name in SHARING if name in names or SIGNED_IN_BY.get(name) in names),
        pauses=float(_argument(item, "pauses", 0)),
    )


def _arguments(item: pytest.Item, mark: str) -> tuple[str, ...]:
    return tuple(str(each) for marker in item.iter_markers(mark) for each in marker.args)


def _argument(item: pytest.Item, mark: str, default: Any) -> Any:
    marker = item.get_closest_marker(mark)
    return marker.args[0] if marker else default


def pytest_arguments() -> list[str]:
    """What makes pytest find the cases and nothing of the folder it is called in.

    Other plugins that happen to be installed are not loaded: they take time, and could change a run. The two
    of pytest that look for errors nobody can catch search the whole memory twice at the end.
    """
    return [
        str(files("cases")), "--disable-plugin-autoload", "-p", "conformance.plugin", "--assert=plain",
        "-p", "no:unraisableexception", "-p", "no:threadexception",
        "-c", str(files("conformance.run") / "cases.ini"),
        "--rootdir", os.path.dirname(str(files("cases"))), "-p", "no:cacheprovider",
    ]  # fmt: skip


@cache
def collect() -> tuple[CaseRow, ...]:
    """Every case; they are collected once in a process. Raises RuntimeError where one cannot be collected,
    with pytest's words, and KeyboardInterrupt."""
    collector, output = _Collector(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        code = pytest.main(
            [*pytest_arguments(), "--collect-only", "-q"], plugins=[collector, Interruptible()]
        )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"the cases cannot be collected:\n{output.getvalue()}")
    return tuple(collector.rows)


def deciders() -> dict[str, list[str]]:
    """For each requirement the cases and checks that decide it."""
    sources: dict[str, list[str]] = {requirement: [] for requirement in REQUIREMENTS}
    for row in collect():
        for requirement in row.requirements:
            sources[requirement].append(row.id)
    for requirement in {id for model in RESOURCES.values() for id in requirements_of(model)}:
        sources[requirement].append("check shape")
    for operation in OPERATIONS:
        if operation.data is not None:
            sources[operation.requirement].append("check shape")
    for check in CHECKS:
        sources[check.requirement].append(f"check {check.name}")
    return sources
