"""``check --workers`` of a large capture: seconds and CPU of one process and of several, and equal results.

.venv/bin/python benchmarks/workers.py [EXCHANGES [WORKERS…]] [--instructions]

The traffic is that of ``million.py``. CPU is that of all processes. The results are compared but for times.
With --instructions valgrind counts those that an exchange takes in all processes, where other programs would
change the rest: 25,000 exchanges are enough.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import traffic

TIMES = ("started", "finished")

COUNTED = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
ENDING = """
import sys
from pathlib import Path
from conformance.check import CheckOptions, check
from conformance.check.workers import Workers

def end(self, *error):
    "Worker processes end by themselves: of one that is killed nothing is counted."
    for worker in self._workers:
        worker.connection.close()
    for worker in self._workers:
        worker.process.join()

Workers.__exit__ = end
check([sys.argv[1]], CheckOptions(out=Path(sys.argv[2]), workers=int(sys.argv[3])))
"""


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


def compare_times(folder: Path, number: int, several: list[int]) -> None:
    capture = folder / "traffic.jsonl"
    traffic.write(capture, number)
    first = None
    for workers in several:
        out = folder / str(workers)
        seconds, cpu, memory = checked(capture, out, workers)
        found = results(out)
        first = first or (seconds, cpu, found)
        same = "the same results" if found == first[2] else "OTHER RESULTS"
        print(
            f"{workers} workers: {seconds:.1f} s ({first[0] / seconds:.2f} times as fast), "
            f"{cpu:.1f} s of CPU ({cpu / first[1]:.2f}), at most {memory:.0f} MB each, {same}",
            flush=True,
        )


def instructions(folder: Path, exchanges: int, workers: int) -> int:
    """Those of all processes of a check. Each counts those of the process that it was forked from as well:
    they are the same for any number of exchanges."""
    capture, logs = folder / "traffic.jsonl", folder / f"{exchanges}-{workers}"
    logs.mkdir()
    traffic.write(capture, exchanges)
    program = [sys.executable, "-c", ENDING, str(capture), str(logs / "out"), str(workers)]
    command = [*COUNTED, "--trace-children=yes", f"--log-file={logs}/log.%p", *program]
    subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False)
    texts = [log.read_text() for log in logs.glob("log.*")]
    counts = [re.search(r"I\s+refs:\s+([\d,]+)", text) for text in texts]
    return sum(int(count[1].replace(",", "")) for count in counts if count)


def compare_instructions(folder: Path, number: int, several: list[int]) -> None:
    first = None
    for workers in several:
        few, all_of_them = (instructions(folder, count, workers) for count in (number // 5, number))
        of_one = (all_of_them - few) / (number - number // 5)
        first = first or of_one
        print(f"{workers} workers: {of_one:,.0f} instructions ({of_one / first:.3f})", flush=True)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:] if text.isdigit()] or [200_000]
    compare = compare_instructions if "--instructions" in sys.argv else compare_times
    print(f"{numbers[0]:,} exchanges, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as temporary:
        compare(Path(temporary), numbers[0], numbers[1:] or [1, 2])
