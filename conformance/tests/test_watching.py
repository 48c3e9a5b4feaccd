"""A portal that is restarted: a run ends, and ``run --watch`` runs what failed first, then the rest."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from conformance.cli.live.watching import stages, watch
from conformance.errors import TargetRestarted
from conformance.run.session import ActingCase, RunOptions, RunSession
from conformance.spec import REQUIREMENTS
from conformance.target.clock import Clock
from conformance.target.profile.model import of_target
from conformance.target.waiting import RestartWatch
from conformance.tests.deployment import command
from conformance.tests.reached import answer
from conformance.tests.sample_run import ACCOUNTS, reported, sample
from conformance.tests.test_waiting import free_port
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger
from reference_impl import serve

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"
AGAIN = "The portal restarted: "


def test_what_failed_comes_first_then_its_endpoints_then_everything(tmp_path: Path) -> None:
    out = reported(tmp_path / "reports", sample().run()).parent

    failed, endpoints, rest = stages(out)

    assert "PAGE-026" in failed.only
    assert "ACCOUNT-015" not in failed.only, "a warning, which fails nothing"
    assert ACCOUNTS in endpoints.only
    assert failed.out == endpoints.out == out / "again"
    assert (rest.only, rest.out) == ((), out)
    assert failed.name == "what failed runs again, 5 rules"


RESTARTED = -1
"""Stands for the end of a run in which the portal restarted."""


class Runs:
    """Runs that end with these codes, one after the other. ``kinds``: what each was about."""

    def __init__(self, *codes: int) -> None:
        self.codes = list(codes)
        self.kinds: list[str] = []

    def __call__(self, only: Sequence[str], out: Path) -> int:
        self.kinds.append("all" if not only else "endpoints" if "/" in only[0] else "failed")
        code = self.codes.pop(0)
        if code == RESTARTED:
            raise TargetRestarted("The portal restarted.")
        return code


def restarts(count: int) -> Callable[[], None]:
    """Restarts so often, and is interrupted then."""
    left = iter(range(count))

    def restarted() -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    return restarted


@pytest.mark.parametrize(
    "codes, times, kinds, end",
    [
        ((1,), 0, "all", 1),
        ((1, 1), 1, "all failed", 1),
        ((1, 0, 1), 1, "all failed endpoints", 1),
        ((1, 0, 0, 0), 1, "all failed endpoints all", 0),
        ((1, 1, 0, 0, 0), 2, "all failed failed endpoints all", 0),
        ((4,), 3, "all", 4),
        ((1, 2), 3, "all failed", 2),
        ((RESTARTED, RESTARTED, 1), 0, "all all all", 1),
        ((1, 0, RESTARTED, 0, 0, 0), 1, "all failed endpoints failed endpoints all", 0),
    ],
)
def test_a_stage_runs_where_the_one_before_it_passed(
    tmp_path: Path, codes: tuple[int, ...], times: int, kinds: str, end: int
) -> None:
    runs, out, shown = Runs(*codes), reported(tmp_path / "reports", sample().run()).parent, list[str]()

    assert watch(runs, out, restarted=restarts(times), show=shown.append) == end
    assert runs.kinds == kinds.split()
    assert runs.codes == []
    is_noted = any("Left out until this passes (exit code 1): " in line for line in shown)
    assert is_noted is ("failed" in kinds and 1 in codes[1:])


def seen(*answers: httpx.Response | None) -> list[bool]:
    """Whether a restart is noticed at each look, after two looks to begin with. None: no answer."""
    left = [*answers]

    def respond(request: httpx.Request) -> httpx.Response:
        given = left.pop(0)
        if given is None:
            raise httpx.ConnectError("refused")
        return given

    portal = RestartWatch(of_target("http://portal.example.test"), handler=httpx.MockTransport(respond))
    portal.begin()
    noticed: list[bool] = []
    while left:
        noticed.append(portal.has_restarted())
    return noticed


def key(name: str) -> httpx.Response:
    return answer({"keyId": name})


def test_a_portal_has_restarted_that_was_gone_or_that_shows_another_key() -> None:
    assert seen(key("a"), key("a"), key("a"), key("b")) == [False, True]
    assert seen(key("a"), key("a"), answer(status=503, code="DOWN"), key("a")) == [False, True]
    assert seen(key("a"), key("a"), None, None, key("a")) == [False, True]
    assert seen(answer(status=502, code="DOWN"), answer(status=502, code="DOWN"), key("a")) == [True]


def test_a_portal_that_shows_another_key_each_time_has_not_restarted() -> None:
    assert seen(key("a"), key("b"), key("c"), key("d")) == [False, False]


def test_a_portal_that_is_mended_and_restarted_passes_stage_by_stage(tmp_path: Path) -> None:
    port, profile, out = free_port(), tmp_path / "portal.toml", tmp_path / "out"
    known = tmp_path / "known.toml"
    known.write_text(UNDECIDED, encoding="utf-8")
    words = command("run", "--profile", str(profile), "--out", str(out), "--only", "CONSTANT-02?", "--watch")
    words += ["--known", str(known)]

    with serve.start(port=port, seed=3, faults=[FAULT]) as broken:
        profile.write_text(broken.profile(), encoding="utf-8")
        run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert run.stdout is not None
        before = until(run, "Waiting for ")
    with serve.start(port=port, seed=4) as mended:
        profile.write_text(mended.profile(), encoding="utf-8")
        after = until(run, "Waiting for ")
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)

    assert any(line.startswith(f"FAIL {BROKEN}") for line in before)
    assert [line.removeprefix(AGAIN).rstrip() for line in after if line.startswith(AGAIN)] == [
        "what failed runs again, 1 rule.",
        "what failed passes; 1 endpoint of it.",
        "all of it passes; the whole run.",
    ]
    assert run.returncode == 0


UNDECIDED = """
[[known]]
rule = "ENV-008"
endpoint = "GET /web/v1/system/roles"
path = "data"
reason = "a row of an endpoint that the run does not come to: it ends no stage"
"""


def until(run: subprocess.Popen[str], start: str) -> list[str]:
    """The lines that a run prints up to one that begins so."""
    lines: list[str] = []
    assert run.stdout is not None
    for line in run.stdout:
        lines.append(line)
        if line.startswith(start):
            return lines
    raise AssertionError("".join(lines))


AWAY = 1.5
"""Seconds in which nothing listens at the portal's address."""


@pytest.mark.parametrize("refusals, restarted", [(0, False), (1, False), (3, True)])
def test_a_portal_has_restarted_that_refuses_connections_for_a_while_and_no_single_one(
    tmp_path: Path, refusals: int, restarted: bool
) -> None:
    left, judged = list[httpx.ConnectError](), list[Exchange]()

    def respond(request: httpx.Request) -> httpx.Response:
        if left:
            raise left.pop()
        return answer({})

    def judge(exchange: Exchange) -> list[Finding]:
        judged.append(exchange)
        return []

    session = RunSession(
        of_target("http://portal.example.test"),
        Clock(),
        RunOptions(out=tmp_path, keep_ledger=False),
        judge=judge,
        log=ExchangeLog(tmp_path / "exchanges.jsonl", Secrets()),
        ledger=Ledger(REQUIREMENTS),
        acting=ActingCase("a case"),
        handler=httpx.MockTransport(respond),
    )
    session.portal.probe()
    left += [httpx.ConnectError("connection refused")] * refusals

    assert session.is_target_there() is not restarted
    assert bool(session.restarted) is restarted
    assert len(judged) == (1 if restarted else 2), "no answer after a restart is judged"
    session.log.close()


@contextmanager
def restarted_portal(tmp_path: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A run during which the portal is replaced by another, which knows no token of before."""
    profile, out = tmp_path / "portal.toml", tmp_path / "out"
    selection = ("--only", "CONSTANT-*", "--only", "PROFILE-*")
    with serve.start(seed=7, clock=False) as portal:
        profile.write_text(portal.profile(), encoding="utf-8")
        arguments = command("run", "--profile", str(profile), "--out", str(out), *selection, *words)
        running = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=tmp_path
        )
        while len(portal.portal.received) < 40 and running.poll() is None:
            time.sleep(0.02)
        assert running.poll() is None
    time.sleep(AWAY)
    with serve.start(seed=7, clock=False, port=portal.port):
        yield running


def test_a_run_ends_inconclusive_where_the_portal_restarts(tmp_path: Path) -> None:
    with restarted_portal(tmp_path) as running:
        output, _ = running.communicate(timeout=120)

    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (running.returncode, results["summary"]["fail"], results["summary"]["warn"]) == (5, 0, 0), output
    assert results["summary"]["pass"] > 0, "what was judged before stands"
    assert re.match(
        r"The portal restarted: it refused connections from \d\d:\d\d:\d\d UTC on for \d\.\d s, and then "
        r"answered again\. The run ended there",
        results["ending"]["inconclusive"],
    )
    assert "the target restarted before this was tested" in {row["reason"] for row in results["requirements"]}


def test_a_watched_round_is_dropped_where_the_portal_restarts_and_begins_anew(tmp_path: Path) -> None:
    with restarted_portal(tmp_path, "--watch") as running:
        lines = until(running, "Waiting for ")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)

    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert running.returncode == 0, lines
    assert sum("This round is dropped, and begins anew." in line for line in lines) == 1
    assert not any(line.startswith(("FAIL", "WARN")) for line in lines)
    assert ("ending" in results, results["summary"]["fail"]) == (False, 0)
    assert sum(line.startswith("exit code") for line in lines) == 1, "the dropped round has no result"
