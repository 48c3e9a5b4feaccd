"""How much must be tested for a verdict: half by default, what the profile expects where it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.report.model import words
from conformance.report.model.run import Scope
from conformance.run.floor import shortfalls, too_few, undecided
from conformance.run.testable import reachable_musts
from conformance.spec import REQUIREMENTS
from conformance.target.portal import Portal
from conformance.target.portal.availability import Availability
from conformance.target.profile.model import Profile, parse
from conformance.tests.deployment import command, done
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.table import ROWS
from conformance.tests.reached import connected, without
from conformance.traffic.exchange import Exchange, Request, Response
from conformance.verdicts.findings import Result, Verdict
from reference_impl.serve import start


def results(tested: Sequence[str]) -> list[Result]:
    """Every requirement, of which these were tested."""
    return [
        Result(row, Verdict.PASS if row.id in tested else Verdict.UNTESTED) for row in REQUIREMENTS.values()
    ]


@pytest.fixture(scope="module")
def signed_in() -> Iterator[Portal]:
    with connected() as (portal, _, _):
        portal.account("admin").signed_in()
        yield portal


def expecting(portal: Portal, **expect: Any) -> Portal:
    """The portal as it is, but for what its profile expects, and nothing that it expected before."""
    nothing: dict[str, Any] = {"musts": None, "accounts": [], "chapters": []}
    changed = portal.profile.expect.model_copy(update=nothing | expect)
    portal.profile = portal.profile.model_copy(update={"expect": changed})
    return portal


HALF = Scope(testable=400)
MUSTS = [name for name in REQUIREMENTS if name in words.MUSTS]


@pytest.mark.parametrize("answered, enough", [(400, False), (600, True)])
def test_a_portal_that_often_gives_no_answer_is_not_judged(answered: int, enough: bool) -> None:
    request = Request(method="GET", url="http://portal.example.test/web/v1/system/roles")
    availability = Availability("http://portal.example.test")
    for number in range(answered + 10):
        response = Response(status=200) if number < answered else None
        availability.note(
            Exchange(n=number, started="2031-05-06T07:08:09Z", request=request, response=response)
        )

    assert availability.is_poor is not enough


@pytest.mark.slow
def test_a_portal_that_resets_one_request_in_ten_is_inconclusive(tmp_path: Path) -> None:
    with start(seed=3) as origin, Hostile(ROWS["reset-one-in-ten"], origin.url, tmp_path) as hostile:
        profile = tmp_path / "portal.toml"
        profile.write_text(hostile.profile(origin.profile(), timeout=2.0), encoding="utf-8")
        arguments = ("--profile", str(profile), "--out", str(tmp_path / "out"), "--impact", "read-only")
        run = done(command("run", *arguments), tmp_path / "out")

    assert run.code == 5, run.said[-2_000:]
    assert "The portal is not available enough to be judged:" in run.said


@pytest.mark.parametrize(
    "expected, tested, enough",
    [(None, 199, False), (None, 200, True), (300, 299, False), (300, 300, True)],
)
def test_fewer_than_half_of_the_testable_musts_or_than_expected_are_too_few(
    signed_in: Portal, expected: int | None, tested: int, enough: bool
) -> None:
    reasons = list(shortfalls(expecting(signed_in, musts=expected), results(MUSTS[:tested]), HALF))

    half = f"{tested} of the 400 musts that can be tried were tested, fewer than half."
    assert (reasons == []) is enough
    assert enough or expected or reasons == [half]


def test_an_expected_account_must_have_held_a_token_and_an_expected_chapter_been_tested(
    signed_in: Portal,
) -> None:
    without_files = results([must for must in MUSTS if not must.startswith("FILE-")])
    untested = "[expect] chapters names FILE, and no must of that chapter was tested."

    portal = expecting(signed_in, musts=0, accounts=["admin", "spare"])
    assert list(shortfalls(portal, results(MUSTS), HALF)) == ["[accounts.spare] never received a token."]
    portal = expecting(signed_in, chapters=["FILE", "LOGIN"])
    assert list(shortfalls(portal, without_files, HALF)) == [untested]


@pytest.mark.parametrize(
    "edit, missing",
    [
        (lambda text: text, "[accounts.admin] never received a token."),
        (without("accounts.admin"), "No account ever received a token."),
    ],
)
def test_who_never_held_a_token_is_too_little_whatever_else_was_tested(
    edit: Callable[[str], str], missing: str
) -> None:
    """Without an admin any account will do."""
    with connected(edit=edit) as (portal, _, _):
        assert list(shortfalls(portal, results(MUSTS), HALF)) == [missing]
        portal.account("spare" if "No account" in missing else "admin").signed_in()
        assert list(shortfalls(portal, results(MUSTS), HALF)) == []


def test_a_least_number_counts_requirements_of_every_level() -> None:
    assert list(too_few(results(MUSTS[:9]), 10)) == [
        "9 requirements were tested, fewer than --min-tested 10."
    ]
    assert list(too_few(results(MUSTS[:10]), 10)) == []


def test_a_rerun_that_decides_none_of_what_it_names_came_to_nothing() -> None:
    first, second, *_ = MUSTS
    rows = results([second])

    assert list(undecided(rows, first, frozenset({first})))
    assert list(undecided(rows, second, frozenset({second, first}))) == []
    assert (
        list(undecided(rows, "cases/a.py::b", frozenset({first}))) == []
    )  # a case: whatever it comes across
    assert list(undecided(results([]), "cases/a.py::b", frozenset({first})))


@pytest.fixture(scope="module")
def profile() -> Profile:
    with start(seed=7) as running:
        return parse(running.profile(), {})


def test_less_can_be_tested_with_less_of_a_profile(profile: Profile) -> None:
    declared = set(MUSTS[:100])
    everything = reachable_musts(profile, "disruptive", declared)

    reading = reachable_musts(profile, "read-only", declared)
    anonymous = reachable_musts(profile.model_copy(update={"accounts": {}}), "disruptive", declared)

    assert declared <= reading < everything <= set(MUSTS)
    assert 0 < len(anonymous) < len(reading) / 4
