"""Passwords that are set by the token of a mail, on a portal whose bodies name nobody."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from conformance import record
from conformance.replay import ReplayResult, replay
from conformance.replay.compare.outcome import State
from conformance.spec.endpoints import LOGIN_INITIATE, PASSWORD_FORGOT, PASSWORD_INIT, PASSWORD_RESET
from conformance.target.portal.cipher import Scheme, seal
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for
from conformance.tests.scripted_client import Walker
from conformance.traffic import capture
from reference_impl import serve as reference
from reference_impl.errors import INVALID, Refusal
from reference_impl.handlers.passwords import set_password
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Routes
from reference_impl.shapes import Body, Shape, needed, text

BY_CODE = '{ email = "{email}", code = "{code}", newPassword = "{new_password}" }'
BY_TOKEN = '{ token = "{code}", newPassword = "{new_password}" }'
NO_TOKEN = r"pattern = '\b(\d{6})\b'" + "\ntimeout = 0.1"
OF_BOTH = r"pattern = '(?:token: |\b)([A-J]{26}|\d{6})\b'"
LETTERS = str.maketrans("0123456789", "ABCDEFGHIJ")
ACCOUNT_RESET = "POST /web/v1/system/accounts/admin/password/reset"
NEW = "Another-password-1"


@dataclass
class ByToken:
    """A portal that mails tokens of 26 letters. ``is_broken``: it refuses each of them."""

    is_broken: bool = False

    def wrap(self, app: ASGIApp) -> ASGIApp:
        routes = app.state.routes  # type: ignore[attr-defined]
        rows = dict(routes.rows)
        takes = Shape(
            {"token": needed(text(least=1, most=64)), "newPassword": needed(text(least=8, most=64))}
        )
        for key in (PASSWORD_RESET, PASSWORD_INIT):
            rows[key] = replace(rows[key], handler=self._set, takes=takes)
        rows[PASSWORD_FORGOT] = replace(rows[PASSWORD_FORGOT], handler=self._forgot)
        rows[ACCOUNT_RESET] = replace(rows[ACCOUNT_RESET], handler=self._by_admin)
        vars(routes).update(vars(Routes(rows)))
        self.tokens: dict[str, str] = {}
        return app

    def _forgot(self, portal: Portal, caller: Caller, body: Body) -> Any:
        account = portal.account_of(body["email"])
        if account:
            self._mail(portal, account["bizId"])
        return {"success": True, "message": "Maybe a mail is on its way."}

    def _by_admin(self, portal: Portal, caller: Caller, body: Body) -> Any:
        self._mail(portal, body["userBizId"])
        return {"success": True}

    def _mail(self, portal: Portal, id: str) -> None:
        token = portal.draw.digits(26).translate(LETTERS)
        self.tokens[token] = id
        portal.mail(portal.find("account", id)["accountEmail"], "Your password", text=f"Your token: {token}")

    def _set(self, portal: Portal, caller: Caller, body: Body) -> Any:
        id = self.tokens.pop(body["token"], None)
        if id is None or self.is_broken:
            raise Refusal(INVALID)
        set_password(portal, id, body["newPassword"])


def by_token(profile: str) -> str:
    """The profile of such a portal."""
    return re.sub(r"(?m)^pattern = .*$", lambda _: OF_BOTH, profile.replace(BY_CODE, BY_TOKEN))


class Forgetful(Walker):
    """Somebody who has passwords mailed."""

    def token_of(self, email: str) -> str:
        url = self.profile["inboxes"]["mail"]["url"].replace("{email}", email)
        return str(re.findall("token: ([A-J]{26})", httpx.get(url).text)[0])

    def set_password(self, path: str, token: str) -> None:
        session, key = self.open_channel()
        body = json.dumps({"token": token, "newPassword": NEW}).encode()
        sealed = json.dumps({"v": 2, "p": seal(body, key, Scheme())})
        self.post(f"/auth/password/{path}", sealed, **{"X-Secure-Channel-Session-Id": session})

    def forget(self, email: str) -> None:
        challenge = self.profile["bot_challenge"]["token"]
        self.post("/auth/password/forgot", {"email": email, "turnstileToken": challenge})


def visit(walker: Forgetful, accounts: dict[str, dict[str, str]]) -> None:
    """One person forgets a password, another one gets one from an administrator; both sign in with it."""
    spare, limited = accounts["spare"], accounts["limited"]
    walker.sign_in(spare)
    walker.forget(spare["email"])
    token = walker.token_of(spare["email"])
    mail, browser = (replace(walker, hash=name) for name in ("mail", "browser"))
    mail.set_password("reset", token)
    mail.set_password("reset", token)
    browser.sign_in({**spare, "password": NEW})
    walker.sign_in(accounts["admin"])
    filters = dict.fromkeys(("institutionBizId", "accountPortal", "accountStatus", "name"))
    asked = {**filters, "email": limited["email"], "page": 0, "size": 5}
    id = walker.post("/accounts/admin/query", asked)["data"]["accounts"][0]["bizId"]
    walker.post("/accounts/admin/password/reset", {"userBizId": id})
    mail.set_password("init", walker.token_of(limited["email"]))
    browser.sign_in({**limited, "password": NEW})
    browser.get("/profile")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("recording") / "forgotten.jsonl"
    options = record.RecordOptions(open_channel=True)
    with reference.start(wrap=ByToken().wrap) as portal, record.serve(portal.url, out, options) as recorder:
        profile = tomllib.loads(by_token(portal.profile()))
        walker = Forgetful(recorder.url, profile)
        visit(walker, profile["accounts"])
    statuses = [one.status for one in capture.read(out)]
    assert set(statuses) == {200, 400}
    assert statuses.count(400) == 1
    return out


def replayed(
    recording: Path,
    out: Path,
    *,
    is_broken: bool = False,
    is_unset: bool = False,
    replacing: tuple[str, str] = ("", ""),
    **options: object,
) -> ReplayResult:
    """The recording on a portal of the same kind; ``is_unset``: an account has no password that the profile
    has. ``replacing`` is done in the profile."""
    with reference.start(wrap=ByToken(is_broken).wrap) as portal:
        profile = by_token(portal.profile())
        if is_unset:
            set_password(portal.portal, portal.seeded.sign_ins["limited"].account_id, "Nobody-has-this-1")
        assert replacing[0] in profile
        return replay([recording], parse(profile.replace(*replacing), {}), options_for(out, **options))


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_token_is_taken_from_the_mail(recording: Path, tmp_path: Path, concurrency: int) -> None:
    told = replayed(recording, tmp_path, concurrency=concurrency)

    assert told.run.regressions == []
    assert told.tally.counts == {State.SAME: told.plan.size}


def test_whose_token_it_is_needs_no_sign_in(tmp_path: Path) -> None:
    out, options = tmp_path / "one.jsonl", record.RecordOptions(open_channel=True)
    with reference.start(wrap=ByToken().wrap) as portal, record.serve(portal.url, out, options) as recorder:
        walker = Forgetful(recorder.url, tomllib.loads(by_token(portal.profile())))
        email = walker.profile["accounts"]["spare"]["email"]
        walker.forget(email)
        walker.set_password("reset", walker.token_of(email))

    told = replayed(out, tmp_path / "reports")

    assert told.tally.counts == {State.SAME: 4}


def test_a_token_is_sent_by_its_name_where_the_profile_does_not_name_it(
    recording: Path, tmp_path: Path
) -> None:
    told = replayed(recording, tmp_path, replacing=(BY_TOKEN, BY_CODE))

    assert told.tally.counts == {State.SAME: told.plan.size}


def test_without_the_token_nothing_is_held_against_the_target(recording: Path, tmp_path: Path) -> None:
    """Nor against the profile: the sign-ins with these passwords follow from it."""
    told = replayed(recording, tmp_path, replacing=(OF_BOTH, NO_TOKEN))

    left = {one.endpoint: one for one in told.tally.kept if one.state is not State.SAME}
    assert told.run.regressions == []
    assert left.keys() == {PASSWORD_RESET, PASSWORD_INIT}
    assert "inbox: its code for a password is refused" in left[PASSWORD_RESET].reason
    assert left[PASSWORD_INIT].state is State.NOT_REPLAYABLE
    assert "[inboxes.mail]" in left[PASSWORD_INIT].reason
    assert not any("] password is refused" in note for note in told.notes)


def test_a_refused_token_that_certainly_came_is_the_targets(recording: Path, tmp_path: Path) -> None:
    told = replayed(recording, tmp_path, is_broken=True)

    assert {one.endpoint for one in told.run.regressions} == {PASSWORD_RESET, PASSWORD_INIT}
    assert not any("does not fit" in note for note in told.notes)


def test_a_sign_in_with_a_password_that_was_not_set_is_held_against_nobody(
    recording: Path, tmp_path: Path
) -> None:
    told = replayed(recording, tmp_path, is_unset=True, replacing=(OF_BOTH, NO_TOKEN))

    left = {one.endpoint: one for one in told.tally.kept if one.state is State.NOT_COMPARABLE}
    assert told.run.regressions == []
    assert f"({PASSWORD_INIT}) set the password of [accounts.limited]" in left[LOGIN_INITIATE].reason
    assert not any("] password is refused" in note for note in told.notes)


def test_a_refused_token_of_an_inbox_for_all_is_the_profiles(recording: Path, tmp_path: Path) -> None:
    of_all = ('/inbox/{email}"', '/inbox/spare@example.test"\ntimeout = 0.1')
    told = replayed(recording, tmp_path, is_broken=True, replacing=of_all)

    left = [one for one in told.tally.kept if one.state is not State.SAME]
    assert told.run.regressions == []
    assert PASSWORD_RESET in {one.endpoint for one in left}
    assert LOGIN_INITIATE not in {one.endpoint for one in left}
