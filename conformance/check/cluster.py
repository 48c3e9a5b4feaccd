"""Workers of a Dask cluster that do the shares of a check: they read the files where they lie.

A cluster gives a share to another worker where one dies, a few times; what none of them could do is lost.
Nothing is counted twice: a share has one result, whoever computed it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

import conformance
from conformance.check.share import Judged, JudgeShare, Share, judged
from conformance.errors import SuiteError, UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 10.0
"""Seconds that a scheduler has to answer, and a first worker to be there."""

ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx)://[^\s/]+:\d+")

EXTRA = "pip install 'portal-conformance[scale]'"


def checked_address(text: str) -> str:
    """UsageError: it is no address of a scheduler."""
    if not ADDRESS.fullmatch(text):
        raise UsageError(
            f"--scheduler: {text!r} is no address of a scheduler. Give one such as tcp://127.0.0.1:8786."
        )
    return text


@dataclass
class Cluster:
    """Does shares on the workers of the scheduler at an address; ``lost`` are those that none could do."""

    address: str
    judge: JudgeShare = judged
    patience: float = PATIENCE
    version: str = conformance.__version__
    """The version that the workers must have."""
    results: dict[Share, Judged] = field(default_factory=dict)
    lost: list[Share] = field(default_factory=list)
    _client: Client | None = None
    _shares: dict[Future, Share] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """UsageError: nothing answers there, no worker is there, or one has no suite of this version."""
        self._client = _connected(self.address, self.patience)
        try:
            _wait_for_workers(self._client, self.address, self.patience)
            _compare_versions(self._client, self.version)
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.cancel(list(self._shares), force=True)
            self._client.close()

    @property
    def _connection(self) -> Client:
        if self._client is None:
            raise RuntimeError("a cluster is used as a context manager")
        return self._client

    def add(self, shares: Sequence[Share]) -> None:
        for share in shares:
            future = self._connection.submit(self.judge, share, pure=False)
            self._shares[future] = share

    @property
    def is_done(self) -> bool:
        return not self._shares

    def run(self) -> None:
        """Until every share is done or lost."""
        while not self.is_done:
            self.poll(None)

    def poll(self, seconds: float | None) -> None:
        """Takes what is done within so many seconds. An exception of a share is raised here: CaptureError,
        where its file cannot be read."""
        from distributed import CancelledError, wait

        if seconds != 0 and self._shares:
            try:
                with self._connection.as_current():
                    wait(list(self._shares), timeout=seconds, return_when="FIRST_COMPLETED")
            except TimeoutError:
                return
            except CancelledError:
                self._lose_all()
        for future in [future for future in self._shares if future.done()]:
            self._take(future, self._shares.pop(future))

    def _lose_all(self) -> None:
        """The scheduler is gone, and with it all that was not done."""
        self.lost += [share for future, share in self._shares.items() if future.status != "finished"]
        self._shares = {
            future: share for future, share in self._shares.items() if future.status == "finished"
        }

    def _take(self, future: Future, share: Share) -> None:
        if future.status == "finished":
            self.results[share] = future.result()
        elif isinstance(error := _error_of(future), SuiteError):
            raise error
        else:
            self.lost.append(share)


def _error_of(future: Future) -> BaseException | None:
    """Why a share has no result; None where it was cancelled, as the scheduler is gone."""
    return None if future.cancelled() else future.exception()


def _connected(address: str, patience: float) -> Client:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(f"--scheduler needs the extra scale: {EXTRA}.") from None
    _silence()
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise UsageError(
            f"--scheduler {address}: no scheduler answers there ({reason}). Start one by `dask scheduler`."
        ) from None


def _silence() -> None:
    """Has the library log nothing but what is critical: what ends a check is said in a sentence."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    for name in ("distributed", *names):
        logging.getLogger(name).setLevel(logging.CRITICAL)


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
            raise UsageError(
                f"The worker {worker} has version {found} of the suite, and this is {version}. "
                "Install the same version there."
            )
