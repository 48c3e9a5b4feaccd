"""The matrix as one page for people and one file for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from conformance.selftest.fault_run import FaultOutcome
from conformance.selftest.verdicts import ProofMatrix, listed
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } th, td { border-top: 1px solid #8886; padding: .3rem .6rem;
text-align: left; vertical-align: top } code { font-size: .9em } .bad { color: #b00020 }
.also { opacity: .65 } summary { cursor: pointer } @media (prefers-color-scheme: dark) {
body { background: #16181c; color: #e6e6e6 } .bad { color: #ff8a80 } }
"""


POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write(matrix: ProofMatrix, folder: Path) -> None:
    """Writes ``selftest.html`` and ``selftest.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(matrix), indent=1, ensure_ascii=False)
    (folder / "selftest.json").write_text(text + "\n", encoding="utf-8")
    (folder / "selftest.html").write_text("".join(_page(matrix)), encoding="utf-8")


def as_json(matrix: ProofMatrix) -> dict[str, Any]:
    """``{"schema", "totals", "seconds", "problems", "proofs", "requirements", "faults", "variants"}``."""
    return {
        "schema": 1,
        "totals": matrix.totals,
        "seconds": round(matrix.seconds, 1),
        "problems": matrix.problems,
        "proofs": matrix.proofs,
        "requirements": [
            {
                "id": row.id,
                "level": row.level,
                "untestable": row.untestable,
                "faults": matrix.breaking(row.id),
            }
            for row in REQUIREMENTS.values()
            if row.level != "open"
        ],
        "faults": [
            {
                "name": name,
                "breaks": list(FAULTS[name].breaks),
                "also": list(FAULTS[name].also),
                "operations": list(FAULTS[name].operations),
                "turned": _turned(outcome),
                "seconds": outcome.seconds,
            }
            for name, outcome in matrix.faults.items()
        ],
        "variants": [
            {
                "name": name,
                "gap": VARIANTS[name].gap if name in VARIANTS else "several together",
                "turned": _turned(outcome),
                "verdicts": outcome.verdicts,
                "seconds": outcome.seconds,
            }
            for name, outcome in {**matrix.variants, **matrix.combinations}.items()
        ],
    }


def _turned(outcome: FaultOutcome) -> dict[str, Any]:
    return {
        requirement: {"verdict": turned.verdict, "by": turned.sources, "message": turned.message}
        for requirement, turned in outcome.turned.items()
    }


def _page(matrix: ProofMatrix) -> Iterator[str]:
    yield (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Self-test</title>'
        '<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<style>{STYLE}</style><h1>Requirement × fault</h1><p>"
    )
    yield " · ".join(f"{escape(name)}: <b>{number}</b>" for name, number in matrix.totals.items())
    yield f"</p><h2>{len(matrix.problems)} problems</h2><ul>"
    for problem in matrix.problems:
        yield f'<li class="bad">{escape(problem)}</li>'
    yield "</ul><h2>Requirements</h2><table><tr><th>Requirement<th>Level<th>Turned by</tr>"
    for row in REQUIREMENTS.values():
        if row.level != "open":
            yield f'<tr id="{row.id}"><td><b>{row.id}</b> {escape(row.statement)}<td>{row.level}<td>'
            yield (
                _chips(matrix.breaking(row.id))
                or escape(row.untestable or "")
                or '<span class="bad">nothing</span>'
            )
            yield "</tr>"
    yield "</table><h2>Faults</h2><table><tr><th>Fault<th>Turned<th>By</tr>"
    for name, outcome in matrix.faults.items():
        yield f'<tr id="{escape(name)}"><td>{escape(name)}<td>{_verdicts(name, outcome)}'
        yield f"<td>{_sources(outcome)}</tr>"
    yield "</table><h2>Variants</h2><table><tr><th>Variant<th>What permits it<th>Verdicts</tr>"
    for name, outcome in {**matrix.variants, **matrix.combinations}.items():
        gap = VARIANTS[name].gap if name in VARIANTS else "several together"
        counts = " · ".join(f"{number} {verdict}" for verdict, number in sorted(outcome.verdicts.items()))
        yield f"<tr><td>{escape(name)}<td>{escape(gap)}<td>{escape(counts)}</tr>"
    yield "</table></html>\n"


def _chips(names: list[str]) -> str:
    return ", ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names)


def _verdicts(name: str, outcome: FaultOutcome) -> str:
    breaks, may = set(FAULTS[name].breaks), listed(FAULTS[name])
    shown = []
    for requirement, turned in outcome.turned.items():
        kind = "" if requirement in breaks else "also" if requirement in may else "bad"
        shown.append(f'<a class="{kind}" href="#{requirement}">{requirement} {turned.verdict}</a>')
    return ", ".join(shown) or '<span class="bad">nothing</span>'


def _sources(outcome: FaultOutcome) -> str:
    sources = sorted({source for turned in outcome.turned.values() for source in turned.sources})
    return ", ".join(f"<code>{escape(source)}</code>" for source in sources)
