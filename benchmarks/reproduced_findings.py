"""Whether what a finding prints works as it stands: its rerun line, and its script, for faults of every kind.

    .venv/bin/python benchmarks/reproduced_findings.py [FAULT…]

Each fault of the reference portal is judged once; then the lines that the report prints are run against the
same faulty portal, where they must show the contradiction, and against one without it, where they must not.
"""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.report.model.run import Run
from reference_impl import serve
from reference_impl.faults import FAULTS

CHOSEN = (
    "ENV-008", "ENV-011", "ACCOUNT-005", "ACCOUNT-009", "ROLE-004", "FILE-003", "PAGE-026", "PAGE-009",
    "PAGE-035", "CONSTANT-034", "HEADER-004", "LOGIN-053", "LOGIN-029", "ERROR-002", "TOKEN-018", "AUTHN-001",
    "SECURE-007", "SESSION-020", "ORDER-023", "OP-003", "LOGIN-028", "LOGIN-030", "LOGIN-061", "LOGIN-080",
    "TOKEN-011", "AUTHN-019", "AUTHN-020", "SESSION-037", "INSTITUTION-011", "ENV-018", "ENV-020",
    "AGREE-001", "MODEL-011",
)  # fmt: skip
"""Requirements of every kind: shapes, relations, states, tokens, warnings. Of each the first fault."""

BIN = Path(sys.executable).parent
SEED = 7
NOT_PRINTED = -1


@dataclass(frozen=True)
class Trial:
    """What became of one fault: exit codes with the fault and without; None where there is no script."""

    fault: str
    requirement: str
    finding: str
    rerun: tuple[int, int]
    script: tuple[int, int] | None
    curl: bool
    seconds: float

    @property
    def ok(self) -> bool:
        shown = self.rerun == (1, 0) and self.script in (None, (1, 0))
        return bool(self.finding) and shown


def fault_of(requirement: str) -> str:
    """The first fault that breaks a requirement."""
    return next(name for name, fault in FAULTS.items() if fault.breaks[0] == requirement)


def trial(fault: str, folder: Path) -> Trial:
    """Judges one fault, and runs what its finding prints against the portal with it and without it."""
    began = time.perf_counter()
    requirement = FAULTS[fault].breaks[0]
    folder.mkdir(parents=True)
    with serve.start(faults=[fault], seed=SEED) as portal:
        port = portal.port
        (folder / "portal.toml").write_text(portal.profile(), encoding="utf-8")
        whole = "portal-conformance run --profile portal.toml --impact disruptive --out first"
        _run(f"{whole} --rerun {requirement}", folder)
        if not _finds(folder / "first", requirement):
            _run(whole, folder)
    run = Run.read(folder / "first")
    card = _card((folder / "first" / "report.html").read_text(encoding="utf-8"), requirement)
    line = _printed(card, "With the suite")
    commands = {"rerun": line and f"{line} --out again", "script": _script(card, folder)}
    codes: dict[str, list[int]] = {"rerun": [], "script": []}
    for faults in ([fault], []):
        for name, command in commands.items():
            if command:
                with serve.start(faults=faults, seed=SEED, port=port):
                    codes[name].append(_run(command, folder))
            else:
                codes[name].append(NOT_PRINTED)
    finding = next((entry for entry in run.findings if entry.requirement == requirement), None)
    strict = finding is not None and finding.verdict == "warn"
    rerun = (codes["rerun"][0] or (1 if strict else 0), codes["rerun"][1])
    return Trial(
        fault,
        requirement,
        f"{finding.endpoint} {finding.path}: {finding.message}" if finding else "",
        rerun,
        (codes["script"][0], codes["script"][1]) if commands["script"] else None,
        "With curl" in card,
        time.perf_counter() - began,
    )


def _finds(reports: Path, requirement: str) -> bool:
    """Whether a run has a finding: of a rule about every endpoint only the whole run may come across it."""
    return any(finding.requirement == requirement for finding in Run.read(reports).findings)


def _card(page: str, requirement: str) -> str:
    start = page.find(f'id="finding-{requirement}"')
    return page[start : page.find("</article>", start)] if start >= 0 else ""


def _printed(card: str, title: str) -> str:
    match = re.search(rf"<h4>{title}</h4>.*?<pre>(.*?)</pre>", card, re.DOTALL)
    return html.unescape(match[1]) if match else ""


def _script(card: str, folder: Path) -> str:
    text = _printed(card, "With Python, where the suite is installed")
    if not text:
        return ""
    (folder / "again.py").write_text(text, encoding="utf-8")
    return "python again.py"


def _run(command: str, folder: Path) -> int:
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTEST_CURRENT_TEST", None)
    words = shlex.split(command)
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=False).returncode


def main(faults: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        names = faults or [fault_of(requirement) for requirement in CHOSEN]
        trials = list(pool.map(lambda name: trial(name, Path(folder) / name), names))
    print("| fault | requirement | rerun | script | curl | finding |\n|---|---|---|---|---|---|")
    for row in trials:
        script = "none" if row.script is None else f"{row.script[0]}, then {row.script[1]}"
        name = row.fault if row.ok else f"**FAILED** {row.fault}"
        rerun = f"{row.rerun[0]}, then {row.rerun[1]}"
        curl = "yes" if row.curl else "no"
        print(f"| {name} | {row.requirement} | {rerun} | {script} | {curl} | {row.finding[:140]} |")
    return 0 if all(row.ok for row in trials) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
