"""Runs pytest on the cases for ``portal-conformance run``; its page of cases goes to the reports."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.run.catalogue import pytest_arguments
from conformance.run.hooks.stash import FINAL

PAGE = "cases.html"
QUIETLY = ("-q", "--tb=short", "--no-header", "--disable-warnings")
PLUGINS = ("-p", "pytest_metadata.plugin", "-p", "pytest_html.plugin")


class Ending:
    """A plugin that notes whether a run ended with reports; a wrong option ends pytest before."""

    def __init__(self) -> None:
        self.has_reports = False

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        self.has_reports = FINAL in config.stash


def run(options: Iterable[str], *, further: Sequence[str], out: Path) -> int:
    """Runs the cases; the exit code. pytest-html writes its page when pytest starts, so it is moved to the
    reports when there are some."""
    ending = Ending()
    with TemporaryDirectory() as folder:
        page = Path(folder, PAGE)
        html = (f"--html={page}", "--self-contained-html")
        words = [*pytest_arguments(), *QUIETLY, *PLUGINS, *html, *further, *options]
        code = int(pytest.main(words, plugins=[ending]))
        if ending.has_reports:
            shutil.move(page, out / PAGE)
    return code
