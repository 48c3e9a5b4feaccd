"""A disk without room, as a process sees it."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_more_than(octets: int) -> Iterator[None]:
    """Within the block no file of this process grows beyond so many bytes. A module that is imported then is
    not compiled to a file, which would be cut off."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
        sys.dont_write_bytecode = compiles
