"""A target that falls silent, and a replay that is killed: both end early, and nothing is lost."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import UsageError
from conformance.replay import ReplayResult, replay
from conformance.replay.compare.outcome import ExchangeOutcome, State
from conformance.replay.engine.step import ReplayStep
from conformance.replay.notes import GO_ON
from conformance.replay.resume import JOURNAL, JournalHead, ReplayJournal, entries_of
from conformance.spec.endpoints import ACCOUNTS_QUERY
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, recorder, rewritten, without_clock, written
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic.redaction.redact import Secrets
from reference_impl import serve as reference

TIMEOUT = 1.0


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole visit."""
    with recorder(out := tmp_path_factory.mktemp("recording") / "traffic.jsonl") as (walker, _):
        walker.visit(changes=False)
    return out


@dataclass
class Line:
    """A line to a portal that can be cut without closing it: then nothing comes back."""

    upstream: int
    is_silent: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def open(self, port: int = 0) -> Iterator[int]:
        """The port at which the portal is reached."""
        with closing(socket.create_server(("127.0.0.1", port))) as server:
            threading.Thread(target=self._accept, args=(server,), daemon=True).start()
            try:
                yield server.getsockname()[1]
            finally:
                server.shutdown(socket.SHUT_RDWR)  # no connection is accepted any more

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                portal = socket.create_connection(("127.0.0.1", self.upstream))
                for source, sink in ((client, portal), (portal, client)):
                    threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.is_silent.is_set():
                    sink.sendall(data)
            sink.close()


def replayed_until_silent(recording: Path, out: Path, *, answers: int) -> tuple[ReplayResult, float]:
    """A replay whose target falls silent after so many answers, and how long it took."""
    with reference.start() as portal:
        line = Line(int(portal.url.rpartition(":")[2]))
        steps: list[ReplayStep] = []

        def note(step: ReplayStep) -> None:
            steps.append(step)
            if len(steps) == answers:
                line.is_silent.set()

        with line.open() as port:
            text = profile_at(port, portal)
            if answers == 0:
                line.is_silent.set()
            began = time.monotonic()
            told = replay([recording], parse(text, {}), options_for(out), on_step=note)
            return told, time.monotonic() - began


def profile_at(port: int, portal: reference.Running) -> str:
    """The profile of a portal that is reached at a port, without a test clock."""
    text = without_clock(portal.profile())
    return text.replace(portal.url + '"\naccess', f'http://127.0.0.1:{port}"\ntimeout = {TIMEOUT}\naccess')


@pytest.mark.parametrize("answers", [0, 12])
def test_a_target_that_hangs_ends_the_replay_early_with_exit_code_6(
    recording: Path, tmp_path: Path, answers: int
) -> None:
    told, seconds = replayed_until_silent(recording, tmp_path, answers=answers)

    assert told.run.exit_code == 6
    assert told.run.regressions == []
    assert seconds < 60 * TIMEOUT
    assert any("no answer" in note for note in told.notes)


def test_a_target_that_dies_before_the_last_requests_is_gone_and_the_rest_is_resumed(
    recording: Path, tmp_path: Path
) -> None:
    """Too few are left for the count of refused connections."""
    total = len(recording.read_text().splitlines())
    steps: list[ReplayStep] = []
    with reference.start() as portal:
        line = Line(int(portal.url.rpartition(":")[2]))
        with ExitStack() as stack:
            port = stack.enter_context(line.open())
            profile = parse(profile_at(port, portal), {})

            def die(step: ReplayStep) -> None:
                steps.append(step)
                if len(steps) == total - 2:
                    line.is_silent.set()
                    stack.close()

            dead = replay([recording], profile, options_for(tmp_path), on_step=die)
        is_kept = (tmp_path / JOURNAL).exists()
        line.is_silent.clear()
        with line.open(port):
            resumed = replay([recording], profile, options_for(tmp_path, resume=True))

    assert (dead.run.exit_code, is_kept) == (6, True)
    assert "does not answer any more (connection refused)" in dead.run.ending.unreachable
    assert GO_ON in dead.notes
    assert resumed.run.exit_code == 0
    assert resumed.tally.compared == total - 2, "nothing tells whether the logout arrived"


class Flaky(Line):
    """A line that ends without an answer after every eighth request."""

    requests = 0

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.requests += data.startswith(b"POST ")
                if data.startswith(b"POST ") and not self.requests % 8:
                    break
                sink.sendall(data)
            for end in (source, sink):
                end.shutdown(socket.SHUT_RDWR)


def test_a_replay_without_an_answer_to_many_requests_is_inconclusive(tmp_path: Path) -> None:
    asked = [answer(ACCOUNTS_QUERY, sent={"page": 0}, n=n, headers=NO_TOKEN) for n in range(1, 121)]
    recording = written(tmp_path / "traffic.jsonl", *asked)
    with reference.start() as portal:
        with Flaky(int(portal.url.rpartition(":")[2])).open() as port:
            profile = parse(profile_at(port, portal), {})
            told = replay([recording], profile, options_for(tmp_path / "out"))

    assert told.tally.silent >= 10
    assert "requests had no answer" in told.run.ending.inconclusive
    assert told.run.exit_code != 0


def spread(recording: Path, out: Path, *, seconds: float) -> Path:
    """The recording, with so many seconds from each exchange to the next."""
    moments = count(datetime(2026, 1, 1, tzinfo=UTC).timestamp(), seconds)

    def move(line: dict[str, Any]) -> None:
        line["started"] = datetime.fromtimestamp(next(moments), UTC).isoformat()

    return rewritten(recording, move, out)


def test_a_killed_replay_leaves_its_exchanges_and_goes_on(recording: Path, tmp_path: Path) -> None:
    slow, out, profile = tmp_path / "slow.jsonl", tmp_path / "out", tmp_path / "portal.toml"
    total = len(spread(recording, slow, seconds=0.2).read_text().splitlines())
    with reference.start() as portal:
        profile.write_text(without_clock(portal.profile()))
        command = [sys.executable, "-m", "conformance.cli", "replay", str(slow), "--profile", str(profile)]
        command += ["--impact", "disruptive", "--out", str(out)]
        killed = subprocess.Popen([*command, "--pace", "recorded"], stdout=subprocess.DEVNULL)
        wait_until(lambda: lines_of(out / "exchanges.jsonl") >= 15)
        killed.kill()
        killed.wait()
        before = lines_of(out / "exchanges.jsonl")

        resumed = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)

    results = json.loads((out / "results.json").read_text())
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert results["regressions"] == []
    assert results["replay"]["compared"] == total
    assert sum(results["replay"]["states"].values()) == total
    assert lines_of(out / "exchanges.jsonl") < before + total
    assert not (out / JOURNAL).exists()


def test_a_replay_that_is_killed_while_its_reports_are_written_is_resumed_to_its_reports(
    recording: Path, tmp_path: Path
) -> None:
    """Without its last step: a directory in the place of a report stands for the end of the process."""
    (tmp_path / "report.html").mkdir()
    with reference.start() as portal:
        profile = parse(portal.profile(), {})
        with pytest.raises(UsageError, match=r"report\.html"):
            replay([recording], profile, options_for(tmp_path))
        (tmp_path / "report.html").rmdir()
        exchanges = lines_of(tmp_path / "exchanges.jsonl")
        told = replay([recording], profile, options_for(tmp_path, resume=True))

    assert told.run.exit_code == 0
    assert told.tally.share == 1.0
    assert told.run.regressions == []
    assert lines_of(tmp_path / "exchanges.jsonl") == exchanges
    assert (tmp_path / "report.html").is_file()


HEAD = JournalHead(["traffic.jsonl 1"], "http://portal.example.test", "mutating")


def note_steps(path: Path, *positions: int, reason: str = "") -> None:
    """Has a journal note a step at each position, as one process of a replay does."""
    journal = ReplayJournal(path, HEAD, Secrets())
    for position in positions:
        state = State.NOT_COMPARABLE if reason else State.SAME
        outcome = ExchangeOutcome(position + 1, state, "GET /", reason, line=position + 1)
        journal.add(ReplayStep(position, outcome))
    journal.flush()


def test_the_journal_is_its_owners_alone_as_it_holds_values_of_the_portal(tmp_path: Path) -> None:
    for path in (tmp_path / "new", tmp_path / JOURNAL):
        if path.name == JOURNAL:
            path.touch(mode=0o644)

        note_steps(path, 0)

        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_that_a_crash_cut_costs_the_journal_no_other(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    note_steps(path, 0)
    with path.open("ab") as file:
        file.write('{"position":1,"outcome":{"reason":"é'.encode()[:-1])
    assert [entry.position for entry in entries_of(path, HEAD, lines=9)] == [0]

    note_steps(path, 1, 2)

    assert [entry.position for entry in entries_of(path, HEAD, lines=9)] == [0, 1, 2]


def test_a_journal_of_another_impact_is_refused_and_both_are_named(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    note_steps(path, 0)
    assert len(list(entries_of(path, HEAD, lines=9))) == 1

    with pytest.raises(UsageError, match="had --impact mutating, and this one has read-only"):
        list(entries_of(path, JournalHead(HEAD.recordings, HEAD.target, "read-only"), lines=9))


def lines_of(path: Path) -> int:
    return path.read_text().count("\n") if path.exists() else 0


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert is_so()
