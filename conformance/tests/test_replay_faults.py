"""A browser's visit replayed on faulty and on lawful portals: what changed is reported, at its place."""

from __future__ import annotations

from hashlib import sha256

import pytest

from conformance.tests.asked_again import Conversation
from conformance.tests.browser_client import by_the_proxy
from conformance.tests.replayed_faults import SEED, Bench, differing, trial
from reference_impl.faults import FAULTS

DRAWN = 36
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

CHOOSING = (
    "numeric-ids",
    "urn-ids",
    "history-counted-for-each-account",
    "es256-tokens",
    "zero-offset",
    "encrypted-answers",
)
"""Variants whose answers differ in what nobody may rely on: the form of ids, of tokens, of times."""

SHOWN_BY_THE_VISIT = {
    "a-file-is-created-when-it-is-read": "data.createdAt",
    "a-read-updates-the-institution": "data.updatedAt",
    "a-mailed-code-is-an-authenticators": "status",
    "a-password-signs-in-in-any-case": "status",
    "a-password-signs-in-without-its-last-letter": "status",
    "emailed-code-refused": "status",
    "revoked-authenticator-is-offered": "data.mfaMethods",
    "subject-of-the-token-is-the-email": "data.accessToken",
    "the-history-counts-one-more": "data.pagination.totalRecords",
    "the-history-is-everybodys": "data.items[2].bizId",
}
"""What shows only where somebody reads twice, mistakes a password or a code, or is not alone; and where."""

OTHER_PLACES = {
    "listed-roles-were-updated-at-another-time": ("GET /web/v1/system/roles", "data[0].updatedAt"),
    "a-nested-claim-holds-the-name": ("POST /web/v1/system/auth/login/complete", "data.accessToken"),
    "a-file-is-created-when-it-is-read": ("GET /web/v1/system/files/{fileBizId}", "data.createdAt"),
}
"""Two answers disagree, and nothing says which of both is right: the other one is named as well."""


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
    candidates = bench.candidates()
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


@pytest.mark.parametrize("fault", SHOWN_BY_THE_VISIT)
def test_what_the_visit_tries_is_reported_where_it_goes_otherwise(bench: Bench, fault: str) -> None:
    verdict = bench.judged(FAULTS[fault])

    assert verdict.exit_code == 1
    assert {one.meaning for one in verdict.reported} == {"breaking"}
    assert verdict.reported[0].path == SHOWN_BY_THE_VISIT[fault]


@pytest.mark.parametrize("fault", OTHER_PLACES)
def test_where_two_answers_disagree_both_are_named(bench: Bench, fault: str) -> None:
    verdict = bench.judged(FAULTS[fault])

    other = verdict.reported[0].model_dump()["other"]
    assert (other["endpoint"], other["path"]) == OTHER_PLACES[fault]
    assert other["recorded_exchange"] < verdict.reported[0].model_dump()["recorded_exchange"]
    assert verdict.elsewhere == []


def test_another_portal_of_the_build_only_renames_generated_values(bench: Bench) -> None:
    other = trial(bench.recording, seed=SEED + 1)
    done = list(differing(bench.sound, other, bench.varying))

    assert done
    assert bench.is_renaming(other, done)


def test_what_a_lawful_portal_answers_as_well_shows_in_no_recording(bench: Bench) -> None:
    verdict = bench.judged(FAULTS["an-encrypted-channel-ends-a-minute-before-it-says"])
    short = Conversation(SEED, bench.conversation.began, bench.conversation.asked[:8])

    assert verdict.is_touched
    assert verdict.is_lawful
    assert not short.is_answered_lawfully("timestamp-as-text")


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
