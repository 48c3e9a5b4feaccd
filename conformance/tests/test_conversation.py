"""``setup``: the questions, the profile that they end in, and what it says without a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.command import Options
from conformance.cli.conversation import hold
from conformance.target.profile.model import parse
from conformance.target.profile.tables import CommandInbox, FixedInbox, HttpInbox, ImapInbox, Inbox

SECRETS = {"CODE": "c", "PW": "a-long-password", "OTP": "JBSWY3DPEHPK3PXP"}


def held(
    lines: list[str], path: Path, problem_at: Callable[[str], str | None] = lambda url: None
) -> tuple[int, list[Path], str]:
    """The exit code of a conversation, the profiles that were tried out, and what was shown."""
    tried: list[Path] = []

    def try_out(profile: Path) -> int:
        tried.append(profile)
        return 0

    with CliRunner().isolation(input="\n".join([*lines, "n", ""])) as (shown, *_):
        code = hold(Options(profile=path), is_terminal=True, try_out=try_out, problem_at=problem_at)
        print(end="", flush=True)
        return code, tried, shown.getvalue().decode()


ANSWERS = ["http://127.0.0.1:9", "CODE", "a@example.test", "PW", "OTP", "OTP", "n", "none"]
OTHERS = ANSWERS[1:]
"""All but the address."""


def test_the_answers_end_in_a_whole_commented_profile(tmp_path: Path) -> None:
    path = tmp_path / "portal.toml"
    first, code, email, *rest = ANSWERS

    ended, tried, shown = held(["ftp://portal", f"{first}/", code, email, "not a name", *rest], path)

    text = path.read_text(encoding="utf-8")
    profile = parse(text, SECRETS)
    assert (ended, tried) == (0, [])
    assert profile.portal.url == first
    assert profile.accounts["admin"].otp_secret == SECRETS["OTP"]
    assert "# [accounts.spare]" in text
    assert "export CODE=…" in shown
    assert "doctor --profile" in shown


def dead_but(*alive: str) -> Callable[[str], str | None]:
    return lambda url: None if url in alive else f"Nothing answers at {url}."


@pytest.mark.parametrize(
    ("typed", "alive", "taken"),
    [
        ("portal.example.test", "https://portal.example.test", "https://portal.example.test"),
        ("127.0.0.1:9/", "http://127.0.0.1:9", "http://127.0.0.1:9"),
    ],
)
def test_an_address_without_its_scheme_is_tried_with_both_and_it_says_so(
    tmp_path: Path, typed: str, alive: str, taken: str
) -> None:
    path = tmp_path / "portal.toml"

    _, _, shown = held([typed, *OTHERS], path, dead_but(alive))

    assert "begins with neither https:// nor http://. Both are tried, https:// first." in shown
    assert f"A portal answers at {taken}." in shown
    assert parse(path.read_text(encoding="utf-8"), SECRETS).portal.url == taken


def test_an_address_at_which_nothing_answers_is_asked_for_again_at_once_and_may_stay(tmp_path: Path) -> None:
    rest = ["CODE", "a@example.test", "PW", " otp ", "OTP", "n", ""]
    mended, kept = tmp_path / "1.toml", tmp_path / "2.toml"

    _, _, shown = held(["http://a.test", "http://b.test", *rest], mended, dead_but("http://b.test"))
    held(["http://a.test", "", *rest], kept, dead_but())

    said = [
        shown.index(part)
        for part in ("Nothing answers at http://a.test.", "corrected", "A portal answers at http://b.test.")
    ]
    assert said == sorted(said)
    assert said[-1] < shown.index("Variable with the access code")
    addresses = [parse(path.read_text(encoding="utf-8"), SECRETS).portal.url for path in (mended, kept)]
    assert addresses == ["http://b.test", "http://a.test"]


def test_with_every_variable_set_the_profile_is_tried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable that is set may have any name."""
    own = "the_access_code_of_our_portal"
    for name, value in {**SECRETS, own: "c"}.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "portal.toml"

    _, tried, _ = held([ANSWERS[0], own, *ANSWERS[2:]], path)

    assert tried == [path]
    assert f"${{{own}}}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "secret", ["an-access-code", "J2ny3j4B4_94mVJPxl9WuQD4T2ke_RhW", "U4PZOH2OQ4BCNTJYRAGYIH6HMQP2GL3A"]
)
def test_a_secret_is_not_taken_for_the_name_of_a_variable(tmp_path: Path, secret: str) -> None:
    path = tmp_path / "portal.toml"

    _, _, shown = held([ANSWERS[0], secret, *OTHERS], path)

    assert "the secret itself" in shown
    assert secret not in shown, "a terminal would show it to whoever looks"
    assert "such as PORTAL_ACCESS_CODE" in " ".join(shown.split())
    assert "  CODE, which is not set\n" in shown
    assert secret not in path.read_text(encoding="utf-8")


IMAP = ImapInbox(kind="imap", host="imap.example.test", username="a@example.test", password="m")
COMMAND = CommandInbox(kind="command", argv=["./newest", "a b", "{email}"])


@pytest.mark.parametrize(
    ("lines", "inbox"),
    [
        (["imap", "imap.example.test", "", "MAIL_PW"], IMAP),
        (["http", "http://127.0.0.1:8/{email}"], HttpInbox(kind="http", url="http://127.0.0.1:8/{email}")),
        (["command", "./newest 'a b' {email}"], COMMAND),
        (["fixed", "MAIL_PW"], FixedInbox(kind="fixed", code="m")),
    ],
)
def test_each_kind_of_inbox_may_be_answered(tmp_path: Path, lines: list[str], inbox: Inbox) -> None:
    path = tmp_path / "portal.toml"

    _, _, shown = held([*ANSWERS[:4], "EMAIL", "n", *lines], path)

    profile = parse(path.read_text(encoding="utf-8"), {**SECRETS, "MAIL_PW": "m"})
    assert profile.inboxes == {"mail": inbox}
    assert (profile.accounts["admin"].mfa, profile.accounts["admin"].otp_secret) == ("EMAIL", None)
    assert ("export MAIL_PW=…" in shown) == ("MAIL_PW" in lines)


def test_an_account_with_an_authenticator_may_have_an_inbox_too(tmp_path: Path) -> None:
    path = tmp_path / "portal.toml"

    held([*ANSWERS[:-1], "fixed", "MAIL_PW"], path)

    profile = parse(path.read_text(encoding="utf-8"), {**SECRETS, "MAIL_PW": "m"})
    admin = profile.accounts["admin"]
    assert (admin.mfa, admin.otp_secret, admin.inbox) == ("OTP", SECRETS["OTP"], "mail")
    assert profile.inboxes == {"mail": FixedInbox(kind="fixed", code="m")}


def test_a_second_account_and_the_token_of_a_bot_challenge_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "portal.toml"
    second = ["y", "b@example.test", "PW_B", "EMAIL", "fixed", "MAIL_PW", "y", "BOT"]

    _, _, shown = held([*ANSWERS[:6], *second], path)

    profile = parse(path.read_text(encoding="utf-8"), {**SECRETS, "PW_B": "b", "MAIL_PW": "m", "BOT": "t"})
    spare = profile.accounts["spare"]
    assert (spare.email, spare.password, spare.otp_secret, spare.inbox) == (
        "b@example.test",
        "b",
        None,
        "mail",
    )
    assert profile.bot_challenge is not None
    assert profile.bot_challenge.token == "t"
    assert all(f"export {name}=…" in shown for name in ("PW_B", "MAIL_PW", "BOT"))


def test_a_profile_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "portal.toml"
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(Exception, match="is not overwritten"):
        held([], path)
    assert path.read_text(encoding="utf-8") == "mine"
