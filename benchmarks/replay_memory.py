"""The most memory that a replay takes, correlated, judged, compared and written.

.venv/bin/python benchmarks/replay_memory.py [EXCHANGES [SESSIONS [CONCURRENCY]]]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def ours(capture: Path, profile: Path, concurrency: int) -> None:
    """In a process of its own: prints how many exchanges were compared, and the memory in MB."""
    from conformance.replay import ReplayOptions, replay
    from conformance.target.profile.model import load

    with tempfile.TemporaryDirectory() as out:
        options = ReplayOptions(out=Path(out), impact="disruptive", pace="max", concurrency=concurrency)
        replayed = replay([capture], load(profile), options)
    assert replayed.run.exit_code in (0, 1), replayed.notes
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{replayed.tally.compared:,} exchanges compared, {kilobytes / 1024:,.0f} MB")


def measure(exchanges: int, sessions: int, concurrency: int) -> None:
    import replay_peers  # the process that is measured does without them
    import replay_traffic

    with tempfile.TemporaryDirectory() as name:
        capture, profile = Path(name, "traffic.jsonl"), Path(name, "portal.toml")
        replay_traffic.write_traffic(capture, sessions=sessions, exchanges=exchanges)
        with replay_peers.stub(capture.with_suffix(".visit.jsonl")) as port:
            profile.write_text(replay_peers.PROFILE.format(port=port))
            subprocess.run(
                [sys.executable, __file__, "--ours", str(capture), str(profile), str(concurrency)], check=True
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        ours(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
    else:
        numbers = [int(text) for text in sys.argv[1:]]
        numbers += [100_000, 2_000, 50][len(numbers) :]
        measure(*numbers)
