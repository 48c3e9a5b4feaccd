"""A browser's visit replayed on faulty and on lawful portals: what changed is reported, at its place."""

from __future__ import annotations

import pytest

from conformance.tests.browser_client import proxied_once
from conformance.tests.replayed_faults import SEED, Bench, differing, trial
from reference_impl.faults import FAULTS

SHOWN_BY_THE_VISIT = [
    {
        "a-file-has-another-hash-at-each-read": "data.etag",
        "a-file-is-created-when-it-is-read": "data.createdAt",
        "a-password-signs-in-in-any-case": "status",
        "subject-of-the-token-is-the-email": "data.accessToken",
        "the-history-counts-one-more": "data.pagination.totalRecords",
    },
    {"a-channel-was-made-hours-ago": "data.createdAt", "sessions-began-a-year-ago": "data[0].loginTime"},
    {"a-mailed-code-is-an-authenticators": "status"},
    {"the-history-is-everybodys": "data.items[2].bizId"},
    {"a-password-signs-in-without-its-last-letter": "status"},
]
"""What shows only in times, or where somebody reads twice, mistakes a password or a code, or is not
alone; and where."""

OTHER_PLACES = {
    "a-nested-claim-holds-the-name": ("POST /web/v1/system/auth/login/complete", "data.accessToken"),
    "a-file-is-created-when-it-is-read": ("GET /web/v1/system/files/{fileBizId}", "data.createdAt"),
}
"""Two answers disagree, and nothing says which of both is right: the other one is named as well."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(proxied_once(tmp_path_factory))


def test_the_same_portal_asked_the_same_answers_the_same(bench: Bench) -> None:
    assert bench.varying == set()
    assert bench.sound.regressions == []


def test_another_portal_of_the_build_only_renames_generated_values(bench: Bench) -> None:
    other = trial(bench.recording, seed=SEED + 1)
    done = list(differing(bench.sound, other, bench.varying))

    assert done
    assert bench.is_renaming(other, done)


@pytest.mark.parametrize("faults", SHOWN_BY_THE_VISIT, ids=" ".join)
def test_what_the_visit_tries_is_reported_where_it_goes_otherwise(
    bench: Bench, faults: dict[str, str]
) -> None:
    faulty = trial(bench.recording, faults=list(faults))

    assert faulty.replayed.run.exit_code == 1
    assert {regression.meaning for regression in faulty.regressions} == {"breaking"}
    assert {regression.path for regression in faulty.regressions} >= set(faults.values())


@pytest.mark.parametrize("fault", OTHER_PLACES)
def test_where_two_answers_disagree_both_are_named(bench: Bench, fault: str) -> None:
    verdict = bench.judged(FAULTS[fault])

    other = verdict.reported[0].model_dump()["other"]
    assert (other["endpoint"], other["path"]) == OTHER_PLACES[fault]
    assert other["recorded_exchange"] < verdict.reported[0].model_dump()["recorded_exchange"]
    assert verdict.elsewhere == []


@pytest.mark.parametrize("fault", ["account-times-of-another-zone", "secure-session-told-as-expired"])
def test_what_the_specification_alone_tells_is_a_regression(bench: Bench, fault: str) -> None:
    verdict = bench.judged(FAULTS[fault])

    assert verdict.reported
    assert all("requirement" in one.model_dump() for one in verdict.reported)
    assert verdict.elsewhere == []
