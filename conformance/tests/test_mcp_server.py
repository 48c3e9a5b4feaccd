"""The MCP server, through the client of its SDK: what its tools answer, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from conformance.cli.suite import call_on_interrupt, while_read
from conformance.embed.mcp_server import Assistant, server_of
from conformance.report.model.again import har
from conformance.spec import REQUIREMENTS
from conformance.tests.deployment import deployed
from conformance.tests.sample_run import PROFILE, envelope, exchange

Call = tuple[str, dict[str, Any]]


def answers(server: Any, *calls: Call) -> list[tuple[bool, str]]:
    """Whether each call was an error, and its text."""

    async def ask() -> list[tuple[bool, str]]:
        async with Client(server) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [
            (bool(each.is_error), "".join(getattr(part, "text", "") for part in each.content))
            for each in results
        ]

    return asyncio.run(ask())


def test_the_server_offers_its_tools_and_none_takes_a_target(tmp_path: Path) -> None:
    async def ask() -> dict[str, set[str]]:
        async with Client(server_of(Assistant(tmp_path))) as client:
            tools = (await client.list_tools()).tools
            return {tool.name: set(tool.input_schema["properties"]) for tool in tools}

    assert asyncio.run(ask()) == {
        "list_requirements": {"only", "skip"},
        "explain_requirement": {"rule"},
        "run_requirements": {"only", "skip", "impact", "time_budget"},
        "read_findings": set(),
        "judge_har": {"path"},
    }


def test_rules_are_run_over_stdio_against_the_profile_alone_and_findings_are_read(tmp_path: Path) -> None:
    with deployed(tmp_path, faults=["countries-value-off-by-one"]) as portal:
        words = ["-m", "conformance", "mcp", "--profile", str(portal.profile), "--out", str(tmp_path / "out")]
        server = StdioServerParameters(command=sys.executable, args=words)
        (_, run), (_, found) = answers(
            server, ("run_requirements", {"only": ["CONSTANT-020"]}), ("read_findings", {})
        )

    result = json.loads(run)
    assert (result["exit_code"], result["impact"], result["target"]) == (1, "read-only", portal.running.url)
    assert {each["requirement"] for each in result["findings"]} == {"CONSTANT-020"}
    assert json.loads(found) == result


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"only": ["ROLE-011"], "impact": "mutating"}, "this server was started with --impact read-only"),
    ({"only": ["ROLE-011"], "impact": "all"}, "choose read-only, mutating, disruptive"),
    ({"only": []}, "Name the rules to test"),
    ({"only": ["--impact=disruptive"]}, "--impact=disruptive"),
]


def test_what_goes_beyond_what_the_server_was_started_with_is_refused(tmp_path: Path) -> None:
    calls = (("run_requirements", arguments) for arguments, _ in REFUSED)
    for (is_wrong, text), (_, sentence) in zip(
        answers(server_of(Assistant(tmp_path / "out")), *calls), REFUSED, strict=True
    ):
        assert is_wrong
        assert sentence in text
    assert not (tmp_path / "out" / "results.json").exists()


def test_a_har_file_is_judged(tmp_path: Path) -> None:
    traffic = har([exchange(1, PROFILE, answer=envelope(success="yes"))], {}, version="1.0")
    assert traffic is not None
    (tmp_path / "today.har").write_text(traffic, encoding="utf-8")
    (_, judged), (_, read), (is_wrong, missing) = answers(
        server_of(Assistant(tmp_path / "out")),
        ("judge_har", {"path": str(tmp_path / "today.har")}),
        ("read_findings", {}),
        ("judge_har", {"path": str(tmp_path / "none.har")}),
    )

    found = {(each["requirement"], each["endpoint"]) for each in json.loads(judged)["findings"]}
    assert ("ENV-002", PROFILE) in found
    assert json.loads(read) == json.loads(judged)
    assert is_wrong
    assert "No such file" in missing


def test_an_assistant_that_reads_no_more_ends_the_server_as_one_that_says_no_more() -> None:
    def leave(error: Exception) -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("inner", [error])])

    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        while_read(stream, partial(leave, BrokenPipeError(32, "Broken pipe")))
        print("what nobody reads", file=stream, flush=True)

        with pytest.raises(ExceptionGroup):
            while_read(stream, partial(leave, ValueError("a bug")))


def test_an_interrupt_ends_the_server_while_it_reads_stdin(tmp_path: Path) -> None:
    codes: list[int] = []
    has_left = threading.Event()

    def leave(code: int) -> None:
        codes.append(code)
        has_left.set()

    before = signal.getsignal(signal.SIGINT)
    try:
        call_on_interrupt(Assistant(tmp_path, "read-only", end=leave).leave)
        signal.raise_signal(signal.SIGINT)
        has_left.wait(30)
    finally:
        signal.signal(signal.SIGINT, before)

    assert codes == [2]


def test_floods_of_patterns_and_rules_are_refused_at_once(tmp_path: Path) -> None:
    flood = [f"LOGIN-{number}*" for number in range(100_000)]
    calls: list[Call] = [
        ("run_requirements", {"only": flood}),
        ("run_requirements", {"only": ["x" * 1_000_000]}),
        ("explain_requirement", {"rule": "*"}),
    ]

    refused = answers(server_of(Assistant(tmp_path)), *calls)

    assert [is_error for is_error, _ in refused] == [True] * 3
    assert "--only: 100,000 patterns. Give at most" in refused[0][1]
    assert "a pattern of 1,000,000 characters" in refused[1][1]
    assert f"* names {len(REQUIREMENTS)} rules. Name one" in refused[2][1]
