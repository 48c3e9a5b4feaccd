"""The table of commands: group, module, description, and example of each.

``--help`` reads only this table: a command's module is imported when the command is called.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.errors import ExitCode

PROGRAM = "portal-conformance"

TEST = "Test a portal"
TRAFFIC = "Recorded traffic"
RUNS = "Past runs"
SPECIFICATION = "The specification"
SUITE = "The suite itself"


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One command. ``example`` is a line that a shell runs as it stands."""

    name: str
    group: str
    module: str
    summary: str
    example: str


COMMANDS = (
    CommandRow(
        "run",
        TEST,
        "cases",
        summary="run the cases and write the reports",
        example="portal-conformance run --profile portal.toml",
    ),
    CommandRow(
        "setup",
        TEST,
        "target",
        summary="ask what a profile needs, write it, and try it out",
        example="portal-conformance setup",
    ),
    CommandRow(
        "plan",
        TEST,
        "cases",
        summary="show what a run would do: rules, waits, changes, and sign-ins and mails at most",
        example="portal-conformance plan --profile portal.toml --impact mutating",
    ),
    CommandRow(
        "doctor",
        TEST,
        "target",
        summary="probe a target: what of its profile works, and what cannot be tested",
        example="portal-conformance doctor --profile portal.toml",
    ),
    CommandRow(
        "validate",
        TEST,
        "target",
        summary="validate profiles without their secrets and without a target",
        example="portal-conformance validate portal.toml",
    ),
    CommandRow(
        "init",
        TEST,
        "target",
        summary="print a commented profile to fill in",
        example="portal-conformance init > portal.toml",
    ),
    CommandRow(
        "cleanup",
        TEST,
        "target",
        summary="restore what an interrupted run changed",
        example="portal-conformance cleanup reports/changes.jsonl --profile portal.toml",
    ),
    CommandRow(
        "mcp",
        TEST,
        "suite",
        summary="serve an assistant by MCP: list and explain rules, run some, judge traffic",
        example="portal-conformance mcp --profile portal.toml",
    ),
    CommandRow(
        "record",
        TRAFFIC,
        "traffic",
        summary="record traffic with a reverse proxy before a portal",
        example="portal-conformance record --upstream http://127.0.0.1:8000 --out today.jsonl",
    ),
    CommandRow(
        "check",
        TRAFFIC,
        "files",
        summary="judge recorded traffic without a target",
        example="portal-conformance check today.jsonl",
    ),
    CommandRow(
        "replay",
        TRAFFIC,
        "traffic",
        summary="replay recorded traffic and report every regression",
        example="portal-conformance replay today.jsonl --profile next.toml",
    ),
    CommandRow(
        "compare",
        RUNS,
        "files",
        summary="compare two runs or two replays; show three or more side by side",
        example="portal-conformance compare reports-old reports-new",
    ),
    CommandRow(
        "baseline",
        RUNS,
        "files",
        summary="write what failed in a finished run into a baseline",
        example="portal-conformance baseline reports baseline.toml",
    ),
    CommandRow(
        "merge",
        RUNS,
        "files",
        summary="merge the checks or replays of parts of a recording into one",
        example="portal-conformance merge reports-1 reports-2 --out reports",
    ),
    CommandRow(
        "history",
        RUNS,
        "files",
        summary="show the trend of the runs in a history database",
        example="portal-conformance history --history runs.db",
    ),
    CommandRow(
        "requirements",
        SPECIFICATION,
        "cases",
        summary="list every requirement with the cases that test it",
        example="portal-conformance requirements --format json",
    ),
    CommandRow(
        "explain",
        SPECIFICATION,
        "cases",
        summary="explain a rule: its place and level, what decides it, how to see both verdicts",
        example="portal-conformance explain LOGIN-022",
    ),
    CommandRow(
        "openapi",
        SPECIFICATION,
        "cases",
        summary="print the specification as OpenAPI 3.1",
        example="portal-conformance openapi > openapi.json",
    ),
    CommandRow(
        "serve",
        SUITE,
        "target",
        summary="run the bundled reference portal",
        example="portal-conformance serve --port 8000",
    ),
    CommandRow(
        "docs",
        SUITE,
        "suite",
        summary="print a page of the documentation, or list the pages",
        example="portal-conformance docs check-a-portal",
    ),
    CommandRow(
        "selftest",
        SUITE,
        "suite",
        summary="run the suite against every fault and variant of the reference portal",
        example="portal-conformance selftest --only used-up-session-is-400",
    ),
    CommandRow(
        "completion",
        SUITE,
        "suite",
        summary="print what makes a shell complete commands and options: bash, zsh or fish",
        example='eval "$(portal-conformance completion bash)"',
    ),
)
BY_COMMAND = {row.name: row for row in COMMANDS}
GROUPS = tuple(dict.fromkeys(row.group for row in COMMANDS))

EXIT_CODES = {
    ExitCode.CONFORMANT: "conformant",
    ExitCode.FAILED: "a requirement failed, a replay regressed, or a baseline entry is stale or expired",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.INTERNAL_ERROR: "internal error",
    ExitCode.USAGE: "usage, profile or file error",
    ExitCode.INCONCLUSIVE: "inconclusive: nothing or too little was tested",
    ExitCode.UNREACHABLE: "no portal answers at the address",
    ExitCode.LEFT_BEHIND: "the run could not restore everything",
}
"""What each exit code means, for ``--help``."""
