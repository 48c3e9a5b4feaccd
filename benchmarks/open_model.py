"""A replay at a fixed rate against a portal that stalls once: its p99 shows that, and a closed loop hides it.

.venv/bin/python benchmarks/open_model.py [EXCHANGES [RATE]]

The portal stalls for two seconds in the middle. At a fixed rate every request that was due meanwhile has
waited; in a closed loop of eight sessions only the eight that were under way have.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import replay_traffic
from replay_peers import PROFILE, stub

SESSIONS, STALL_SECONDS, AT_ONCE = 100, 2.0, 8


def replayed(capture: Path, folder: Path, *options: str, stall: float = STALL_SECONDS) -> dict[str, Any]:
    """The ``results.json`` of a replay against a portal that stalls in the middle, for so many seconds."""
    count = sum(1 for _ in capture.open())
    with stub(capture.with_suffix(".visit.jsonl"), count // 2, stall) as port:
        profile, out = folder / "portal.toml", folder / "out"
        profile.write_text(PROFILE.format(port=port))
        command = [str(Path(sys.executable).with_name("portal-conformance")), "replay", str(capture)]
        command += ["--profile", str(profile), "--out", str(out), *options]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        results: dict[str, Any] = json.loads((out / "results.json").read_text())
    return results


def worst_p99(results: dict[str, Any]) -> float:
    """The p99 of the endpoint with the most requests, in ms."""
    most = max(results["timings"], key=lambda timing: timing["requests"])
    return float(most["p99_ms"])


def main(exchanges: int, rate: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "traffic.jsonl"
        replay_traffic.write_traffic(capture, sessions=SESSIONS, exchanges=exchanges)
        smooth = replayed(capture, Path(folder), "--rate", f"{rate}/s", stall=0.0)["replay"]["load"]
        closed = worst_p99(replayed(capture, Path(folder), "--concurrency", str(AT_ONCE)))
        load = replayed(capture, Path(folder), "--rate", f"{rate}/s")["replay"]["load"]
        shown = load["latency"]["all requests"]["replayed"]
        print(f"{shown['requests']:,} requests, {load['reached_rate']:,.0f}/s of {rate}/s")
        print(f"driver: {load['driver']}")
        without = smooth["latency"]["all requests"]["replayed"]["p99_ms"]
        print(f"p99 at a fixed rate without a stall: {without:,.0f} ms")
        print(f"p99 at a fixed rate: {shown['p99_ms']:,.0f} ms; longest {shown['max_ms']:,.0f} ms")
        print(f"p99 in a closed loop of {AT_ONCE}: {closed:,.0f} ms")


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(*(numbers + [6_000, 500][len(numbers) :]))
