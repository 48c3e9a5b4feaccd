"""What outlives a run on this machine is removed when nothing can need it any more."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

import pytest

from conformance.target.locks import KEPT_DAYS, state_file, state_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = state_folder()
    assert found is not None
    return found


def written(folder: Path, name: str, *, days: float, note: str = "") -> Path:
    file = folder / name
    file.write_text(json.dumps({"note": note}), encoding="utf-8")
    moment = time.time() - days * 86_400
    os.utime(file, (moment, moment))
    return file


def test_a_new_file_removes_those_that_are_old(folder: Path) -> None:
    old = written(folder, "target-1", days=KEPT_DAYS + 1)
    recent = written(folder, "target-2", days=KEPT_DAYS - 1)

    state_file("target", "http://127.0.0.1:8000")

    assert not old.exists()
    assert recent.exists()


def test_a_file_that_names_what_a_run_has_left_is_kept(folder: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "changes.jsonl"
    ledger.touch()
    old = written(folder, "target-1", days=KEPT_DAYS + 1, note=str(ledger))

    state_file("target", "http://127.0.0.1:8000")
    assert old.exists()

    ledger.unlink()
    state_file("target", "http://127.0.0.1:8000")
    assert not old.exists()
