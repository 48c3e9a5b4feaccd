"""Credentials of elsewhere in a profile, against a portal that takes them, and one that does not."""

from __future__ import annotations

import json
import os
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from conformance.spec.endpoints import PROFILE
from conformance.target.portal import Portal
from conformance.target.profile.model import parse
from conformance.tests.deployment import Done, deployed
from conformance.tests.planted import standing


def run(folder: Path, rule: str, *, fault: str | None = None, key: str = "") -> Done:
    """A run of one rule; ``key`` is a key of the profile that is taken out."""
    with deployed(folder, seed=7, faults=[fault] if fault else []) as portal:
        text = portal.profile.read_text(encoding="utf-8")
        if key:
            portal.profile.write_text(re.sub(rf"(?m)^{key} = .*\n", "", text), encoding="utf-8")
        done = portal.run("--only", rule)
        secrets = {portal.running.portal.other_access_code, portal.running.portal.api_key}
    assert standing(secrets, *(path for path in done.out.iterdir() if path.is_file())) == []
    return done


@pytest.mark.parametrize(
    "rule, key, fault, without",
    [
        ("HEADER-002", "other_access_code", "another-portals-access-code-lets-in", "pass"),
        ("FILE-022", "api_key", "issued-api-key-opens-the-file", "untested"),
    ],
)
def test_a_credential_of_elsewhere_decides_the_rule(
    tmp_path: Path, rule: str, key: str, fault: str, without: str
) -> None:
    assert run(tmp_path, rule).verdict(rule) == "pass"
    assert run(tmp_path, rule, fault=fault).verdict(rule) == "fail"
    assert run(tmp_path, rule, fault=fault, key=key).verdict(rule) == without


def test_without_an_api_key_a_made_up_one_that_opens_a_file_is_noticed(tmp_path: Path) -> None:
    done = run(tmp_path, "FILE-022", fault="api-key-opens-the-file", key="api_key")

    assert done.verdict("FILE-022") == "fail"


def test_without_an_api_key_the_reason_names_it(tmp_path: Path) -> None:
    done = run(tmp_path, "FILE-022", key="api_key")

    (row,) = (row for row in done.results["requirements"] if row["id"] == "FILE-022")
    assert row["reason"] == "the profile has no api_key under [portal]"


def test_the_sign_in_of_a_card_works_with_curl_alone(tmp_path: Path) -> None:
    with deployed(tmp_path, seed=7, faults=["signature-is-not-checked"]) as portal:
        page = unescape((portal.run("--only", "AUTHN-007").out / "report.html").read_text(encoding="utf-8"))
        profile = parse(portal.profile.read_text(encoding="utf-8"), {})
        initiate, _, complete = dict.fromkeys(re.findall(r"#   (curl .*)", page))
        admin, code = profile.accounts["admin"], profile.portal.access_code

        def answered(line: str, **values: str) -> dict[str, Any]:
            for name, value in values.items():
                line = line.replace(f'"{name}"', json.dumps(value))
            words = ["bash", "-c", line]
            done = subprocess.run(words, env={**os.environ, "ACCESS_CODE_1": str(code)}, capture_output=True)
            data: dict[str, Any] = json.loads(done.stdout)["data"]
            return data

        begun = answered(initiate, EMAIL=admin.email, PASSWORD=admin.password)
        with Portal.connect(profile, impact="read-only") as own:
            own.clock.wait(60, "a code that the run did not use")
            otp = own.account("admin").code("OTP")
            token = answered(complete, SESSION_ID=begun["sessionId"], CODE=otp)["accessToken"]
            assert own.call(PROFILE, token=token).success


def test_a_forged_token_that_is_taken_is_shown_as_forged(tmp_path: Path) -> None:
    done = run(tmp_path, "AUTHN-007", fault="signature-is-not-checked")

    page = (done.out / "report.html").read_text(encoding="utf-8")
    altered = r"token-\d+: token-\d+, another (signature|claim under the same signature)\]"
    assert re.search(rf"Bearer \[{altered}</dd>", page)
    assert re.search(rf"# TOKEN_\d+: \[{altered}\n", page)
    assert re.search(r"# TOKEN_1: \[token-1: first seen in #\d+, POST \S+/login/complete by admin\]\n", page)
    assert "token-1, another signature" in done.results["secrets"].values()
