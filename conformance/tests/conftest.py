"""A shell has the jobs that it starts in the background ignore interrupts, and tests send some.

No garbage is collected while the tests are collected, and what they are made of is never looked at again: it
is more than a million objects in each process, which would be searched for every run of cases in a test.

What is slow by its kind has the mark ``slow``: ``make test`` leaves it out, ``make check`` runs it.
"""

import gc
import signal
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance.tests.installation import Installation, installation, shared
from conformance.tests.replays import Replaying, recorded_visit, replayed
from conformance.traffic.garbage_collector import set_for_a_worker

SLOW_FILES = {
    "clusters": ("work_dask",),
    "wheels, images, documentation sites": (
        "documentation_site",
        "documented_commands",
        "library_document",
        "packaging",
        "wheel",
        "wheel_projects",
    ),
    "browsers and mail servers": ("html_browser", "inboxes_dovecot", "record_service", "replay_browser"),
    "runs and commands in processes": (
        "console",
        "described_run",
        "deployed",
        "environment",
        "foreign_credentials",
        "harm",
        "kept_runs",
        "misconfigured",
        "options",
        "recordings_guide",
        "secrets_in_traffic",
        "waiting",
        "watching",
        "wrong_codes_without_clock",
    ),
    "replays of whole visits, on many portals": (
        "replay_faults",
        "replay_load",
        "replay_options",
        "replay_silence",
    ),
    "made-up input, by the thousand": ("fuzz",),
}
"""Files of which every test is slow, by what they prove; single tests have the mark themselves."""

SLOW_NAMES = {f"test_{name}" for names in SLOW_FILES.values() for name in names}

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whether a file need not be imported, as none of its tests is wanted; some import large libraries."""
    return True if config.option.markexpr == "not slow" and collection_path.stem in SLOW_NAMES else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in SLOW_NAMES:
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        set_for_a_worker()


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole visit, recorded once for all test processes."""
    return shared(tmp_path_factory, "visit", recorded_visit) / "traffic.jsonl"


@pytest.fixture
def visit(recording: Path, tmp_path: Path) -> Replaying:
    """That visit replayed into ``tmp_path``."""
    return partial(replayed, recording, tmp_path)


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An environment with the wheel, made once for all test processes."""
    return installation(tmp_path_factory)
