"""The loop that runs the cases of a session: in the agenda's order, each guarded, waits side by side."""

from __future__ import annotations

import contextlib
import gc
import inspect
from collections.abc import Callable, Generator, Iterable
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from conformance.errors import (
    FaultClass,
    NoAnswer,
    OutOfTime,
    ProfileError,
    PutOff,
    TargetUnreachable,
    Untestable,
)
from conformance.report.finish import GONE, RESTARTED
from conformance.report.model.run import Timed
from conformance.run.catalogue import ids_of, row_of
from conformance.run.hooks.stash import DUE, PUT_OFF, SESSION, STEPS, VERIFY
from conformance.run.hooks.terminal import display_of, say
from conformance.run.outlook.plan import ahead
from conformance.run.outlook.plan_text import ahead_lines
from conformance.run.planning import UNKNOWN_WINDOW, is_generator, planned, priorities, why_not
from conformance.run.schedule import Agenda, Due, Planned, Steps, at_once
from conformance.run.session import RunSession
from conformance.target.clock import wall
from conformance.target.portal import Portal
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.verdicts.verify import Verify


@rare_garbage_collection()
def run_all(session: pytest.Session, run: RunSession, order: Agenda[pytest.Item] | None = None) -> None:
    """Runs every case of the session, in the order in which waits overlap and sign-ins last, or another."""
    portal, clock = run.portal, run.clock
    agenda, garbage = order or _agenda(session, run), GarbageByTraffic(run.log.path)
    while run.gone is None:
        now, left = clock.now(), clock.remaining() if agenda.is_hurried else None
        ready = at_once if left is None else partial(_signs_in_from, portal, left)
        end = inf if left is None else now + left
        chosen = agenda.next(now, portal.budget.opens, portal.left("spare"), ready=ready, end=end)
        if chosen is None:
            return
        item = chosen.item if isinstance(chosen, Due) else chosen
        if isinstance(chosen, Due):
            _wait_for(item, chosen, run)
        with portal.putting_off(left if _may_be_put_off(item) else None):
            _run_item(item, run)
        garbage.collect_where_due()
        if item.stash.get(PUT_OFF, False):
            item.stash[PUT_OFF] = False
            agenda.put_off(item)
        if DUE in item.stash:
            agenda.suspend(item, *item.stash[DUE])
            del item.stash[DUE]
        if session.shouldstop or session.shouldfail:
            return


DUE_BYTES = 4 * 1024 * 1024
"""Bytes of recorded exchanges after which garbage is collected."""


class GarbageByTraffic:
    """Collects garbage whenever a record of exchanges has grown by ``DUE_BYTES``.

    The exception of a case that fails or is skipped forms a cycle that holds the exchanges of the case. The
    interpreter collects cycles by the number of new containers, in which dictionaries of texts do not count:
    answers of very many records would stay in memory.
    """

    def __init__(self, record: Path, collect: Callable[[], object] = gc.collect) -> None:
        self._record = record
        self._collect = collect
        self._collected_at = 0

    def collect_where_due(self) -> None:
        """Called after each case."""
        size = 0
        with contextlib.suppress(OSError):
            size = self._record.stat().st_size
        if size - self._collected_at > DUE_BYTES:
            self._collected_at = size
            self._collect()


def forget_run(items: Iterable[pytest.Item]) -> None:
    """Drops what cases hold of an earlier run, so that they can run once more."""
    keys: tuple[pytest.StashKey[Any], ...] = (VERIFY, STEPS, DUE, PUT_OFF)
    for item in items:
        for key in keys:
            if key in item.stash:
                del item.stash[key]


def goes_on(item: pytest.Item) -> bool:
    """Whether a case that has run is not at its end."""
    return DUE in item.stash or item.stash.get(PUT_OFF, False)


def step_through(item: pytest.Function, run: RunSession) -> None:
    """Runs a case that waits up to its next wait; where time can be moved, to its end."""
    if STEPS not in item.stash:
        arguments = {name: item.funcargs[name] for name in inspect.signature(item.obj).parameters}
        item.stash[STEPS] = item.obj(**arguments)
    for seconds, why in item.stash[STEPS]:
        if not run.clock.is_simulated:
            item.stash[DUE] = (run.clock.now() + seconds, why)
            return
        run.clock.wait(seconds, why)


def guarded(item: pytest.Item) -> Generator[None, Any, Any]:
    """Runs a part of a case. What cannot be tried leaves the rest of it UNTESTED; a target that is gone ends
    the run."""
    run, verify = item.config.stash.get(SESSION, None), item.stash.get(VERIFY, None)
    if run is None or verify is None:
        return (yield)
    run.acting.name = item.nodeid
    try:
        _check_needs(item, verify, run)
        return (yield)
    except PutOff:
        item.stash[PUT_OFF] = True
        pytest.skip("put off")  # what was set up so far is not enough for its call
    except NoAnswer as silent:
        run.is_target_there()
        _leave(verify, silent.reason, silent.fault_class)
    except Untestable as reason:
        _leave(verify, reason.reason, reason.fault_class)
    except (TargetUnreachable, ProfileError) as gone:  # the profile: its clock broke
        run.gone = gone
        _leave(verify, RESTARTED if run.restarted else GONE, "environment")
    except Exception as bug:
        run.ledger.errors[item.nodeid] = f"{type(bug).__name__}: {bug}"
        verify.leave(f"the suite itself failed in {item.nodeid}: {type(bug).__name__}: {bug}", "suite")
        raise
    finally:
        run.acting.name = None


def _check_needs(item: pytest.Item, verify: Verify, run: RunSession) -> None:
    """Refuses a case that lacks something, or would begin after the time budget; a begun one may have to
    restore something."""
    reason = why_not(row_of(item), run.profile, run.options.impact)
    if reason is not None:
        verify.leave_unbegun(reason)
        pytest.skip(f"UNTESTED (configuration): {reason}")
    left = run.clock.remaining()
    if left is not None and left <= 0 and STEPS not in item.stash:
        raise OutOfTime("the time budget was used up before the case began")


def _agenda(session: pytest.Session, run: RunSession) -> Agenda[pytest.Item]:
    """Where time can be moved, no wait and no sign-in costs anything; what moves it comes last."""
    profile, impact, budget = run.profile, run.options.impact, run.clock.remaining()
    rows = [row for row in map(row_of, session.items) if why_not(row, profile, impact) is None]
    window = 0.0 if run.clock.is_simulated else profile.limits.login_window or UNKNOWN_WINDOW
    first = {} if budget is None else priorities(rows, budget=budget, window=window)
    if run.clock.is_simulated:
        ordered = sorted(session.items, key=lambda item: (is_generator(item), -first.get(item.nodeid, 0)))
        return Agenda(map(Planned, ordered))
    outlook = ahead(rows, profile, impact, budget=inf if budget is None else budget)
    for line in ahead_lines(outlook):
        say(session.config, line)
    display = display_of(session.config)
    if display is not None:
        display.lasting(60 * outlook.minutes)
    return Agenda(planned(session.items, profile, impact, priorities=first))


def _may_be_put_off(item: pytest.Item) -> bool:
    """Whether a case can begin anew: once, and where it has changed nothing, and drawn no examples."""
    is_search = "search" in getattr(item, "fixturenames", ())
    is_plain = not is_generator(item) and not is_search and row_of(item).impact == "read-only"
    return is_plain and PUT_OFF not in item.stash


def _signs_in_from(portal: Portal, left: float, item: pytest.Item) -> float:
    """The moment (epoch seconds) from which a case waits for no code of a sign-in, as far as is known;
    ``left``: the seconds of the time budget."""
    names = [name for name in getattr(item, "fixturenames", ()) if portal.has_account(name)]
    own = {"spare"}.intersection(names) or set(names) if row_of(item).sign_ins else set()
    accounts = [portal.account(name) for name in names]
    moments = (each.code_from(left) for each in accounts if each.name in own or not each.is_signed_in)
    return max(moments, default=-inf)


def _wait_for(item: pytest.Item, due: Due[pytest.Item], run: RunSession) -> None:
    try:
        run.clock.wait_until(due.moment, due.why)
    except (TargetUnreachable, ProfileError) as gone:
        run.gone = gone
    except Untestable as late:
        if STEPS in item.stash:
            longest = row_of(item).waits  # as the plan and the first lines of the run name it
            if longest and isinstance(late, OutOfTime):
                late = OutOfTime(f"a wait of up to {longest:g} s is left out: {late.reason}")
            item.stash[STEPS].close()
            item.stash[STEPS] = _fails_with(late)


def _fails_with(late: Untestable) -> Steps:
    raise late
    yield (0.0, "")


def _run_item(item: pytest.Item, run: RunSession) -> None:
    """Runs a case, or the next part of it: a part that ends in a wait is not reported."""
    hook = item.ihook
    if VERIFY not in item.stash:
        item.stash[VERIFY] = Verify(run.ledger, item.nodeid, ids_of(item))
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    started, first = wall(), run.portal.transport.sent + 1
    reports = runtestprotocol(item, log=False, nextitem=None)
    last = run.portal.transport.sent
    sent = None if last < first else (first, last)
    run.timeline.append(Timed(kind="case", label=item.nodeid, start=started, end=wall(), exchanges=sent))
    if goes_on(item):
        return
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _leave(verify: Verify, reason: str, fault_class: FaultClass) -> None:
    verify.leave(reason, fault_class)
    pytest.skip(f"UNTESTED ({fault_class}): {reason}")
