"""Several workers share a replay: the whole is what one process finds, and a worker that dies is named."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import threading
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance import record
from conformance.errors import ExitCode, UsageError
from conformance.replay import AnalysedRecording, replay
from conformance.report.model.run import Run
from conformance.scale.forked import CAN_FORK
from conformance.scale.order import WorkerNote, WorkerOrder, folder_of, note_in
from conformance.scale.processes import Processes, plain_workers
from conformance.scale.replays import replay_on_workers
from conformance.target.profile.model import Profile, parse
from conformance.tests.replays import options_for
from conformance.tests.scripted_client import Walker
from reference_impl import serve as reference
from reference_impl.limits import Limits

LIMITS = Limits(login_initiations=1000)
EXCHANGES = 6
"""What each of them sends."""
VISITORS = ("limited", "spare", "admin", "spare")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four browsers of three people."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with reference.start(limits=LIMITS) as portal, record.serve(portal.url, out) as recorder:
        profile = tomllib.loads(portal.profile())
        for at, name in enumerate(VISITORS):
            walker = Walker(recorder.url, profile, hash=f"browser-{at}")
            walker.sign_in({**profile["accounts"][name], "mfa": "EMAIL"})
            own = walker.get("/profile")["data"]
            walker.get(f"/institutions/{own['institutionBizId']}")
            walker.get("/constants/countries")
            portal.portal.clock.advance(70)
    return out


def profile_of(portal: reference.Running) -> Profile:
    return parse(portal.profile(), {})


def details(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = (run.model_extra or {})["replay"]
    return found


def verdicts(run: Run) -> dict[str, str]:
    return {row.id: row.verdict for row in run.requirements}


def numbers(out: Path) -> list[int]:
    return [json.loads(line)["n"] for line in (out / "exchanges.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("workers", "forks"), [(2, CAN_FORK), (3, CAN_FORK), (5, CAN_FORK), (2, False)])
def test_workers_find_what_one_process_finds(
    recording: Path, tmp_path: Path, workers: int, forks: bool
) -> None:
    start = partial(plain_workers, forks=forks)
    with reference.start(limits=LIMITS, clock=False) as portal:
        alone = replay([recording], profile_of(portal), options_for(tmp_path / "alone")).run
    with reference.start(limits=LIMITS, clock=False) as portal:
        options = options_for(tmp_path / "shared")
        shared = replay_on_workers([recording], profile_of(portal), options, workers=workers, start=start)

    assert shared.exit_code == alone.exit_code == 0
    assert verdicts(shared) == verdicts(alone)
    for name in ("recorded", "sessions", "wanted", "compared", "share", "set_aside"):
        assert details(shared)[name] == details(alone)[name]
    one, other = (
        {endpoint: {state: times for state, times in row.items() if times} for endpoint, row in rows.items()}
        for rows in (details(shared)["endpoints"], details(alone)["endpoints"])
    )
    assert one == other
    assert numbers(tmp_path / "shared") == list(range(1, details(alone)["recorded"] + 1))
    folders = sorted((tmp_path / "shared").glob("worker-*"))
    assert [folder for folder in folders if not (folder / "results.json").exists()] == []
    assert [note for note in shared.notes if "recorded exchanges" in note] == [
        note for note in alone.notes if "recorded exchanges" in note
    ]


def test_a_recording_that_was_analysed_is_not_read_again(recording: Path, tmp_path: Path) -> None:
    packed = tmp_path / "traffic.jsonl.gz"
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    with reference.start(limits=LIMITS, clock=False) as portal:
        profile, options = profile_of(portal), options_for(tmp_path / "out")
        analysed = AnalysedRecording([packed], profile, options)
        packed.write_bytes(b"nothing that could be read")
        run = replay([packed], profile, options, recording=analysed).run

    assert details(run)["compared"] == EXCHANGES * len(VISITORS)


def test_what_workers_wrote_can_be_replayed_again(recording: Path, tmp_path: Path) -> None:
    with reference.start(limits=LIMITS, clock=False) as portal:
        options = options_for(tmp_path / "shared")
        replay_on_workers([recording], profile_of(portal), options, workers=3, start=plain_workers)
    with reference.start(limits=LIMITS, clock=False) as portal:
        capture = tmp_path / "shared" / "exchanges.jsonl"
        again = replay([capture], profile_of(portal), options_for(tmp_path / "again", concurrency=4)).run

    assert again.exit_code == 0, again.notes
    assert details(again)["sessions"] == len(VISITORS)


class Hang:
    """Holds back what one browser sends, from its last request on; ``reached`` is set once it is sent."""

    def __init__(self, app: ASGIApp, browser: bytes) -> None:
        self._app, self._browser = app, browser
        self.reached = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if headers.get(b"x-client-hash") == self._browser and scope["path"].endswith("/countries"):
            self.reached.set()
            await asyncio.sleep(15)
        await self._app(scope, receive, send)


def test_a_worker_that_is_killed_is_named_with_its_sessions_and_not_counted(
    recording: Path, tmp_path: Path
) -> None:
    hangs: list[Hang] = []

    def wrap(app: ASGIApp) -> ASGIApp:
        hangs.append(Hang(app, b"browser-1"))
        return hangs[0]

    def start(orders: Sequence[WorkerOrder]) -> Processes:
        processes = plain_workers(orders)
        threading.Thread(target=kill_the_hanging, args=(hangs[0], tmp_path), daemon=True).start()
        return processes

    with reference.start(limits=LIMITS, clock=False, wrap=wrap) as portal:
        run = replay_on_workers(
            [recording], profile_of(portal), options_for(tmp_path), workers=2, start=start
        )

    rows = (run.model_extra or {})["workers"]
    dead = next(row for row in rows if row["lost"])
    alive = next(row for row in rows if not row["lost"])
    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert f"Worker {dead['worker']} did not end its share" in run.ending.inconclusive
    assert f"{dead['sessions']} sessions with {dead['exchanges']} exchanges" in run.ending.inconclusive
    assert f"begin with #{EXCHANGES + 1}, #{3 * EXCHANGES + 1}" in run.ending.inconclusive
    assert alive["exchanges"] == dead["exchanges"] == 2 * EXCHANGES
    assert numbers(tmp_path) == list(range(1, alive["exchanges"] + 1))
    assert details(run)["recorded"] == details(run)["compared"] == alive["exchanges"]
    assert b'"browser-1"' not in (tmp_path / "exchanges.jsonl").read_bytes()


def itself(note: WorkerNote) -> int:
    return note.pid


def kill_the_hanging(hang: Hang, out: Path, victim: Callable[[WorkerNote], int] = itself) -> None:
    """Kills the worker of the second browser, or the process that ``victim`` names for it."""
    hang.reached.wait(60)
    notes = [note_in(folder_of(out, index)) for index in range(2)]
    hanging = next(
        note for note in notes if note and EXCHANGES + 1 in [each.first for each in note.sessions or ()]
    )
    os.kill(victim(hanging), signal.SIGKILL)


def test_where_every_worker_dies_the_replay_is_inconclusive_and_has_its_reports(
    recording: Path, tmp_path: Path
) -> None:
    def start(orders: Sequence[WorkerOrder]) -> Processes:
        processes = plain_workers(orders)
        processes.kill()
        return processes

    with reference.start(limits=LIMITS, clock=False) as portal:
        run = replay_on_workers(
            [recording], profile_of(portal), options_for(tmp_path), workers=2, start=start
        )

    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert "Worker 1 did not end its share" in run.ending.inconclusive
    assert Run.read(tmp_path).exit_code == ExitCode.INCONCLUSIVE


def test_what_keeps_every_worker_from_beginning_is_said_as_one_process_says_it(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"n":1,"nonsense"\n')
    with reference.start(clock=False) as portal, pytest.raises(UsageError, match=r"broken\.jsonl"):
        replay_on_workers(
            [broken], profile_of(portal), options_for(tmp_path / "out"), workers=2, start=plain_workers
        )


def test_several_workers_do_not_move_one_clock(recording: Path, tmp_path: Path) -> None:
    with reference.start() as portal, pytest.raises(UsageError, match=r"\[clock\] advance"):
        replay_on_workers(
            [recording], profile_of(portal), options_for(tmp_path), workers=2, start=plain_workers
        )


@pytest.mark.parametrize("option", ["resume", "accept_update", "baseline", "learn"])
def test_what_needs_the_whole_replay_is_refused(recording: Path, tmp_path: Path, option: str) -> None:
    given = {option: tmp_path / "file" if option in ("baseline", "learn") else True, "accept": tmp_path / "a"}
    with reference.start(clock=False) as portal, pytest.raises(UsageError, match="one process"):
        replay_on_workers(
            [recording],
            profile_of(portal),
            options_for(tmp_path, **given),
            workers=2,
            start=plain_workers,
        )
