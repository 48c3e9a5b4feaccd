"""How long the tests take, in runs of the bundled portal; exit code 1 where that is too long.

.venv/bin/python benchmarks/test_time.py [run|test|check]… [--repeats 3]

Prints the median seconds of each, and the ratios. A command that fails ends it with exit code 2, as it may
have ended early.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = [str(Path(sys.executable).with_name("portal-conformance")), "run", "--quiet", "--out"]
MAX_RATIOS = {"test": 20, "check": 60}
"""How many times as long as a run each target of make may take."""


def median_seconds(name: str, repeats: int) -> float:
    """Median wall time of a command. SystemExit: it fails."""
    seconds = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            command = [*RUN, folder] if name == "run" else ["make", "--no-print-directory", name]
            began = time.monotonic()
            done = subprocess.run(command, cwd=ROOT, check=False)
            seconds.append(time.monotonic() - began)
        if done.returncode:
            print(f"{' '.join(command)} ends with exit code {done.returncode}", file=sys.stderr)
            raise SystemExit(2)
    return statistics.median(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="run, test or check; without one, all")
    parser.add_argument("--repeats", type=int, default=3, help="of each command (default: 3)")
    asked = parser.parse_args()
    unknown = set(asked.names) - {"run", *MAX_RATIOS}
    if unknown:
        parser.error(f"no such command: {', '.join(sorted(unknown))}")
    wanted = [name for name in MAX_RATIOS if not asked.names or name in asked.names]
    subprocess.run(["make", ".venv/ready"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    medians = {name: median_seconds(name, asked.repeats) for name in ("run", *wanted)}
    print(f"portal-conformance run: {medians['run']:.1f} s")
    for name in wanted:
        ratio = medians[name] / medians["run"]
        print(f"make {name}: {medians[name]:.0f} s, {ratio:.1f} times a run (at most {MAX_RATIOS[name]})")
    return int(any(medians[name] > MAX_RATIOS[name] * medians["run"] for name in wanted))


if __name__ == "__main__":
    sys.exit(main())
