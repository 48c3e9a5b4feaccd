"""A finding can be seen again: by the suite, by curl where one request shows it, as HAR elsewhere."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import jwt
import pytest

from cases.every_endpoint.tokens import Forgery, changed_claims, changed_signature, unsigned
from conformance.report.formats.html.card.exchange_view import exchange_views
from conformance.report.model.again import curl, har, rerun, rerun_finding, rerun_rule
from conformance.report.model.evidence import RunEvidence
from conformance.spec.endpoints import LOGIN_COMPLETE
from conformance.tests.hostile.plays import playing
from conformance.tests.hostile.server import Hostile
from conformance.tests.hostile.wire import Answer
from conformance.tests.sample_run import (
    CHANGE,
    COMPLETE,
    INITIATE,
    PROFILE,
    URL,
    card_of,
    envelope,
    error,
    exchange,
    finding,
    page_of,
    sample,
)
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json, Plain


@pytest.mark.parametrize(
    "profile, impact, options",
    [
        ("bundled", "read-only", ""),
        (None, "read-only", f" --target {URL}"),
        ("my profile.toml", "mutating", f" --target {URL} --profile 'my profile.toml' --impact mutating"),
    ],
)
def test_the_rerun_line_has_the_options_of_the_run(profile: str | None, impact: str, options: str) -> None:
    line = rerun(sample().run(impact=impact, target_profile=profile), "ENV-008")

    assert line == f"portal-conformance run --rerun ENV-008{options}"


def initiated(email: str = "it's@example.test") -> Exchange:
    return exchange(1, INITIATE, sent={"email": email, "password": "[password-1]"})


def test_a_curl_line_sends_the_same_request_again(tmp_path: Path) -> None:
    line = curl([initiated()], {}) or ""
    secrets = {"ACCESS_CODE_1": "the code", "PASSWORD_1": 'a"b$c'}
    with Hostile(playing(lambda turn: turn.wire.send(Answer(status=204).head())), "", tmp_path) as portal:
        words = ["bash", "-c", line.replace(URL, portal.url)]
        subprocess.run(words, env={**os.environ, **secrets}, check=True, capture_output=True)

    (asked,) = portal.asked
    assert (asked.method, asked.target) == ("POST", "/web/v1/system/auth/login/initiate")
    assert asked.header("x-portal-access-code") == "the code"
    assert asked.body == b'{"email": "it\'s@example.test", "password": "a"b$c"}'


@pytest.mark.parametrize(
    "shown",
    [
        [exchange(1, CHANGE, sent="sealed", plain=Plain(request={}))],
        [initiated()] * 5,
        [initiated(), exchange(2, INITIATE, sent={"sessionId": "9b1f", "code": "123456"})],
        [initiated("\u202e")],
        [initiated("x" * 10_000)],
        [],
    ],
    ids=["encrypted", "many", "a value given before", "unseen characters", "too long", "not on record"],
)
def test_requests_that_cannot_be_sent_again_have_no_curl_lines(shown: list[Exchange]) -> None:
    assert curl(shown, {}) is None


def test_a_completion_takes_the_session_that_is_begun_before_it_and_a_code_of_its_own() -> None:
    begun = exchange(1, INITIATE, sent={}, answer={"success": True, "data": {"sessionId": "9b1f"}})
    completed = exchange(2, LOGIN_COMPLETE, sent={"sessionId": "9b1f", "code": "[code-1]"})
    line = curl([begun, completed], {"[code-1]": "mailed to accounts.admin"})

    assert line is not None
    assert line.splitlines()[:2] == [
        "# CODE_1: [code-1: mailed to accounts.admin]",
        f"# SESSION_ID_1: data.sessionId of the answer to {INITIATE}",
    ]
    assert """{"sessionId": "'"$SESSION_ID_1"'", "code": "'"$CODE_1"'"}""" in line
    assert curl([completed], {"[code-1]": "mailed to accounts.admin"}) is None


ORIGINS = {
    "[token-1]": "first seen in #2, POST /web/v1/system/auth/login/complete by admin",
    "[token-3]": "token-1, another signature",
}
FORGED = exchange(1, PROFILE, headers=[("Authorization", "Bearer [token-3]")])


def test_each_secret_of_a_curl_line_says_where_it_came_from_and_how_it_was_altered() -> None:
    line = curl([FORGED, FORGED], ORIGINS)

    assert line is not None
    assert line.splitlines()[:2] == [
        f"# TOKEN_1: [token-1: {ORIGINS['[token-1]']}]",
        "# TOKEN_3: [token-3: token-1, another signature]",
    ]
    assert "login/initiate" not in (curl([FORGED], {}) or "")
    assert line.count("""-H 'Authorization: Bearer '"$TOKEN_3\"""") == 2


@pytest.mark.parametrize("forge", [changed_signature, changed_claims, unsigned])
@pytest.mark.parametrize("length", range(3))
def test_a_curl_line_has_a_line_that_forges_its_token(forge: Callable[[str], Forgery], length: int) -> None:
    token = jwt.encode({"sub": "a" * length, "name": "\u00fc?>"}, "k" * 32)
    difference = forge(token)[1]

    lines = (curl([FORGED], {**ORIGINS, "[token-3]": f"token-1, {difference}"}) or "").splitlines()
    [recipe] = [line.removeprefix("#   ") for line in lines if line.startswith("#   TOKEN_3=")]
    shell = f'TOKEN_1={token}; {recipe}; printf %s "$TOKEN_3"'
    made = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True).stdout

    assert jwt.get_unverified_header(made)["alg"] == ("none" if forge is unsigned else "HS256")
    claims = jwt.decode(made, options={"verify_signature": False})
    assert claims.pop("suite", False) is (forge is changed_claims)
    assert claims == {"sub": "a" * length, "name": "\u00fc?>"}
    with pytest.raises(jwt.InvalidTokenError):
        jwt.decode(made, "k" * 32, algorithms=["HS256"])


def test_a_card_says_in_which_row_of_the_specification_its_rule_stands(tmp_path: Path) -> None:
    page = page_of(sample(), tmp_path).replace("<wbr>", "")

    transition = "States and transitions › Moves that are stated › POST login/complete"
    assert transition in card_of(page, "LOGIN-030")
    assert "Resources and their fields › Response envelope › data" in card_of(page, "ENV-008")


def test_har_is_read_back_as_it_was_and_says_of_each_secret_where_it_came_from(tmp_path: Path) -> None:
    steps = [FORGED, completing(2, "000000"), exchange(3, PROFILE, answer=envelope({"bizId": "ACC-001"}))]
    text = har(steps, ORIGINS, version="1.0")
    assert text is not None
    (tmp_path / "finding.har").write_text(text, encoding="utf-8")

    read = list(capture.read(tmp_path / "finding.har"))
    comments = [entry.get("comment") for entry in json.loads(text)["log"]["entries"]]

    assert comments == [f"[token-3: {ORIGINS['[token-3]']}] [token-1: {ORIGINS['[token-1]']}]", None, None]
    assert [(each.request.method, each.request.url, each.sent) for each in read] == [
        (each.request.method, each.request.url, each.sent) for each in steps
    ]
    assert [each.envelope for each in read[1:]] == [each.envelope for each in steps[1:]]
    assert [each.request.bearer for each in read] == ["[token-3]", None, None]
    assert har([], {}, version="1.0") is None


def test_a_card_shows_in_the_exchange_where_a_secret_came_from() -> None:
    evidence = RunEvidence(exchanges={1: FORGED})

    view = next(exchange_views(finding(exchanges=[1]), evidence, ORIGINS))

    assert ("Authorization", "Bearer [token-3: token-1, another signature]") in view.request.headers
    assert ("X-PORTAL-ACCESS-CODE", "[access-code-1]") in view.request.headers


def test_a_finding_of_a_rule_about_every_endpoint_is_seen_again_by_its_case() -> None:
    run = sample().run()
    case = "cases/errors/test_ids.py::test_an_id[role]"
    everywhere, somewhere = (finding(requirement=rule, case=case) for rule in ("ENV-008", "PAGE-026"))
    aside = somewhere.model_copy(update={"is_aside": True})
    by_check = finding(case="check envelope.data_is_null")
    shown = (everywhere, somewhere, aside, by_check)

    named = [shlex.split(rerun_finding(run, each))[3] for each in shown]
    assert named == [case, "PAGE-026", f"PAGE-026 {case}", "ENV-008"]
    with_aside = run.model_copy(update={"findings": [aside]})
    assert rerun_rule(with_aside, "PAGE-026") == rerun_finding(run, aside), "a row of the report, too"


def completing(number: int, code: str) -> Exchange:
    sent: Json = {"sessionId": "9b1f", "method": 10011002, "code": code}
    return exchange(number, COMPLETE, sent=sent, answer=error("AUTH.MFA_CODE_INVALID"), status=401)
