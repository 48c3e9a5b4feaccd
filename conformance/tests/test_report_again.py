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

from conformance.report.model.again import curl, rerun, rerun_finding, variables
from conformance.report.model.evidence import SignInRecord, read
from conformance.report.model.run import Scope
from conformance.report.model.script import script
from conformance.report.model.script_text import comparison, script_text
from conformance.tests.sample_run import (
    CHANGE,
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
from conformance.traffic.exchange import Exchange, Json, Plain
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
    assert "portal.clock.on_wait = say" in told


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


def test_an_id_that_should_not_be_found_is_sent_as_it_was() -> None:
    step = exchange(1, "GET /web/v1/system/roles/WS-0000001", token=True, answer=envelope({}))
    unknown = {"status": 404, "code": "RESOURCE.NOT_FOUND"}
    wrong = script(sample().run(), finding(path="code", expected=unknown, exchanges=[1]), [step], known())
    shape = script(
        sample().run(), finding(path="data.bizId", expected="a string", exchanges=[1]), [step], known()
    )

    other = script(
        sample().run(),
        finding(path="data.bizId", expected="WS-0000001", exchanges=[1]),
        [exchange(1, "GET /web/v1/system/roles/WS-0000001", token=True, answer=envelope({"bizId": "R-2"}))],
        known(),
    )

    assert other is not None
    assert "roleBizId='WS-0000001'" in other
    assert wrong is not None
    assert "roleBizId='WS-0000001'" in wrong
    assert shape is not None
    assert "roleBizId=portal.record('role')" in shape


@pytest.mark.parametrize(
    "scheme, status",
    [("Token [token-1]", 200), ("Bearer [token-1]", 429)],
    ids=["another scheme", "a used-up rate"],
)
def test_what_a_script_cannot_send_or_bring_about_leaves_it_out(scheme: str, status: int) -> None:
    step = exchange(1, ROLES, headers=[("Authorization", scheme)], answer=envelope([]), status=status)

    assert script(sample().run(), finding(path="success", expected=False), [step], known()) is None


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


def completing(number: int, code: str, *, success: bool = False) -> Exchange:
    answer = envelope({}) if success else error("AUTH.SESSION_NOT_FOUND")
    sent: Json = {"sessionId": "9b1f", "method": 10011001, "code": code}
    return exchange(number, COMPLETE, sent=sent, answer=answer)


def test_a_script_sends_the_wrong_code_that_the_run_sent_and_asks_for_the_right_one() -> None:
    told = script(
        sample().run(),
        finding(requirement="LOGIN-030", path="success", expected=True, exchanges=[1, 2]),
        [completing(1, "[wrong-code-1]"), completing(2, "[code-1]")],
        known(),
    )

    assert told is not None
    wrong = "portal.account('admin').wrong_code('EMAIL')"
    steps = [line.strip() for line in told.splitlines() if "portal.login" in line or "code1 =" in line]
    assert steps == [
        "login1 = portal.login.initiate(portal.account('admin'))",
        f"step1 = portal.login.complete(login1, method='EMAIL', code={wrong})",
        "portal.login.send(login1)",
        "code1 = portal.account('admin').code('EMAIL')",
        "step2 = portal.login.complete(login1, method='EMAIL', code=code1)",
    ]


def test_a_script_sends_a_code_again_that_the_run_sent_twice_and_needs_both_steps_for_it() -> None:
    twice = [completing(1, "[code-1]", success=True), completing(2, "[code-1]", success=True)]
    accepted = finding(requirement="LOGIN-061", path="success", expected=False, exchanges=[1, 2])
    told = script(sample().run(), accepted, twice, known())

    assert told is not None
    assert told.count("portal.account('admin').code('EMAIL')") == 1
    assert told.count("code=code1)") == 2
    assert script(sample().run(), finding(expected=False, exchanges=[2]), twice[1:], known()) is None


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


def test_the_email_of_an_account_is_compared_as_it_is_the_same_in_every_run() -> None:
    own = finding(expected="Admin@example.test", path="data.accountEmail")

    assert comparison(own) == ""
    assert comparison(own, {"admin@example.test"}) == "ANSWER.at('data.accountEmail')"
    assert comparison(own.model_copy(update={"requirement": "AGREE-001"}), {"admin@example.test"}) == ""


def test_a_script_says_what_it_waits_for() -> None:
    text = script_text(
        sample().run(), finding(), ["portal.clock.wait(1.0, 'a cooldown')"], answers=[("step1", True)]
    )

    assert "    portal.clock.on_wait = say\n    portal.clock.wait" in text
    assert 'print(f"waiting {seconds:.0f} s for {why}", file=sys.stderr)' in text


def test_who_signed_in_is_told_from_the_exchanges(tmp_path: Path) -> None:
    found = read(sample().write(tmp_path / "exchanges.jsonl"), ()).sign_ins

    assert found.tokens == {"[token-1]": "admin"}
    assert found.sessions == {"9b1f": "admin"}
    assert found.password_of("ADMIN@example.test") == "[password-1]"
    assert found.access_code == "[access-code-1]"


BROKEN = next(name for name, fault in FAULTS.items() if fault.breaks == ("ACCOUNT-005",))


@pytest.mark.slow
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


def test_what_reproduces_a_warning_ends_with_1_and_says_that_it_is_one() -> None:
    run, warned = sample().run(), finding(requirement="LOGIN-080", verdict="warn", path="", exchanges=[1])
    told = script(run, warned, [exchange(1, ROLES, token=True, answer=envelope([]))], known())

    assert told is not None
    assert "Exit code 1: the warning was reproduced. Exit code 0: it was not." in told
    assert "'--rerun', 'LOGIN-080'" in told
    assert "'--strict'" in told
    assert rerun(run, "LOGIN-080", is_strict=True).endswith(" --strict")
    assert "--strict" not in rerun(run, "LOGIN-080")


def test_a_finding_of_a_rule_about_every_endpoint_is_seen_again_by_its_case() -> None:
    run = sample().run()
    everywhere = finding(requirement="ENV-008", case="cases/errors/test_ids.py::test_an_id[role]")
    somewhere = finding(requirement="PAGE-026", case="cases/errors/test_ids.py::test_an_id[role]")

    assert shlex.split(rerun_finding(run, everywhere))[3] == "cases/errors/test_ids.py::test_an_id[role]"
    assert shlex.split(rerun_finding(run, somewhere))[3] == "PAGE-026"
    assert shlex.split(rerun_finding(run, finding(case="check envelope.data_is_null")))[3] == "ENV-008"
