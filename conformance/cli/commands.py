"""The table of commands: group, module, description, and example of each.

``--help`` reads only this table: a command's module is imported when the command is called.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.errors import ExitCode

PROGRAM = "portal-conformance"


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


MODULES = {
    "cases": ("run", "plan"),
    "target": ("setup", "doctor", "cleanup", "serve"),
    "suite": ("mcp", "docs", "selftest", "completion"),
    "traffic": ("record", "replay"),
    "files": ("check", "describe", "compare", "merge", "verify", "history"),
    "specification": ("requirements", "explain", "openapi"),
}
"""The modules of ``conformance.cli``, with their commands."""

GROUPS = {
    "Test a portal": {
        "run": ("run the cases and write the reports", "run --profile portal.toml"),
        "setup": ("ask what a profile needs, write it, and try it out", "setup"),
        "plan": (
            "show what a run would do, and what it needs",
            "plan --profile portal.toml --impact mutating",
        ),
        "doctor": ("probe a target: what works, what cannot be tested", "doctor --profile portal.toml"),
        "cleanup": (
            "restore what an interrupted run changed",
            "cleanup reports/changes.jsonl --profile portal.toml",
        ),
        "mcp": ("serve an assistant by MCP", "mcp --profile portal.toml"),
    },
    "Recorded traffic": {
        "record": (
            "record traffic with a reverse proxy before a portal",
            "record --upstream http://127.0.0.1:8000 --out today.jsonl",
        ),
        "check": ("judge recorded traffic without a target", "check today.jsonl"),
        "describe": (
            "learn an OpenAPI description of further endpoints",
            "describe today.jsonl --out learned.json",
        ),
        "replay": (
            "replay recorded traffic and report every regression",
            "replay today.jsonl --profile next.toml",
        ),
    },
    "Past runs": {
        "compare": ("compare runs or replays", "compare reports-old reports-new"),
        "merge": (
            "merge the checks or replays of parts of a recording into one",
            "merge reports-1 reports-2 --out reports",
        ),
        "verify": ("check that a report is what its exchanges show", "verify reports-new"),
        "history": ("show the trend of the runs in a history database", "history --history runs.db"),
    },
    "The specification": {
        "requirements": ("list every requirement with the cases that test it", "requirements --format json"),
        "explain": ("explain a rule: place, level, what decides it", "explain LOGIN-022"),
        "openapi": ("print the specification as OpenAPI 3.1", "openapi > openapi.json"),
    },
    "The suite itself": {
        "serve": ("run the bundled reference portal", "serve --port 8000"),
        "docs": ("print a page of the documentation, or list the pages", "docs check-a-portal"),
        "selftest": (
            "prove the suite by faults and lawful variants",
            "selftest --only used-up-session-is-400",
        ),
        "completion": (
            "print the completions of bash, zsh or fish",
            'eval "$(portal-conformance completion bash)"',
        ),
    },
}
"""The groups of the help, with the summary and the example of each command."""

COMMANDS = tuple(
    CommandRow(name, group, module, *row)
    for group, rows in GROUPS.items()
    for name, row in rows.items()
    for module, names in MODULES.items()
    if name in names
)
BY_COMMAND = {row.name: row for row in COMMANDS}

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
