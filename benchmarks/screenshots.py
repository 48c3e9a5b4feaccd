"""The screenshots in the README: a run against the reference portal with a few faults, in light and dark.

    .venv/bin/python benchmarks/screenshots.py

Writes docs/images/*.png.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from conformance.report.across import compare, compare_pages, history
from conformance.report.model.run import Run
from reference_impl import serve
from reference_impl.faults import FAULTS

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROKEN = ("ENV-008", "PAGE-035", "LOGIN-030", "TOKEN-018", "CONSTANT-034")
"""The requirements that the pictured portal contradicts."""

SEED = 7
SHOTS = (
    ("report.png", "report.html", 1400, "light", ""),
    ("report-dark.png", "report.html", 1400, "dark", "#findings"),
    ("finding.png", "report.html", 1400, "light", "#finding-LOGIN-030"),
    ("report-phone.png", "report.html", 390, "light", ""),
    ("compare.png", "compare.html", 1400, "light", ""),
)


def judged(folder: Path, faults: list[str], name: str) -> Path:
    """A whole run against the reference portal with these faults; gives the folder of its reports."""
    with serve.start(faults=faults, seed=SEED) as portal:
        (folder / "staging.toml").write_text(portal.profile(), encoding="utf-8")
        command = ["run", "--profile", "staging.toml", "--impact", "disruptive", "--out", name, "--quiet"]
        subprocess.run(
            [sys.executable, "-m", "conformance.cli", *command], cwd=folder, check=False, capture_output=True
        )
    return folder / name


def pictured(browser: Browser, page: Path, image: Path, *, width: int, scheme: str, at: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900 if width > 500 else 844},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=1 if width > 500 else 2,
    )
    tab = context.new_page()
    tab.goto(page.as_uri() + at)
    tab.wait_for_selector("html[data-ready]", state="attached")
    if at.startswith("#finding-"):
        tab.locator(f"{at} .fold").first.evaluate("fold => { fold.open = true; }")
        tab.locator(at).evaluate("card => card.scrollIntoView()")
    tab.evaluate("document.activeElement.blur()")
    tab.wait_for_timeout(200)
    tab.screenshot(path=image)
    context.close()


def main() -> int:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("no Chromium is found: install Debian's chromium, or name one in CHROMIUM", file=sys.stderr)
        return 4
    IMAGES.mkdir(parents=True, exist_ok=True)
    chosen = [next(name for name, fault in FAULTS.items() if fault.breaks[0] == row) for row in BROKEN]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        before, after = judged(folder, chosen[:1], "before"), judged(folder, chosen, "after")
        old, new = Run.read(before), Run.read(after)
        (after / "compare.html").write_text(
            compare_pages.as_html(compare.compare(old, new)), encoding="utf-8"
        )
        for run in (old, new):
            history.record(run, folder / "history.sqlite")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for image, page, width, scheme, at in SHOTS:
            pictured(browser, after / page, IMAGES / image, width=width, scheme=scheme, at=at)
            print(IMAGES / image)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
