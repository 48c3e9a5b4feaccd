"""No secret of a run stands in any file that it writes, in any encoding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.tests.deployment import deployed
from conformance.tests.planted import Listener, standing


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], Path]:
    """A whole run: the secrets that passed, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("secrets")
    listener = Listener()
    with deployed(folder, wrap=listener.wrap) as portal:
        run = portal.run("--impact", "disruptive")
        listener.know(portal.running)
    assert run.code == 0, run.said
    (run.out / "terminal.txt").write_text(run.said, encoding="utf-8")
    return listener.heard, run.out


def test_secrets_of_every_kind_passed(run: tuple[set[str], Path]) -> None:
    heard, _ = run

    assert len([secret for secret in heard if re.fullmatch(r"\d{6}", secret)]) > 3
    assert len([secret for secret in heard if secret.count(".") == 2]) > 3
    assert len(heard) > 40


def test_none_stands_in_any_file_in_any_encoding(run: tuple[set[str], Path]) -> None:
    heard, folder = run
    assert standing(heard, *(path for path in folder.iterdir() if path.is_file())) == []
