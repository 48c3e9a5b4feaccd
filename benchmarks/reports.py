"""How long the reports of a large run take: 1,000 requirements, 10,000 exchanges, 60 findings.

    .venv/bin/python benchmarks/reports.py

Prints the seconds for each file, the bytes of each, and, where Chromium is found, how long the page takes to
render.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import sync_playwright

from conformance.report.formats import badge, html, junit, summary
from conformance.report.formats.write import write_all
from conformance.report.model import evidence
from conformance.report.model.run import Run
from conformance.tests.test_html import large

WRITTEN_IN = 3.0
RENDERED_IN = 2.0


def written(folder: Path) -> tuple[float, Path]:
    """Seconds for all the files together, and where they are."""
    run, exchanges = large(folder)
    began = time.perf_counter()
    write_all(run, folder / "out", exchanges=exchanges)
    seconds = time.perf_counter() - began
    print(f"written in {seconds:.2f} s (at most {WRITTEN_IN} s)")
    _each(run, exchanges)
    for file in sorted((folder / "out").iterdir()):
        print(f"  {file.name:<14} {file.stat().st_size:>12,} bytes")
    return seconds, folder / "out" / "report.html"


def _each(run: Run, exchanges: Path) -> None:
    wanted = {number for finding in run.findings for number in finding.exchanges}
    shown = evidence.read(exchanges, wanted)
    makers: dict[str, Callable[[], object]] = {
        "evidence": lambda: evidence.read(exchanges, wanted),
        "results.json": run.text,
        "junit.xml": lambda: junit.document(run),
        "summary.md": lambda: summary.markdown(run),
        "report.html": lambda: html.report(run, shown),
        "badge.json": lambda: badge.shield(run),
    }
    for name, make in makers.items():
        began = time.perf_counter()
        make()
        print(f"  {name:<14} {time.perf_counter() - began:>8.3f} s")


def rendered(page: Path) -> float | None:
    """Milliseconds to the load event, the best of three; None without a browser."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("no Chromium is found: how long the page renders is not measured")
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        times = []
        for _ in range(3):
            tab = browser.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-ready]", state="attached")
            times.append(float(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")))
            tab.close()
        browser.close()
    print(f"rendered in {min(times) / 1000:.2f} s (at most {RENDERED_IN} s)")
    return min(times) / 1000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        seconds, page = written(Path(folder))
        shown = rendered(page)
    return 0 if seconds < WRITTEN_IN and (shown is None or shown < RENDERED_IN) else 1


if __name__ == "__main__":
    sys.exit(main())
