"""A shell has the jobs that it starts in the background ignore interrupts, and tests send some.

No garbage is collected while the tests are collected, and what they are made of is never looked at again: it
is more than a million objects in each process, which would be searched for every run of cases in a test.
"""

import gc
import os
import signal
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("conformance.replay.fast_lane") is None:
    os.environ["PORTAL_CONFORMANCE_NO_CACHE"] = "1"  # as whoever takes the caches away calls check and replay

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
