"""The matrix as one page for people and one file for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from conformance.report.formats.page import breaks
from conformance.selftest.fault_run import FaultOutcome
from conformance.selftest.verdicts import ProofMatrix, listed
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS
from conformance.traffic.replacing import write_report

STYLE = """
:root { color-scheme: light dark; background: light-dark(#fff, #16181c); color: light-dark(#1a1a1a, #e6e6e6) }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
a { color: light-dark(#0645ad, #8ab4f8) }
table { border-collapse: collapse; width: 100% } th, td { border-top: 1px solid #8886; padding: .3rem .6rem;
text-align: left; vertical-align: top } code { font-size: .9em }
.bad { color: light-dark(#b00020, #ff8a80) }
.also { font-style: italic }
@media (max-width: 720px) { thead { display: none } table, tbody, tr, td { display: block; padding: .1rem 0 }
tr { border-top: 1px solid #8886; padding: .6rem 0 } td { border: 0; overflow-wrap: break-word }
td::before { content: attr(data-head) ": "; font-weight: 600 } }
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write(matrix: ProofMatrix, folder: Path) -> None:
    """Writes ``selftest.html`` and ``selftest.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(as_json(matrix), indent=1, ensure_ascii=False)
    write_report(folder / "selftest.json", text + "\n")
    write_report(folder / "selftest.html", "".join(_page(matrix)))


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
        f"<style>{STYLE}</style><main><h1>Requirement × fault</h1><p>"
    )
    yield " · ".join(f"{escape(name)}: <b>{number}</b>" for name, number in matrix.totals.items())
    yield f"</p><h2>{len(matrix.problems)} problems</h2><ul>"
    for problem in matrix.problems:
        yield f'<li class="bad">{breaks(problem)}</li>'
    yield "</ul><h2>Requirements</h2>"
    yield from _table(("Requirement", "Level", "Turned by"), _requirements(matrix))
    yield "<h2>Faults</h2>"
    faults = ((name, (breaks(name), _verdicts(name, of), _sources(of))) for name, of in matrix.faults.items())
    yield from _table(("Fault", "Turned", "By"), faults)
    yield "<h2>Variants</h2>"
    yield from _table(("Variant", "What permits it", "Verdicts"), _variants(matrix))
    yield "</main></html>\n"


def _table(heads: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    """A table of rows, each with its id and the markup of its cells, which repeat their heads for phones."""
    names = "".join(f'<th scope="col">{head}' for head in heads)
    yield f"<table><thead><tr>{names}</thead><tbody>"
    for id, cells in rows:
        row = "".join(f'<td data-head="{head}">{cell}' for head, cell in zip(heads, cells, strict=True))
        yield f'<tr id="{escape(id)}">{row}</tr>'
    yield "</tbody></table>"


def _requirements(matrix: ProofMatrix) -> Iterator[tuple[str, Sequence[str]]]:
    for row in REQUIREMENTS.values():
        if row.level == "open":
            continue
        by = _chips(matrix.breaking(row.id)) or breaks(row.untestable or "")
        by = by or '<span class="bad">nothing</span>'
        yield row.id, (f"<b>{row.id}</b> {breaks(row.statement)}", row.level, by)


def _variants(matrix: ProofMatrix) -> Iterator[tuple[str, Sequence[str]]]:
    for name, outcome in {**matrix.variants, **matrix.combinations}.items():
        gap = VARIANTS[name].gap if name in VARIANTS else "several together"
        counts = " · ".join(f"{number} {verdict}" for verdict, number in sorted(outcome.verdicts.items()))
        yield f"variant-{name}", (breaks(name), breaks(gap), escape(counts))


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
    return ", ".join(f"<code>{breaks(source)}</code>" for source in sources)
