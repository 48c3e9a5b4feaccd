"""Workers of a Dask cluster that do the shares of a check: they read the files where they lie.

A cluster gives a share to another worker where one dies, a few times; what none of them could do is lost.
Nothing is counted twice: a share has one result, whoever computed it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

import conformance
from conformance.check.share import Judged, JudgedInOrder, JudgeShare, OrderedShare, Share, judged
from conformance.check.traffic import FilePart
from conformance.errors import CaptureError, SuiteError, UsageError
from conformance.traffic.capture.places import Place, reason, size_of

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 10.0
"""Seconds that a scheduler has to answer, and a first worker to be there."""

RETURN_WITHIN = 60.0
"""Seconds that a cluster which lost all its workers has to get one again."""

BETWEEN_LOOKS = 2.0
"""Seconds after which a process that waits looks whether there is still a worker."""

RETRIES = 2
"""How often a share that ended in an error of its worker is begun again. One whose worker died is begun again
as often as the scheduler allows."""

FETCHED_WITHIN = 30.0
"""Seconds that a result has to come from its worker."""

GONE = "the scheduler went away"

CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)

DISCONNECTED = (OSError, RuntimeError, TimeoutError, ValueError, *CANCELLED)
"""What the library raises where the scheduler goes away in the middle of a call."""

ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://[^\s/]+:\d+")

EXTRA = "pip install 'portal-conformance[scale]'"


def checked_address(text: str) -> str:
    """UsageError: it is no address of a scheduler."""
    if not ADDRESS.fullmatch(text):
        raise UsageError(
            f"--scheduler: {text!r} is no address of a scheduler. Give one such as tcp://127.0.0.1:8786."
        )
    return text


class NotThere(CaptureError):
    """A worker does not have a file that is here, or has another one at its place."""


@dataclass
class Cluster:
    """Does shares on the workers of the scheduler at an address. ``lost`` are those that none could do, with
    the reason."""

    address: str
    judge: JudgeShare = judged
    patience: float = PATIENCE
    return_within: float = RETURN_WITHIN
    fetched_within: float = FETCHED_WITHIN
    version: str = conformance.__version__
    """The version that the workers must have."""
    results: dict[Share, Judged] = field(default_factory=dict)
    lost: dict[Share, str] = field(default_factory=dict)
    _client: Client | None = None
    _shares: dict[Future, Share] = field(default_factory=dict)
    _levels: dict[logging.Logger, int] = field(default_factory=dict)
    _names: dict[str, Place] = field(default_factory=dict)
    """Files by the paths that the workers know them by."""
    _alone_since: float | None = None

    def __enter__(self) -> Self:
        """UsageError: nothing answers there, no worker is there, or one has no suite of this version."""
        self._client = _connected(self.address, self.patience, self._levels)
        try:
            _wait_for_workers(self._client, self.address, self.patience)
            _compare_versions(self._client, self.version)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cancel()
        self._close()

    def _close(self) -> None:
        close(self._connection)
        _restore(self._levels)

    def _cancel(self) -> None:
        if self._shares and self._connection.status == "running":
            with suppress(*DISCONNECTED):
                self._connection.cancel(list(self._shares), force=True)
        self._shares.clear()

    @property
    def _connection(self) -> Client:
        if self._client is None:
            raise RuntimeError("a cluster is used as a context manager")
        return self._client

    def add(self, shares: Sequence[Share]) -> None:
        """CaptureError: a file is no longer there."""
        if self._connection.status != "running":
            self.lost.update(dict.fromkeys(shares, GONE))
            return
        for share in shares:
            sent = _with_whole_paths(share)
            for there, here in zip(_parts(sent), _parts(share), strict=True):
                self._names[str(there.path)] = here.path
            sizes = {part.path: size_of(part.path) for part in _parts(sent)}
            future = self._connection.submit(
                judge_there, self.judge, sent, sizes, self.version, pure=False, retries=RETRIES
            )
            self._shares[future] = share

    @property
    def is_done(self) -> bool:
        return not self._shares

    def run(self) -> None:
        """Until every share is done or lost."""
        while not self.is_done:
            self.poll(None)

    def poll(self, seconds: float | None) -> None:
        """Takes what is done within so many seconds, at most a few. An exception of a share is raised here:
        CaptureError, where its file cannot be read."""
        if seconds != 0 and self._shares:
            self._wait(BETWEEN_LOOKS if seconds is None else min(seconds, BETWEEN_LOOKS))
        for future in [future for future in self._shares if future.done()]:
            self._take(future, self._shares.pop(future))
        if seconds != 0 and self._shares:
            self._look_for_workers()

    def _wait(self, seconds: float) -> None:
        """For the first share that is done. Where the scheduler goes away, all are cancelled."""
        from distributed import wait

        try:
            with self._connection.as_current():
                wait(list(self._shares), timeout=seconds, return_when="FIRST_COMPLETED")
        except (TimeoutError, *CANCELLED):
            return

    def _take(self, future: Future, share: Share) -> None:
        try:
            result = _result_of(future, self.fetched_within)
        except TimeoutError:  # it died with its worker, and is computed again
            self._shares[future] = share
            return
        if isinstance(result, str):
            self.lost[share] = result
        elif isinstance(result, SuiteError):
            raise type(result)(self._as_here(str(result)))
        elif isinstance(result, JudgedInOrder):
            self.results[share] = replace(result, notes=[self._as_here(note) for note in result.notes])
        else:
            self.results[share] = result

    def _look_for_workers(self) -> None:
        """What is not done is lost where the cluster has had no worker for too long."""
        if _workers_of(self._connection):
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since >= self.return_within:
            self.lost.update(dict.fromkeys(self._shares.values(), "the cluster has no worker any more"))
            self._cancel()

    def _as_here(self, text: str) -> str:
        """A message that begins with a worker's path, with the one that the user gave."""
        for there, here in self._names.items():
            if text.startswith(f"{there}:"):
                return f"{here}{text.removeprefix(there)}"
        return text


def judge_there(
    judge: JudgeShare, share: Share, sizes: Mapping[Place, int], version: str
) -> Judged | SuiteError:
    """Judges a share on a worker. An error that every worker would find is returned, not raised, so that no
    other one tries. NotThere: this worker cannot read a file."""
    if conformance.__version__ != version:
        return UsageError(_other_version(_this_worker(), conformance.__version__, version))
    for path, size in sizes.items():
        _must_be_there(path, size)
    try:
        return judge(share)
    except SuiteError as error:
        return error


def _must_be_there(path: Place, size: int) -> None:
    try:
        with path.open("rb") as file:
            length = file.seek(0, 2)
    except OSError as error:
        problem = f"cannot read {path}: {reason(path, error)}"
    else:
        if length == size:
            return
        problem = f"has another file at {path}: of {length} bytes, and here it has {size}"
    raise NotThere(
        f"The worker {_this_worker()} {problem}. Put it where all workers read it by the same path."
    )


def _this_worker() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def _parts(share: Share) -> Sequence[FilePart]:
    return share.parts if isinstance(share, OrderedShare) else [share.part]


def _with_whole_paths(share: Share) -> Share:
    """A worker has another working directory."""
    if isinstance(share, OrderedShare):
        return replace(share, parts=tuple(map(_whole, share.parts)))
    return replace(share, part=_whole(share.part))


def _whole(part: FilePart) -> FilePart:
    return replace(part, path=part.path.absolute())


def _result_of(future: Future, seconds: float) -> Judged | SuiteError | str:
    """What a share ended in: its result, an error for the user, or why there is none. TimeoutError: it has
    not ended, or its result died with the worker that held it."""
    try:
        if future.status == "finished":
            result: Judged | SuiteError = future.result(timeout=seconds)
            return result
        error = None if future.cancelled() else future.exception(timeout=seconds)
    except TimeoutError:
        raise
    except (OSError, *CANCELLED):
        return GONE
    if error is None and not future.cancelled():
        raise TimeoutError
    return GONE if error is None else _reason(error)


def _reason(error: BaseException) -> str | SuiteError:
    """Why no worker could do a share; an error for the user as it is."""
    from distributed import KilledWorker

    if isinstance(error, SuiteError):
        return error
    if isinstance(error, KilledWorker):
        return "each worker that began it died"
    return f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")


def close(client: Client) -> None:
    """Ends a connection. Its scheduler may have gone away; no result depends on how the connection ends."""
    with suppress(*DISCONNECTED):
        client.close()


def _workers_of(client: Client) -> int:
    """How many there are; none where nobody can say."""
    try:
        return len(client.nthreads())
    except DISCONNECTED:
        return 0


def _hushed() -> dict[logging.Logger, int]:
    """Silences the library, which has levels of its own for several loggers. Returns what they were."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    levels = {logger: logger.level for logger in map(logging.getLogger, ["distributed", *names])}
    for logger in levels:
        logger.setLevel(logging.CRITICAL + 1)
    return levels


def _restore(levels: Mapping[logging.Logger, int]) -> None:
    for logger, level in levels.items():
        logger.setLevel(level)


def _connected(address: str, patience: float, levels: dict[logging.Logger, int]) -> Client:
    """``levels`` takes those of the library's loggers, which are silent from here on."""
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(f"--scheduler needs the extra scale: {EXTRA}.") from None
    levels.update(_hushed())
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        _restore(levels)
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise UsageError(
            f"--scheduler {address}: no scheduler answers there ({reason}). Start one by `dask scheduler`."
        ) from None


def _wait_for_workers(client: Client, address: str, patience: float) -> None:
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise UsageError(
            f"--scheduler {address}: the cluster has no worker. Start some by `dask worker {address}`."
        ) from None


def version_here() -> str:
    """The version of the suite in the process that is asked."""
    return conformance.__version__


def _compare_versions(client: Client, version: str) -> None:
    for worker, found in client.run(version_here, on_error="return").items():
        if isinstance(found, BaseException):
            raise UsageError(
                f"The worker {worker} cannot load the suite ({found}). "
                f"Install portal-conformance {version} there."
            )
        if found != version:
            raise UsageError(_other_version(worker, found, version))


def _other_version(worker: str, found: str, version: str) -> str:
    return (
        f"The worker {worker} has version {found} of the suite, and this is {version}. "
        "Install the same version there."
    )
