"""``check --workers`` of a large capture: seconds and CPU of one process and of several, and equal results.

.venv/bin/python benchmarks/workers.py [EXCHANGES [WORKERS…]]

The traffic is that of ``million.py``. CPU is that of all processes. The results are compared but for times.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import traffic

TIMES = ("started", "finished")


def checked(capture: Path, out: Path, workers: int) -> tuple[float, float, float]:
    """The seconds that a check takes, those of CPU of all its processes, and the MB of the largest."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "conformance", "check", str(capture)]
    subprocess.run(
        [*command, "--workers", str(workers), "--out", str(out)], stdout=subprocess.DEVNULL, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu, after.ru_maxrss / 1024


def results(out: Path) -> tuple[object, str]:
    """What a report says but for its times, and a hash of the exchanges."""
    run = json.loads((out / "results.json").read_text())
    said = {key: value for key, value in run.items() if key not in TIMES}
    with (out / "exchanges.jsonl").open("rb") as lines:
        return said, hashlib.file_digest(lines, "sha256").hexdigest()


if __name__ == "__main__":
    number = int(sys.argv[1]) if sys.argv[1:] else 200_000
    several = [int(text) for text in sys.argv[2:]] or [1, 2]
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "traffic.jsonl"
        traffic.write(capture, number)
        print(f"{number:,} exchanges, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        first = None
        for workers in several:
            out = Path(folder) / str(workers)
            seconds, cpu, memory = checked(capture, out, workers)
            found = results(out)
            first = first or (seconds, cpu, found)
            same = "the same results" if found == first[2] else "OTHER RESULTS"
            print(
                f"{workers} workers: {seconds:.1f} s ({first[0] / seconds:.2f} times as fast), "
                f"{cpu:.1f} s of CPU ({cpu / first[1]:.2f}), at most {memory:.0f} MB each, {same}",
                flush=True,
            )
