"""Whether runs leave a long-lived portal as they met it, also where they are interrupted or killed.

    .venv/bin/python benchmarks/long_lived.py [--seed 3] [--runs 20] [--kills 20]

One portal process takes all the runs, one after the other. Its own records before and after each are
compared: every record, each password, every authenticator secret. What no endpoint of the document takes back
(the history of sign-ins, mails, closed invitations, backup codes, times) does not count. A killed run is
followed by ``cleanup``.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.tests.replays import without_clock
from reference_impl.limits import Limits
from reference_impl.offered import dump
from reference_impl.serve import Running, start

QUICK = Limits(login_session=6, mfa_code=6, mfa_cooldown=3, login_window=3, access_token=8, max_sessions=1000)
"""Times that a run without a simulated clock can wait for; it finds that they are not the stated ones."""

LATEST = 10.0
"""Seconds after its first request within which a run is interrupted or killed."""

LONGEST_CLEANUP = 60.0
"""Seconds within which a clean-up must end."""

COMMAND = (sys.executable, "-m", "conformance.cli")
BY_CLOCK = ("with the clock", "without the clock")
MANNERS = ("read-only", "mutating", "disruptive", "interrupted", "killed")


@dataclass(frozen=True)
class Outcome:
    """One run: how it ended, what it left, and the clean-up after it."""

    manner: str
    code: int
    seconds: float
    left: list[str]
    cleanup_code: int | None = None
    cleanup_seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        cleaned = self.cleanup_code in (None, 0) and self.cleanup_seconds < LONGEST_CLEANUP
        return cleaned and not self.left


@dataclass(frozen=True)
class Lodging:
    """A portal that outlives the runs, and the profiles that lead to it."""

    running: Running
    folder: Path
    profiles: Mapping[str, Path]

    def state(self) -> dict[str, Any]:
        """What an endpoint of the document could take back, by the portal's own records."""
        portal = self.running.portal
        sign_ins = self.running.seeded.sign_ins.values()
        return {
            "records": dump(portal)["state"],
            "passwords": [
                portal.passwords[sign_in.account_id].matches(sign_in.password) for sign_in in sign_ins
            ],
            "secrets": [portal.security(sign_in.account_id)["otpSecret"] for sign_in in sign_ins],
        }

    def run(self, manner: str, clock: str, moment: random.Random) -> Outcome:
        """One run, and for a killed one the clean-up."""
        out, profile = self.folder / "out", self.profiles[clock]
        impact = manner if manner in MANNERS[:3] else "disruptive"
        budget = () if clock == BY_CLOCK[0] else ("--time-budget", "110s")
        options = ("--profile", str(profile), "--out", str(out), "--impact", impact, *budget)
        before, began = self.state(), time.monotonic()
        run = subprocess.Popen([*COMMAND, "run", *options], stdout=subprocess.DEVNULL, cwd=self.folder)
        if manner in ("interrupted", "killed"):
            self._await_first_request(run)
            time.sleep(moment.uniform(0.0, LATEST))
            run.send_signal(signal.SIGINT if manner == "interrupted" else signal.SIGKILL)
        code = run.wait(timeout=600)
        seconds = time.monotonic() - began
        if manner != "killed":
            return Outcome(f"{manner}, {clock}", code, seconds, differences(before, self.state()))
        return self.cleaned(f"{manner}, {clock}", code, seconds, before, profile)

    def _await_first_request(self, run: subprocess.Popen[bytes]) -> None:
        """Returns when a run that was just started has begun: what is killed before that was no run."""
        received = self.running.portal.received
        before = len(received)
        while len(received) == before and run.poll() is None:
            time.sleep(0.02)

    def cleaned(
        self, manner: str, code: int, seconds: float, before: Mapping[str, Any], profile: Path
    ) -> Outcome:
        began = time.monotonic()
        ledger = str(self.folder / "out" / "changes.jsonl")
        command = [*COMMAND, "cleanup", ledger, "--profile", str(profile)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, timeout=600)
        took = time.monotonic() - began
        left = differences(before, self.state())
        if done.returncode:
            left.append((done.stdout + done.stderr).strip()[-300:])
        return Outcome(manner, code, seconds, left, done.returncode, took)


def differences(before: Mapping[str, Any], after: Mapping[str, Any], at: str = "") -> list[str]:
    """The places at which two states differ."""
    lines: list[str] = []
    for name in sorted({*before, *after}):
        place, value, other = f"{at}/{name}", before.get(name), after.get(name)
        if isinstance(value, dict) and isinstance(other, dict):
            lines += differences(value, other, place)
        elif value != other:
            lines.append(f"{place}: {value!r} became {other!r}"[:300])
    return lines


def lodged(folder: Path, running: Running) -> Lodging:
    """The second profile is by mail alone, as no authenticator has the time of a portal without its clock."""
    profiles = {clock: folder / f"{clock.replace(' ', '-')}.toml" for clock in BY_CLOCK}
    with_clock, by_mail = running.profile(), re.sub(r"(?m)^otp_secret = .*\n", "", running.profile())
    profiles[BY_CLOCK[0]].write_text(with_clock, encoding="utf-8")
    text = without_clock(by_mail.replace('mfa = "OTP"', 'mfa = "EMAIL"'))
    profiles[BY_CLOCK[1]].write_text(text, encoding="utf-8")
    return Lodging(running, folder, profiles)


def outcomes(*, runs: int, kills: int, seed: int) -> Iterator[Outcome]:
    """``runs`` of every manner in turn, with and without the clock; then ``kills`` at random moments."""
    moment = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, start(limits=QUICK) as running:
        lodging = lodged(Path(folder), running)
        turns = [(manner, clock) for clock in BY_CLOCK for manner in MANNERS]
        for manner, clock in (turns * (runs // len(turns) + 1))[:runs]:
            yield lodging.run(manner, clock, moment)
        for _ in range(kills):
            yield lodging.run("killed", BY_CLOCK[0], moment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    rows: list[Outcome] = []
    for outcome in outcomes(runs=options.runs, kills=options.kills, seed=options.seed):
        rows.append(outcome)
        print(f"{len(rows):3} {outcome}", flush=True)
    clean = sum(outcome.is_clean for outcome in rows)
    slowest = max((outcome.cleanup_seconds for outcome in rows), default=0.0)
    print(f"{clean} of {len(rows)} runs left nothing; the slowest clean-up took {slowest:.1f} s.")
    return int(clean < len(rows))


if __name__ == "__main__":
    sys.exit(main())
