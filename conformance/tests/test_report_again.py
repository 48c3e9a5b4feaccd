"""A finding can be seen again: by the suite, by curl where one request shows it, by a script elsewhere."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from conformance.report.model.again import curl, rerun, variables
from conformance.report.model.evidence import SignInRecord, read
from conformance.report.model.run import Scope
from conformance.report.model.script import script
from conformance.report.model.script_text import comparison
from conformance.tests.sample_run import (
    CHANGE,
    INITIATE,
    PROFILE,
    ROLES,
    envelope,
    error,
    exchange,
    finding,
    sample,
)
from conformance.traffic.exchange import Exchange, Plain
from reference_impl import serve
from reference_impl.faults import FAULTS


def test_the_rerun_line_names_requirement_target_and_profile() -> None:
    run = sample().run(impact="mutating", target_profile="my profile.toml")

    assert shlex.split(rerun(run, "ENV-008")) == [
        "portal-conformance",
        "run",
        "--rerun",
        "ENV-008",
        "--target",
        "https://portal.example.test",
        "--profile",
        "my profile.toml",
        "--impact",
        "mutating",
    ]


def test_the_rerun_line_lasts_no_longer_than_the_run_could() -> None:
    words = shlex.split(rerun(sample().run(scope=Scope(time_budget="10m"), strict=True), "ENV-008"))

    assert words[-3:] == ["--strict", "--time-budget", "10m"]


@pytest.mark.parametrize(
    "profile, options", [("bundled", []), (None, ["--target", "https://portal.example.test"])]
)
def test_the_rerun_line_has_no_option_that_the_run_had_not(profile: str | None, options: list[str]) -> None:
    words = shlex.split(rerun(sample().run(target_profile=profile), "ENV-008"))

    assert words == ["portal-conformance", "run", "--rerun", "ENV-008", *options]


def test_a_check_of_recorded_traffic_is_seen_again_by_checking_what_was_recorded() -> None:
    assert rerun(sample().run(command="check"), "ENV-008") == "portal-conformance check exchanges.jsonl"


def initiated(**changes: object) -> Exchange:
    options: dict[str, object] = {
        "sent": {"email": "it's@example.test", "password": "[password-1]"},
        **changes,
    }
    return exchange(1, INITIATE, **options)  # type: ignore[arg-type]


def test_a_curl_line_has_variables_in_place_of_secrets() -> None:
    line = curl(initiated(), finding(exchanges=[1]))

    assert line is not None
    assert variables(line) == ["PORTAL_ACCESS_CODE", "PASSWORD"]
    assert "[password-1]" not in line


def test_a_curl_line_sends_the_same_request_again(tmp_path: Path) -> None:
    got: list[tuple[str, str, str | None, bytes]] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.command, self.path, self.headers["X-PORTAL-ACCESS-CODE"], content))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    Thread(target=server.handle_request, daemon=True).start()
    line = curl(initiated(), finding(exchanges=[1]))
    assert line is not None
    line = line.replace("https://portal.example.test", f"http://127.0.0.1:{server.server_port}")

    secrets = {"PORTAL_ACCESS_CODE": "the code", "PASSWORD": 'a"b$c'}
    subprocess.run(["bash", "-c", line], env={**os.environ, **secrets}, check=True, capture_output=True)

    body = b'{"email": "it\'s@example.test", "password": "a"b$c"}'
    assert got == [("POST", "/web/v1/system/auth/login/initiate", "the code", body)]


@pytest.mark.parametrize(
    "shown, numbers",
    [
        (exchange(1, PROFILE, token=True), [1]),
        (exchange(1, CHANGE, sent="sealed", plain=Plain(request={})), [1]),
        (initiated(), [1, 2]),
        (exchange(1, INITIATE, sent={"sessionId": "9b1f", "code": "123456"}), [1]),
        (initiated(sent={"email": "\u202e"}), [1]),
        (initiated(sent={"email": "x" * 10_000}), [1]),
    ],
    ids=["token", "encrypted", "more than one step", "a value given before", "unseen characters", "too long"],
)
def test_where_one_request_cannot_show_it_there_is_no_curl_line(shown: Exchange, numbers: list[int]) -> None:
    assert curl(shown, finding(exchanges=numbers)) is None


def known() -> SignInRecord:
    return SignInRecord(
        tokens={"[token-1]": "admin"}, sessions={"9b1f": "admin"}, access_code="[access-code-1]"
    )


def test_a_script_signs_in_as_the_account_did() -> None:
    told = script(
        sample().run(),
        finding(requirement="ENV-011", path="timestamp", expected="epoch milliseconds", exchanges=[1]),
        [exchange(1, PROFILE, token=True, answer=envelope())],
        known(),
    )

    assert told is not None
    compile(told, "again.py", "exec")
    assert "session1 = portal.account('admin').fresh_sign_in()" in told
    assert "step1 = portal.call('GET /web/v1/system/profile', token=session1.token)" in told
    assert "load(Path('staging.toml'), target='https://portal.example.test')" in told


def test_a_value_that_an_earlier_step_gave_is_taken_from_that_step() -> None:
    steps = [
        exchange(1, ROLES, token=True, answer=envelope([{"bizId": "ROLE-0000001"}])),
        exchange(
            2,
            "GET /web/v1/system/roles/ROLE-0000001",
            token=True,
            answer=error("RESOURCE.NOT_FOUND"),
            after=61,
        ),
    ]
    told = script(sample().run(), finding(path="success", expected=True, exchanges=[1, 2]), steps, known())

    assert told is not None
    assert 'roleBizId=step1.at("data[0].bizId")' in told
    assert 'portal.clock.wait(61, "what the run waited for")' in told
    assert "seen = step2.at('success')" in told


@pytest.mark.parametrize(
    "step",
    [
        exchange(1, "POST /web/v1/system/security/ip-whitelist/enable", token=True, answer=envelope()),
        exchange(1, PROFILE, headers=[("Authorization", "Bearer [token-9]")], answer=error("4010")),
        exchange(1, "GET /elsewhere", answer=envelope()),
        exchange(1, ROLES, sent={"x": "[password-4]"}, answer=envelope()),
    ],
    ids=[
        "it changes something",
        "a token that nobody gave",
        "no endpoint of the portal",
        "a secret that is gone",
    ],
)
def test_where_a_script_would_do_harm_or_lack_something_there_is_none(step: Exchange) -> None:
    assert script(sample().run(), finding(exchanges=[1]), [step], known()) is None


@pytest.mark.parametrize(
    "expected, path, compares",
    [
        (True, "success", True),
        ("AUTH.MFA_CODE_INVALID", "code", True),
        ({"one of": [400, 401]}, "status", True),
        ({"status": [404], "code": "RESOURCE.NOT_FOUND"}, "code", True),
        (10010101, "data.accountPortal.value", True),
        ("a string", "data.x", False),
        ("7f3c9a6e-this-run-only", "data.bizId", False),
        (1795254787000, "timestamp", False),
    ],
)
def test_only_what_is_the_same_in_every_run_is_compared(expected: object, path: str, compares: bool) -> None:
    assert bool(comparison(finding(expected=expected, path=path))) is compares


def test_who_signed_in_is_told_from_the_exchanges(tmp_path: Path) -> None:
    found = read(sample().write(tmp_path / "exchanges.jsonl"), ()).sign_ins

    assert found.tokens == {"[token-1]": "admin"}
    assert found.sessions == {"9b1f": "admin"}
    assert found.password_of("ADMIN@example.test") == "[password-1]"
    assert found.access_code == "[access-code-1]"


BROKEN = next(name for name, fault in FAULTS.items() if fault.breaks == ("ACCOUNT-005",))


@pytest.mark.parametrize("fault, code", [(BROKEN, 1), (None, 0)])
def test_a_script_as_it_stands_shows_the_contradiction_and_nothing_on_a_correct_portal(
    tmp_path: Path, fault: str | None, code: int
) -> None:
    step = exchange(1, PROFILE, token=True, answer=envelope())
    with serve.start(faults=[fault] if fault else []) as portal:
        (tmp_path / "portal.toml").write_text(portal.profile(), encoding="utf-8")
        run = sample().run(target_profile="portal.toml", target_url=portal.url)
        told = script(
            run,
            finding(requirement="ACCOUNT-005", path="data.accountName", expected="a text", exchanges=[1]),
            [step],
            known(),
        )
        assert told is not None
        (tmp_path / "again.py").write_text(told, encoding="utf-8")

        done = subprocess.run(
            [sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert done.returncode == code, done.stdout + done.stderr
    assert ("data.accountName" in done.stdout) is bool(code)
