"""A search keeps what its examples hold in bounds."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.run.search import MOST_RECORDS, Search
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import ROLES
from conformance.tests.traffic import answer
from conformance.verdicts.findings import Ledger


@pytest.mark.parametrize(("records", "is_over"), [(MOST_RECORDS // 2, False), (MOST_RECORDS // 2 + 1, True)])
def test_an_example_ends_where_its_answers_list_too_many_records(
    tmp_path: Path, records: int, is_over: bool
) -> None:
    run = SimpleNamespace(
        ledger=Ledger(REQUIREMENTS), options=SimpleNamespace(out=tmp_path), divert=lambda take: None
    )
    verify = SimpleNamespace(declared=(), case="a case", claim=lambda requirement: None)
    trial = Search(run, verify, effort="quick", seed=1).begin()  # type: ignore[arg-type]

    for _ in range(2):
        assert not trial.is_spoiled
        trial.take(answer(ROLES, data=[{}] * records))

    assert trial.is_spoiled is is_over
