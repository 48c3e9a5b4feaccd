"""Whether a run is of all cases or of a selection, and by which options."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.run.hooks.stash import DESELECTED
from conformance.run.options import value_of
from conformance.run.planning import ids_of
from conformance.run.readings import pinned_by
from conformance.spec import BY_KEY, REQUIREMENTS, present_id

BY_OPTION = {"keyword": "-k", "markexpr": "-m", "ignore": "--ignore", "ignore_glob": "--ignore-glob"}
"""pytest's own options that leave cases out, by the attribute that holds each."""


def selection_of(config: pytest.Config) -> str:
    """The options that select some of the cases, as they were written; empty where all are run."""
    return ", ".join(_selectors(config))


def rerun_requirements(rerun: str) -> frozenset[str]:
    """The requirements that a ``--rerun`` names: by id, by a finding's signature, or by a pinned reading.

    UsageError: it names an endpoint, of which a run cannot be repeated alone.
    """
    if rerun in BY_KEY:
        raise UsageError(
            f"--rerun {rerun}: an endpoint is not a requirement, case or finding. Give the id of one, "
            f"or -k with a part of a case's name."
        )
    first = present_id(rerun.split()[0])
    return frozenset(({first} & REQUIREMENTS.keys()) | pinned_by(first))


def select_rerun(config: pytest.Config, items: list[pytest.Item]) -> frozenset[str]:
    """Keeps the cases of a ``--rerun`` alone, and returns the requirements that it is about. UsageError:
    there is none."""
    rerun = value_of(config, "rerun")
    if not rerun:
        return frozenset()
    named = rerun_requirements(rerun)
    chosen = [item for item in items if rerun in item.nodeid or not named.isdisjoint(ids_of(item))]
    if not chosen:
        raise UsageError(
            f"--rerun {rerun}: no case decides this requirement, and no case has this name. "
            "`portal-conformance requirements` lists both."
        )
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    return named or frozenset(requirement for item in chosen for requirement in ids_of(item))


def _selectors(config: pytest.Config) -> Iterator[str]:
    rerun = value_of(config, "rerun")
    if rerun:
        yield f"--rerun {rerun}"
    by_option = [f"{name} {_written(value)}" for value, name in _own(config) if value]
    yield from by_option
    deselected = config.stash.get(DESELECTED, 0)
    if deselected and not (rerun or by_option):
        yield f"{deselected} cases deselected"
    yield from _paths(config)


def _own(config: pytest.Config) -> Iterator[tuple[object, str]]:
    for attribute, name in BY_OPTION.items():
        yield getattr(config.option, attribute, None), name


def _written(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _paths(config: pytest.Config) -> Iterator[str]:
    """The arguments that name a part of the cases, unless all are named too."""
    root = Path(str(files("cases"))).resolve()
    named = [
        (argument, config.invocation_params.dir / argument.partition("::")[0]) for argument in config.args
    ]
    if any("::" not in argument and root.is_relative_to(place.resolve()) for argument, place in named):
        return
    yield from (argument for argument, _ in named)
