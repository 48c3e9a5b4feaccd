"""Workers of Dask do what one process does: one that is killed in the middle costs nothing but time."""

from __future__ import annotations

import _thread
import asyncio
import gzip
import json
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster
from msgspec.structs import replace as changed
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.check import CheckOptions, check
from conformance.check.lines import JoinedLines
from conformance.check.traffic import parts_of
from conformance.cli import main
from conformance.errors import CaptureError, ExitCode, UsageError
from conformance.replay import replay
from conformance.replay.assembly import analysed
from conformance.replay.workers import (
    SharedReplay,
    ShareEnd,
    check_options,
    merged,
    replay_on_workers,
    replay_share,
)
from conformance.report.model.run import Run
from conformance.tests.replays import options_for, profile_of, recorded_visit, recorder, written
from conformance.tests.spoiling import spoilt
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json
from conformance.work.dask import Cluster, Lost, cluster_of
from reference_impl import serve as reference
from reference_impl.limits import Limits

LIMITS = Limits(login_initiations=1000)
VISITORS = ("limited", "spare", "admin", "spare")
QUIET: dict[str, Any] = {
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
    "silence_logs": logging.CRITICAL,
}


def two_workers() -> Iterator[str]:
    """The address of a scheduler with two workers. It gives a task up whose worker died twice."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, **QUIET) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A scheduler that several tests share: none of them kills a worker."""
    yield from two_workers()


@pytest.fixture
def mortal() -> Iterator[str]:
    """A scheduler of one test, which kills workers: whether they come back is no matter of other tests."""
    yield from two_workers()


@pytest.fixture
def cluster(scheduler: str, tmp_path: Path) -> Iterator[Cluster]:
    with cluster_of([], tmp_path, scheduler=scheduler, option="--scheduler") as cluster:
        yield cluster


def processes(scheduler: str) -> dict[str, int]:
    """The process of each worker."""
    with Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        return dict(client.run(os.getpid))


def test_a_task_whose_workers_all_die_is_lost(mortal: str, tmp_path: Path) -> None:
    with cluster_of([], tmp_path, scheduler=mortal, option="--scheduler") as cluster:
        with pytest.raises(Lost, match="each worker that began it died"):
            cluster.result(cluster.begin(os._exit, 1))


def test_a_task_that_raises_is_lost_with_the_reason(cluster: Cluster) -> None:
    with pytest.raises(Lost, match="ValueError: invalid literal"):
        cluster.result(cluster.begin(int, "many"))


def test_a_worker_of_another_version_is_named(cluster: Cluster) -> None:
    other = replace(cluster, premises=replace(cluster.premises, version="0.0.1"))

    with pytest.raises(UsageError, match=r"worker tcp://.* has version .* and the command has 0\.0\.1"):
        other.result(other.begin(int))


@pytest.mark.parametrize("content, problem", [(None, "cannot read "), (b"{}\n", "has another file at ")])
def test_a_worker_that_has_no_such_file_is_named(
    scheduler: str, tmp_path: Path, content: bytes | None, problem: str
) -> None:
    path = tmp_path / "elsewhere.jsonl"
    path.write_bytes(b" " * 1000)

    with cluster_of([path], tmp_path / "out", scheduler=scheduler, option="--scheduler") as cluster:
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(CaptureError, match=f"The worker tcp://.* {problem}.*by the same path"):
            cluster.result(cluster.begin(int))


def test_a_worker_that_does_not_reach_the_reports_is_named(cluster: Cluster) -> None:
    cluster.folder.rmdir()

    with pytest.raises(CaptureError, match="has no folder"):
        cluster.result(cluster.begin(int))


def test_a_cluster_that_loses_all_workers_is_given_up(tmp_path: Path) -> None:
    with (
        LocalCluster(n_workers=1, processes=False, protocol="tcp://", **QUIET) as workers,
        cluster_of([], tmp_path, scheduler=workers.scheduler_address, option="--scheduler") as cluster,
    ):
        workers.scale(0)
        while cluster.workers:
            time.sleep(0.01)
        impatient = replace(cluster, workerless_seconds=0.1)
        with pytest.raises(Lost, match="the cluster has no worker any more"):
            impatient.result(impatient.begin(int))


@pytest.mark.parametrize(
    "address, expected",
    [("somewhere", "is no address of a scheduler"), ("tcp://127.0.0.1:1", "no scheduler answers there")],
)
def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, expected: str
) -> None:
    monkeypatch.setattr("conformance.work.dask.ANSWERED_SECONDS", 0.5)

    with pytest.raises(UsageError, match=expected):
        with cluster_of([], tmp_path, scheduler=address, option="--scheduler"):
            pass


def test_the_extra_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(UsageError, match=r"--workers needs .*pip install 'portal-conformance\[scale\]'"):
        with cluster_of([], tmp_path, option="--workers"):
            pass


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    """What the recorder wrote of one visit."""
    return list(capture.read(recorded_visit(tmp_path_factory.mktemp("visit"))))


@pytest.fixture(scope="module")
def captures(visit: list[Exchange], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four files of two recordings, one of them packed, with exchanges that contradict something or come
    from elsewhere among others."""
    dice, folder, numbers = random.Random(20_261_123), tmp_path_factory.mktemp("captures"), count(1)
    foreign = [changed(each, request=elsewhere(each)) for each in visit[:3]]
    wrong = [spoilt(dice.choice(visit), dice) for _ in range(100)]
    first = [changed(each, n=next(numbers)) for each in [*visit, *wrong, *foreign, *visit]]
    files = [
        written(folder / "1.jsonl", *first[:150]),
        written(folder / "2.jsonl", *first[150:]),
        written(folder / "3.jsonl", *wrong, *visit),
        written(folder / "4.jsonl", *visit),
    ]
    packed = folder / "4.jsonl.gz"
    packed.write_bytes(gzip.compress(files[3].read_bytes()))
    return [*files[:3], packed]


def elsewhere(exchange: Exchange) -> Json:
    return changed(exchange.request, url="http://elsewhere.example.test/metrics")


def results(out: Path) -> Json:
    """What the report says, without its times, and the exchanges."""
    run = json.loads((out / "results.json").read_text())
    lines = (out / "exchanges.jsonl").read_text()
    return {key: run[key] for key in run if key not in ("started", "finished")}, lines


def test_workers_of_this_machine_check_as_one_process_does(captures: list[Path], tmp_path: Path) -> None:
    names = list(map(str, captures))

    codes = [main(["check", *names, "--workers", n, "--out", str(tmp_path / n)]) for n in ("1", "2")]

    assert codes == [ExitCode.FAILED, ExitCode.FAILED]
    assert results(tmp_path / "1") == results(tmp_path / "2")
    assert not list((tmp_path / "2").glob(".*"))


def test_a_check_whose_worker_is_killed_in_the_middle_finds_what_one_process_finds(
    captures: list[Path], tmp_path: Path, mortal: str
) -> None:
    """The worker is stopped before it has done anything of its parts, and killed while they are awaited."""
    check(captures, CheckOptions(out=tmp_path / "one"))
    victim = min(processes(mortal).values())
    os.kill(victim, signal.SIGSTOP)

    def kill(exchange: Exchange) -> None:
        if exchange.n == 1:
            os.kill(victim, signal.SIGKILL)

    check(captures, CheckOptions(out=tmp_path / "many", scheduler=mortal), listeners=[kill])

    assert results(tmp_path / "many") == results(tmp_path / "one")


def test_what_is_read_from_addresses_is_redacted_as_one_process_redacts_files(
    visit: list[Exchange], captures: list[Path], tmp_path: Path, scheduler: str
) -> None:
    raw = "kVx8Q2mZr71LpWq0TnYc5sHd3Jf"
    sent = changed(visit[9].request, headers=[("authorization", f"Bearer {raw}")])
    files = [*captures, written(tmp_path / "raw.jsonl", *visit[:9], changed(visit[9], request=sent))]

    check(files, CheckOptions(out=tmp_path / "one"))
    addresses = [f"local://{file}" for file in files]
    check(addresses, CheckOptions(out=tmp_path / "many", scheduler=scheduler))

    assert results(tmp_path / "many") == results(tmp_path / "one")
    assert raw not in results(tmp_path / "many")[1]


def test_a_broken_line_is_named_as_one_process_names_it(
    captures: list[Path], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.jsonl").write_bytes(captures[0].read_bytes() + b'{"n":\n')
    files = ["broken.jsonl", *map(str, captures[2:])]
    for out, address in (("one", ""), ("many", scheduler)):
        check(files, CheckOptions(out=tmp_path / out, scheduler=address, salvage=True))
        with pytest.raises(CaptureError, match=r"^broken\.jsonl:151: "):
            check(files, CheckOptions(out=tmp_path / "error", scheduler=address))

    assert results(tmp_path / "many") == results(tmp_path / "one")


@pytest.mark.parametrize("breaks", [False, True])
def test_the_lines_of_parts_of_a_file_are_joined_to_those_of_the_whole(
    captures: list[Path], tmp_path: Path, cluster: Cluster, breaks: bool
) -> None:
    lines = captures[2].read_bytes().splitlines(keepends=True)
    file, options = tmp_path / "traffic.jsonl", CheckOptions(out=tmp_path, salvage=True)
    file.write_bytes(b"".join([*lines[:50], *([b'{"n":\n'] if breaks else []), *lines[50:]]))
    parts = parts_of([file], size=file.stat().st_size // 8)

    joined = JoinedLines(cluster, parts, options, tmp_path / "joined.jsonl")
    joined.begin()
    joined.join_all()

    whole = check([file], options)
    assert len(parts) > 7
    assert joined.evidence.total == whole.exchanges == (50 if breaks else len(lines))
    assert joined.path.read_bytes() == (tmp_path / "exchanges.jsonl").read_bytes()


def test_what_no_worker_can_write_the_command_writes(
    captures: list[Path], tmp_path: Path, cluster: Cluster
) -> None:
    options = CheckOptions(out=tmp_path)
    without_workers = replace(cluster, workerless_seconds=0.0)
    joined = JoinedLines(without_workers, parts_of(captures), options, tmp_path / "joined.jsonl")
    joined.begin()
    cluster.client.close()
    joined.join_all()

    check(captures, options)
    assert joined.path.read_bytes() == (tmp_path / "exchanges.jsonl").read_bytes()
    assert list(joined.notes()) == [
        "No worker could write 4 parts of the exchanges (the scheduler went away): the command did."
    ]


def test_what_was_judged_before_an_interrupt_is_reported(
    captures: list[Path], tmp_path: Path, scheduler: str
) -> None:
    def interrupt(exchange: Exchange) -> None:
        if exchange.n == 100:
            raise KeyboardInterrupt

    check(captures, CheckOptions(out=tmp_path / "whole"))
    options = CheckOptions(out=tmp_path / "begun", scheduler=scheduler)
    run = check(captures, options, listeners=[interrupt]).run

    begun, whole = (
        (tmp_path / name / "exchanges.jsonl").read_bytes().splitlines() for name in ("begun", "whole")
    )
    assert (run.exit_code, run.notes[0]) == (ExitCode.INTERRUPTED, "Interrupted after 100 exchanges.")
    assert len(begun) <= 100
    assert begun == whole[: len(begun)]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four browsers of three people. The second makes a channel, before it reads the countries."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with recorder(out, limits=LIMITS) as (person, portal):
        for at, name in enumerate(VISITORS):
            walker = person.browser(f"browser-{at}")
            walker.sign_in({**walker.accounts[name], "mfa": "EMAIL"})
            own = walker.get("/profile")["data"]
            walker.get(f"/institutions/{own['institutionBizId']}")
            if at == 1:
                walker.channel()
            walker.get("/constants/countries")
            portal.portal.clock.advance(70)
    return out


class Hang:
    """Holds back what the second browser sends, from its last request on, as long as it is not released."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.reached, self.released = threading.Event(), threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if headers.get(b"x-client-hash") == b"browser-1" and scope["path"].endswith("/countries"):
            self.reached.set()
            while not self.released.is_set():
                await asyncio.sleep(0.05)
        await self._app(scope, receive, send)


def channels_of(portal: reference.Running) -> int:
    return len(portal.portal.records["channel"])


def details(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = (run.model_extra or {})["replay"]
    return found


def said(run: Run) -> Json:
    """What a replay says, but for times, and the order and counts that a merge may leave out."""
    endpoints = {
        endpoint: {state: times for state, times in row.items() if times}
        for endpoint, row in details(run)["endpoints"].items()
    }
    counts = [details(run)[name] for name in ("recorded", "sessions", "wanted", "compared", "set_aside")]
    verdicts = {row.id: row.verdict for row in run.requirements}
    return run.exit_code, verdicts, counts, endpoints, [note for note in run.notes if "recorded" in note]


@pytest.fixture(scope="module")
def alone(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Json:
    """What one process says."""
    with reference.start(limits=LIMITS, clock=False) as portal:
        out = tmp_path_factory.mktemp("alone")
        run = replay([recording], profile_of(portal), options_for(out)).run
    assert run.exit_code == 0
    return said(run)


def numbers(out: Path) -> list[int]:
    return [json.loads(line)["n"] for line in (out / "exchanges.jsonl").read_text().splitlines()]


def test_workers_of_this_machine_replay_as_one_process_does(
    recording: Path, tmp_path: Path, alone: Json
) -> None:
    with reference.start(limits=LIMITS, clock=False) as portal:
        run = replay_on_workers([recording], profile_of(portal), options_for(tmp_path), workers=2)

    assert said(run) == alone
    assert numbers(tmp_path) == list(range(1, details(run)["recorded"] + 1))
    assert sorted(path.name for path in tmp_path.glob("*worker*")) == ["worker-1", "worker-2"]


@contextmanager
def hanging() -> Iterator[tuple[reference.Running, Hang]]:
    """A portal that holds back one request."""
    hangs: list[Hang] = []

    def wrap(app: ASGIApp) -> ASGIApp:
        hangs.append(Hang(app))
        return hangs[0]

    with reference.start(limits=LIMITS, clock=False, wrap=wrap) as portal:
        yield portal, hangs[0]


def kill_the_busy_one(hang: Hang, scheduler: str) -> None:
    """Kills the worker of the share that hangs, once the other one has ended its own."""
    hang.reached.wait(60)
    workers = processes(scheduler)
    with Client(scheduler, set_as_default=False) as client:
        while len(busy := [name for name, tasks in client.processing().items() if tasks]) > 1:
            time.sleep(0.05)
    hang.released.set()
    os.kill(workers[busy[0]], signal.SIGKILL)


def test_a_replay_whose_worker_is_killed_in_the_middle_finds_what_one_process_finds(
    recording: Path, tmp_path: Path, alone: Json, mortal: str
) -> None:
    """What the dead one changed is restored before its share is done again."""
    with hanging() as (portal, hang):
        before = channels_of(portal)
        threading.Thread(target=kill_the_busy_one, args=(hang, mortal), daemon=True).start()
        run = replay_on_workers([recording], profile_of(portal), options_for(tmp_path), scheduler=mortal)
        after = channels_of(portal)

    assert said(run) == alone
    assert hang.reached.is_set()
    assert before == after
    assert [row["lost"] for row in (run.model_extra or {})["workers"]] == [False, False]


def test_an_interrupt_ends_all_shares_which_restore_what_they_changed(
    recording: Path, tmp_path: Path, scheduler: str
) -> None:
    def interrupt() -> None:
        hang.reached.wait(60)
        _thread.interrupt_main()
        time.sleep(1.0)
        hang.released.set()

    with hanging() as (portal, hang):
        before = channels_of(portal)
        threading.Thread(target=interrupt, daemon=True).start()
        run = replay_on_workers([recording], profile_of(portal), options_for(tmp_path), scheduler=scheduler)
        after = channels_of(portal)

    assert run.exit_code == ExitCode.INTERRUPTED
    assert before == after
    assert run.ending.left_behind == []


def test_a_share_that_no_worker_can_do_is_named_and_what_it_changed_is_restored(
    recording: Path, tmp_path: Path
) -> None:
    with hanging() as (portal, hang):
        before, profile, options = channels_of(portal), profile_of(portal), options_for(tmp_path)
        order = SharedReplay([recording], profile, options, 2, tmp_path)
        with analysed([recording], profile, options) as plan:
            lost = next(at for at, share in enumerate(plan.shared().shares(2)) if 1 in share.sessions)
        dead = get_context("spawn").Process(target=replay_share, args=(order, lost))
        dead.start()
        hang.reached.wait(60)
        dead.kill()
        dead.join()
        left = channels_of(portal)
        ends = [
            ShareEnd(at, order.folder(at), None, Lost("each worker that began it died"))
            if at == lost
            else ShareEnd(at, order.folder(at), replay_share(order, at))
            for at in range(2)
        ]
        run = merged(order, ends, is_interrupted=False)
        after = channels_of(portal)

    assert (left, after) == (before + 1, before)
    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert run.ending.inconclusive.startswith(
        f"Worker {lost + 1} did not end its share (each worker that began it died), and nothing of it is "
        "counted: 2 sessions with 13 exchanges, which begin with #7, #20."
    )
    assert details(run)["recorded"] == 12


@pytest.mark.parametrize(
    "options, clock, said",
    [
        ({"resume": True}, False, "one process"),
        ({"rate": 1.0}, False, "one process"),
        ({}, True, r"\[clock\] advance"),
    ],
)
def test_what_several_workers_cannot_share_is_refused(
    tmp_path: Path, options: dict[str, Any], clock: bool, said: str
) -> None:
    with reference.start(clock=clock) as portal, pytest.raises(UsageError, match=said):
        check_options(profile_of(portal), options_for(tmp_path, **options), "--workers")
