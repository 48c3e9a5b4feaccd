"""A replay on two workers against one process: exchanges a second, and CPU of everything that sends.

.venv/bin/python benchmarks/locust_engine.py [EXCHANGES [ROUNDS]]

The portal is a stub that answers at once, in a process of its own; the sessions are of eight people, so that
they can be shared. Ratios are medians of alternating rounds, and above 1 where the workers are faster.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import replay_traffic
from replay_peers import PROFILE, stub

SESSIONS, PEOPLE = 80, 8
ENGINES: dict[str, list[str]] = {
    "one process": [],
    "two processes": ["--workers", "2"],
    "locust, two workers": ["--workers", "2", "--engine", "locust"],
}


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


def replayed(capture: Path, folder: Path, options: list[str]) -> tuple[float, float]:
    """Exchanges a second from the start of the command to its end, and CPU in us an exchange."""
    count = sum(1 for _ in capture.open())
    with stub(capture.with_suffix(".visit.jsonl")) as port:
        profile, out = folder / "portal.toml", folder / "out"
        profile.write_text(profile_of(port))
        command = [str(Path(sys.executable).with_name("portal-conformance")), "replay", str(capture)]
        command += ["--profile", str(profile), "--out", str(out), *options]
        before, began = _cpu_of_children(), time.perf_counter()
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        seconds, cpu = time.perf_counter() - began, _cpu_of_children() - before
        compared = json.loads((out / "results.json").read_text())["replay"]["compared"]
    if compared != count:
        raise SystemExit(f"{options}: {compared} of {count} exchanges were compared.")
    return count / seconds, cpu / count * 1e6


def _cpu_of_children() -> float:
    """Seconds of the processes that have ended; the stub has not."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(exchanges: int, rounds: int) -> None:
    speeds: dict[str, list[float]] = {name: [] for name in ENGINES}
    costs: dict[str, list[float]] = {name: [] for name in ENGINES}
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "traffic.jsonl"
        replay_traffic.write_traffic(capture, sessions=SESSIONS, exchanges=exchanges, people=PEOPLE)
        for _ in range(rounds):
            for name, options in ENGINES.items():
                speed, cpu = replayed(capture, Path(folder), options)
                speeds[name].append(speed)
                costs[name].append(cpu)
    alone = speeds["one process"]
    for name in ENGINES:
        ratio = statistics.median(one / other for one, other in zip(speeds[name], alone, strict=True))
        print(
            f"{name}: {statistics.median(speeds[name]):,.0f} exchanges/s, {ratio:.2f} times one process, "
            f"{statistics.median(costs[name]):.0f} us of CPU an exchange"
        )


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(*(numbers or [100_000, 3]))
