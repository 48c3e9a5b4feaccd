"""The pictures of a report in the documentation: a run against the reference portal with a few faults.

    .venv/bin/python benchmarks/screenshots.py

Writes ``docs/images/report.png`` and ``docs/images/finding.png``; needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from reference_impl import serve
from reference_impl.faults import FAULTS

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROKEN = ("ENV-008", "PAGE-035", "LOGIN-030", "TOKEN-018", "CONSTANT-034")
"""Requirements that the pictured portal contradicts."""

SEED = 7
SHOWN = {"report.png": "", "finding.png": "#finding-LOGIN-030"}
"""Places of the page that the pictures show."""


def report(folder: Path) -> Path:
    """The page of a whole run against the reference portal with the faults."""
    chosen = [next(name for name, fault in FAULTS.items() if fault.breaks[0] == row) for row in BROKEN]
    with serve.start(faults=chosen, seed=SEED) as portal:
        (folder / "staging.toml").write_text(portal.profile(), encoding="utf-8")
        command = ["run", "--profile", "staging.toml", "--impact", "disruptive", "--out", "out", "--quiet"]
        subprocess.run([sys.executable, "-m", "conformance.cli", *command], cwd=folder, check=False)
    return folder / "out" / "report.html"


def show(tab: Page, page: Path, at: str) -> None:
    tab.goto(page.as_uri() + at)
    tab.wait_for_selector("html[data-ready]", state="attached")
    if at:
        tab.locator(f"{at} .fold").first.evaluate("fold => { fold.open = true; }")
        tab.locator(at).evaluate("card => card.scrollIntoView()")
    tab.evaluate("document.activeElement.blur()")
    tab.wait_for_timeout(200)


def main() -> int:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("no Chromium is found: install Debian's chromium, or name one in CHROMIUM", file=sys.stderr)
        return 4
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        page = report(Path(name))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for image, at in SHOWN.items():
            tab = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
            show(tab, page, at)
            tab.screenshot(path=IMAGES / image)
            print(IMAGES / image)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
