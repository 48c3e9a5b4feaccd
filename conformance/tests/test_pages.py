"""``docs``: the pages of the documentation, as an installation prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.suite import FOR_DEVELOPERS, pages_by_name, with_commands

PAGES = Path(__file__).parents[2] / "docs"


def test_each_page_for_users_is_listed_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0

    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines.keys() | {*FOR_DEVELOPERS} == {page.stem for page in PAGES.rglob("*.md")}
    assert not lines.keys() & {"architecture", "contributing", "http-library"}
    assert lines["ci"] == "Gate a CI job"


def test_a_page_is_printed_as_it_is_where_no_terminal_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "profile"]) == 0

    assert capsys.readouterr().out == (PAGES / "reference" / "profile.md").read_text("utf-8")


def test_a_link_to_a_page_is_the_command_that_prints_it() -> None:
    text = "[a job](ci.md#docker), [keys](reference/profile.md), [costs](../benchmarks/README.md)"

    assert with_commands(text, pages_by_name()) == (
        "a job (`portal-conformance docs ci`), keys (`portal-conformance docs profile`), "
        "[costs](../benchmarks/README.md)"
    )
