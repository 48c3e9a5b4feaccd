"""The start of a run under pytest: its session from the options, and the cases that ``--rerun`` selects."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import cast

import pytest

from conformance.run.options import RunOptions, value_of
from conformance.run.planning import ids_of
from conformance.run.readings import pinned_by
from conformance.run.session import RunSession
from conformance.run.settings import seconds_of
from conformance.run.terminal import wait_announcer
from conformance.spec import Impact
from conformance.target.clock import Clock
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile, load, of_target


def open_session(config: pytest.Config) -> RunSession:
    """The session that the options ask for. Raises SuiteError, OSError.

    With neither target nor profile the bundled portal is started, and ends with pytest.
    """
    stack = ExitStack()
    config.add_cleanup(stack.close)
    profile, name, is_bundled = _profile(config, stack)
    impact = cast(Impact, value_of(config, "impact") or ("disruptive" if is_bundled else "read-only"))
    options = RunOptions(
        out=value_of(config, "out"),
        impact=impact,
        strict=value_of(config, "strict"),
        baseline=value_of(config, "baseline"),
        baseline_update=value_of(config, "baseline_update"),
        profile_name=name,
        min_tested=value_of(config, "min_tested"),
        history=value_of(config, "history"),
        rerun=value_of(config, "rerun"),
        record_costs=value_of(config, "record_costs"),
        keep_ledger=not is_bundled,
    )
    return RunSession.open(profile, _clock(config, profile), options)


def select_rerun(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the cases of a ``--rerun`` alone. pytest.UsageError: there is none."""
    wanted = value_of(config, "rerun")
    if not wanted:
        return
    first = wanted.split()[0]
    requirements = {first} | pinned_by(first)
    chosen = [item for item in items if wanted in item.nodeid or not requirements.isdisjoint(ids_of(item))]
    if not chosen:
        raise pytest.UsageError(f"--rerun {wanted}: no case decides this requirement and none has this name")
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def _profile(config: pytest.Config, stack: ExitStack) -> tuple[Profile, str, bool]:
    """The profile, what reports call it, and whether it is the bundled portal's."""
    target, path = value_of(config, "target"), value_of(config, "profile")
    if path:
        return load(Path(path), target=target), str(path), False
    if target:
        return of_target(target), "", False
    from conformance.target.bundled import (
        running_portal,  # the reference portal: nobody with a target needs it
    )

    return stack.enter_context(running_portal()), "bundled", True


def _clock(config: pytest.Config, profile: Profile) -> Clock:
    budget = value_of(config, "time_budget")
    return clock_of(
        profile,
        time_budget=None if budget is None else seconds_of(str(budget)),
        on_wait=wait_announcer(config),
    )
