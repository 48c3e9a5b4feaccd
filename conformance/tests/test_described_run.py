"""A run with a description: what it adds and reads is called, with ids that exist, and guarded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from conformance.report.model.run import Run
from conformance.tests.deployment import command, done
from conformance.tests.test_descriptions import described
from conformance.tests.test_undescribed import envelope
from reference_impl import serve as reference


def wallets_of(serves: Callable[[Scope], bool]) -> Callable[[ASGIApp], ASGIApp]:
    """A portal with wallets, which are its roles by another path; ``serves``: whom it serves unasked."""

    def wrap(app: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            path = scope.get("path", "")
            if "/system/wallets" not in path:
                await app(scope, receive, send)
            elif serves(scope):
                await JSONResponse(envelope(data=[{"bizId": "w-1"}]))(scope, receive, send)
            else:
                moved = path.replace("/system/wallets/query", "/system/roles").replace("wallets", "roles")
                await app({**scope, "path": moved, "raw_path": moved.encode()}, receive, send)

        return answer

    return wrap


def ran(folder: Path, serves: Callable[[Scope], bool], *, status: str = "accepted") -> Run:
    document = described(security=[{"bearer": []}]) | {"x-portal-status": status}
    answer = document["paths"]["/web/v1/system/wallets/query"]["get"]["responses"]["200"]
    answer["content"]["application/json"]["schema"]["properties"]["data"] = {"type": "array"}
    one = {"200": {"description": ""}, "404": {"description": ""}}
    document["paths"]["/web/v1/system/wallets/{walletId}"] = {"get": {"responses": one}}
    document["paths"]["/web/v1/system/wallets/close"] = {"post": {"responses": one}}
    (folder / "more.json").write_text(json.dumps(document))
    with reference.start(seed=7, wrap=wallets_of(serves)) as portal:
        (folder / "portal.toml").write_text(portal.profile())
        cases = "description_adds"
        words = ("--profile", "portal.toml", "--description", "more.json")
        print(done(command("run", *words, "--out", "out", "-k", cases), folder / "out").said)
        print(done(command("replay", "out/exchanges.jsonl", *words, "--out", "again"), folder / "again").said)
    return Run.read(folder / "out" / "results.json")


def test_what_a_description_adds_is_called_and_found_guarded(tmp_path: Path) -> None:
    run = ran(tmp_path, lambda scope: False)

    assert (run.findings, run.deviations) == ([], [])
    verdicts = {row.id: row.verdict for row in run.requirements}
    assert {verdicts[rule] for rule in ("HEADER-001", "HEADER-002", "AUTHN-006", "AUTHN-007")} == {"pass"}
    assert "2 of 3 described endpoints answered, and not POST /web/v1/system/wallets/close." in run.notes
    asked = {row.endpoint: row.statuses for row in run.timings}
    assert asked["GET /web/v1/system/wallets/{id}"].keys() == {"200", "401", "403", "404"}
    replay = Run.read(tmp_path / "again")
    assert replay.deviations == []
    assert "2 of 3 described endpoints answered, and not POST /web/v1/system/wallets/close." in replay.notes


def is_forged(scope: Scope) -> bool:
    return any(name == b"authorization" and b"not-a-token" in value for name, value in scope["headers"])


def has_no_token(scope: Scope) -> bool:
    return b"authorization" not in dict(scope["headers"])


def test_a_learned_description_fails_nothing(tmp_path: Path) -> None:
    run = ran(tmp_path, has_no_token, status="learned")

    assert [row for row in run.findings if row.verdict == "fail"] == []
    assert "LEARNED-TOKEN" in {row.requirement for row in run.deviations}


@pytest.mark.parametrize(
    "serves, rules",
    [
        (has_no_token, {"AUTHN-001"}),
        (is_forged, {"AUTHN-006"}),
        (lambda scope: b"x-portal-access-code" not in dict(scope["headers"]), {"HEADER-001"}),
    ],
)
def test_what_is_not_guarded_fails(tmp_path: Path, serves: Callable[[Scope], bool], rules: set[str]) -> None:
    run = ran(tmp_path, serves)

    assert {row.requirement for row in run.findings if row.verdict == "fail"} == rules
    assert all("/system/wallets" in row.endpoint for row in run.findings)
