"""A browser's visit replayed on faulty and on lawful portals: what changed is reported, at its place."""

from __future__ import annotations

from hashlib import sha256

import pytest

from conformance.tests.browser_client import by_the_proxy
from conformance.tests.replayed_faults import Bench
from reference_impl.faults import FAULTS

DRAWN = 45
KEEPING = (
    "gzip",
    "other-order-of-fields",
    "rate-of-all",
    "old-refresh-tokens-stay-valid",
    "password-change-ends-sessions",
    "oaep-sha1",
    "cbc-with-the-iv-last",
    "encrypted-objects",
    "large-size-refused",
    "request-id-required",
)
"""Variants of every kind that answer what was asked as it was recorded."""

CHOOSING = ("numeric-ids", "urn-ids", "es256-tokens", "opaque-tokens", "zero-offset", "encrypted-answers")
"""Variants whose answers differ in what nobody may rely on: the form of ids, of tokens, of times."""

ELSEWHERE = "listed-roles-were-updated-at-another-time"
"""The list is read before each role, whose time is then reported: nothing says which of both is right."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(by_the_proxy(tmp_path_factory.mktemp("faults") / "proxy.jsonl"))


def test_the_same_portal_asked_the_same_answers_the_same(bench: Bench) -> None:
    assert bench.varying == set()
    assert bench.sound.regressions == []


def test_what_changes_an_answer_shows_without_a_replay(bench: Bench) -> None:
    assert not bench.conversation.is_answered_otherwise()
    assert not bench.conversation.is_answered_otherwise(faults=["post-auth-password-reset-is-not-offered"])
    assert bench.conversation.is_answered_otherwise(faults=["order-amount-text"])
    assert bench.conversation.is_answered_otherwise(variants=["gzip"])


def test_faults_are_reported_at_the_endpoint_and_place_where_they_change_an_answer(bench: Bench) -> None:
    candidates = [fault for fault in bench.candidates() if fault.name != ELSEWHERE]
    # By their names, so that a new fault changes the draw by one at most.
    drawn = sorted(candidates, key=lambda fault: sha256(fault.name.encode()).digest())[:DRAWN]
    verdicts = [
        verdict for verdict in map(bench.judged, drawn) if verdict.is_touched and not verdict.is_renaming
    ]

    missed = [one.fault.name for one in verdicts if not one.is_reported]
    assert len(verdicts) >= DRAWN / 3
    assert len(missed) <= 0.05 * len(verdicts), missed


@pytest.mark.parametrize("fault", ["sessions-began-a-year-ago", "a-channel-was-made-hours-ago"])
def test_a_time_that_does_not_fit_its_response_is_reported(bench: Bench, fault: str) -> None:
    verdict = bench.judged(FAULTS[fault])

    assert {one.kind for one in verdict.reported} == {"time"}


def test_a_fault_that_renames_generated_values_shows_in_no_recording(bench: Bench) -> None:
    verdict = bench.judged(FAULTS["a-file-has-another-hash-at-each-read"])

    assert verdict.is_touched
    assert verdict.is_renaming


@pytest.mark.parametrize(
    "fault",
    [
        "account-times-of-another-zone",
        "order-completed-before-it-was-created",
        "secure-session-told-as-expired",
    ],
)
def test_what_only_the_specification_tells_from_the_recorded_is_a_regression(
    bench: Bench, fault: str
) -> None:
    verdict = bench.judged(FAULTS[fault])

    assert verdict.is_touched
    assert verdict.reported
    assert all("requirement" in one.model_dump() for one in verdict.reported)
    assert verdict.elsewhere == []


@pytest.mark.parametrize("variant", KEEPING)
def test_a_variant_that_keeps_the_recorded_choices_is_no_regression(bench: Bench, variant: str) -> None:
    is_kept, lawful = bench.under(variant)

    assert is_kept
    assert lawful.regressions == []


@pytest.mark.parametrize("variant", CHOOSING)
def test_other_ids_tokens_and_forms_of_times_are_no_regression(bench: Bench, variant: str) -> None:
    is_kept, lawful = bench.under(variant)

    assert not is_kept
    assert lawful.regressions == []
