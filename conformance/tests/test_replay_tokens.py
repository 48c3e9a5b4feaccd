"""An access token of another form than the recorded one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.spec.endpoints import PROFILE
from conformance.tests.reached import connected
from conformance.tests.replays import recorded_visit, replayed


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sign-in as a browser saves it, with the tokens as they were."""
    path = tmp_path_factory.mktemp("raw") / "sign-in.jsonl"
    with connected() as (portal, seen, _running):
        token = portal.account("admin").fresh_sign_in().token
        assert portal.call(PROFILE, token=token).success
    path.write_bytes(b"".join(msgspec.json.encode(exchange) + b"\n" for exchange in seen))
    return path


def test_an_opaque_token_in_place_of_a_jwt_breaks_and_names_the_rule(raw: Path, tmp_path: Path) -> None:
    result = replayed(raw, tmp_path, variants=("opaque-tokens",))

    (regression,) = result.run.regressions
    row = regression.model_dump()
    assert (row["path"], row["requirement"], row["meaning"]) == ("data.accessToken", "TOKEN-025", "breaking")


def test_a_jwt_of_another_algorithm_is_no_difference(raw: Path, tmp_path: Path) -> None:
    assert replayed(raw, tmp_path, variants=("es256-tokens",)).run.regressions == []


def test_a_claim_that_repeats_the_profile_is_reported_where_it_is_sent(raw: Path, tmp_path: Path) -> None:
    result = replayed(raw, tmp_path, faults=("a-nested-claim-holds-the-phone",))

    (regression,) = result.run.regressions
    row = regression.model_dump()
    assert (row["path"], row["requirement"]) == ("headers.authorization", "TOKEN-028")
    assert (row["meaning"], row["replayed"]) == ("breaking", {"claims": ["ctx.tel"]})


def test_a_recorder_that_hides_a_token_says_that_it_was_a_jwt(tmp_path: Path) -> None:
    result = replayed(recorded_visit(tmp_path), tmp_path / "out", variants=("opaque-tokens",))

    (regression,) = result.run.regressions
    row = regression.model_dump()
    assert (row["path"], row["requirement"], row["meaning"]) == ("data.accessToken", "TOKEN-025", "breaking")


def test_a_hidden_token_of_other_claims_is_no_difference_where_nothing_speaks_against_them(
    tmp_path: Path,
) -> None:
    visit = recorded_visit(tmp_path)
    lines = visit.read_text(encoding="utf-8").replace('"claims":{', '"claims":{"locale":"word",')
    visit.write_text(lines, encoding="utf-8")

    assert '"locale"' in lines
    assert replayed(visit, tmp_path / "out").run.regressions == []


def test_a_recording_that_hides_the_form_of_its_tokens_blames_no_portal_for_another(tmp_path: Path) -> None:
    visit = recorded_visit(tmp_path)
    lines = [msgspec.json.decode(line) for line in visit.read_bytes().splitlines()]
    for line in lines:
        line.pop("hidden", None)
    visit.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    result = replayed(visit, tmp_path / "out", variants=("opaque-tokens",))

    assert result.run.regressions == []
    warned = {row.id for row in result.run.requirements if row.verdict == "warn"}
    assert "TOKEN-025" in warned
