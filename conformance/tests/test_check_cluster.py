"""A check on a Dask cluster: a real scheduler, two workers of which one dies, and what one process finds."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from conformance.check import CheckOptions, check, cluster
from conformance.check.divided import Division
from conformance.check.share import Judged, JudgedPart, OrderedShare, PartShare, Share, judge_part, judged
from conformance.check.traffic import FilePart, PortalTraffic, parts_of
from conformance.cli import main
from conformance.errors import CaptureError, ExitCode, UsageError
from conformance.tests.test_check_workers import recording as recording
from conformance.tests.test_check_workers import results, written
from conformance.tests.test_check_workers import small_parts as small_parts
from conformance.tests.test_check_workers import visit as visit
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.finder import SecretFinder

MARKER = "PORTAL_CONFORMANCE_TEST_MARKER"
ROOT = Path(__file__).parents[2]
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


def killing(share: Share) -> Judged:
    """Kills each worker that is given the second part."""
    if isinstance(share, PartShare) and share.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return judged(share)


def killing_the_scheduler(share: Share) -> Judged:
    if isinstance(share, PartShare) and share.number == 1:
        os.kill(int(Path(os.environ[MARKER]).read_text()), signal.SIGKILL)
    return judged(share)


def endless(share: Share) -> Judged:
    """Tells that it has begun, and never ends."""
    Path(os.environ[MARKER]).touch()
    time.sleep(600)
    return judged(share)


@dataclass
class Dask:
    """A scheduler, and its workers of one thread each, which have a working directory of their own."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    address: str = ""

    def start(self) -> None:
        file = self.folder / "scheduler.json"
        self._run("distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        self.address = started(file, self.processes[0])

    def start_worker(self) -> None:
        self._run("distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Within it no worker does anything."""
        for process in self.processes[1:]:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in self.processes[1:]:
                process.send_signal(signal.SIGCONT)

    def kill(self, processes: Sequence[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()

    def _run(self, module: str, *arguments: str) -> None:
        command = [sys.executable, "-m", module, *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": paths, MARKER: str(self.folder / "marker")}
        with (self.folder / "dask.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log)
            )


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    """A scheduler without workers."""
    (tmp_path / "dask").mkdir()
    cluster = Dask(tmp_path / "dask")
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill(cluster.processes)


@pytest.fixture
def scheduler(dask: Dask) -> str:
    """The address of a scheduler with two workers."""
    dask.start_worker()
    dask.start_worker()
    return dask.address


impatient = partial(cluster.Cluster, return_within=0.5, fetched_within=1.0)
"""A cluster that lost all its workers soon has none any more, nor the results that they held."""


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


def test_a_cluster_reads_addresses_as_one_process_reads_files(
    recording: Path, tmp_path: Path, scheduler: str
) -> None:
    check([recording], CheckOptions(out=tmp_path / "one"))
    check([f"local://{recording}"], CheckOptions(out=tmp_path / "many", scheduler=scheduler))

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

    assert (tmp_path / "dask" / "marker").exists()
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

    assert divided.lost == [f"the verdicts on {some[1]} (MemoryError: this part is too large for any worker)"]


@pytest.mark.usefixtures("small_parts")
def test_a_check_whose_workers_all_die_ends_and_says_what_is_missing(
    visit: list[Exchange], tmp_path: Path, scheduler: str
) -> None:
    lawful = written(tmp_path / "lawful.jsonl", visit)
    options = CheckOptions(out=tmp_path / "out", scheduler=scheduler)

    checked = check([lawful], options, divide=partial(Division, judge=killing, cluster=impatient))

    assert checked.run.exit_code == ExitCode.INCONCLUSIVE
    assert f"{lawful} (bytes " in checked.run.ending.inconclusive
    assert "the cluster has no worker any more" in checked.run.ending.inconclusive


@pytest.mark.usefixtures("small_parts")
def test_a_check_whose_scheduler_dies_ends_and_says_what_is_missing(
    visit: list[Exchange], tmp_path: Path, dask: Dask, scheduler: str
) -> None:
    (dask.folder / "marker").write_text(str(dask.processes[0].pid))
    lawful = written(tmp_path / "lawful.jsonl", visit)
    options = CheckOptions(out=tmp_path / "out", scheduler=scheduler)

    checked = check([lawful], options, divide=partial(Division, judge=killing_the_scheduler))

    assert checked.run.exit_code == ExitCode.INCONCLUSIVE
    assert "the scheduler went away" in checked.run.ending.inconclusive


class DyingConnection:
    """A connection whose scheduler dies while it is closed: the library's own time-out then fails."""

    def close(self) -> None:
        raise RuntimeError("Cannot change state of expiring Timeout")


def test_a_scheduler_that_dies_while_its_connection_is_closed_is_no_error() -> None:
    cluster.close(DyingConnection())


def test_what_is_not_judged_when_the_scheduler_dies_is_named(
    recording: Path, dask: Dask, scheduler: str
) -> None:
    share = PartShare(0, FilePart(recording), CheckOptions())
    with cluster.Cluster(scheduler, judge=endless) as workers:
        workers.add([share])
        while not (dask.folder / "marker").exists():
            workers.poll(0.1)
        dask.processes[0].kill()
        workers.run()

    assert (workers.lost, workers.results) == ({share: cluster.GONE}, {})


def test_results_that_died_with_their_workers_are_computed_again(
    recording: Path, dask: Dask, scheduler: str
) -> None:
    shares = [PartShare(number, part, CheckOptions()) for number, part in enumerate(parts(recording))]
    with cluster.Cluster(scheduler) as workers:
        workers.add(shares)
        until = time.monotonic() + STARTED_WITHIN
        while not all(future.done() for future in workers._shares) and time.monotonic() < until:
            time.sleep(0.05)
        dask.kill(dask.processes[1:])
        dask.start_worker()
        workers.run()

    assert not workers.lost
    assert {
        share: found.count for share, found in workers.results.items() if isinstance(found, JudgedPart)
    } == {share: judge_part(share).count for share in shares}


def test_a_path_is_that_of_the_working_directory_here(
    recording: Path, tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.jsonl").write_bytes(recording.read_bytes() + b'{"n":\n')
    for out, address in (("one", ""), ("many", scheduler)):
        check(["broken.jsonl"], CheckOptions(out=tmp_path / out, scheduler=address, salvage=True))
    with pytest.raises(CaptureError, match=r"^broken\.jsonl:\d+: "):
        check(["broken.jsonl"], CheckOptions(out=tmp_path / "error", scheduler=scheduler))

    assert results(tmp_path / "many") == results(tmp_path / "one")


@pytest.mark.parametrize(
    "content, problem",
    [(None, "cannot read {}: No such file"), (b"{}\n", "has another file at {}: of 3 bytes")],
)
def test_a_worker_that_has_no_such_file_is_named(
    tmp_path: Path, dask: Dask, scheduler: str, content: bytes | None, problem: str
) -> None:
    path = tmp_path / "elsewhere.jsonl"
    path.write_bytes(b" " * 1000)

    with cluster.Cluster(scheduler) as workers:
        with dask.stopped():
            workers.add([OrderedShare([FilePart(path)], CheckOptions())])
            path.unlink()
            if content is not None:
                path.write_bytes(content)
        with pytest.raises(CaptureError) as error:
            workers.run()

    assert re.match(r"The worker tcp://127\.0\.0\.1:\d+ " + re.escape(problem.format(path)), str(error.value))
    assert "all workers read it by the same path" in str(error.value)


def test_a_cluster_without_workers_is_refused(dask: Dask) -> None:
    workers = cluster.Cluster(dask.address, patience=1.0)

    with pytest.raises(UsageError, match="the cluster has no worker"), workers:
        pass


def test_the_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(UsageError, match=r"pip install 'portal-conformance\[scale\]'"):
        cluster.Cluster("tcp://127.0.0.1:1").__enter__()


def test_a_worker_that_joins_late_with_another_version_is_refused(scheduler: str) -> None:
    with cluster.Cluster(scheduler) as workers:
        workers.version = "0.0.1"
        workers.add([OrderedShare([], CheckOptions())])
        with pytest.raises(UsageError, match=r"has version .* and this is 0\.0\.1"):
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
