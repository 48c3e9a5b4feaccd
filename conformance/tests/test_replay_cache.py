"""A replay comes to the same without caches: the same ledger, regressions and lines of the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.tests.polling import crowd, poll, recording_of
from conformance.tests.replay_logs import conclusions, log_of
from conformance.tests.replays import recorder, steps_of

SEED = 11

FAULTS = [
    "a-method-twice",
    "role-without-a-name",
    "profile-is-another-from-the-second-call",
    "refresh-is-refused",
    "account-status-by-another-name",
    "issued-token-is-not-accepted",
    "inactive-channels-tell-their-password",
]
CROWD_FAULTS = [
    "a-method-twice",
    "profile-is-another-from-the-second-call",
    "issued-token-is-not-accepted",
]
VARIANTS = ["gzip", "chunked", "header-case", "further-headers", "numeric-ids", "opaque-tokens", "cookies"]


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording_of(poll, tmp_path_factory.mktemp("polled") / "polled.jsonl", seed=SEED)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several clients who look at the same pages."""
    return recording_of(crowd, tmp_path_factory.mktemp("crowded") / "crowded.jsonl", seed=SEED)


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole visit, recorded with the secure channel opened."""
    out = tmp_path_factory.mktemp("visit") / "traffic.jsonl"
    with recorder(out, open_channel=True, seed=SEED) as (walker, _):
        walker.visit()
    return out


def differs_nowhere(
    recording: Path, out: Path, *, faults: tuple[str, ...] = (), variants: tuple[str, ...] = ()
) -> bool:
    """Whether a replay with caches and one without come to the same. Where they do not, both are repeated
    once: two times that a portal makes may be the same millisecond in one replay alone."""
    fast, slow = _both(recording, out / "first", faults, variants)
    if fast != slow:
        fast, slow = _both(recording, out / "second", faults, variants)
    assert fast == slow
    return len(slow[1]) > 20


Outcome = tuple[dict[str, object], list[object]]


def _both(
    recording: Path, out: Path, faults: tuple[str, ...], variants: tuple[str, ...]
) -> tuple[Outcome, Outcome]:
    """What a replay with caches comes to and logs, and one without."""
    fast, _ = steps_of(recording, out / "fast", faults=faults, variants=variants, seed=SEED)
    slow, _ = steps_of(recording, out / "slow", faults=faults, variants=variants, seed=SEED, cache=False)
    with_caches, without = list(log_of(out / "fast")), list(log_of(out / "slow"))
    return (conclusions(fast), with_caches), (conclusions(slow), without)


@pytest.mark.parametrize("fault", [None, *FAULTS])
def test_a_polled_portal_with_a_fault_is_reported_alike_without_caches(
    fault: str | None, polled: Path, tmp_path: Path
) -> None:
    assert differs_nowhere(polled, tmp_path, faults=(fault,) if fault else ())


@pytest.mark.parametrize("fault", [None, *CROWD_FAULTS])
def test_clients_who_see_the_same_are_reported_alike_without_caches(
    fault: str | None, crowded: Path, tmp_path: Path
) -> None:
    assert differs_nowhere(crowded, tmp_path, faults=(fault,) if fault else ())


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_lawful_variant_is_reported_alike_without_caches(
    variant: str, polled: Path, tmp_path: Path
) -> None:
    assert differs_nowhere(polled, tmp_path, variants=(variant,))


@pytest.mark.parametrize("fault", [None, "a-method-twice", "login-session-expires-in-text"])
def test_a_whole_visit_is_reported_alike_without_caches(
    fault: str | None, visit: Path, tmp_path: Path
) -> None:
    assert differs_nowhere(visit, tmp_path, faults=(fault,) if fault else ())
