"""Matchers of the user's own: at their places they alone decide whether two values are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.replay.compare.matchers import matchers_of, with_matchers
from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.spec import endpoints as op
from conformance.target.profile.model import parse
from conformance.tests.replays import comparer_of, recorder, replayed
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Json

CLOSE = "def close(recorded, live):\n    return abs(recorded - live) < 1\n"
PROFILE = """
profile = 1
[portal]
url = "http://127.0.0.1:1"
access_code = "code"
[accounts.admin]
email = "admin@example.test"
password = "a-password"
[extend.matchers]
"{place}" = "{kind}"
"""


def differing(folder: Path, place: str, kind: str, old: Json, new: Json) -> list[str]:
    """The paths of the differences of two answers, by one matcher."""
    (folder / "matchers.py").write_text(CLOSE)
    profile = parse(PROFILE.format(place=place, kind=kind), {}, name=str(folder / "portal.toml"))
    pair = ReplayedExchange(1, answer(op.ROLES, old), answer(op.ROLES, new))
    compared: list[Difference] = comparer_of().compare(pair).differences
    return [each.path for each in with_matchers(matchers_of(profile), pair, compared)]


@pytest.mark.parametrize(
    ("place", "kind", "old", "new", "expected"),
    [
        ("data[*].score", "matchers.py:close", [{"score": 1.5}], [{"score": 1.9}], []),
        ("data[*].score", "matchers.py:close", [{"score": 1.5}], [{"score": 3.5}], ["data[0].score"]),
        ("data[*].score", "anything", [{"score": 1.5}], [{"score": "high"}], []),
        (
            "data[*].score",
            "anything",
            [{"score": 1.5, "name": "a"}],
            [{"score": 2, "name": "b"}],
            ["data[0].name"],
        ),
        ("data.nextAt", "form", {"nextAt": "2031-05-06T07:08:09Z"}, {"nextAt": "soon"}, ["data.nextAt"]),
        ("data.publicKey", "equal", {"publicKey": "abc"}, {"publicKey": "xyz"}, ["data.publicKey"]),
        ("data.list", "anything", {"list": [1, 2]}, {"list": [3]}, []),
        (f"{op.ROLES} data.a", "anything", {"a": "x", "b": "x"}, {"a": "y", "b": "y"}, ["data.b"]),
        (f"{op.PROFILE} data.a", "anything", {"a": "x"}, {"a": "y"}, ["data.a"]),
    ],
)
def test_a_matcher_alone_decides_at_its_place(
    tmp_path: Path, place: str, kind: str, old: Json, new: Json, expected: list[str]
) -> None:
    assert differing(tmp_path, place, kind, old, new) == expected


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("similar", '"data.a" = "similar": there is no such kind'),
        ("matchers.py:far", "there is no function far in it"),
        ("matchers.py:close", "matchers.py:2: TypeError"),
    ],
)
def test_a_matcher_that_is_none_is_named(tmp_path: Path, kind: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        differing(tmp_path, "data.a", kind, {"a": "x"}, {"a": "y"})


def test_a_replay_asks_the_matchers_of_its_profile(tmp_path: Path) -> None:
    with recorder(recording := tmp_path / "traffic.jsonl") as (walker, _):
        walker.sign_in(walker.accounts["admin"])
        walker.get("/workspaces/current")
    fault = "workspace-without-a-time-zone"
    matcher = '\n[extend.matchers]\n"data.workspaceTimezone" = "anything"\n'

    plain = replayed(recording, tmp_path / "plain", faults=(fault,))
    matched = replayed(recording, tmp_path / "matched", faults=(fault,), edit=lambda text: text + matcher)

    assert plain.run.regressions
    assert matched.run.regressions == []
