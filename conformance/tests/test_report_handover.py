"""A finding is handed over as requests, as HAR and as an issue, without secrets or markup of a target."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.report.formats.handover import LONGEST, IssueDetails, har, http_file, issue_text
from conformance.report.formats.html.card.step_labels import step_labels
from conformance.report.formats.write import write_all
from conformance.report.model.evidence import SignInRecord, sign_in_of
from conformance.tests.sample_run import (
    COMPLETE,
    INITIATE,
    PROFILE,
    ROLES,
    envelope,
    error,
    exchange,
    finding,
    sample,
)
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Json, Plain


def completing(number: int, code: str) -> Exchange:
    sent: Json = {"sessionId": "9b1f", "method": 10011002, "code": code}
    return exchange(number, COMPLETE, sent=sent, answer=error("AUTH.MFA_CODE_INVALID"), status=401)


def test_steps_say_which_code_they_send_and_what_is_sent_again() -> None:
    steps = {
        1: completing(1, "000000"),
        2: completing(2, "[code-1]"),
        3: completing(3, "[code-1]"),
        4: exchange(4, PROFILE, answer=envelope()),
        5: completing(5, "[wrong-code-1]"),
    }

    assert step_labels(steps, SignInRecord()) == {
        1: "wrong code",
        2: "the account's code",
        3: "the account's code, again",
        5: "wrong code",
    }


def test_of_recorded_traffic_nobody_says_which_of_the_redacted_codes_is_wrong() -> None:
    steps = {1: completing(1, "[code-1]"), 2: completing(2, "[code-1]")}

    assert step_labels(steps, SignInRecord(), is_live=False) == {2: "again"}


def test_a_sign_in_says_whether_its_password_is_the_accounts() -> None:
    record = SignInRecord()
    right, wrong = (
        exchange(at, INITIATE, sent={"email": "a@example.test", "password": password}, answer=envelope({}))
        for at, password in ((1, "[password-1]"), (2, "not the password"))
    )
    record.take(sign_in_of(right))

    assert step_labels({1: right, 2: wrong}, record) == {1: "the account's password", 2: "wrong password"}


def test_an_http_file_has_each_request_with_secrets_as_variables() -> None:
    text = http_file({7: completing(7, "[code-1]")}, {7: "the account's code"})

    assert text is not None
    lines = text.splitlines()
    assert lines[:2] == [
        "### 7: the account's code",
        "POST https://portal.example.test/web/v1/system/auth/login/complete",
    ]
    assert "X-PORTAL-ACCESS-CODE: {{PORTAL_ACCESS_CODE}}" in lines
    assert '  "code": "{{CODE_1}}"' in lines
    token = http_file({1: exchange(1, ROLES, answer=envelope([]), token=True)}, {})
    assert token is not None
    assert "Authorization: Bearer {{TOKEN_1}}" in token
    assert token.startswith(
        "# TOKEN_1: the accessToken that POST /web/v1/system/auth/login/complete returns\n###"
    )


def test_an_id_that_an_answer_of_the_file_returns_is_a_variable_of_the_next_request() -> None:
    begun = exchange(5, INITIATE, sent={"email": "a"}, answer=envelope({"sessionId": "login-session-1"}))
    sent: Json = {"sessionId": "login-session-1", "method": 10011002, "code": "000000"}
    ended = exchange(8, COMPLETE, sent=sent, answer=error("AUTH.MFA_CODE_INVALID"), status=401)

    text = http_file({5: begun, 8: ended}, {})

    assert text is not None
    assert text.startswith("# SESSION_ID_5: the sessionId that request 5 returns\n### 5\n")
    assert '  "sessionId": "{{SESSION_ID_5}}"' in text
    assert "login-session-1" not in text


def test_what_cannot_be_sent_as_it_is_has_no_http_file() -> None:
    sealed = exchange(1, PROFILE, sent="x", answer=envelope(), plain=Plain(request={"password": "[p-1]"}))

    assert http_file({1: sealed}, {}) is None
    assert http_file({}, {}) is None
    assert http_file({1: exchange(1, PROFILE, sent={"name": "x" * LONGEST}, answer=envelope())}, {}) is None
    assert http_file({1: exchange(1, PROFILE, sent={"name": "\u202e"}, answer=envelope())}, {}) is None


def test_har_of_a_finding_is_read_back_as_the_same_exchanges(tmp_path: Path) -> None:
    steps = [completing(1, "000000"), exchange(2, PROFILE, answer=envelope({"bizId": "ACC-001"}))]
    text = har(steps, version="1.0")
    assert text is not None
    (tmp_path / "finding.har").write_text(text, encoding="utf-8")

    read = list(capture.read(tmp_path / "finding.har"))

    assert json.loads(text)["log"]["version"] == "1.2"
    assert [(each.request.method, each.request.url, each.sent) for each in read] == [
        (each.request.method, each.request.url, each.sent) for each in steps
    ]
    assert [each.envelope for each in read] == [each.envelope for each in steps]
    assert har([], version="1.0") is None


def test_an_issue_shows_text_of_the_target_as_it_is() -> None:
    details = IssueDetails(
        statement="On an error `data` is null.",
        section="Response envelope",
        severity="breaks a client",
        steps=["GET /web/v1/system/profile → 200 OK (again)"],
        rerun="portal-conformance run --rerun ENV-008",
        answer="2026-11-21T09:53:07Z, X-Request-Id `7",
        places=["GET /web/v1/system/roles data"],
    )

    text = issue_text(finding(actual="`x` <script>", message="![x](http://localhost/) @all"), details)

    assert text.startswith("**ENV-008: On an error `data` is null.**")
    assert '``"`x` <script>"``' in text
    assert "\\!\\[x\\]\\(http\\://localhost/\\) \\@all" in text
    assert '- specification: section "Response envelope"' in text
    assert "- answer: ``2026-11-21T09:53:07Z, X-Request-Id `7``" in text
    assert "- also at `GET /web/v1/system/roles data`" in text
    assert "1. `GET /web/v1/system/profile → 200 OK (again)`" in text
    assert text.endswith("Reproduce: `portal-conformance run --rerun ENV-008`")


def test_the_page_offers_all_of_them(tmp_path: Path) -> None:
    made = sample()
    write_all(made.run(), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")

    card = html[html.index('id="finding-LOGIN-030"') :].partition("</article>")[0]
    assert '<span class="step-label">the account&#39;s code</span>' in card
    for title in ("As an .http file", "As HAR", "Report it"):
        assert title in card
