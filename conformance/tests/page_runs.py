"""Runs made up for the tests of pages: each shows what the page of another command, or another end, has."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.model.run import BaselineEntry, BaselineOutcome, Ending, Regression, Run, Since
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.tests.sample_run import (
    PROFILE,
    Sample,
    conformant,
    envelope,
    exchange,
    row_of,
    sample,
    with_rows,
)


def of_findings(count: int) -> Sample:
    """A run with so many findings, each of another rule, at the endpoints in turn."""
    made, endpoints = conformant(), list(BY_KEY)
    rules = [row.id for row in REQUIREMENTS.values() if row.level != "open"][:count]
    for at, rule in enumerate(rules):
        record = {
            "bizId": f"ACC-{at:03d}",
            "accountName": f"an account of the portal, {at}",
            "status": "x" * 60,
        }
        answer = exchange(50 + at, endpoints[at % len(endpoints)], answer=envelope([record]), after=at / 3)
        made.add(answer)
        made.contradict(rule, answer, path="data[0].bizId", expected=f"the id of the record {at}")
    return made


def checked(made: Sample) -> Run:
    """A check of recorded traffic that found what a run would."""
    return made.run(command="check").model_copy(update={"coverage": COVERAGE})


def replay_of(count: int, made: Sample | None = None) -> Run:
    """A replay in which so many answers regressed, at the endpoints in turn, with values of any length."""
    endpoints = list(BY_KEY)
    differing = [
        Regression(
            exchange=1 + at,
            recorded_exchange=3 + at,
            endpoint=endpoints[at % len(endpoints)],
            path=f"data.accounts[{at}].institutionBizId{at}",
            kind="changed",
            recorded={"bizId": f"ACC-{at:03d}", "status": "x" * 60},
            replayed=f"a sentence of the portal, {at}, and more than fits a narrow cell",
            meaning="breaking",
            basis="A client of the recorded portal may rely on it.",
        )
        for at in range(count)
    ]
    run = (made or conformant()).run(command="replay", regressions=differing, exit_code=1)
    rows = [{**row.model_dump(), "times": 3} for row in differing]
    return run.model_copy(
        update={"replay": {"differences": rows, "states": {"same": 900, "regressed": count}}}
    )


def under_load() -> Run:
    """A load on two workers, one of them lost, with limits and latencies along its time."""
    times = [
        {"p50_ms": 3.0 + at, "p95_ms": 9.0 * (at + 1), "p99_ms": 90.0 + at, "requests": 40, "begins": at}
        for at in range(12)
    ]
    limits = [
        {
            "limit": "p95 <= 1.2x",
            "endpoint": "all requests",
            "decision": decision,
            "why": "9 ms, and the limit",
        }
        for decision in ("exceeded", "not decided", "kept")
    ]
    load = {
        "rate": 200.0,
        "ramp_seconds": 30.0,
        "passes": 3,
        "requests": 480,
        "reached_rate": 188.2,
        "driver": {"mean_lag_ms": 312.5, "most_lag_ms": 900.0, "share_of_a_core": 0.98},
        "latency": {name: {"recorded": times[0], "replayed": times[5]} for name in ("all requests", *BY_KEY)},
        "along": {"seconds": 1, "slices": times},
        "limits": limits,
    }
    plan = [
        {"first": at, "exchanges": 40, "accounts": ["admin", "spare"][: at % 3], "worker": 1 + at % 2}
        for at in range(1, 30)
    ]
    states = {"same": 440, "regressed": 20, "changed": 8, "skipped": 12}
    replay = {"load": load, "plan": plan, "recorded": 160, "sessions": 30, "states": states}
    replay |= {"wanted": 480, "compared": 468, "share": 0.975, "fail_on": "permitted"}
    workers = [
        {"worker": 1, "sessions": 15, "exchanges": 80, "lost": False},
        {"worker": 2, "sessions": None, "exchanges": None, "lost": True},
    ]
    slow = Ending(
        too_slow=["--latency 'p95 <= 1.2x' is exceeded for all requests: 9 ms, and the limit 2 ms."]
    )
    run = sample().run(command="replay", exit_code=1, ending=slow)
    return run.model_copy(update={"replay": replay, "workers": workers})


COVERAGE = {
    "operations": {"seen": {PROFILE: 312}, "missing": [key for key in BY_KEY if key != PROFILE]},
    "codes": {"seen": {"AUTH.MFA_SEND_COOLDOWN": 2}, "missing": ["VALIDATION.INVALID_PARAMETER", "GA2031"]},
    "fields": {PROFILE: {"seen": 9, "of": 13, "missing": ["data.accountRemark", "data.institutionBizId"]}},
    "unknown_bodies": {"response omitted": 7},
}


def against_baseline() -> Run:
    """A run against a baseline whose entries are known, stale and expired."""
    run = sample().run()
    about: dict[str, Any] = {"reason": "a supplier's, by contract", "ticket": "PORTAL-1"}
    known = [replace(row_of(finding), **about) for finding in run.findings[:2]]
    gone = BaselineRow("PAGE-009", PROFILE, "data.pagination", reason="till the next release")
    over = replace(gone, rule="PAGE-999", until=date(2026, 1, 2))
    since = Since(started=run.started, newly_failing=["ENV-008"], fixed=["ENV-001"], changed_readings=["a"])
    return with_rows(run, *known, gone, over).model_copy(update={"since": since})


def out_of_date() -> Run:
    """A conformant run, but for two entries of its baseline: one that no longer fails, and an expired one."""
    entries = {
        "stale": [BaselineEntry(signature="ENV-001 GET /x", requirement="ENV-001", reason="was broken")],
        "expired": [BaselineEntry(signature="ENV-002 GET /x", requirement="ENV-002", expires="2026-11-20")],
    }
    base = BaselineOutcome(file="known.toml", **entries)
    return conformant().run(exit_code=1).model_copy(update={"baseline": base})
