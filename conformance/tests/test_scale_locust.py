"""The workers of Locust share a replay: ``--engine locust``, and a locustfile with ``RecordedUser``."""

from __future__ import annotations

import csv
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from starlette.types import ASGIApp

from conformance.cli import main
from conformance.errors import ExitCode
from conformance.replay import replay
from conformance.report.model.run import Run
from conformance.scale.forked import CAN_FORK
from conformance.scale.locust_engine import locust_workers
from conformance.scale.order import WorkerNote, WorkerOrder
from conformance.scale.processes import Processes
from conformance.scale.replays import replay_on_workers
from conformance.tests.replays import options_for
from conformance.tests.test_scale_replays import (
    EXCHANGES,
    LIMITS,
    Hang,
    details,
    kill_the_hanging,
    numbers,
    profile_of,
    recording,
    verdicts,
)
from reference_impl import serve as reference

__all__ = ["recording"]

pytestmark = pytest.mark.skipif(find_spec("locust") is None, reason="the extra scale is not installed")

WITHOUT_LOCUST = """
import sys
from conformance.cli import main
assert main(["run", "--only", "ENV-*", "--out", sys.argv[1]]) == 0
assert not {"gevent", "locust"} & sys.modules.keys()
print("neither")
"""


LOGGED = """
import sys
from conformance.scale.locust_process import log_all
from conformance.scale.leading import AnswerDiffers
from conformance.scale.wire import StepReport
from locust.stats import RequestStats

assert "pydantic" not in sys.modules and "conformance.replay" not in sys.modules
rows = [StepReport("GET /a", 3.25, 10), StepReport("POST /b", 1700.0, 7, "no connection"),
        StepReport("GET /a", 0.75, 30), StepReport("GET /a", 150.5, 20, "regressed: data")]
ours, theirs = RequestStats(), RequestStats()
log_all(ours, rows)
for row in rows:
    theirs.log_request(*row.method_and_name, row.ms, row.bytes)
    if row.problem:
        theirs.log_error(*row.method_and_name, AnswerDiffers(row.problem))

def told(stats):
    entries = [stats.total, *(stats.entries[key] for key in sorted(stats.entries))]
    return [
        {key: value for key, value in entry.serialize().items() if "time" not in key or "response" in key}
        for entry in entries
    ], {key: error.occurrences for key, error in stats.errors.items()}

(one, of_one), (other, of_other) = told(ours), told(theirs)
for entry in one + other:
    for name in ("num_reqs_per_sec", "num_fail_per_sec"):
        entry[name] = sum(entry[name].values())
assert (one, of_one) == (other, of_other), (one, other)
print("alike")
"""


def counted(path: Path) -> int:
    """The requests that Locust counted in all."""
    with path.open() as rows:
        return int(list(csv.DictReader(rows))[-1]["Request Count"])


def in_json(path: Path) -> int:
    return sum(row["num_requests"] for row in json.loads(path.read_text()))


def test_locust_finds_what_one_process_finds_and_counts_each_request_once(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, out = tmp_path / "portal.toml", tmp_path / "shared"
    with reference.start(limits=LIMITS, clock=False) as portal:
        alone = replay([recording], profile_of(portal), options_for(tmp_path / "alone")).run
    with reference.start(limits=LIMITS, clock=False) as portal:
        profile.write_text(portal.profile())
        words = ["replay", str(recording), "--profile", str(profile), "--impact", "disruptive"]
        code = main([*words, "--out", str(out), "--engine", "locust", "--workers", "2"])

    shared = Run.read(out)
    assert code == shared.exit_code == alone.exit_code == 0
    assert "24 of 24 exchanges compared" in capsys.readouterr().out
    assert verdicts(shared) == verdicts(alone)
    assert details(shared)["states"] == details(alone)["states"]
    assert numbers(out) == list(range(1, details(alone)["recorded"] + 1))
    assert counted(out / "locust.csv") == details(alone)["recorded"]


@pytest.mark.parametrize(
    ("victim", "forks"),
    [
        ("the worker's process", CAN_FORK),
        ("the worker of Locust", CAN_FORK),
        ("the worker of Locust", False),
    ],
)
def test_a_killed_worker_is_named_and_its_share_neither_counted_nor_moved_to_another(
    recording: Path, tmp_path: Path, victim: str, forks: bool
) -> None:
    hangs: list[Hang] = []

    def wrap(app: ASGIApp) -> ASGIApp:
        hangs.append(Hang(app, b"browser-1"))
        return hangs[0]

    def start(orders: Sequence[WorkerOrder]) -> Processes:
        processes = locust_workers(orders, forks=forks)

        def of(note: WorkerNote) -> int:
            return note.pid if victim == "the worker's process" else processes.workers[note.worker - 1].pid

        threading.Thread(target=kill_the_hanging, args=(hangs[0], tmp_path, of), daemon=True).start()
        return processes

    with reference.start(limits=LIMITS, clock=False, wrap=wrap) as portal:
        run = replay_on_workers(
            [recording], profile_of(portal), options_for(tmp_path), workers=2, start=start
        )

    dead, alive = sorted((run.model_extra or {})["workers"], key=lambda row: not row["lost"])
    assert run.exit_code == ExitCode.INCONCLUSIVE
    assert (dead["lost"], alive["lost"]) == (True, False)
    assert f"Worker {dead['worker']} did not end its share" in run.ending.inconclusive
    assert f"begin with #{EXCHANGES + 1}, #{3 * EXCHANGES + 1}" in run.ending.inconclusive
    assert details(run)["compared"] == alive["exchanges"] == 2 * EXCHANGES
    assert numbers(tmp_path) == list(range(1, alive["exchanges"] + 1))


LOCUSTFILE = """
from pathlib import Path
from conformance.replay import ReplayOptions
from conformance.scale.recorded_user import RecordedUser

class Monday(RecordedUser):
    recordings = [{recording!r}]
    profile = {profile!r}
    options = ReplayOptions(out=Path({out!r}), impact="disruptive")
"""


def test_the_processes_of_locust_count_as_locust_does_and_load_no_replay() -> None:
    done = subprocess.run([sys.executable, "-c", LOGGED], capture_output=True, text=True, timeout=60)

    assert done.stdout == "alike\n", done.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_a_locustfile_replays_on_its_own_workers(recording: Path, tmp_path: Path, workers: int) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    out, profile = tmp_path / "out", tmp_path / "portal.toml"
    file = tmp_path / "locustfile.py"
    file.write_text(LOCUSTFILE.format(recording=str(recording), profile=str(profile), out=str(out)))
    locust = [sys.executable, "-m", "locust", "-f", str(file), "--skip-log-setup"]
    led = [
        *locust,
        "--headless",
        "-u",
        str(workers or 1),
        "-r",
        "2",
        "--json-file",
        str(tmp_path / "counted"),
    ]
    if workers:
        led += ["--master", "--expect-workers", str(workers), "--master-bind-port", port]
    with reference.start(limits=LIMITS, clock=False) as portal:
        profile.write_text(portal.profile())
        following = [subprocess.Popen([*locust, "--worker", "--master-port", port]) for _ in range(workers)]
        leader = subprocess.run(led, timeout=120, capture_output=True, text=True)
        for each in following:
            each.wait(timeout=60)

    run = Run.read(out)
    assert leader.returncode == run.exit_code == 0, leader.stderr
    assert details(run)["compared"] == in_json(tmp_path / "counted.json") == 4 * EXCHANGES
    assert len((run.model_extra or {})["workers"]) == max(1, workers)


def test_a_run_loads_neither_locust_nor_gevent(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LOCUST, str(tmp_path)], capture_output=True, text=True, timeout=300
    )

    assert done.stdout.endswith("neither\n"), done.stderr
