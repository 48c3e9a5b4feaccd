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
    """One command. ``call`` is an example: what follows the program's name, or a whole line."""

    name: str
    group: str
    module: str
    summary: str
    call: str

    @property
    def example(self) -> str:
        """A line that a shell runs as it stands."""
        return self.call if PROGRAM in self.call else f"{PROGRAM} {self.call}"


COMMANDS = (
    CommandRow("run", TEST, "cases", "run the cases and write the reports", "run --profile portal.toml"),
    CommandRow("setup", TEST, "target", "ask what a profile needs, write it, and try it out", "setup"),
    CommandRow(
        "plan",
        TEST,
        "cases",
        "show what a run would do, and what it needs",
        "plan --profile portal.toml --impact mutating",
    ),
    CommandRow(
        "doctor",
        TEST,
        "target",
        "probe a target: what works, what cannot be tested",
        "doctor --profile portal.toml",
    ),
    CommandRow(
        "cleanup",
        TEST,
        "target",
        "restore what an interrupted run changed",
        "cleanup reports/changes.jsonl --profile portal.toml",
    ),
    CommandRow(
        "mcp",
        TEST,
        "suite",
        "serve an assistant by MCP",
        "mcp --profile portal.toml",
    ),
    CommandRow(
        "record",
        TRAFFIC,
        "traffic",
        "record traffic with a reverse proxy before a portal",
        "record --upstream http://127.0.0.1:8000 --out today.jsonl",
    ),
    CommandRow("check", TRAFFIC, "files", "judge recorded traffic without a target", "check today.jsonl"),
    CommandRow(
        "describe",
        TRAFFIC,
        "files",
        "learn an OpenAPI description of the endpoints that the specification lacks",
        "describe today.jsonl --out learned.json",
    ),
    CommandRow(
        "replay",
        TRAFFIC,
        "traffic",
        "replay recorded traffic and report every regression",
        "replay today.jsonl --profile next.toml",
    ),
    CommandRow(
        "compare",
        RUNS,
        "files",
        "compare runs or replays",
        "compare reports-old reports-new",
    ),
    CommandRow(
        "merge",
        RUNS,
        "files",
        "merge the checks or replays of parts of a recording into one",
        "merge reports-1 reports-2 --out reports",
    ),
    CommandRow(
        "history",
        RUNS,
        "files",
        "show the trend of the runs in a history database",
        "history --history runs.db",
    ),
    CommandRow(
        "requirements",
        SPECIFICATION,
        "specification",
        "list every requirement with the cases that test it",
        "requirements --format json",
    ),
    CommandRow(
        "explain",
        SPECIFICATION,
        "specification",
        "explain a rule: place, level, what decides it",
        "explain LOGIN-022",
    ),
    CommandRow(
        "openapi",
        SPECIFICATION,
        "specification",
        "print the specification as OpenAPI 3.1",
        "openapi > openapi.json",
    ),
    CommandRow("serve", SUITE, "target", "run the bundled reference portal", "serve --port 8000"),
    CommandRow(
        "docs", SUITE, "suite", "print a page of the documentation, or list the pages", "docs check-a-portal"
    ),
    CommandRow(
        "selftest",
        SUITE,
        "suite",
        "prove the suite by faults and lawful variants",
        "selftest --only used-up-session-is-400",
    ),
    CommandRow(
        "completion",
        SUITE,
        "suite",
        "print the completions of bash, zsh or fish",
        'eval "$(portal-conformance completion bash)"',
    ),
)
BY_COMMAND = {row.name: row for row in COMMANDS}
GROUPS = tuple(dict.fromkeys(row.group for row in COMMANDS))

EXIT_CODES = {
    ExitCode.CONFORMANT: "conformant",
    ExitCode.FAILED: "a requirement failed, a replay regressed, or a row of --known is stale or expired",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.INTERNAL_ERROR: "internal error",
    ExitCode.USAGE: "usage, profile or file error",
    ExitCode.INCONCLUSIVE: "inconclusive: nothing or too little was tested",
    ExitCode.UNREACHABLE: "no portal answers at the address",
    ExitCode.LEFT_BEHIND: "the run could not restore everything",
}
"""What each exit code means, for ``--help``."""
