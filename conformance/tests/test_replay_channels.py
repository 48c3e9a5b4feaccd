"""The secure channel and the tokens of a target, whatever the form that the recorded portal gave them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.replay import ReplayResult, replay
from conformance.replay.compare.outcome import State
from conformance.spec.endpoints import PROFILE
from conformance.target.portal.cipher import Scheme, seal
from conformance.target.profile.model import parse
from conformance.tests.reached import connected
from conformance.tests.replays import Replaying, options_for, recorder, replayed, rewritten, written
from conformance.traffic import capture
from reference_impl import serve as reference

CHANGE = "/auth/password/change"


@pytest.fixture(scope="module")
def two_changes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two changes of a password through the secure channel, there and back."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with recorder(out, open_channel=True) as (walker, _):
        spare = walker.accounts["spare"]
        walker.sign_in(spare)
        walker.change_password(spare["password"], "Another-password-1")
        walker.change_password("Another-password-1", spare["password"])
    return out


def without_channel(profile: str) -> str:
    return re.sub(r"(?ms)^\[secure_channel\].*?\n\n", "", profile)


@pytest.mark.parametrize(
    "variants",
    [
        ["key-as-pem", "pkcs1-padding", "public-key-with-moving-fields"],
        ["key-as-jwk", "oaep-sha1", "encrypted-objects"],
        ["key-with-more-about-it", "oaep-sha256-with-mgf1-sha1", "encrypted-answers"],
        ["keys-wrapped-as-text"],
    ],
    ids=" ".join,
)
def test_a_channel_is_opened_in_the_way_of_the_target(
    two_changes: Path, tmp_path: Path, variants: list[str]
) -> None:
    told = replayed(two_changes, tmp_path, variants=variants, edit=without_channel)

    changes = [one for one in capture.read(tmp_path / "exchanges.jsonl") if one.request.path.endswith(CHANGE)]
    states = [
        one.state for one in told.tally.kept if one.endpoint.endswith((CHANGE, "/secure-channel/session"))
    ]
    assert [one.success for one in changes][-2:] == [True, True]
    assert set(states) <= {State.CHANGED}
    assert told.run.ending.left_behind == []


def test_a_key_that_is_replaced_between_two_sessions_is_fetched_again(
    two_changes: Path, tmp_path: Path
) -> None:
    steps = 0
    with reference.start() as portal:

        def rotate(step: object) -> None:
            nonlocal steps
            steps += 1
            if steps == 4:
                portal.portal.secure_keys.clear()

        told = replay([two_changes], parse(portal.profile(), {}), options_for(tmp_path), on_step=rotate)

    assert told.run.regressions == []
    assert told.run.exit_code == 0


@pytest.mark.parametrize("is_open", [True, False])
def test_bodies_that_nobody_can_decrypt_are_sent_as_they_were(tmp_path: Path, is_open: bool) -> None:
    """One that is no ciphertext at all in any recording, one with another tag where its channel is open."""
    with recorder(out := tmp_path / "broken.jsonl", open_channel=is_open) as (walker, _):
        spare = walker.accounts["spare"]
        walker.sign_in(spare)
        session, key = walker.open_channel()
        body = {"oldPassword": spare["password"], "newPassword": spare["password"]}
        sealed = seal(json.dumps(body).encode(), key, Scheme())
        other = ("B" if sealed[-8] == "A" else "A").join((sealed[:-8], sealed[-7:]))
        for payload in (sealed, "!!", other):
            sent = json.dumps({"v": 2, "p": payload})
            walker.post("/auth/password/change", sent, **{"X-Secure-Channel-Session-Id": session})

    result = replayed(out, tmp_path / "reports")

    left = [one for one in result.tally.kept if one.state is not State.SAME]
    assert walker.statuses[-2:] == [400, 400]
    assert result.run.regressions == []
    assert [one.number for one in left] == ([] if is_open else [6, 8])
    assert all("record with --open-channel" in one.reason for one in left)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sign-in as a browser saves it, with the tokens as they were."""
    with connected() as (portal, seen, _running):
        token = portal.account("admin").fresh_sign_in().token
        assert portal.call(PROFILE, token=token).success
    return written(tmp_path_factory.mktemp("raw") / "sign-in.jsonl", *seen)


def test_an_opaque_token_in_place_of_a_jwt_breaks_and_names_the_rule(raw: Path, tmp_path: Path) -> None:
    assert_of_a_jwt(replayed(raw, tmp_path, variants=("opaque-tokens",)))


def assert_of_a_jwt(result: ReplayResult) -> None:
    (regression,) = result.run.regressions
    row = regression.model_dump()
    assert (row["path"], row["requirement"], row["meaning"]) == ("data.accessToken", "TOKEN-025", "breaking")


def test_a_claim_that_repeats_the_profile_is_reported_where_it_is_sent(raw: Path, tmp_path: Path) -> None:
    result = replayed(raw, tmp_path, faults=("a-nested-claim-holds-the-name",))

    (regression,) = result.run.regressions
    row = regression.model_dump()
    assert (row["path"], row["requirement"]) == ("headers.authorization", "TOKEN-028")
    assert (row["meaning"], row["replayed"]) == ("breaking", {"claims": ["ctx.displayName"]})


def test_a_recorder_that_hides_a_token_says_that_it_was_a_jwt(visit: Replaying) -> None:
    assert_of_a_jwt(visit(variants=("opaque-tokens",)))


def test_a_recording_that_hides_the_form_of_its_tokens_blames_no_portal_for_another(
    recording: Path, tmp_path: Path
) -> None:
    visit = rewritten(recording, lambda line: line.pop("hidden", None), tmp_path / "visit.jsonl")

    result = replayed(visit, tmp_path / "out", variants=("opaque-tokens",))

    assert result.run.regressions == []
    warned = {row.id for row in result.run.requirements if row.verdict == "warn"}
    assert "TOKEN-025" in warned
