"""The page of messages shows every message that a user can meet."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "generate_messages.py"))["page"]()


@pytest.mark.parametrize(
    "message",
    [
        "- judge recorded traffic without a target",  # an option's help
        "- cleanup needs --profile FILE, the profile of the portal that the run changed.",  # an error
        "- the profile has no [accounts.{name}]",  # a reason for UNTESTED
        "- Differences from the recording",  # a template
        "- The run was interrupted. The report covers what was judged before that.",  # a report
        '- [accounts] has no account "{name}". Did you mean "{suggestion}"?',  # a profile error
    ],
)
def test_messages_of_every_source_stand_on_the_page(message: str) -> None:
    assert f"{message}\n" in PAGE


@pytest.mark.parametrize("text", ["Input data was truncated", "may be in the clear"])
def test_what_only_the_code_reads_is_no_message(text: str) -> None:
    """A text that a value is compared with, and a key of what a check remembers."""
    assert text not in PAGE


@pytest.mark.parametrize(
    "phrase", ["what it needs is told", "read otherwise", "left behind", "made anew", "is said"]
)
def test_no_message_speaks_the_old_dialect(phrase: str) -> None:
    assert phrase not in PAGE
