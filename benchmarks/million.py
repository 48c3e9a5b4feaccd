"""``check`` of a capture of a million exchanges: how much memory it takes, and whether that grows.

.venv/bin/python benchmarks/million.py [EXCHANGES]

The traffic is that of visits to one portal, of which each signs in anew. Memory is what the process has
resident (VmRSS) as the file is read; the highest (VmHWM) includes the imports and the reports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import traffic

PARTS = 10


def memory(field: str) -> float:
    """In MB, as the kernel tells it of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def measure(file: Path, exchanges: int) -> None:
    """Prints the memory after each tenth of the file, and the peak."""
    from conformance.check import CheckOptions, check  # imported here: its memory is what is measured
    from conformance.traffic.exchange import Exchange

    def show_memory(exchange: Exchange) -> None:
        if exchange.n % (exchanges // PARTS) == 0:
            print(f"{exchange.n:>9,} exchanges: {memory('VmRSS'):.0f} MB", flush=True)

    began = time.process_time()
    with tempfile.TemporaryDirectory() as out:
        checked = check([file], CheckOptions(out=Path(out)), listeners=[show_memory])
    spent = time.process_time() - began
    print(
        f"in all {checked.exchanges:,}, exit code {checked.run.exit_code}, {memory('VmHWM'):.0f} MB at most"
    )
    print(f"{spent / checked.exchanges * 1e6:.0f} us of CPU each, reports and their redaction included")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        measure(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        count = int(sys.argv[1]) if sys.argv[1:] else 1_000_000
        with tempfile.TemporaryDirectory() as folder:
            capture = Path(folder) / "traffic.jsonl"
            traffic.write(capture, count)
            subprocess.run([sys.executable, __file__, "--check", str(capture), str(count)], check=True)
