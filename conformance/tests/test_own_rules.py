"""Rules of the user's own: they count in a score of their own, and a mistake in one is its author's."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.check import CheckOptions, check
from conformance.cli import main
from conformance.errors import ExitCode, RuleError
from conformance.report.model.again import rerun
from conformance.report.model.run import Run
from conformance.report.model.words import headline, numbers
from conformance.rules import answers
from conformance.rules.registry import OwnRules, RuleFile, own_rules, rules_named_by
from conformance.rules.table import PlaceRule
from conformance.run.catalogue import collect
from conformance.run.outlook.plan import PlanChoice
from conformance.spec.endpoints import ROLES
from conformance.tests.documents import blocks
from conformance.tests.replays import Replaying, written
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import HELD
from conformance.verdicts.selection import endpoint_in, select_rules
from conformance.work.merge import merge

WALLETS = "GET /web/v1/system/wallets/query"
PAGE = "docs/rest-of-your-portal.md"
TOML = next(block.text for block in blocks("toml") if block.page == PAGE)
PYTHON = next(block.text for block in blocks("python") if block.page == PAGE)
OF_THE_PAGE = own_rules([RuleFile("rules.toml", TOML), RuleFile("rules.py", PYTHON)])
"""The rules that the page shows."""

CACHING = """
from conformance.rules import answers, check, equal

@check(
    "OWN-3",
    "An answer is not to be cached.",
    on=answers(),
    lawful={"endpoint": "GET /web/v1/system/roles", "data": [], "headers": {"Cache-Control": "no-store"}},
    unlawful={"endpoint": "GET /web/v1/system/roles", "data": []},
)
def nothing_is_cached(exchange):
    return equal(exchange, "headers.cache-control", "no-store")
"""


def rules_of(text: str, name: str = "rules.py") -> OwnRules:
    return own_rules([RuleFile(name, text)])


BALANCES = rules_of(TOML.partition("\n\n")[0], "rules.toml")


def wallets(*balances: Json, n: int = 1, **more: Json) -> Exchange:
    wallet = {"walletStatus": {"code": "OPEN"}, **more}
    return listing([{"bizId": str(at), "balance": each, **wallet} for at, each in enumerate(balances)], n=n)


def listing(data: Json, *, n: int = 1) -> Exchange:
    """An answer of an endpoint that the specification does not describe."""
    return asked_at("wallets/query", answer(ROLES, data, n=n))


def asked_at(path: str, like: Exchange) -> Exchange:
    return replace(like, request=replace(like.request, url=like.request.url.replace("roles", path)))


def checked(tmp_path: Path, *exchanges: Exchange, own: OwnRules = OF_THE_PAGE, **options: object) -> Run:
    recording = written(tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl", *exchanges)
    return check([recording], CheckOptions(out=tmp_path / "reports", own=own, **options)).run  # type: ignore[arg-type]


def folder(tmp_path: Path, name: str) -> Path:
    (tmp_path / name).mkdir()
    return tmp_path / name


def verdicts(run: Run) -> dict[str, str]:
    return {row.id: row.verdict for row in run.requirements if row.is_own}


def test_own_rules_count_in_a_score_of_their_own(tmp_path: Path) -> None:
    without = checked(folder(tmp_path, "1"), wallets(1), wallets(-1), own=OwnRules())
    run = checked(folder(tmp_path, "2"), wallets(1), wallets(-1))

    assert verdicts(run) == {"OWN-1": "fail", "OWN-2": "untested", "OWN-10": "untested", "OWN-11": "pass"}
    assert run.own_rules is not None
    assert (run.own_rules.pass_, run.own_rules.fail, run.own_rules.untested) == (1, 1, 2)
    assert run.summary == without.summary
    assert (headline(run), numbers(run)) == (headline(without), numbers(without))
    assert (without.exit_code, run.exit_code) == (ExitCode.CONFORMANT, ExitCode.FAILED)
    assert [(row.requirement, row.path, row.actual) for row in run.findings] == [
        ("OWN-1", "data[0].balance", -1)
    ]
    assert Run.read(tmp_path / "2" / "reports").own_rules == run.own_rules
    assert rerun(run, "OWN-1").endswith(" --rules rules.toml --rules rules.py")
    assert "--rules" not in rerun(run, "ENV-001")


def test_a_rule_of_the_level_should_fails_what_fails_on_a_should_alone(tmp_path: Path) -> None:
    exchanges = wallets(1, 1), wallets(1)

    assert verdicts(checked(folder(tmp_path, "1"), *exchanges))["OWN-11"] == "warn"
    assert checked(folder(tmp_path, "2"), *exchanges).exit_code == ExitCode.CONFORMANT
    assert checked(folder(tmp_path, "3"), *exchanges, fail_on="should").exit_code == ExitCode.FAILED


def test_own_rules_are_selected_as_others_are(tmp_path: Path) -> None:
    rows = OF_THE_PAGE.requirements
    only, skip = select_rules(["OWN-1"], [], rows=rows), select_rules([], ["own-*"], rows=rows)
    other = select_rules(["LOGIN"], [], rows=rows)
    cases = PlanChoice(select_rules(["OWN-2"], [], rows=rows)).chosen(collect())

    assert checked(folder(tmp_path, "1"), wallets(-1), rules=only).exit_code == ExitCode.FAILED
    assert verdicts(checked(folder(tmp_path, "2"), wallets(-1), rules=skip))["OWN-1"] == "untested"
    assert checked(folder(tmp_path, "3"), wallets(-1), rules=other).findings == []
    assert {endpoint_in(case.id) for case in cases} == {ROLES}


def test_a_row_accepts_a_violation(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text(
        f'[[known]]\nrule = "OWN-1"\nendpoint = "{WALLETS}"\npath = "data[*].balance"\nreason = "x y"\n'
    )

    assert checked(tmp_path, wallets(-1), known=known).exit_code == ExitCode.CONFORMANT
    assert checked(tmp_path, wallets(1), known=known).exit_code == ExitCode.FAILED  # its row is stale


@pytest.mark.parametrize("no_cache", [False, True])
def test_equal_answers_are_judged_by_what_differs(tmp_path: Path, no_cache: bool) -> None:
    """The cache of the judge leaves out of its key what no check of the suite reads."""
    named = [
        answer(ROLES, [], n=at, answered={"Cache-Control": value})
        for at, value in enumerate(("no-store", "x"), 1)
    ]
    run = checked(tmp_path, *named, own=rules_of(CACHING), no_cache=no_cache)

    assert [(row.requirement, row.exchanges) for row in run.findings] == [("OWN-3", [2])]


def test_workers_and_a_merge_give_what_one_process_does(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{at}.jsonl", wallets(at, n=1)) for at in (1, -1)]
    check(files, CheckOptions(out=tmp_path / "one", own=BALANCES))
    check(files, CheckOptions(out=tmp_path / "two", own=BALANCES, workers=2))
    for at, file in enumerate(files):
        check([file], CheckOptions(out=tmp_path / f"part-{at}", own=BALANCES))
    merge([tmp_path / "part-0", tmp_path / "part-1"], tmp_path / "merged")

    runs = [Run.read(tmp_path / name) for name in ("one", "two", "merged")]
    assert [verdicts(run) for run in runs] == [{"OWN-1": "fail"}] * 3
    assert [run.findings for run in runs] == [runs[0].findings] * 3


def test_rules_are_made_anew_where_they_are_sent() -> None:
    arrived = pickle.loads(pickle.dumps(OF_THE_PAGE))

    assert [rule.requirement for rule in arrived.rules] == [rule.requirement for rule in OF_THE_PAGE.rules]


def test_a_broken_rule_is_held_against_nobody(tmp_path: Path) -> None:
    fragile = PYTHON.replace('exchange.at(f"{path}.walletStatus.code")', '_["walletStatus"]["code"]')
    line = next(at for at, text in enumerate(fragile.splitlines(), 1) if '["walletStatus"]' in text)
    exchanges = listing([{"balance": 1}]), wallets(0, walletStatus={"code": "CLOSED"}, n=2)
    run = checked(tmp_path, *exchanges, own=rules_of(fragile))

    assert run.ending.broken_rules == {"OWN-10": f"rules.py:{line}: KeyError: 'walletStatus' (exchange 1)"}
    assert verdicts(run) == {"OWN-10": "untested", "OWN-11": "pass"}
    assert (run.findings, run.ending.errors, headline(run).tone) == ([], {}, "good")
    assert run.exit_code == ExitCode.USAGE


def test_a_replay_judges_own_rules_and_takes_no_difference_for_theirs(visit: Replaying) -> None:
    other = CACHING.replace("headers.cache-control", "headers.x-none").replace("Cache-Control", "X-None")
    run = visit(own=rules_of(other)).run

    assert {row.requirement for row in run.findings} == {"OWN-3"}
    assert (run.regressions, headline(run).title) == ([], "No regression")
    assert run.exit_code == ExitCode.FAILED


@pytest.mark.parametrize(
    "tests, record, is_held",
    [
        ({"equals": 1}, {"a": 1.0}, True),
        ({"equals": 1}, {"a": True}, False),
        ({"equals": {"field": "b"}}, {"a": None, "b": None}, True),
        ({"in": ["x", None]}, {"a": None}, True),
        ({"in": ["x"]}, {"a": "y"}, False),
        ({"matches": "[A-Z]{3}"}, {"a": "EUR"}, True),
        ({"matches": "[A-Z]{3}"}, {"a": "EURO"}, False),
        ({"matches": "[A-Z]{3}"}, {"a": "[token-1]"}, None),
        ({"at-least": 10}, {"a": "9.5"}, False),
        ({"at-least": 10}, {"a": "12.50"}, True),
        ({"at-least": 10}, {"a": "many"}, False),
        ({"at-least": 10}, {"a": None}, None),
        ({"at-most": "2026-01-01"}, {"a": "2025-12-31T23:00:00Z"}, True),
        ({"at-most": {"field": "b.c"}}, {"a": 2, "b": {"c": 1}}, False),
        ({"before": "b"}, {"a": "2026-01-01T00:00:00Z", "b": "2026-01-01T01:00:00+01:00"}, False),
        ({"before": "b"}, {"a": 1, "b": 2}, True),
        ({"after": "b"}, {"a": 1}, None),
        ({"present": True}, {}, False),
        ({"present": False}, {"a": None}, False),
        ({"type": ["string", "null"]}, {"a": None}, True),
        ({"type": "integer"}, {"a": True}, False),
        ({"type": "integer"}, {}, None),
    ],
)
def test_a_place_is_compared(tests: Json, record: Json, is_held: bool | None) -> None:
    decided = list(PlaceRule("data[*].a", tests, "rules.toml:1")(listing([record])))

    assert [comparison is HELD for comparison in decided] == ([] if is_held is None else [is_held])


@pytest.mark.parametrize(
    "name, path, is_selected",
    [
        ("GET /web/v1/system/wallets/{walletId}", "wallets/881234", True),
        ("GET /web/v1/system/wallets/{walletId}", "wallets/query", False),
        ("GET /web/v1/system/wallets/*", "wallets/query", True),
        ("* /web/v1/*", "roles", True),
        ("GET /web/v1/system/roles/{id}", "roles/query", True),  # an id of any look, where one is described
        ("POST /web/v1/system/wallets/query", "wallets/query", False),
    ],
)
def test_endpoints_are_named_as_reports_name_them(name: str, path: str, is_selected: bool) -> None:
    exchange, selection = asked_at(path, answer(ROLES, [])), answers(name)

    is_of_keys = exchange.request.operation_key in selection.keys
    assert (is_of_keys and selection.takes(exchange)) == is_selected


IN_TOML = [
    ("[[rule]]", "[[rules]]", "rules.toml: rules stand under [[rule]], with two brackets"),
    ('id = "OWN-1"', 'id = "OWN-1', "rules.toml:2: this is not TOML"),
    ('id = "OWN-1"', 'id = "BALANCE"', '"BALANCE" is no id of a rule'),
    ('id = "OWN-1"', 'id = "LOGIN-1"', "LOGIN-1 does not begin with OWN-"),
    ('id = "OWN-1"', 'id = "OWN-2"', "rules.toml:10: rules.toml:1 has a rule OWN-2 too"),
    ("holds = {", "hold = {", 'rules.toml:1: [rule] has no key "hold". Did you mean "holds"?'),
    ('id = "OWN-1"', 'id = "OWN-1"\nlevel = "could"', '[rule] level must be "must" or "should", not "could"'),
    ("GET /web", "/web", '"/web/v1/system/wallets/query" is no endpoint'),
    ("data[*].balance", "data[x].balance", '"data[x].balance" is no place'),
    ("data[*].balance", "date[*].balance", "OWN-1 compares nothing in its lawful example"),
    ("at-least = 0 }", "at-lest = 0 }", 'no comparison "at-lest". Did you mean "at-least"?'),
    ("at-least = 0 }", 'at-least = "x" }', 'at data[0].balance: expected "at least x", seen 12.5'),
    ('type = "number"', 'type = "text"', 'there is no type "text", but string, number'),
    ("\nlawful = ", "\n# ", "rules.toml:1: [rule] has no lawful, which is needed"),
    ("balance = -1", "balance = 1", "OWN-1 does not reject its unlawful example"),
    ("balance = 12.5", "balance = -12.5", "OWN-1 rejects its lawful example at data[0].balance: expected"),
    ("{ data = [{ bizId", "{ date = [{ bizId", 'has no key "date". Did you mean "data"?'),
    ("\nlawful = ", "\nlawful = '{' # ", "is a text that is not JSON"),
    (TOML, "", "rules.toml: rules stand under [[rule]]"),
]
IN_PYTHON = [
    ("import answers, check", "import answers, chek", "rules.py:2: ImportError: cannot import name 'chek'"),
    ("return equal(", "return equal((", "rules.py:12: this is not Python"),
    ("    unlawful=", "    lawfull=", "rules.py:4: TypeError"),
    ("    unlawful={", "    # {", "rules.py:4: OWN-3 has no unlawful example"),
    ("return equal(exchange, ", "return holds(", "rules.py:12: NameError: name 'holds' is not defined"),
    ("return equal(", "yield str(", "TypeError"),
    ("return equal(exchange, ", "yield (", 'rules.py:4: it yields ["headers'),
    ("return equal", "equal", "OWN-3 compares nothing in its lawful example"),
    ("on=answers()", 'on="GET /web/v1/system/roles"', "OWN-3: on is no selection"),
    ("@check", "import sys\nsys.exit()\n@check", "SystemExit"),
    (CACHING, "x = 1", "there is no rule in it"),
]


@pytest.mark.parametrize(
    "file, mistake",
    [*(("rules.toml", mistake) for mistake in IN_TOML), *(("rules.py", mistake) for mistake in IN_PYTHON)],
)
def test_a_mistake_is_named(file: str, mistake: tuple[str, str, str]) -> None:
    whole, (old, new, message) = {"rules.toml": TOML, "rules.py": CACHING}[file], mistake
    assert old in whole

    with pytest.raises(RuleError, match=re.escape(message)) as caught:
        rules_of(whole.replace(old, new, 1), file)

    assert str(caught.value).startswith(file)


PROFILE = """
[portal]
url = "http://127.0.0.1:8000"
access_code = "${CODE}"

[accounts.admin]
email = "admin@example.test"
password = "${PASSWORD}"

[extend]
rules = ["rules.toml", "rules.py"]
prefix = "ACME"
"""


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile that names the rules of the page, under ids of its own."""
    for name, text in (("rules.toml", TOML), ("rules.py", PYTHON), ("portal.toml", PROFILE)):
        (tmp_path / name).write_text(text.replace("OWN-", "ACME-"), encoding="utf-8")
    return tmp_path / "portal.toml"


def test_the_rules_of_a_profile_are_tried_explained_and_checked(
    profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = written(profile.parent / "traffic.jsonl", wallets(-1))
    options = ["--profile", str(profile), "--out", str(profile.parent / "reports")]

    assert main(["doctor", "--offline", str(profile)]) == ExitCode.CONFORMANT
    assert "4 own rules (ACME-1, ACME-2, ACME-10, ACME-11): each holds" in capsys.readouterr().out
    assert main(["explain", "acme-1", *options[:2]]) == ExitCode.CONFORMANT
    assert WALLETS in capsys.readouterr().out
    assert main(["check", str(recording), *options, "--only", "ACME-*"]) == ExitCode.FAILED
    assert "own rules  1 holds, 1 is violated (ACME-1)" in capsys.readouterr().out

    text = (profile.parent / "rules.toml").read_text()
    (profile.parent / "rules.toml").write_text(text.replace("balance = -1", "balance = 1"))
    assert main(["doctor", "--offline", str(profile)]) == ExitCode.USAGE


def test_a_package_offers_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wallet_rules.py").write_text(PYTHON, encoding="utf-8")
    about = tmp_path / "wallet_rules-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wallet-rules\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[portal_conformance.rules]\nwallets = wallet_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert [rule.id for rule in rules_named_by([], None).rules] == ["OWN-10", "OWN-11"]
