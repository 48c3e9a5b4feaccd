"""A check on a Dask cluster: a real scheduler, two workers of which one dies, and what one process finds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from conformance.check import CheckOptions, check, cluster
from conformance.check.divided import Division
from conformance.check.share import Judged, OrderedShare, PartShare, Share, judged
from conformance.check.traffic import FilePart, PortalTraffic, parts_of
from conformance.cli import main
from conformance.errors import CaptureError, ExitCode, UsageError
from conformance.tests.test_check_workers import recording as recording
from conformance.tests.test_check_workers import results
from conformance.tests.test_check_workers import visit as visit
from conformance.traffic.redaction.finder import SecretFinder

Processes = list[subprocess.Popen[bytes]]
MARKER = "PORTAL_CONFORMANCE_TEST_MARKER"
DASK = [sys.executable, "-m"]
STARTED_WITHIN = 60.0


def dying_once(share: Share) -> Judged:
    """Kills the worker that is the first to be given the second part."""
    marker = Path(os.environ[MARKER])
    if isinstance(share, PartShare) and share.number == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def never_done(share: Share) -> Judged:
    """No worker has room for the second part."""
    if isinstance(share, PartShare) and share.number == 1:
        raise MemoryError("this part is too large for any worker")
    return judged(share)


def endless(share: Share) -> Judged:
    """Tells that it has begun, and never ends."""
    Path(os.environ[MARKER]).touch()
    time.sleep(600)
    return judged(share)


@pytest.fixture
def scheduler(running: tuple[str, Processes]) -> str:
    """The address of a scheduler with two workers of one thread each."""
    return running[0]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[str, Processes]]:
    """The address of a scheduler, its process, and those of its workers."""
    file = tmp_path / "scheduler.json"
    environment = {**os.environ, MARKER: str(tmp_path / "marker")}
    with (tmp_path / "dask.log").open("wb") as log:

        def run(arguments: list[str]) -> subprocess.Popen[bytes]:
            return subprocess.Popen(arguments, env=environment, stdout=log, stderr=log)

        processes = [
            run([*DASK, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                 "--no-dashboard", "--scheduler-file", str(file)])
        ]  # fmt: skip
        try:
            address = started(file, processes[0])
            processes += [
                run([*DASK, "distributed.cli.dask_worker", address, "--host", "127.0.0.1", "--nthreads", "1",
                     "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)])
                for _ in range(2)
            ]  # fmt: skip
            yield address, processes
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.wait()


def started(file: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until and process.poll() is None:
        try:
            return str(json.loads(file.read_text())["address"])
        except (OSError, ValueError):
            time.sleep(0.05)
    raise AssertionError("no scheduler started")


def parts(file: Path) -> list[FilePart]:
    found = parts_of([file], 4, smallest=20_000)
    assert len(found) > 2
    return found


def test_a_cluster_finds_what_one_process_finds(recording: Path, tmp_path: Path, scheduler: str) -> None:
    check([recording], CheckOptions(out=tmp_path / "one"))
    check([recording], CheckOptions(out=tmp_path / "many", scheduler=scheduler))

    assert results(tmp_path / "many") == results(tmp_path / "one")


def test_a_worker_that_is_killed_is_replaced_and_nothing_counts_twice(
    recording: Path, tmp_path: Path, scheduler: str
) -> None:
    options = CheckOptions(scheduler=scheduler)
    whole = PortalTraffic([recording], options)
    expected = Division(whole, parts(recording), tmp_path / "one.jsonl", SecretFinder()).run()

    traffic = PortalTraffic([recording], options)
    divided = Division(
        traffic, parts(recording), tmp_path / "two.jsonl", SecretFinder(), judge=dying_once
    ).run()

    assert (tmp_path / "marker").exists()
    assert not divided.lost
    assert divided.ledger.results() == expected.ledger.results()
    assert divided.coverage.as_json() == expected.coverage.as_json()
    assert traffic.count == whole.count


def test_a_part_that_no_worker_can_judge_is_named(recording: Path, tmp_path: Path, scheduler: str) -> None:
    options = CheckOptions(scheduler=scheduler)
    some = parts(recording)
    divided = Division(
        PortalTraffic([recording], options), some, tmp_path / "x.jsonl", SecretFinder(), judge=never_done
    ).run()

    assert divided.lost == [str(some[1])]


def test_what_is_not_judged_when_the_scheduler_dies_is_named(
    recording: Path, tmp_path: Path, running: tuple[str, Processes]
) -> None:
    address, processes = running
    share = PartShare(0, FilePart(recording), CheckOptions())
    with cluster.Cluster(address, judge=endless) as workers:
        workers.add([share])
        while not (tmp_path / "marker").exists():
            workers.poll(0.1)
        processes[0].kill()
        workers.run()

    assert (workers.lost, workers.results) == ([share], {})


def test_a_file_that_a_worker_cannot_read_is_an_error(tmp_path: Path, scheduler: str) -> None:
    missing = OrderedShare([FilePart(tmp_path / "not-there.jsonl")], CheckOptions())
    with cluster.Cluster(scheduler) as workers:
        workers.add([missing])
        with pytest.raises(CaptureError, match="not-there"):
            workers.run()


def test_a_worker_of_another_version_is_refused(scheduler: str) -> None:
    workers = cluster.Cluster(scheduler, version="0.0.1")

    with pytest.raises(UsageError, match=r"version .* and this is 0\.0\.1"), workers:
        pass


def test_a_scheduler_that_is_not_there_is_named() -> None:
    workers = cluster.Cluster("tcp://127.0.0.1:1", patience=0.5)

    with pytest.raises(UsageError, match=r"tcp://127\.0\.0\.1:1: no scheduler answers there"), workers:
        pass


@pytest.mark.parametrize(
    "more, expected",
    [
        (["--scheduler", "somewhere"], "is no address of a scheduler"),
        (["--scheduler", "tcp://127.0.0.1:8786", "--workers", "2"], "Leave out --workers"),
    ],
)
def test_what_cannot_be_used_is_said(
    recording: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: Sequence[str],
    expected: str,
) -> None:
    code = main(["check", str(recording), "--out", str(tmp_path / "out"), *more])

    assert code == ExitCode.USAGE
    assert expected in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "results.json").exists()


def test_a_check_without_a_cluster_loads_nothing_of_it() -> None:
    code = "import sys, conformance.check; sys.exit('distributed' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
