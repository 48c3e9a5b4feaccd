"""``doctor``: what is missing and what it would unlock, what was learned as TOML, and its exit codes."""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.run.outlook.plan import PlanChoice, plan
from conformance.run.outlook.unlocking import unlocked
from conformance.spec.endpoints import CURRENCY_GRANT
from conformance.target.bundled import running_portal
from conformance.target.doctor.diagnosis import Diagnosis, proposed, usable
from conformance.target.profile import template
from conformance.target.profile.learned import Learned, differing, unsaid, written
from conformance.target.profile.model import load, parse
from conformance.traffic.replacing import replace_file, text_of
from reference_impl import serve
from reference_impl.serve import Running


def minimal(running: Running) -> str:
    """A profile of which only the address, the access code, one account and the clock are there."""
    tables = tomllib.loads(running.profile())
    admin = {key: value for key, value in tables["accounts"]["admin"].items() if key != "inbox"}
    lines = ["# my portal", "profile = 1", "[portal]"]
    lines += [f"{key} = {json.dumps(tables['portal'][key])}" for key in ("url", "access_code")]
    lines += ["[accounts.admin]", *(f"{key} = {json.dumps(value)}" for key, value in admin.items())]
    return "\n".join([*lines, "[clock]", f"advance = {json.dumps(tables['clock']['advance'])}", ""])


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve.start() as portal:
        yield portal


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "portal.toml"


def test_what_is_missing_says_how_many_rules_it_unlocks_the_most_first(
    profile: Path, running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    profile.write_text(minimal(running), encoding="utf-8")
    assert main(["doctor", "--profile", str(profile)]) == 0

    missing = [line for line in capsys.readouterr().out.splitlines() if line.startswith("missing")]
    gains = [int(line.partition("(+")[2].split()[0]) for line in missing if "; +" in line]
    assert " stay untested (+" in next(line for line in missing if "bot_challenge" in line)
    assert "with --impact disruptive)" in next(line for line in missing if "accounts.spare" in line)
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 30


def test_a_part_unlocks_what_a_profile_that_has_it_can_test() -> None:
    with running_portal() as whole:
        bare = whole.model_copy(update={"accounts": {"admin": whole.accounts["admin"]}, "operations": {}})
        spare, nothing, body = "accounts.spare", "secure_channel", f'operations."{CURRENCY_GRANT}"'
        gains = unlocked(bare, "disruptive", [spare, nothing, body])

        assert gains[spare].rules > 10
        reading = unlocked(bare, "read-only", [spare])[spare]
        assert 0 < gains[spare].musts < gains[spare].rules
        assert 0 < reading.rules < reading.most
        assert nothing not in gains
        assert "with --impact mutating" in unlocked(bare, "read-only", [body])[body].words
        assert unlocked(whole, "disruptive", [spare]) == {}


def test_write_puts_what_was_learned_into_the_profile_and_keeps_the_rest(
    profile: Path, running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    before = minimal(running)
    profile.write_text(before, encoding="utf-8")
    assert main(["doctor", "--profile", str(profile), "--write"]) == 0
    once = profile.read_text(encoding="utf-8")
    assert main(["doctor", "--profile", str(profile), "--write"]) == 0

    assert once.startswith(before)
    assert profile.read_text(encoding="utf-8") == once
    assert "has everything that was learned already" in capsys.readouterr().err
    assert parse(once, {}).expect.accounts == ["admin"]
    assert parse(once, {}).records.workspace is None, "a run may change the records that a profile names"
    assert '\n# workspace = "' in once


def test_a_second_write_changes_nothing_and_names_what_differs() -> None:
    learned = Learned(
        {"expect": {"musts": 7, "accounts": ["admin"]}}, {"role": "R-1"}, {"expect": ("A floor.",)}
    )
    text = template.text()

    after = written(text, learned)

    assert after.startswith(text)
    assert "\n[expect]\n# A floor.\nmusts = 7\n" in after
    assert '\n# role = "R-1"\n' in after
    later = Learned({"expect": {"musts": 9, "accounts": ["admin"]}}, {"role": "R-2"}, learned.notes)
    assert written(after, later) == after
    assert not unsaid(after, later)
    assert list(differing(after, later)) == [("[expect] musts", 7, 9)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_that_the_doctor_wrote_is_renewed_and_the_rest_stays(end: str) -> None:
    before = (
        '# ours\n[expect]\n# By `doctor`, for a:\n# musts 7\nmusts = 7\naccounts = ["admin"]\n# ours too\n\n'
        "# of the clock\n[clock]\n"
    ).replace("\n", end)
    floor = {"musts": 9, "accounts": ["admin", "spare"]}
    learned = Learned({"expect": floor}, {}, {"expect": ("By `doctor`, for b:", "musts 9")})

    assert written(before, learned) == before.replace("for a", "for b").replace("musts 7", "musts 9").replace(
        "musts = 7", "musts = 9"
    ).replace('"admin"', '"admin", "spare"')


def test_no_floor_is_proposed_while_an_account_is_wrong() -> None:
    works = [Diagnosis("accounts.admin", "works", "signs in")]
    wrong = [*works, Diagnosis("accounts.spare", "wrong", "its password is refused", "credentials")]

    assert "expect" in proposed(works, testable=100, run="a run").tables
    assert "expect" not in proposed(wrong, testable=100, run="a run").tables


@pytest.mark.parametrize(
    "words, run", [((), "--time-budget 10m"), (("--time-budget", "1m"), "--time-budget 1m")]
)
def test_what_a_run_must_test_is_what_its_time_budget_has_room_for(
    words: tuple[str, ...], run: str, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve.start() as unmoved:
        profile.write_text(minimal(unmoved).partition("[clock]")[0], encoding="utf-8")
        main(["doctor", "--profile", str(profile), "--write", *words])
    said = re.search(
        rf"for --impact read-only {run}:\n# such a run can test (\d+) musts,", capsys.readouterr().out
    )
    written_musts = load(profile).expect.musts

    assert said is not None
    budget = {"10m": 600.0, "1m": 60.0}[run.partition(" ")[2]]
    planned = plan(load(profile), "read-only", PlanChoice(budget=budget))
    assert written_musts is not None
    assert written_musts <= int(said[1]) == planned.testable
    assert (planned.testable < plan(load(profile), "read-only").testable) == bool(words)


def test_what_does_not_work_is_not_counted_on() -> None:
    with running_portal() as whole:
        wrong = [Diagnosis(part, "wrong", "refused") for part in ("accounts.spare", "bot_challenge")]
        left = usable(whole, [*wrong, Diagnosis("accounts.admin", "works", "signs in")])

    assert set(whole.accounts) - set(left.accounts) == {"spare"}
    assert left.bot_challenge.token is None
    assert len(plan(left, "disruptive").rules) < len(plan(whole, "disruptive").rules) - 50


LEARNED = Learned({"secure_channel": {"body": "object"}, "expect": {"musts": 7}}, {"role": "R-1"})


@pytest.mark.parametrize(
    "text",
    [
        '# ours\n[secure_channel]\naes_mode = "cbc" # ours\n\n# the lab\n[portal]\nurl = "x"\n',
        '[portal]\nurl = "x"\n[accounts.admin]\nemail = "a"\n[portal.headers]\nX = "1"\n',
        '[portal]\nurl = "x"',
        '[portal]\nurl = "x" # last',
        '[records]\nfile = "F-1"',
        "",
    ],
)
def test_what_was_learned_keeps_every_line_and_stands_in_its_table(text: str) -> None:
    after = written(text, LEARNED)

    tables = tomllib.loads(after)
    assert (tables["secure_channel"]["body"], tables["expect"]["musts"]) == ("object", 7)
    kept = [line for line in text.splitlines() if line]
    assert [line for line in after.splitlines() if line in kept] == kept
    for name, table in tomllib.loads(text).items():
        assert tables[name] == {**tables[name], **table}
    assert '# role = "R-1"' in after.splitlines()
    assert written(after, LEARNED) == after


def test_line_ends_stay_and_new_lines_have_the_same() -> None:
    text = '[portal]\r\nurl = "x"\r\n\r\n# channel\r\n[secure_channel]\r\naes_mode = "cbc"\r\n'

    after = written(text, LEARNED)

    assert after.startswith(text)
    assert after.count("\n") == after.count("\r\n")
    assert written(text[:-2], LEARNED) == after
    assert written(f"\ufeff{text}", LEARNED) == f"\ufeff{after}"


@pytest.mark.parametrize("text", ["expect = { accounts = [] }\n", "expect.accounts = []\n", "expect = 5\n"])
def test_a_table_without_a_line_of_its_own_is_not_written_into(text: str) -> None:
    with pytest.raises(UsageError, match=r"Write \[expect\] above its keys"):
        written(text, LEARNED)


def test_a_file_is_replaced_whole_with_its_mode_and_behind_its_link(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.toml", tmp_path / "link.toml"
    kept.write_bytes(b"old\r\n")
    kept.chmod(0o600)
    link.symlink_to(kept)

    replace_file(link, "new\r\n")

    assert (kept.read_bytes(), stat.S_IMODE(kept.stat().st_mode)) == (b"new\r\n", 0o600)
    assert link.is_symlink()
    assert text_of(link) == "new\r\n"
    with pytest.raises(UnicodeEncodeError):
        replace_file(link, "\ud800")
    assert kept.read_bytes() == b"new\r\n"
    assert sorted(tmp_path.iterdir()) == [kept, link]


@pytest.mark.parametrize(
    "change, code",
    [
        ((r"http://127\.0\.0\.1:\d+\"", 'http://127.0.0.1:9"'), 6),
        (('url = "http:', 'url = "https:'), 4),
        (("\naccess_code", "\ntimeout = 9.0\naccess_code"), 0),
        (('access_code = "', 'access_code = "x'), 4),
        (('password = "', 'password = "x'), 4),
        (('advance = "http://127.0.0.1:', 'advance = "http://127.0.0.2:1'), 4),
    ],
)
def test_only_an_unreachable_portal_is_exit_code_6(
    profile: Path, running: Running, change: tuple[str, str], code: int
) -> None:
    profile.write_text(re.sub(*change, minimal(running), count=1), encoding="utf-8")

    assert main(["doctor", "--profile", str(profile)]) == code


def test_the_first_lines_say_what_matters_and_the_last_what_to_do_next(
    profile: Path, running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    profile.write_text(minimal(running), encoding="utf-8")
    main(["doctor", "--profile", str(profile)])
    works = capsys.readouterr().out.splitlines()
    profile.write_text(minimal(running).replace('password = "', 'password = "x'), encoding="utf-8")
    main(["doctor", "--profile", str(profile)])
    wrong = capsys.readouterr().out.splitlines()

    assert works[0].startswith(f"{running.url}: no part is wrong, ")
    assert re.fullmatch(r"A run with --impact read-only can test \d+ of the \d+ musts .*", works[1])
    assert works[-1] == f"Next: `portal-conformance plan --profile {profile}` shows what a run would do."
    assert wrong[0].startswith(f"{running.url}: 1 part is wrong, ")
    assert wrong[2].startswith("wrong    accounts.admin ")
    assert wrong[-1].startswith("Next: correct what is wrong, and call ")
