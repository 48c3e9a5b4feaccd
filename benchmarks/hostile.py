"""Each command against each hostile behaviour: exit code, seconds, memory, and what must never be seen.

    .venv/bin/python benchmarks/hostile.py [--row NAME]... [--command NAME]... [--all]

It takes the rows of ``MATRIX``, two cells at a time. Exit code 1: a cell has something wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from conformance import record
from conformance.tests.hostile import compression
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.table import ROWS
from conformance.tests.scripted_client import SYSTEM, Walker
from conformance.traffic.redaction.encodings import blocks, texts
from reference_impl import serve as reference

ROOT = Path(__file__).parents[1]
COMMANDS = ("run", "doctor", "replay", "record")
MATRIX = {
    "silent-accept", "close-at-accept", "speaks-first", "other-protocol", "empty-answer",
    "empty-answer-inside", "hangs-inside", "hangs-after-thirty", "reset-after-thirty", "reset-one-in-ten",
    "hang-every-fortieth", "cut-body", "dripped-head", "dripped-body", "garbage-after-answer",
    "late-second-answer", "closes-silently", "endless-100", "endless-103", "switching-protocols",
    "endless-trailers", "endless-chunks", "fast-chunks", "gigabyte", "endless-head", "length-too-short",
    "lengths-conflict", "length-and-chunks", "chunk-size-words", "http-0.9", "status-999",
    "header-of-10-mb", "headers-10000", "header-injected-answer", "retry-after-digits",
    "retry-after-year-9999", "retry-after-infinite", "gzip-bomb", "gzip-bomb-3", "zstd-bomb",
    "body-empty-everywhere", "deep-lists", "deep-900", "number-infinite", "number-of-5000-digits",
    "duplicate-keys", "lone-surrogates", "list-of-20000", "list-of-20000-secrets", "object-of-20000",
    "long-text", "token-infinite", "token-of-10-mb", "token-of-lines", "lifetime-infinite",
    "session-expires-never", "commands-refusals", "controls-refusals", "directions-texts", "echo-raw",
    "echo-base64", "echo-in-reason", "refuses-all", "redirect-302", "redirect-loop", "cookies-1000",
    "clock-redirects", "clock-digits", "clock-hangs", "tls-self-signed", "tls-handshake-hangs", "tls-cut",
}  # fmt: skip
"""The rows that are tried unless others are asked for: some of each group."""

BULKY = {"list-of-20000", "object-of-20000"}
BUDGET = "120s"
"""The rows whose every answer is of a megabyte, and the time budget of their runs: all cases would take ten
minutes and more of one processor, in proportion to the bytes."""

CELLS_AT_ONCE, NICENESS = 2, 5
TIMEOUT = 2.0
"""The profile's time-out for one request, in seconds."""

LONGEST = float(os.environ.get("HOSTILE_LONGEST", "900"))
"""Seconds after which a command counts as hung, and is killed."""

MOST_MEMORY = 250
CEILING = 3 * 1024**3
"""MB that a command may take, and the bytes at which the system refuses it more."""

STATED = frozenset({0, 1, 4, 5, 6, 7})
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
COMMAND_LINE = re.compile(r"^\s*(::|##\[)", re.MULTILINE)
BROKEN = ("Traceback (most recent", "the suite itself failed", "INTERNALERROR", "error of the suite")
PATHS = ("/constants/countries", "/profile", "/workspaces/mine", "/security/sessions", "/roles")


@dataclass
class Cell:
    """What one command did against one row. ``slowest``: seconds of the longest request on record."""

    row: str
    command: str
    code: int | None
    seconds: float
    megabytes: float
    slowest: float
    says: str
    wrong: list[str]

    def __str__(self) -> str:
        figures = f"{self.code} {self.seconds:6.1f} s {self.megabytes:5.0f} MB {self.slowest:5.1f} s"
        return f"{self.row:24} {self.command:7} {figures}  {'; '.join(self.wrong) or 'well'}  | {self.says}"


class Ended(NamedTuple):
    """A process that is over, or was killed (``code`` None)."""

    code: int | None
    seconds: float
    megabytes: float


def small_recording(folder: Path) -> Path:
    """A capture of a correct portal: a sign-in, some reads, a sign-out."""
    path = folder / "small.jsonl"
    with reference.start(seed=7) as portal, record.serve(portal.url, path) as recorder:
        profile = tomllib.loads(portal.profile())
        walker = Walker(recorder.url, profile)
        walker.sign_in(profile["accounts"]["admin"])
        for request_path in PATHS:
            walker.get(request_path)
        walker.sign_out()
    return path


def measured(arguments: list[str], folder: Path, during: Callable[[], None] = lambda: None) -> Ended:
    """Runs a command with its output in ``folder``; ``during`` runs beside it and may end it."""
    command = [sys.executable, "-m", "conformance.cli", *arguments]
    began = time.monotonic()
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        child = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "HOME": str(folder)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (CEILING, CEILING)),
        )
    during()
    if arguments[0] == "record":
        child.send_signal(signal.SIGINT)
    return _waited(child, began)


def _waited(child: subprocess.Popen[bytes], began: float) -> Ended:
    killed, most = False, 0.0
    while child.poll() is None:
        most = max(most, _peak(child.pid))
        if not killed and time.monotonic() - began > LONGEST:
            child.kill()
            killed = True
        time.sleep(0.02)
    return Ended(None if killed else child.returncode, time.monotonic() - began, most)


def _peak(pid: int) -> float:
    """The most memory of a process so far, in MB: what it takes itself, and not what started it took."""
    with contextlib.suppress(OSError, AttributeError):
        peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(peak[1]) / 1024 if peak else 0.0
    return 0.0


def visit(url: str, profile: dict[str, Any], started: float) -> None:
    """What a client does through a recorder; it takes what it gets."""
    place = httpx.URL(url)
    while time.monotonic() - started < 15:
        with contextlib.suppress(OSError), socket.create_connection((place.host, place.port or 80), 1):
            break
        time.sleep(0.05)
    walker = Walker(url, profile)
    walker.http.timeout = httpx.Timeout(2 * TIMEOUT)
    with contextlib.suppress(Exception):
        walker.sign_in(profile["accounts"]["admin"])
    headers = {"Authorization": f"Bearer {walker.token}", "Accept-Encoding": "identity"}
    for path in PATHS[:4]:
        with contextlib.suppress(Exception), walker.http.stream("GET", SYSTEM + path, headers=headers) as got:
            for _, _chunk in zip(range(200), got.iter_raw(65536), strict=False):
                pass


def tried(name: str, command: str, recording: Path) -> Cell:
    """Runs a command against a hostile behaviour on a fresh portal."""
    with (
        tempfile.TemporaryDirectory() as place,
        tempfile.TemporaryDirectory() as certificates,
        reference.start(seed=3) as portal,
        Hostile(ROWS[name], portal.url, Path(certificates)) as hostile,
    ):
        folder = Path(place)
        text = hostile.profile(portal.profile(), timeout=TIMEOUT)
        (folder / "profile.toml").write_text(text)
        profile = tomllib.loads(text)
        if command == "record":
            port = _free_port()
            limits = ["--port", str(port), "--timeout", str(TIMEOUT)]
            arguments = ["record", "--upstream", hostile.url, "--out", "capture.jsonl", *limits]
            during = partial(visit, f"http://127.0.0.1:{port}", profile, time.monotonic())
            ended = measured(arguments, folder, during)
        else:
            arguments = [command, *([str(recording)] if command == "replay" else [])]
            arguments += ["--profile", "profile.toml"]
            arguments += [] if command == "doctor" else ["--impact", "read-only", "--out", "out"]
            if command == "run" and name in BULKY:
                arguments += ["--time-budget", BUDGET]
            ended = measured(arguments, folder)
        shown = _text(folder / "stdout") + "\n" + _text(folder / "stderr")
        says, slowest = ([""] + [line for line in shown.splitlines() if line.strip()])[-1], _slowest(folder)
        wrong = [
            *_wrong_of_process(ended, says, slowest),
            *_wrong_of_text(shown),
            *_wrong_of_traffic(hostile),
        ]
        wrong += [f"secret: {leak}" for leak in sorted(_leaked(shown, folder, profile, hostile.given))]
        return Cell(name, command, *ended, slowest, says.strip()[:200], wrong)


def _wrong_of_process(ended: Ended, says: str, slowest: float) -> Iterator[str]:
    if ended.code is None:
        yield f"hung for {LONGEST:.0f} s"
    elif ended.code not in STATED:
        yield f"exit code {ended.code}"
    if ended.megabytes > MOST_MEMORY:
        yield f"{ended.megabytes:.0f} MB"
    if not says:
        yield "says nothing"
    if slowest > 2 * TIMEOUT:
        yield f"a request took {slowest:.1f} s"


def _wrong_of_text(shown: str) -> Iterator[str]:
    yield from (f"“{mark}”" for mark in BROKEN if mark in shown)
    if matches := UNSEEN.findall(shown):
        yield f"{len(matches)} unseen characters in the terminal"
    if matches := COMMAND_LINE.findall(shown):
        yield f"{len(matches)} commands to a CI server"


def _wrong_of_traffic(hostile: Hostile) -> Iterator[str]:
    if hostile.trapped:
        yield "followed a redirect"
    if any(name.lower() == b"x-injected" for asked in hostile.asked for name, _ in asked.headers):
        yield "sent an injected header"
    if any("planted-by-the-portal" in asked.header("cookie") for asked in hostile.asked):
        yield "sent a cookie back"


def _leaked(shown: str, folder: Path, profile: dict[str, Any], secrets: Iterable[str]) -> Iterator[str]:
    """Which secrets stand where, in whatever encoding, or three quarters of one."""
    labels = {profile["portal"]["access_code"]: "access code", profile["bot_challenge"]["token"]: "bot token"}
    for account in profile["accounts"].values():
        labels |= {account[kind]: kind for kind in ("password", "otp_secret") if kind in account}
    apart = ("profile.toml", "stdout", "stderr")
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in apart)
    places = {"the terminal": shown, **{path.name: _text(path) for path in files}}
    for value, kind in {**labels, **dict.fromkeys(secrets, "token")}.items():
        raw = value.encode()
        forms = {value, raw.hex(), value[: len(value) * 3 // 4], *blocks(raw), *texts(raw)}
        for place, text in places.items():
            if any(len(form) >= 8 and form in text for form in forms):
                yield f"{kind} in {place}"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _slowest(folder: Path) -> float:
    slowest = 0.0
    for path in folder.rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(ValueError):
                slowest = max(slowest, float(json.loads(line).get("elapsed_ms") or 0) / 1000)
    return slowest


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", default=[], help="only these rows, or groups")
    parser.add_argument("--command", action="append", default=[], choices=COMMANDS)
    parser.add_argument("--all", action="store_true", help="all rows, and not only those of the matrix")
    options = parser.parse_args()
    wanted = set(options.row) or (set(ROWS) if options.all else MATRIX)
    chosen = [row.name for row in ROWS.values() if not wanted.isdisjoint((row.name, row.group))]
    os.nice(NICENESS)
    compression.warm()
    wrong, count = 0, 0
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as place, ProcessPoolExecutor(CELLS_AT_ONCE, context) as pool:
        recording = small_recording(Path(place))
        tasks = [(name, command, recording) for name in chosen for command in options.command or COMMANDS]
        for future in as_completed([pool.submit(tried, *task) for task in tasks]):
            count, wrong = count + 1, wrong + bool(future.result().wrong)
            print(future.result(), flush=True)
    print(f"cells with something wrong: {wrong} of {count}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
