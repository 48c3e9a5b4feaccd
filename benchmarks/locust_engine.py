"""A replay on two workers against one process: exchanges a second, and CPU of everything that sends.

.venv/bin/python benchmarks/locust_engine.py [EXCHANGES [ROUNDS [COMMIT]]]

The portal is a stub that answers at once, in a process of its own on the same cores; the sessions are of
eight people, so that they can be shared. ``COMMIT`` is an earlier engine, that is measured beside. Ratios are
medians of alternating rounds, and above 1 where the workers are faster: of the whole commands, and of the
time in which they send. A fiftieth of the traffic shows what start and end take.
"""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime
from operator import truediv
from pathlib import Path
from typing import NamedTuple

import replay_traffic
from replay_peers import PROFILE, stub

SESSIONS, PEOPLE, PART = 80, 8, 50
STARTED = re.compile(rb'"started":"([^"]+)"')
BEFORE = "one process, "
ENGINES: dict[str, list[str]] = {
    "one process": [],
    "two processes": ["--workers", "2"],
    "locust, two workers": ["--workers", "2", "--engine", "locust"],
}
OF_OLD = ("conformance", "cases", "reference_impl")


class Cost(NamedTuple):
    """What a command took, in seconds: in all, from the first request to the last, and of CPU; ``stub`` is
    the portal's CPU."""

    seconds: float
    sending: float
    cpu: float
    stub: float


def profile_of(port: int) -> str:
    """The profile of the stub, with an account for each person."""
    admin = PROFILE.format(port=port)
    account = admin[admin.index("[accounts.admin]") : admin.index("[inboxes.mail]")]
    others = (
        account.replace("[accounts.admin]", f"[accounts.admin-{person}]").replace(
            replay_traffic.EMAIL, replay_traffic.email_of(person)
        )
        for person in range(1, PEOPLE)
    )
    return admin + "".join(others)


def replayed(capture: Path, folder: Path, options: list[str], code: Path | None) -> Cost:
    """What a replay takes from the start of the command to its end."""
    count = sum(1 for _ in capture.open())
    with stub(capture.with_suffix(".visit.jsonl")) as port:
        profile, out = folder / "portal.toml", folder / "out"
        profile.write_text(profile_of(port))
        command = [sys.executable, "-m", "conformance", "replay", str(capture)]
        command += ["--profile", str(profile), "--out", str(out), *options]
        environment = os.environ | ({} if code is None else {"PYTHONPATH": str(code)})
        before, began = _cpu_of_children(), time.perf_counter()
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment)
        seconds, cpu = time.perf_counter() - began, _cpu_of_children() - before
        compared = json.loads((out / "results.json").read_text())["replay"]["compared"]
        used = _cpu_of_children()
    if compared != count:
        raise SystemExit(f"{options}: {compared} of {count} exchanges were compared.")
    return Cost(seconds, _sending(out / "exchanges.jsonl"), cpu, _cpu_of_children() - used)


def _sending(exchanges: Path) -> float:
    """Seconds between the first request and the last."""
    with exchanges.open("rb") as lines:
        started = [STARTED.search(line[:100]) for line in lines]
    moments = [match[1] for match in started if match is not None]
    first, last = (datetime.fromisoformat(each(moments).decode()) for each in (min, max))
    return (last - first).total_seconds()


def _cpu_of_children() -> float:
    """Seconds of the processes that have ended, as the stub has at last."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def earlier_engine(commit: str, folder: Path) -> Path:
    """The suite as of a commit, in a folder of its own."""
    packed = subprocess.run(["git", "archive", commit, *OF_OLD], check=True, capture_output=True)
    subprocess.run(["tar", "x", "-C", str(folder)], check=True, input=packed.stdout)
    return folder


def main(exchanges: int, rounds: int, commit: str = "") -> None:
    engines = ({BEFORE + commit: []} if commit else {}) | ENGINES
    whole: dict[str, list[Cost]] = {name: [] for name in engines}
    part: dict[str, list[Cost]] = {name: [] for name in engines}
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as old:
        folder = Path(name)
        earlier = earlier_engine(commit, Path(old)) if commit else None
        captures = {folder / "part.jsonl": part, folder / "traffic.jsonl": whole}
        for capture, size in zip(captures, (exchanges // PART, exchanges), strict=True):
            replay_traffic.write_traffic(capture, sessions=SESSIONS, exchanges=size, people=PEOPLE)
        for _ in range(rounds):
            for engine, options in engines.items():
                for capture, costs in captures.items():
                    code = earlier if engine.startswith(BEFORE) else None
                    costs[engine].append(replayed(capture, folder, options, code))
    _show("whole commands", whole, exchanges, "seconds")
    _show("from the first request to the last", whole, exchanges, "sending")
    _show("a fiftieth, which is mostly start and end", part, exchanges // PART, "seconds")


def _show(title: str, costs: Mapping[str, list[Cost]], exchanges: int, what: str) -> None:
    print(f"{title}: {exchanges:,} exchanges")
    took = {name: [getattr(row, what) for row in rows] for name, rows in costs.items()}
    for name, rows in costs.items():
        seconds = statistics.median(took[name])
        cpu = statistics.median(row.cpu for row in rows) / exchanges * 1e6
        of_stub = statistics.median(row.stub for row in rows) / exchanges * 1e6
        ratios = ", ".join(
            f"{statistics.median(map(truediv, took[other], took[name])):.2f} times {other}"
            for other in took
            if other.startswith("one process") and other != name
        )
        print(f"  {name}: {seconds:.2f} s, {exchanges / seconds:,.0f} a second ({ratios or 1})")
        print(f"    CPU an exchange of the whole: {cpu:.0f} us, of the stub {of_stub:.0f} us", flush=True)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:3]]
    main(*(numbers + [100_000, 3][len(numbers) :]), *sys.argv[3:4])
