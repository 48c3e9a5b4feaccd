"""What ``plan`` foretells beside the run that it foretold, on portals that differ.

    .venv/bin/python benchmarks/plans.py [--only NAME]… >benchmarks/plans.md

Each portal is run on twice. The first run shows how long a request takes there, and what nothing decides, as
a user's first run does; the plan is made between the two, and compared with the second. A portal without a
clock is run on once, as its waits, and not its requests, make the time; its plan has the pace of a first run
that is cut short.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.report.model.run import Run
from conformance.spec import OPERATIONS
from reference_impl import serve as reference
from reference_impl.limits import Limits

TENTH, FIFTH = 0.1, 0.2
ABSOLUTE = 2
"""Where few are sent, a difference of so many is none."""

BUDGET = ("--time-budget", "10m")


@dataclass(frozen=True)
class Target:
    """A portal, how it is started, and the options of the runs on it. ``first``: those of the run that shows
    how long a request takes; ``keeps``: the tables of its profile, all where none is named."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Sequence[str] = ("--impact", "disruptive")
    first: Sequence[str] = ()
    keeps: Sequence[str] = ()


FOREIGN = ("prefixed-ids", "descriptions", "fields-beyond-the-shown", "credentials-400", "wrong-code-422")
TARGETS = (
    Target("bundled", {"seed": 7}),
    Target("foreign ids, fields and codes", {"seed": 8, "variants": FOREIGN}),
    Target(
        "no clock, a window of 20 s, 10 minutes",
        {"seed": 9, "clock": False, "limits": Limits(login_window=20)},
        ("--impact", "disruptive", *BUDGET),
        first=("--impact", "read-only", "--time-budget", "40s"),
    ),
    Target("bundled, read-only", {"seed": 10}, ("--impact", "read-only")),
    Target(
        "no clock, one account by its authenticator, 10 minutes",
        {"seed": 11, "clock": False},
        ("--impact", "read-only", *BUDGET),
        first=("--impact", "read-only", "--time-budget", "30s"),
        keeps=("portal", "accounts.admin"),
    ),
    Target("several readings at once: terse-and-strange", {"seed": 12, "variants": ["terse-and-strange"]}),
)


@dataclass(frozen=True)
class Outcome:
    """What was foretold, or what came of it."""

    rules: frozenset[str]
    endpoints: frozenset[str]
    requests: int
    sign_ins: int
    mails: int
    changes: int
    seconds: float


@dataclass(frozen=True)
class Compared:
    """A plan beside its run."""

    target: Target
    foretold: Outcome
    came: Outcome

    def row(self) -> str:
        """A row of the table; what misses its bound is bold."""
        planned, came = self.foretold, self.came
        cells = [
            _exact(planned.rules, came.rules),
            _exact(planned.endpoints, came.endpoints),
            _near(planned.requests, came.requests, TENTH),
            _near(planned.sign_ins, came.sign_ins, TENTH),
            _near(planned.mails, came.mails, TENTH),
            _near(planned.changes, came.changes, TENTH),
            _near(round(planned.seconds), round(came.seconds), FIFTH, unit=" s"),
        ]
        return f"| {self.target.name} | {' | '.join(cells)} |"

    def notes(self) -> Iterator[str]:
        """The rules that only one of the two names."""
        for text, rules in (
            ("foretold, and not decided", self.foretold.rules - self.came.rules),
            ("decided, and not foretold", self.came.rules - self.foretold.rules),
        ):
            if rules:
                yield f"- {self.target.name}: {text}: {', '.join(sorted(rules))}."


def _exact(planned: frozenset[str], came: frozenset[str]) -> str:
    shown = f"{len(planned)} / {len(came)}"
    return shown if planned == came else f"**{shown}**"


def _near(planned: int, came: int, bound: float, *, unit: str = "") -> str:
    shown = f"{planned:,} / {came:,}{unit}"
    return shown if abs(planned - came) <= max(bound * came, ABSOLUTE) else f"**{shown}**"


def compared(target: Target) -> Compared:
    with reference.start(**target.settings) as portal, tempfile.TemporaryDirectory() as folder:
        profile, out = Path(folder, "portal.toml"), Path(folder, "reports")
        profile.write_text(_kept(portal.profile(), target.keeps), encoding="utf-8")
        common = ("--profile", str(profile), "--out", str(out))
        _command("run", *common, *(target.first or target.options))
        plan = json.loads(_command("plan", *common, *target.options, "--format", "json"))
        costs = Path(folder, "costs.json")
        _command("run", *common, *target.options, "--record-costs", str(costs))
        return Compared(target, _foretold(plan), _came(out, costs))


def _kept(profile: str, tables: Sequence[str]) -> str:
    """The profile with some of its tables; without the inbox where no inbox is kept."""
    if not tables:
        return profile
    blocks = profile.split("\n\n")
    kept = [block for block in blocks if block.startswith(tuple(f"[{name}]" for name in tables))]
    lines = "\n\n".join(["profile = 1", *kept]).splitlines()
    return "\n".join(line for line in lines if not line.startswith("inbox ="))


def _command(*words: str) -> str:
    """What a command prints; a run ends with whatever code it has."""
    program = (sys.executable, "-m", "conformance", *words)
    return subprocess.run(program, capture_output=True, text=True, check=False).stdout


def _foretold(plan: Mapping[str, Any]) -> Outcome:
    return Outcome(
        frozenset(plan["rules"]),
        frozenset(plan["endpoints"]),
        **{name: plan[name] for name in ("requests", "sign_ins", "mails", "changes", "seconds")},
    )


def _came(out: Path, costs: Path) -> Outcome:
    """What the reports of a run say of it."""
    run = Run.read(out)
    cases = json.loads(costs.read_text(encoding="utf-8")).values()
    decided = frozenset(row.id for row in run.requirements if row.verdict != "untested")
    names = ("requests", "sign_ins", "mails", "changes")
    sums = {name: sum(case[name] for case in cases) for name in names}
    return Outcome(decided, _endpoints(decided), seconds=run.seconds, **sums)


def _endpoints(decided: frozenset[str]) -> frozenset[str]:
    return frozenset(row.key for row in OPERATIONS if row.requirement in decided)


HEAD = """\
# What a plan foretells, and what came of it

Each cell is *foretold / came*. Rules and endpoints are those that the run decided; requests, sign-ins, mails
and changes are those of its cases; the time is that of its report. Bold is what misses its bound: rules and
endpoints are to be the same, the numbers within a tenth and the time within a fifth, or within two.
`.venv/bin/python benchmarks/plans.py` writes this page.

| portal | rules | endpoints | requests | sign-ins | mails | changes | time |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def page(rows: Iterable[Compared]) -> Iterator[str]:
    notes: list[str] = []
    yield HEAD
    for row in rows:
        yield row.row()
        notes += row.notes()
    if notes:
        yield "\nWhat only one of the two names:\n"
        yield from notes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    only = parser.parse_args().only
    chosen = [target for target in TARGETS if not only or any(name in target.name for name in only)]
    for line in page(map(compared, chosen)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
