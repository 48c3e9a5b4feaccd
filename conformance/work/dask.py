"""Workers of Dask (extra ``scale``): processes of this machine, or those of a cluster of the user's.

A task whose worker dies is done once more by another one, and has one result, whoever computed it. Workers
read files where they lie, and write into a folder that all of them and this process share.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import conformance
from conformance.errors import CaptureError, SuiteError, UsageError
from conformance.traffic.capture.places import Place, reason, size_of

if TYPE_CHECKING:
    from distributed import Client, Future

Result = TypeVar("Result")

ANSWERED_SECONDS = 10.0
"""Seconds that a scheduler has to answer, and a first worker to be there."""

WORKERLESS_SECONDS = 60.0
"""Seconds that a cluster which lost all its workers has to get one again."""

BETWEEN_LOOKS_SECONDS = 2.0
"""Seconds after which a process that waits looks whether there is still a worker."""

RETRIES = 2
"""How often a task that raised is begun again. One whose worker died is begun again as often as the scheduler
allows."""

ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://[^\s/]+:\d+")

EXTRA = "pip install 'portal-conformance[scale]'"

IGNORES_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""What a worker of this machine executes first: an interrupt from the terminal is for the command."""

GONE = "the scheduler went away"

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)

DISCONNECTED = (OSError, RuntimeError, TimeoutError, ValueError, *CANCELLED)
"""What the library raises where the scheduler goes away in the middle of a call."""


class Lost(Exception):
    """No worker could do a task. The message says why."""


class TaskFailed(Exception):
    """A task raised an exception that is none of the suite's errors: another worker may do it."""


class NotShared(CaptureError):
    """A worker lacks a file or folder of this process, or has a different file in its place."""


@dataclass(frozen=True)
class Premises:
    """Conditions that a worker must meet: suite version, sizes of input files, and the shared folder."""

    version: str
    sizes: Mapping[Place, int]
    folder: Path

    @classmethod
    def of(cls, files: Sequence[Place], folder: Path) -> Premises:
        """CaptureError: a file is not there."""
        sizes = {file: size_of(file) for file in (file.absolute() for file in files)}
        return cls(conformance.__version__, sizes, folder)

    def hold(self) -> None:
        """UsageError: this worker has another version. NotShared: a file or the folder is not here."""
        if conformance.__version__ != self.version:
            raise UsageError(
                f"The worker {_this_worker()} has version {conformance.__version__} of the suite, and the "
                f"command has {self.version}. Install the same version there."
            )
        for path, size in self.sizes.items():
            _hold_file(path, size)
        if not self.folder.is_dir():
            raise _not_shared(f"has no folder {self.folder.parent} of the command's")


def _hold_file(path: Place, size: int) -> None:
    try:
        with path.open("rb") as file:
            length = file.seek(0, os.SEEK_END)
    except OSError as error:
        raise _not_shared(f"cannot read {path}: {reason(path, error)}") from None
    if length != size:
        raise _not_shared(f"has another file at {path}: of {length} bytes, and the command's has {size}")


def _not_shared(problem: str) -> NotShared:
    return NotShared(
        f"The worker {_this_worker()} {problem}. Put it where all workers reach it by the same path."
    )


def _this_worker() -> str:
    from distributed import get_worker  # an extra

    return str(get_worker().address)


def do_there(premises: Premises, work: Callable[..., Result], *arguments: Any) -> Result | SuiteError:
    """Does a task on a worker. An error that every worker would meet is returned, not raised, so that no
    other one tries. NotShared, TaskFailed: another worker may do it."""
    try:
        premises.hold()
        return work(*arguments)
    except NotShared:
        raise
    except SuiteError as error:
        return error
    except Exception as error:
        raise TaskFailed(f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")) from None


@dataclass(frozen=True)
class Cluster:
    """Workers, and the ``folder`` that they share with this process. Who has a task in it may stop once the
    folder is gone: nobody waits for the result any more."""

    client: Client
    premises: Premises
    workerless_seconds: float = WORKERLESS_SECONDS

    @property
    def folder(self) -> Path:
        return self.premises.folder

    @property
    def workers(self) -> int:
        """How many there are; none where nobody can say."""
        try:
            return len(self.client.nthreads())
        except DISCONNECTED:
            return 0

    def begin(self, work: Callable[..., Result], *arguments: Any) -> Future:
        """Has a worker do a task: the name of a function, and its arguments, are sent there."""
        return self.client.submit(do_there, self.premises, work, *arguments, pure=False, retries=RETRIES)

    def result(self, task: Future) -> Any:
        """The result of a task, once done. Lost: no worker could do it. SuiteError: each would meet it."""
        alone_since: float | None = None
        while True:
            try:
                return self._found(task)
            except TimeoutError:
                alone_since = self._alone_since(alone_since)

    def _found(self, task: Future) -> Any:
        """As ``result``. TimeoutError: it is not done yet, or its result died with its worker."""
        from distributed import KilledWorker  # an extra

        try:
            result = task.result(timeout=BETWEEN_LOOKS_SECONDS)
        except (TimeoutError, SuiteError):
            raise
        except KilledWorker:
            raise Lost("each worker that began it died") from None
        except ImportError as error:
            raise UsageError(
                f"A worker cannot load the suite ({error}). "
                f"Install portal-conformance {self.premises.version} there."
            ) from None
        except (OSError, *CANCELLED):
            raise Lost(GONE) from None
        except Exception as error:
            raise Lost(str(error) if self.client.status == "running" else GONE) from None
        if isinstance(result, SuiteError):
            raise result
        return result

    def _alone_since(self, earlier: float | None) -> float | None:
        """Since when there has been no worker. Lost: for too long."""
        if self.workers:
            return None
        if earlier is not None and time.monotonic() - earlier >= self.workerless_seconds:
            raise Lost(GONE if self.client.status != "running" else "the cluster has no worker any more")
        return earlier or time.monotonic()


@contextmanager
def cluster_of(
    files: Sequence[Place], out: Path, *, workers: int = 1, scheduler: str = "", option: str
) -> Iterator[Cluster]:
    """The workers of the scheduler at an address, else so many processes of this machine, which read these
    files and write below ``out``. UsageError: there are none, or they lack something; ``option`` is the one
    that asked for them."""
    try:
        import distributed  # noqa: F401  (an extra)
    except ImportError:
        raise UsageError(f"{option} needs the extra scale: {EXTRA}.") from None
    out.mkdir(parents=True, exist_ok=True)
    with (
        _hushed(),
        tempfile.TemporaryDirectory(
            prefix=".workers-", dir=out.absolute(), ignore_cleanup_errors=True
        ) as name,
        _connected(scheduler) if scheduler else _started(workers) as client,
    ):
        yield Cluster(client, Premises.of(files, Path(name)))


@contextmanager
def _started(workers: int) -> Iterator[Client]:
    """Processes of this machine, to which only this process can speak."""
    from distributed import Client, LocalCluster  # an extra

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,
            security=True,
            silence_logs=logging.CRITICAL,
            preload=[IGNORES_INTERRUPTS],
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Connects to a scheduler. UsageError: no scheduler answers, or it has no worker."""
    from distributed import Client  # an extra

    if not ADDRESS.fullmatch(address):
        raise UsageError(
            f"--scheduler: {address!r} is no address of a scheduler. Give one such as tcp://127.0.0.1:8786."
        )
    try:
        client = Client(address, timeout=ANSWERED_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        why = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise UsageError(
            f"--scheduler {address}: no scheduler answers there ({why}). Start one by `dask scheduler`."
        ) from None
    try:
        try:
            client.wait_for_workers(1, timeout=ANSWERED_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"--scheduler {address}: the cluster has no worker. Start some by `dask worker {address}`."
            ) from None
        yield client
    finally:
        with suppress(*DISCONNECTED):  # no result depends on how the connection ends
            client.close()


@contextmanager
def _hushed() -> Iterator[None]:
    """Silences the library, which has levels of its own for several loggers."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {logger: logger.level for logger in map(logging.getLogger, ["distributed", *names])}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
