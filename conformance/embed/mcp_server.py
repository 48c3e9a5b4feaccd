"""An MCP server: an assistant lists and explains rules, runs some of them, and judges recorded traffic.

It runs on one target, with at most the impact that it was started with; no tool can name another target or a
greater impact. Everything that it returns stands in redacted reports, or in the specification.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import conformance
from conformance.check import CheckOptions, check
from conformance.errors import ExitCode, SuiteError, UsageError
from conformance.report.model.run import Run
from conformance.report.model.words import headline
from conformance.run.outlook.explanation import explain
from conformance.spec import IMPACTS, REQUIREMENTS, Impact
from conformance.verdicts.selection import rules_of, select_rules

SHOWN_FINDINGS = 100
"""Findings and untested rules that an answer lists; it counts the others."""

ABOUT = (
    "Tests one portal against the System Portal Web API specification. A must that is contradicted is a "
    "FAIL, a should a WARN. Find rules with list_requirements, read one with explain_requirement, and test "
    "rules with run_requirements."
)


@dataclass(frozen=True)
class Assistant:
    """Implements the MCP tools. ``impact`` is the highest permitted impact; reports of runs go to ``out``."""

    out: Path
    impact: Impact = "read-only"
    profile: Path | None = None
    target: str | None = None
    end: Callable[[int], object] = os._exit
    """Ends the process with an exit code."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def list_requirements(self, only: Sequence[str] = (), skip: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Lists rules by id, prefix (LOGIN-*), chapter, endpoint or level (must, should, open)."""
        selection = select_rules(only, skip)
        rows = (row for row in REQUIREMENTS.values() if selection is None or row.id in selection.rules)
        return [
            {"id": row.id, "level": row.level, "section": row.section, "statement": row.statement}
            for row in rows
        ]

    def explain_requirement(self, rule: str) -> dict[str, Any]:
        """Explains one rule: why it is of its level, which cases decide it and what they need."""
        rules = rules_of(rule, option="rule")
        if len(rules) != 1:
            raise UsageError(f"{rule} names {len(rules)} rules. Name one; list_requirements lists them.")
        with self._lock:
            return asdict(*explain(rules))

    def run_requirements(
        self,
        only: Sequence[str],
        skip: Sequence[str] = (),
        impact: str | None = None,
        time_budget: str = "5m",
    ) -> dict[str, Any]:
        """Tests the rules that the patterns select against the portal, and returns findings. ``impact``
        may be less than the server's: read-only, mutating or disruptive."""
        select_rules(only, skip)
        if not only:
            raise UsageError("Name the rules to test in `only`, such as ROLE-*.")
        words = list(self._words(only, skip, self._allowed(impact), time_budget))
        with self._lock:
            (self.out / "results.json").unlink(missing_ok=True)
            ended = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if not (self.out / "results.json").exists():
                raise UsageError(
                    (ended.stderr or ended.stdout).strip()
                    or "The run wrote no reports. Test the same rules by `portal-conformance run`."
                )
            return _summary(Run.read(self.out))

    def read_findings(self) -> dict[str, Any]:
        """Returns the findings of the last run or of the last traffic that was judged."""
        return _summary(Run.read(self.out))

    def judge_har(self, path: str) -> dict[str, Any]:
        """Judges the traffic in a HAR file or a capture on this machine; sends nothing."""
        with self._lock:
            return _summary(check([Path(path)], CheckOptions(out=self.out)).run)

    def leave(self) -> None:
        """Ends the process, once no tool runs: what reads stdin cannot be interrupted."""
        with self._lock:
            self.end(ExitCode.INTERRUPTED)

    def _allowed(self, impact: str | None) -> str:
        """The requested impact. UsageError: it is unknown, or exceeds the server's limit."""
        if impact is None:
            return self.impact
        if impact not in IMPACTS:
            raise UsageError(f"impact {impact}: choose {', '.join(IMPACTS)}.")
        if list(IMPACTS).index(impact) > list(IMPACTS).index(self.impact):
            raise UsageError(
                f"impact {impact}: this server was started with --impact {self.impact}. Ask for no more."
            )
        return impact

    def _words(
        self, only: Sequence[str], skip: Sequence[str], impact: str, time_budget: str
    ) -> Iterator[str]:
        options: dict[str, object] = {"out": self.out, "impact": impact, "time-budget": time_budget}
        options |= {"profile": self.profile, "target": self.target}
        yield from (sys.executable, "-m", "conformance", "run", "--quiet")
        yield from (f"--{name}={value}" for name, value in options.items() if value is not None)
        yield from (f"--only={pattern}" for pattern in only)
        yield from (f"--skip={pattern}" for pattern in skip)


def server_of(assistant: Assistant) -> Any:
    """The server, with a tool for each thing that the assistant does. UsageError: the extra is missing."""
    try:
        from mcp.server import MCPServer  # an extra: no other command needs it
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise UsageError("mcp needs its extra. Install it: pip install 'portal-conformance[mcp]'") from None
    server = MCPServer("portal-conformance", instructions=ABOUT, version=conformance.__version__)
    for tool in (
        assistant.list_requirements,
        assistant.explain_requirement,
        assistant.run_requirements,
        assistant.read_findings,
        assistant.judge_har,
    ):
        server.add_tool(_refusing(tool, ToolError), structured_output=False)
    return server


def _refusing(tool: Any, error: type[Exception]) -> Any:
    """The tool, whose errors of use are answers of the protocol."""

    @wraps(tool)
    def answering(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except (SuiteError, OSError) as refused:
            raise error(str(refused)) from None

    return answering


def _summary(run: Run) -> dict[str, Any]:
    """What a run found, short enough for a conversation."""
    head = headline(run)
    held = [each for each in run.findings if each.verdict in ("fail", "warn")]
    untested = [
        row
        for row in run.requirements
        if row.verdict == "untested" and not row.untestable and "not selected" not in (row.reason or "")
    ]
    return {
        "exit_code": run.exit_code,
        "verdict": f"{head.title}: {head.sentence}",
        "fail_on": run.fails_on,
        "target": run.target.url,
        "impact": run.impact,
        "summary": run.summary.model_dump(by_alias=True),
        "inconclusive": run.ending.inconclusive or None,
        "findings": [each.model_dump(mode="json", exclude_none=True) for each in held[:SHOWN_FINDINGS]],
        "findings_left_out": max(0, len(held) - SHOWN_FINDINGS),
        "untested": [{"id": row.id, "reason": row.reason} for row in untested[:SHOWN_FINDINGS]],
        "untested_left_out": max(0, len(untested) - SHOWN_FINDINGS),
    }
