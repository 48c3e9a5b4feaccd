"""The pytest side of a run: options, fixtures, the order of the cases, verdicts, exit codes."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from _pytest.runner import runtestprotocol

from conformance.errors import FaultClass, NoAnswer, ProfileError, SuiteError, TargetUnreachable, Untestable
from conformance.report.formats.terminal import summary_lines, waiting
from conformance.report.model.run import Run, Timed
from conformance.report.model.visible import one_line
from conformance.run.planning import foretold, ids_of, is_generator, planned, why_not
from conformance.run.schedule import Agenda, Due, Planned, Steps
from conformance.run.session import PINNED, Examination, Options
from conformance.run.settings import seconds_of
from conformance.spec import IMPACTS, REQUIREMENTS, Impact, present_id
from conformance.target.clock import Clock, SimulatedClock, wall
from conformance.target.locks import held, locks_of
from conformance.target.portal import Portal
from conformance.target.portal import ProfileAccount as Account
from conformance.target.portal.changes import LEDGER
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile, load, of_target
from conformance.verdicts.findings import Finding, Verdict
from conformance.verdicts.verify import Verify

if TYPE_CHECKING:
    from conformance.run.search import Search

EXAMINATION = pytest.StashKey[Examination]()
STACK = pytest.StashKey[ExitStack]()
FINAL = pytest.StashKey[Run]()
VERIFY = pytest.StashKey[Verify]()
STEPS = pytest.StashKey[Steps]()
DUE = pytest.StashKey[tuple[float, str]]()
ABORTED = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("portal conformance")
    group.addoption("--target", metavar="URL", help="the portal's base URL; overrides the profile's")
    group.addoption("--profile", metavar="FILE", help="what is known of the target")
    group.addoption("--impact", choices=IMPACTS, help="the most a run may do to the target")
    # pytest has a --strict of its own, under the same name: there it is read as ours, too.
    with contextlib.suppress(ValueError):
        group.addoption("--strict", action="store_true", help="a WARN counts as a FAIL")
    group.addoption("--out", metavar="DIR", default="reports", help="where the reports go (default: reports)")
    group.addoption("--baseline", metavar="FILE", help="known failures")
    group.addoption(
        "--baseline-update", action="store_true", help="write this run's failures into the baseline"
    )
    group.addoption("--time-budget", metavar="TIME", help="the longest a run may take: 90s, 10m, 1h")
    group.addoption("--rerun", metavar="ID", help="only the requirement, case or finding of that id")
    group.addoption(
        "--effort",
        choices=("quick", "normal", "thorough"),
        default="quick",
        help="how many examples are drawn",
    )
    group.addoption(
        "--seed", metavar="N", type=int, default=0, help="what the examples are drawn from (default: 0)"
    )
    group.addoption(
        "--min-tested",
        metavar="N",
        type=int,
        default=0,
        help="exit code 5 where fewer requirements were tested",
    )
    group.addoption("--history", metavar="FILE", help="keep the run in this database")
    group.addoption("--record-costs", metavar="FILE", help="write what each case sent, for `plan`")
    group.addoption(
        "--wait", action="store_true", help="wait for another run on this target, --out or --history to end"
    )
    group.addoption("--brief", action="store_true", help="print the verdict only")


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "requirement(*ids): the requirements a case decides",
        "needs(*parts): what of the profile a case cannot do without",
        "impact(level): the most a case does to the target",
        "sign_ins(number): how many sign-ins a case begins",
        "waits(seconds): how long a generator case waits in all",
    ):
        config.addinivalue_line("markers", line)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """A case that waits is a generator, which pytest itself would refuse."""
    if inspect.isgeneratorfunction(obj) and name.startswith("test") and _is_case(obj):
        return list(collector._genfunctions(name, obj))
    return None


def _is_case(obj: object) -> bool:
    return any(mark.name == "requirement" for mark in getattr(obj, "pytestmark", []))


# The run begins.


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = [item for item in items if ids_of(item)]
    if not cases or config.option.collectonly:
        return
    try:
        _begin(config)
    except SuiteError as error:
        raise pytest.UsageError(str(error)) from None
    except OSError as error:
        raise pytest.UsageError(f"{error.filename}: {error.strerror}. Name another place.") from None
    rerun = config.getoption("--rerun")
    if rerun:
        meant = requirements_meant_by(str(rerun))
        chosen = [one for one in items if str(rerun) in one.nodeid or not meant.isdisjoint(ids_of(one))]
        if not chosen:
            raise pytest.UsageError(
                f"--rerun {rerun}: no case decides this requirement and none has this name"
            )
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def requirements_meant_by(wanted: str) -> set[str]:
    """The requirements of a ``--rerun``, which is one, a finding's signature, or a pinned reading."""
    first = present_id(wanted.split()[0])
    return {first} | {row.id for row in REQUIREMENTS.values() if first == f"{PINNED}{row.reading}"}


def _begin(config: pytest.Config) -> None:
    stack = ExitStack()
    config.stash[STACK] = stack
    config.add_cleanup(stack.close)
    profile, name, bundled = _profile(config, stack)
    impact = cast(Impact, config.getoption("--impact") or ("disruptive" if bundled else "read-only"))
    options = Options(
        out=Path(config.getoption("--out")),
        impact=impact,
        strict=bool(config.getoption("--strict")),
        baseline=_path(config.getoption("--baseline")),
        baseline_update=bool(config.getoption("--baseline-update")),
        profile_name=name,
        min_tested=int(config.getoption("--min-tested")),
        history=_path(config.getoption("--history")),
        rerun=config.getoption("--rerun"),
        record_costs=_path(config.getoption("--record-costs")),
        keep_ledger=not bundled,
    )
    stack.enter_context(_locks(config, profile, options))
    clock = _clock(config, profile)
    if isinstance(clock, SimulatedClock):
        clock.move(0)  # where the profile's clock is none, nothing is begun
    config.stash[EXAMINATION] = Examination(profile, clock, options)


def _locks(config: pytest.Config, profile: Profile, options: Options) -> AbstractContextManager[None]:
    """Holds the target's accounts, the reports' folder and the history against other runs."""
    waits = bool(config.getoption("--wait"))
    return held(
        locks_of(profile, out=options.out, history=options.history),
        on_wait=(lambda line: say(config, line)) if waits else None,
        note=str((options.out / LEDGER).absolute()),
    )


def _path(value: str | None) -> Path | None:
    return Path(value) if value else None


def _profile(config: pytest.Config, stack: ExitStack) -> tuple[Profile, str, bool]:
    target, path = config.getoption("--target"), config.getoption("--profile")
    if path:
        return load(Path(path), target=target), str(path), False
    if target:
        return of_target(target), "", False
    from conformance.target.bundled import (
        running_portal,  # the reference portal: nobody with a target needs it
    )

    return stack.enter_context(running_portal()), "bundled", True


def _clock(config: pytest.Config, profile: Profile) -> Clock:
    budget = config.getoption("--time-budget")
    return clock_of(
        profile, time_budget=None if budget is None else seconds_of(str(budget)), on_wait=_announcer(config)
    )


def _announcer(config: pytest.Config) -> Any:
    def announce(seconds: float, why: str) -> None:
        examination = config.stash.get(EXAMINATION, None)
        if examination is None or isinstance(examination.clock, SimulatedClock):
            return
        examination.waited(why, seconds, wall())
        if seconds >= 3:
            say(config, waiting(why, seconds))

    return announce


def say(config: pytest.Config, line: str) -> None:
    """A line of its own between the dots, to be read at once also where a case waits or a log is kept."""
    if config.getoption("--brief") or not config.pluginmanager.has_plugin("terminalreporter"):
        return
    terminal, capture = config.get_terminal_writer(), config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        if terminal.width_of_current_line:
            terminal.line()
        terminal.line(line)
        terminal.flush()


# Fixtures.


@pytest.fixture(scope="session")
def examination(request: pytest.FixtureRequest) -> Examination:
    return request.config.stash[EXAMINATION]


@pytest.fixture(scope="session")
def portal(examination: Examination) -> Portal:
    """The only door to the target."""
    return examination.portal


@pytest.fixture
def verify(request: pytest.FixtureRequest, examination: Examination) -> Verify:
    """Takes what a case decides; it never raises."""
    return request.node.stash[VERIFY]  # type: ignore[no-any-return]


@pytest.fixture
def admin(portal: Portal) -> Account:
    """The account that signs in for most cases."""
    return portal.account("admin")


@pytest.fixture
def spare(portal: Portal) -> Account:
    """The account whose password, sessions and factors may be changed."""
    return portal.account("spare")


@pytest.fixture
def limited(portal: Portal) -> Account:
    """An active account without permissions."""
    return portal.account("limited")


@pytest.fixture
def pending(portal: Portal) -> Account:
    """An account that awaits approval."""
    return portal.account("pending")


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> str:
    """How many examples property cases draw: quick, normal or thorough."""
    return str(request.config.getoption("--effort"))


@pytest.fixture
def search(request: pytest.FixtureRequest, examination: Examination, verify: Verify, effort: str) -> Search:
    """Looks for examples that contradict the specification."""
    from conformance.run.search import Search  # Hypothesis takes a third of a second to load

    return Search(examination, verify, effort=effort, seed=int(request.config.getoption("--seed")))


# The order of the cases.


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    examination = session.config.stash.get(EXAMINATION, None)
    if examination is None or session.config.option.collectonly or session.testsfailed:
        return None
    if examination.recognise():
        run_all(session, examination)
    return True


def run_all(session: pytest.Session, examination: Examination) -> None:
    """Runs every case of the session, in the order in which waits overlap and sign-ins last."""
    portal, clock = examination.portal, examination.clock
    agenda = _agenda(session, examination)
    while examination.unreachable is None:
        chosen = agenda.next(clock.now(), portal.opens, portal.left("spare"))
        if chosen is None:
            return
        item = chosen.item if isinstance(chosen, Due) else chosen
        if isinstance(chosen, Due):
            _wait_for(item, chosen, examination)
        _run_one(item, examination)
        if DUE in item.stash:
            agenda.suspend(item, *item.stash[DUE])
            del item.stash[DUE]
        if session.shouldstop or session.shouldfail:
            return


def _agenda(session: pytest.Session, examination: Examination) -> Agenda[pytest.Item]:
    """Where time can be moved, no wait and no sign-in costs anything."""
    if examination.clock.is_simulated:
        return Agenda(Planned(item) for item in sorted(session.items, key=is_generator))
    cases = planned(session.items, examination.profile, examination.options.impact)
    for line in foretold(
        cases, window=examination.profile.limits.login_window, budget=examination.clock.remaining()
    ):
        say(session.config, line)
    return Agenda(cases)


def _wait_for(item: pytest.Item, due: Due[pytest.Item], examination: Examination) -> None:
    try:
        examination.clock.wait_until(due.moment, due.why)
    except (TargetUnreachable, ProfileError) as gone:
        examination.unreachable = str(gone)
    except Untestable as late:
        if STEPS in item.stash:
            item.stash[STEPS].close()
            item.stash[STEPS] = _fails_with(late)


def _fails_with(late: Untestable) -> Steps:
    raise late
    yield (0.0, "")


def _run_one(item: pytest.Item, examination: Examination) -> None:
    """Runs a case, or the next part of it: a part that ends in a wait is not reported."""
    hook = item.ihook
    first = VERIFY not in item.stash
    if first:
        item.stash[VERIFY] = Verify(examination.ledger, item.nodeid, ids_of(item))
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=None)
    if DUE in item.stash:
        return
    for report in reports:
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


# One case.


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not is_generator(pyfuncitem):
        return None
    examination = pyfuncitem.config.stash[EXAMINATION]
    if STEPS not in pyfuncitem.stash:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        pyfuncitem.stash[STEPS] = pyfuncitem.obj(**arguments)
    for seconds, why in pyfuncitem.stash[STEPS]:
        if not examination.clock.is_simulated:
            pyfuncitem.stash[DUE] = (examination.clock.now() + seconds, why)
            return True
        examination.clock.wait(seconds, why)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _guarded(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _guarded(item))


def _guarded(item: pytest.Item) -> Generator[None, Any, Any]:
    """What cannot be tried leaves the rest of a case UNTESTED; a target that is gone ends the run."""
    examination = item.config.stash.get(EXAMINATION, None)
    verify = item.stash.get(VERIFY, None)
    if examination is None or verify is None:
        return (yield)
    examination.case = item.nodeid
    started = wall()
    try:
        _check_needs(item, verify, examination)
        return (yield)
    except NoAnswer as silent:
        if not examination.still_there():
            _leave(verify, silent.reason, "environment")
        _leave(verify, silent.reason, silent.fault_class)
    except Untestable as reason:
        _leave(verify, reason.reason, reason.fault_class)
    except (TargetUnreachable, ProfileError) as gone:  # the profile: its clock broke
        examination.unreachable = str(gone)
        _leave(verify, "the target could not be reached any more", "environment")
    except Exception as bug:
        examination.ledger.errors[item.nodeid] = f"{type(bug).__name__}: {bug}"
        verify.leave(f"the suite itself failed in {item.nodeid}: {type(bug).__name__}: {bug}", "suite")
        raise
    finally:
        examination.case = None
        examination.timeline.append(Timed(kind="case", label=item.nodeid, start=started, end=wall()))


def _leave(verify: Verify, reason: str, fault_class: FaultClass) -> None:
    verify.leave(reason, fault_class)
    pytest.skip(f"UNTESTED ({fault_class}): {reason}")


def _check_needs(item: pytest.Item, verify: Verify, examination: Examination) -> None:
    reason = why_not(item, examination.profile, examination.options.impact)
    if reason is not None:
        verify.leave_unbegun(reason)
        pytest.skip(f"UNTESTED (configuration): {reason}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """A case in which something new contradicts the specification is shown as failed, with what was seen."""
    report = yield
    examination = item.config.stash.get(EXAMINATION, None)
    verify = item.stash.get(VERIFY, None)
    if examination is None or verify is None or call.when != "call" or DUE in item.stash:
        return report
    fresh = [*verify.findings, *examination.new_findings]
    examination.new_findings.clear()
    bad = [finding for finding in fresh if finding.verdict is Verdict.FAIL and finding.times == 1]
    for finding in bad:
        examination.shown.add(finding.signature)
    if report.outcome == "passed" and bad:
        report.outcome = "failed"
        report.longrepr = "\n".join(_line(examination, finding) for finding in bad)
    report.user_properties.extend(_properties(item, verify, fresh))
    return report


def _properties(item: pytest.Item, verify: Verify, findings: list[Finding]) -> Iterator[tuple[str, object]]:
    yield "requirements", ", ".join(ids_of(item))
    yield (
        "verdicts",
        ", ".join(sorted({f"{one.requirement} {one.verdict.value}" for one in findings})) or "pass",
    )
    yield "exchanges", ", ".join(str(number) for one in findings for number in one.exchanges)


def _line(examination: Examination, finding: Finding) -> str:
    requirement = examination.ledger.requirements[finding.requirement]
    numbers = ", ".join(str(number) for number in finding.exchanges)
    text = (
        f"{finding.verdict.value.upper()} {finding.requirement} {requirement.statement}\n"
        f"     {finding.endpoint}: {finding.message} (exchanges {numbers})"
    )
    return examination.secrets.redact(text)


# The run ends.


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    examination = config.stash.get(EXAMINATION, None)
    if examination is None or config.option.collectonly:
        return
    interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
    crashed = exitstatus == pytest.ExitCode.INTERNAL_ERROR
    run = examination.finish(interrupted=interrupted, crashed=crashed)
    config.stash[FINAL] = run
    session.exitstatus = run.exit_code


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    run = config.stash.get(FINAL, None)
    if run is None:
        return
    examination = config.stash[EXAMINATION]
    terminalreporter.section("conformance")
    for line in summary_lines(
        run, colour=terminalreporter.hasmarkup, quiet=bool(config.getoption("--brief"))
    ):
        terminalreporter.write_line(line)
    for place, error in examination.ledger.errors.items():
        terminalreporter.write_line(f"error of the suite in {place}: {error}")
    if not config.getoption("--brief"):
        drawn = f"--effort {config.getoption('--effort')} --seed {config.getoption('--seed')}"
        terminalreporter.write_line(f"examples drawn with {drawn}")
    if examination.unreachable:
        terminalreporter.write_line(examination.unreachable)
    for sentence in run.not_restored:
        terminalreporter.write_line(f"Not restored: {one_line(sentence, 600)}.")
    if run.cleanup:
        terminalreporter.write_line(f"To restore it: {run.cleanup}")


# pytest-html's cases.html: what each case is about, in columns of its own.

COLUMNS = ("requirements", "verdicts", "exchanges")


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_header(cells: list[str]) -> None:
    cells[2:2] = [f"<th>{name.capitalize()}</th>" for name in COLUMNS]


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_row(report: pytest.TestReport, cells: list[str]) -> None:
    told = dict(getattr(report, "user_properties", ()))
    cells[2:2] = [f"<td>{escape(str(told.get(name, '')))}</td>" for name in COLUMNS]
