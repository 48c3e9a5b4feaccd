"""The doctor tells configuration, credentials, environment and target apart, with one sign-in per account."""

# ruff: noqa: E501 (a table is read row by row)

from __future__ import annotations

import json
import re
from collections.abc import Callable

import httpx
import pytest

from conformance.errors import FaultClass
from conformance.target.doctor import Diagnosis, as_json, as_text, examine
from conformance.target.profile.model import Profile, parse
from conformance.tests.reached import MINIMAL, answer, without
from conformance.traffic.exchange import Exchange
from reference_impl.limits import Limits
from reference_impl.serve import Running, start

Edit = Callable[[str], str]


def examined(
    edit: Edit = lambda text: text, **options: object
) -> tuple[list[Diagnosis], list[Exchange], Running]:
    seen: list[Exchange] = []
    with start(seed=7, **options) as running:  # type: ignore[arg-type]
        return examine(parse(edit(running.profile()), {}), on_exchange=seen.append), seen, running


def of(found: list[Diagnosis], part: str) -> Diagnosis:
    return next(one for one in found if one.part == part)


def replacing(pattern: str, by: str, *, within: str = "") -> Edit:
    return lambda text: re.sub(
        rf"(?ms)(^\[{re.escape(within)}\].*?){pattern}" if within else f"(){pattern}",
        rf"\1{by}",
        text,
        count=1,
    )


def test_everything_works_on_the_bundled_portal() -> None:
    found, _, _running = examined()

    assert {one.state for one in found} == {"works"}
    assert of(found, "accounts.pending").message == "signs in by EMAIL, and awaits approval"


def test_no_account_signs_in_more_than_once_and_nothing_changes() -> None:
    _, seen, running = examined()

    initiated = [one.request.body["email"] for one in seen if one.request.path.endswith("login/initiate")]
    assert sorted(initiated) == sorted(set(initiated))
    assert not [
        entry for entry in running.portal.received if entry["changed"] and "/auth/" not in entry["path"]
    ]


@pytest.mark.parametrize(
    "edit, part, state, blame, said",
    [
        (replacing('password = "', 'password = "x', within="accounts.spare"), "accounts.spare", "wrong", "credentials", "email or password is refused"),
        (replacing('otp_secret = "\\w+"', 'otp_secret = "JBSWY3DPEHPK3PXP"', within="accounts.admin"), "accounts.admin", "wrong", "credentials", "complete was refused"),
        (replacing('access_code = "', 'access_code = "x'), "portal.access_code", "wrong", "credentials", "Check that it is the code of the SYSTEM portal"),
        (replacing('token = "', 'token = "x', within="bot_challenge"), "bot_challenge", "wrong", "credentials", "the token is refused"),
        (replacing('/inbox/', '/nowhere/'), "inboxes.mail", "wrong", "environment", "answers with HTTP"),
        (replacing('url = "http://[^"]*inbox', 'url = "http://127.0.0.1:9'), "inboxes.mail", "wrong", "environment", "nothing answers"),
        (replacing('advance = "[^"]*"', 'advance = "http://127.0.0.1:9/advance"'), "clock", "wrong", "environment", "nothing answers"),
        (replacing('/clock/advance"', '/web/v1/clock"'), "clock", "wrong", "configuration", "Is the clock offered there?"),
        (replacing('role = "', 'role = "x', within="records"), "records.role", "wrong", "configuration", "the target has no role"),
        (without("records"), "records.file", "missing", "configuration", "no [records] file"),
        (without("records"), "records.role", "works", None, "taken from a listing"),
        (without("bot_challenge"), "bot_challenge", "missing", "configuration", "the profile has no token"),
        (without("limits"), "limits.login_window", "missing", "configuration", "60 s are assumed"),
        (without("accounts.spare"), "accounts.spare", "missing", "configuration", "the profile has no [accounts.spare]"),
        (without('operations."POST /web/v1/system/auth/password/reset"'), 'operations."POST /web/v1/system/auth/password/reset"', "missing", "configuration", "the profile has no body"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_whose_fault_it_is(
    edit: Edit, part: str, state: str, blame: FaultClass | None, said: str
) -> None:
    found, _, _running = examined(edit)

    diagnosis = of(found, part)
    assert (diagnosis.state, diagnosis.fault_class) == (state, blame)
    assert said in diagnosis.message


def test_a_wrong_access_code_wastes_no_sign_in() -> None:
    _, seen, _running = examined(replacing('access_code = "', 'access_code = "x'))

    assert not [one for one in seen if one.request.path.endswith("login/initiate")]


def test_accounts_that_are_not_what_their_name_says_are_named() -> None:
    def swapped(text: str) -> str:
        names = {"admin": "limited", "limited": "admin", "pending": "spare", "spare": "pending"}
        return re.sub(r"\[accounts\.(\w+)\]", lambda name: f"[accounts.{names[name[1]]}]", text)

    found, _, _running = examined(swapped)

    assert "lacks permissions" in of(found, "accounts.admin").message
    assert "has permissions; [accounts.limited] must have none" in of(found, "accounts.limited").message
    assert "does not await approval" in of(found, "accounts.pending").message
    assert "awaits approval; it must be active" in of(found, "accounts.spare").message


def test_two_accounts_that_are_one_are_named() -> None:
    admin = re.search(r'email = "(admin@[^"]+)"', start_profile())
    assert admin is not None

    found, _, _running = examined(
        replacing('email = "[^"]+"', f'email = "{admin[1]}"', within="accounts.spare")
    )

    assert "has the email of [accounts.admin]" in of(found, "accounts.spare").message


def start_profile() -> str:
    with start(seed=7) as running:
        return running.profile()


@pytest.mark.parametrize("variant", ["pending-code", "pending-code-with-403"])
def test_an_account_that_is_told_at_once_that_it_awaits_approval_is_as_it_should_be(variant: str) -> None:
    found, _, _running = examined(variants=[variant])

    assert of(found, "accounts.pending").state == "works"


def test_a_secure_channel_found_out_otherwise_says_what_to_write() -> None:
    found, _, _running = examined(without("secure_channel"), variants=["sealed-objects"])

    assert "rsa_padding = 'oaep-sha1'" in of(found, "secure_channel").message


def test_a_clock_is_not_asked_for_where_the_profile_has_none() -> None:
    found, _, _running = examined(without("clock"), limits=Limits(otp_step=30))

    assert not [one for one in found if one.part in ("clock", "time")]


@pytest.mark.parametrize(
    "response, blame, said",
    [
        (
            httpx.Response(302, headers={"location": "https://elsewhere.example.test/"}),
            "configuration",
            "redirects to",
        ),
        (httpx.Response(200, text="<html>"), "configuration", "but not as a portal. Check [portal] url."),
        (answer(status=503, code="DOWN"), "target", "Check the portal and the services it needs"),
    ],
)
def test_an_address_at_which_no_portal_answers_is_all_that_is_told(
    response: httpx.Response, blame: str, said: str
) -> None:
    found = examined_by(lambda request: response, parse(MINIMAL, {}))

    assert [(one.part, one.state, one.fault_class) for one in found] == [("portal.url", "wrong", blame)]
    assert said in found[0].message


def test_a_target_whose_clock_is_off_is_told() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        return answer({}, headers={"date": "Thu, 01 Jan 2026 00:00:00 GMT"})

    found = examined_by(respond, parse(MINIMAL, {}))

    assert re.search(r"clock is \d+ s behind this machine's", of(found, "time").message)
    assert of(found, "time").fault_class == "environment"


def examined_by(respond: Callable[[httpx.Request], httpx.Response], profile: Profile) -> list[Diagnosis]:
    """An examination of a portal that a function plays."""
    return examine(profile, handler=httpx.MockTransport(respond))


def test_nothing_at_the_address_is_the_environments_fault() -> None:
    found = examine(parse(MINIMAL.replace("http://portal.example.test", "http://127.0.0.1:9"), {}))

    assert [(one.part, one.fault_class) for one in found] == [("portal.url", "environment")]


def test_the_text_puts_what_is_wrong_first_and_counts() -> None:
    found = [
        Diagnosis("a", "works", "fine"),
        Diagnosis("b", "missing", "not there", "configuration"),
        Diagnosis("c", "wrong", "broken", "target"),
    ]

    assert as_text(found).splitlines() == [
        "wrong    c  (target) broken",
        "missing  b  not there",
        "works    a  fine",
        "",
        "1 wrong, 1 missing, 1 works",
    ]
    assert json.loads(as_json(found))[2] == {
        "part": "c",
        "state": "wrong",
        "message": "broken",
        "fault_class": "target",
    }
