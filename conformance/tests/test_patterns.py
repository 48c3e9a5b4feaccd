"""Patterns that a user wrote: one that takes too long is named, and nothing hangs or leaks by it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from conformance import record
from conformance.cli import main
from conformance.spec.endpoints import PROFILE
from conformance.target.portal.inboxes import InboxFailure, codes_in
from conformance.tests.traffic import answer
from conformance.traffic.log import line_of
from reference_impl import serve

EXPLODING = "(a+)+$"
LONG = "a" * 5_000 + "!"


def test_a_check_ends_with_the_pattern_that_takes_too_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = tmp_path / "visit.jsonl"
    capture.write_bytes(line_of(answer(PROFILE, {"name": LONG})) + b"\n")

    assert main(["check", str(capture), "--redact", f"/{EXPLODING}/", "--out", str(tmp_path / "out")]) == 4

    assert "takes longer than" in capsys.readouterr().err


def test_a_recording_stops_before_it_writes_what_it_could_not_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "visit.jsonl"
    options = record.RecordOptions(redact=[f"/{EXPLODING}/"])

    with serve.start() as portal, record.serve(portal.url, path, options) as recorder:
        statuses = [httpx.get(f"{recorder.url}/{LONG}").status_code for _ in range(2)]

    assert statuses[0] == statuses[1] < 500
    assert "takes longer than" in recorder.log.stopped
    assert path.read_text(encoding="utf-8") == ""
    assert "Recording stopped" in capsys.readouterr().err


def test_an_inbox_names_the_pattern_that_takes_too_long() -> None:
    with pytest.raises(InboxFailure, match="takes longer than"):
        codes_in(LONG, EXPLODING)
