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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec

from conformance import record
from conformance.tests.hostile import compression
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.table import ROWS
from conformance.tests.hostile.wire import Row
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
PYTESTS_OWN = re.compile(r"\d+ (passed|failed|skipped)|no tests ran|html report|^=|^FAILED")
COMMAND_LINE = re.compile(r"^\s*(::|##\[)", re.MULTILINE)
PATHS = (
    "/constants/countries",
    "/profile",
    "/workspaces/mine",
    "/security/sessions",
    "/roles",
    "/constants/timezones",
    "/invitations",
)


@dataclass
class Cell:
    """What one command did against one row."""

    row: str
    command: str
    code: int
    seconds: float
    megabytes: float
    slowest: float = 0.0
    """Seconds of the longest request that was recorded."""
    fails: int = 0
    says: str = ""
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ended:
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
        for one in PATHS:
            walker.get(one)
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
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0
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


def arguments_of(command: str, folder: Path, recording: Path, upstream: str, port: int) -> list[str]:
    """The command line of a cell."""
    profile = ["--profile", "profile.toml"]
    match command:
        case "run":
            return ["run", *profile, "--impact", "read-only", "--out", str(folder / "out")]
        case "doctor":
            return ["doctor", *profile]
        case "replay":
            return ["replay", str(recording), *profile, "--impact", "read-only", "--out", str(folder / "out")]
    capture = str(folder / "capture.jsonl")
    limits = ["--port", str(port), "--timeout", str(TIMEOUT)]
    return ["record", "--upstream", upstream, "--out", capture, *limits]


def tried(name: str, command: str, recording: Path) -> Cell:
    """One command against one row, on a portal of its own."""
    row = ROWS[name]
    with tempfile.TemporaryDirectory() as place, reference.start(seed=3) as portal:
        folder = Path(place)
        certificates = folder / "certificates"
        certificates.mkdir()
        with Hostile(row, portal.url, certificates) as hostile:
            text = hostile.profile(portal.profile(), timeout=TIMEOUT)
            (folder / "profile.toml").write_text(text)
            port = _free_port()
            profile = tomllib.loads(text)
            began = time.monotonic()

            def during() -> None:
                if command == "record":
                    visit(f"http://127.0.0.1:{port}", profile, began)

            arguments = arguments_of(command, folder, recording, hostile.url, port)
            if command == "run" and name in BULKY:
                arguments += ["--time-budget", BUDGET]
            ended = measured(arguments, folder, during)
            return _judged(row, command, ended, folder, hostile, profile)


def _judged(
    row: Row, command: str, ended: Ended, folder: Path, hostile: Hostile, profile: dict[str, Any]
) -> Cell:
    shown = _text(folder / "stdout") + "\n" + _text(folder / "stderr")
    code = -9 if ended.code is None else ended.code
    cell = Cell(row.name, command, code, round(ended.seconds, 1), round(ended.megabytes))
    lines = [line for line in shown.splitlines() if line.strip()]
    cell.says = _cause(lines)
    cell.slowest = _slowest(folder)
    cell.fails = _fails(folder)
    cell.wrong = [*_wrong_of_process(cell, ended), *_wrong_of_text(shown), *_wrong_of_traffic(hostile)]
    if cell.slowest > 2 * TIMEOUT:
        cell.wrong.append(f"a request took {cell.slowest:.1f} s")
    leaked = sorted(_leaked(shown, folder, profile, hostile.given))
    cell.wrong += [f"secret: {one}" for one in leaked]
    return cell


def _cause(lines: list[str]) -> str:
    """The line that says what came of it: an error's, or the last that is not pytest's own count."""
    errors = [line for line in lines if line.startswith(("portal-conformance:", "wrong", "ERROR", "UNREACH"))]
    own = [line for line in lines if not PYTESTS_OWN.search(line)]
    return (errors or own or lines or [""])[-1].strip()[:200]


def _wrong_of_process(cell: Cell, ended: Ended) -> Iterator[str]:
    if ended.code is None:
        yield f"hung for {LONGEST:.0f} s"
    elif ended.code not in STATED:
        yield f"exit code {ended.code}"
    if ended.megabytes > MOST_MEMORY:
        yield f"{ended.megabytes:.0f} MB"
    if not cell.says:
        yield "says nothing"


def _wrong_of_text(shown: str) -> Iterator[str]:
    for mark in ("Traceback (most recent", "the suite itself failed", "INTERNALERROR", "error of the suite"):
        if mark in shown:
            yield f"“{mark}”"
    if found := UNSEEN.findall(shown):
        yield f"{len(found)} unseen characters in the terminal"
    if found := COMMAND_LINE.findall(shown):
        yield f"{len(found)} commands to a CI server"


def _wrong_of_traffic(hostile: Hostile) -> Iterator[str]:
    if hostile.trapped:
        yield "followed a redirect"
    names = {name.lower() for asked in hostile.asked for name, _ in asked.headers}
    if b"x-injected" in names:
        yield "sent an injected header"
    if any("planted-by-the-portal" in asked.header("cookie") for asked in hostile.asked):
        yield "sent a cookie back"


def secrets_of(profile: dict[str, Any], given: Iterable[str]) -> dict[str, str]:
    """The secrets that a command knows, with what they are."""
    known = {profile["portal"]["access_code"]: "access code", profile["bot_challenge"]["token"]: "bot token"}
    for name, account in profile["accounts"].items():
        known[account["password"]] = f"password of {name}"
        if "otp_secret" in account:
            known[account["otp_secret"]] = f"authenticator secret of {name}"
    return {**known, **dict.fromkeys(given, "token")}


def _leaked(shown: str, folder: Path, profile: dict[str, Any], given: Iterable[str]) -> set[str]:
    """Which secrets stand where, in whatever encoding, or three quarters of one."""
    places = {"the terminal": shown}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("profile.toml", "stdout", "stderr") and path.suffix != ".pem":
            places[path.name] = _text(path)
    found: set[str] = set()
    for value, kind in secrets_of(profile, given).items():
        raw = value.encode()
        forms = {value, raw.hex(), value[: len(value) * 3 // 4]} | set(blocks(raw)) | set(texts(raw))
        for place, text in places.items():
            if any(len(form) >= 8 and form in text for form in forms):
                found.add(f"{kind} in {place}")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _slowest(folder: Path) -> float:
    slowest = 0.0
    for path in folder.rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                told = msgspec.json.decode(line)
                slowest = max(slowest, float(told.get("elapsed_ms") or 0) / 1000)
    return slowest


def _fails(folder: Path) -> int:
    path = folder / "out" / "results.json"
    if not path.exists():
        return 0
    told = json.loads(_text(path))
    return int(told["summary"]["fail"])


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def line_of(cell: Cell) -> str:
    """A cell as it is shown: exit code, seconds, memory, longest request, what is wrong, and what it says."""
    figures = f"{cell.code:3} {cell.seconds:6.1f} s {cell.megabytes:5.0f} MB {cell.slowest:5.1f} s"
    wrong = "; ".join(cell.wrong) or "well"
    return f"{cell.row:24} {cell.command:7} {figures} {cell.fails:3} FAIL  {wrong}  | {cell.says}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--row", action="append", default=[], help="only these rows, or groups")
    parser.add_argument("--command", action="append", default=[], choices=COMMANDS)
    parser.add_argument("--all", action="store_true", help="all rows, and not only those of the matrix")
    options = parser.parse_args()
    wanted = set(options.row) or (set(ROWS) if options.all else MATRIX)
    chosen = [row for row in ROWS.values() if not wanted.isdisjoint((row.name, row.group))]
    os.nice(NICENESS)
    compression.warm()
    cells = []
    with tempfile.TemporaryDirectory() as place:
        recording = small_recording(Path(place))
        tasks = [(row.name, command, recording) for row in chosen for command in options.command or COMMANDS]
        for cell in measured_cells(tasks):
            cells.append(cell)
            print(line_of(cell), flush=True)
    wrong = [cell for cell in cells if cell.wrong]
    print(f"cells with something wrong: {len(wrong)} of {len(cells)}")
    return int(bool(wrong))


def measured_cells(tasks: Iterable[tuple[str, str, Path]]) -> Iterator[Cell]:
    """The cells as they end, each of a process of its own, so that no portal waits for another."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(CELLS_AT_ONCE, mp_context=context) as pool:
        for future in as_completed([pool.submit(tried, *task) for task in tasks]):
            yield future.result()


if __name__ == "__main__":
    sys.exit(main())
