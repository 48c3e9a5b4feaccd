"""What the commands about finished runs say of the pages that they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli import main
from conformance.tests.sample_run import conformant, reported


@pytest.mark.parametrize(("runs", "name"), [(2, "compare"), (3, "matrix")])
def test_the_last_line_names_the_page_that_was_written(
    runs: int, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, out = reported(tmp_path, conformant().run()), tmp_path / "out"

    main(["compare", *[str(results)] * runs, "--out", str(out)])
    with_page = capsys.readouterr().out
    main(["compare", *[str(results)] * runs])
    without = capsys.readouterr().out

    assert with_page.splitlines()[-1] == f"report     {out / f'{name}.html'}"
    assert (out / f"{name}.html").is_file()
    assert "report     " not in without
