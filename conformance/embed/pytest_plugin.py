"""The pytest plugin that every project gets with the suite: fixtures that judge what its own tests see.

Its options and its ini values begin with ``portal``, it loads the suite only where a test asks for a fixture,
and it registers the plugin of the cases for ``pytest --pyargs cases`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

PLUGIN = "conformance.plugin"
CASES = "cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("portal_judge", "portal_judge: answers of a portal in one's own tests")
    group.addoption(
        "--portal-fail-on",
        choices=("must", "security", "should"),
        default="security",
        help="what fails a test of portal_judge: a must, also a should whose contradiction is grave, or any",
    )
    for name, does in (("only", "judges only rules"), ("skip", "leaves out rules")):
        group.addoption(
            f"--portal-{name}",
            action="append",
            default=[],
            metavar="PATTERN",
            help=f"portal_judge {does} by id, prefix, chapter, endpoint or level; may be repeated",
        )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """A command line that names the cases of the suite knows their options, and means them where another
    plugin has options of the same names. No other command line does."""
    if any(map(_names_cases, args)) or ("--pyargs" in args and any(map(_names_package, args))):
        from conformance.run.options import as_ours  # the suite is loaded by those who use it

        early_config.pluginmanager.import_plugin(PLUGIN)
        args[:] = as_ours(args)


def _names_cases(argument: str) -> bool:
    """Whether an argument is a file or folder of the cases, as in a checkout of the suite."""
    return Path(argument.partition("::")[0]).resolve().is_relative_to(Path(__file__).parents[2] / CASES)


def _names_package(argument: str) -> bool:
    """Whether an argument names the package of the cases, and not one of that name in a project."""
    package = argument.partition("::")[0].partition(".")[0].partition("/")[0]
    if package != CASES:
        return False
    spec = find_spec(CASES)
    origin = None if spec is None else spec.origin
    return origin is not None and Path(origin).parents[1] == Path(__file__).parents[2]


@pytest.fixture
def portal_judge(request: pytest.FixtureRequest) -> Iterator[object]:
    """A ``PortalJudge``: ``feed(response)`` fails the test with what contradicts the specification;
    what was passed to ``note(response)`` fails it at its end."""
    from conformance.embed.judge import PortalJudge  # see above

    option = request.config.getoption
    judge = PortalJudge(
        fail_on=option("--portal-fail-on"),
        only=tuple(option("--portal-only")),
        skip=tuple(option("--portal-skip")),
    )
    yield judge
    judge.conclude()


@pytest.fixture
def conformance_cases(tmp_path: Path) -> object:
    """Runs the cases against an ASGI application in this process: ``conformance_cases(app, only=["ROLE-*"])``
    returns the run, with its findings."""
    from conformance.embed.application import ApplicationCases  # see above

    return ApplicationCases(tmp_path / "conformance")
