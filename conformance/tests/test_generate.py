"""Generated files: each is as its generator writes it, and a check names the stale ones and writes none."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / ".ci" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_as_they_are_generated(generate: ModuleType) -> None:
    assert generate.stale(generate.GENERATED, ROOT) == {}


def test_a_check_names_what_is_stale_and_writes_nothing(generate: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "same").write_text("text")
    (tmp_path / "old").write_text("before")

    differences = generate.stale(dict.fromkeys(("same", "old", "new"), lambda: "text"), tmp_path)

    assert list(differences) == ["old", "new"]
    assert differences["old"].splitlines()[-2:] == ["-before", "+text"]
    assert (tmp_path / "old").read_text() == "before"
    assert not (tmp_path / "new").exists()


def test_generating_writes_what_is_stale(generate: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("before")
    files = dict.fromkeys(("old", "new"), lambda: "text")

    assert generate.write(files, tmp_path) == ["old", "new"]

    assert [(tmp_path / name).read_text() for name in files] == ["text", "text"]
    assert generate.write(files, tmp_path) == []
