"""Findings of one cause share a card, and the gravest stand first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conformance.report.formats.html.overview import overview
from conformance.report.formats.terminal import summary_lines
from conformance.report.formats.write import write_all, write_further
from conformance.report.model.failures import failures_of
from conformance.report.model.groups import FindingGroup, gravest_first, grouped
from conformance.report.model.run import FindingEntry, OtherPlaceEntry, Run
from conformance.report.model.severity import RANK, SEVERITIES, severity_of
from conformance.spec.endpoints import COUNTRIES, LOGIN_COMPLETE, LOGIN_MFA_SEND, ROLE, TRANSFER_ORDERS
from conformance.tests.page_runs import replay_of
from conformance.tests.sample_run import (
    ACCOUNTS,
    CHANGE,
    COMPLETE,
    PROFILE,
    ROLES,
    Sample,
    conformant,
    envelope,
    exchange,
    finding,
    page_of,
    sample,
)
from conformance.traffic.exchange import Exchange, Json

NONE: frozenset[str] = frozenset()


def rules(groups: list[FindingGroup]) -> list[list[str]]:
    """The rules of each group, that of its lead first."""
    return [[each.requirement for each in group.findings] for group in groups]


def test_one_rule_contradicted_alike_at_several_endpoints_is_one_group() -> None:
    findings = [finding(endpoint=endpoint, signature=endpoint) for endpoint in (PROFILE, ROLES, ACCOUNTS)]

    (group,) = grouped(findings, NONE)

    assert group.lead.endpoint == PROFILE
    assert [each.endpoint for each in group.elsewhere] == [ROLES, ACCOUNTS]


@pytest.mark.parametrize(
    "other",
    [
        {"path": "data.more"},
        {"expected": 7},
        {"actual": "text"},
        {"requirement": "ENV-001"},
        {"verdict": "warn"},
    ],
)
def test_another_contradiction_is_another_group(other: dict[str, Any]) -> None:
    assert len(grouped([finding(), finding(**{"endpoint": ROLES, **other})], NONE)) == 2


def answers(rule: str, *endpoints: str, verdict: str = "fail") -> list[FindingEntry]:
    """Findings of a rule that rejects the answers of some endpoints as a whole."""
    fields = {"requirement": rule, "verdict": verdict, "path": "status"}
    return [
        finding(**fields, endpoint=each, exchanges=[len(each)], signature=f"{rule} {each}")
        for each in endpoints
    ]


def test_a_rule_that_rejects_the_same_answers_as_a_graver_one_is_of_its_group() -> None:
    accepted, status = answers("AUTHN-007", PROFILE, ROLES), answers("AUTHN-009", PROFILE, verdict="warn")

    both = grouped([*accepted, *answers("AUTHN-008", PROFILE, ROLES)], NONE)
    apart = grouped([*accepted, *answers("AUTHN-008", ROLES, ROLE)], NONE)

    assert rules(grouped([*accepted, *status], NONE)) == [["AUTHN-007", "AUTHN-007", "AUTHN-009"]]
    assert [(each.lead.requirement, len(each.findings)) for each in both] == [("AUTHN-007", 4)]
    assert [each.lead.requirement for each in apart] == ["AUTHN-007", "AUTHN-008"]


def test_an_endpoint_that_asks_for_no_token_is_one_group() -> None:
    found = [
        each.model_copy(update={"exchanges": [at], "expected": at})
        for at, rule in enumerate(("AUTHN-001", "AUTHN-006", "AUTHN-007", "AUTHN-008") * 2)
        for each in answers(rule, PROFILE)
    ]

    (group,) = grouped(sorted(found, key=lambda each: each.requirement), NONE)
    apart = grouped([*found, *answers("AUTHN-007", PROFILE, ROLES)], NONE)

    assert (group.lead.requirement, len(group.findings)) == ("AUTHN-001", 8)
    assert [each.lead.requirement for each in apart] == ["AUTHN-001", "AUTHN-007"]


def test_a_mistake_that_lets_a_forged_token_in_is_one_group_at_whatever_endpoints() -> None:
    forged = answers("AUTHN-007", PROFILE, ROLES)
    unmarked = answers("AUTHN-013", COUNTRIES, verdict="warn")
    unsigned = [
        each.model_copy(update={"exchanges": [99 + at]})
        for at, each in enumerate(answers("AUTHN-008", PROFILE, ROLES))
    ]

    assert rules(grouped([*forged, *unsigned, *unmarked], NONE)) == [
        [*["AUTHN-007"] * 2, *["AUTHN-008"] * 2, "AUTHN-013"]
    ]
    assert rules(grouped([*unsigned, *unmarked], NONE)) == [["AUTHN-008", "AUTHN-008", "AUTHN-013"]]
    assert rules(grouped([*answers("AUTHN-001", PROFILE), *unmarked], NONE)) == [["AUTHN-001"], ["AUTHN-013"]]


def test_a_session_that_is_not_used_up_is_one_group() -> None:
    used, sent = answers("LOGIN-031", LOGIN_COMPLETE), answers("LOGIN-072", LOGIN_MFA_SEND, verdict="warn")

    assert rules(grouped([*used, *sent], NONE)) == [["LOGIN-031", "LOGIN-072"]]


def test_the_top_of_the_page_lists_what_fails_by_cause(tmp_path: Path) -> None:
    made = conformant()
    for number, rule in ((901, "AUTHN-007"), (902, "AUTHN-008")):
        answer = exchange(number, PROFILE, answer=envelope({}))
        made.add(answer)
        made.contradict(rule, answer, path="status", expected=401)
    differing = [row.model_copy(update={"path": "message"}) for row in replay_of(3).regressions]

    def fails(run: Run) -> Any:
        return overview(run, 2)["blockers"]

    (row,) = fails(made.run())
    regressed, _ = fails(made.run(command="replay", regressions=differing))

    assert row.id == "AUTHN-007"
    assert row.under.endswith("GET /web/v1/system/profile · also contradicts AUTHN-008")
    assert regressed.under.endswith("3 answers, also at 2 more endpoints")


def test_the_endpoint_that_needs_least_is_the_example() -> None:
    ordered = gravest_first(sample().run(), answers("AUTHN-007", TRANSFER_ORDERS, ROLE, ROLES))

    assert [each.endpoint for each in ordered] == [ROLES, ROLE, TRANSFER_ORDERS]


def test_rules_that_one_wrong_answer_contradicts_as_a_whole_are_one_group() -> None:
    body = finding(requirement="ENV-001", path="", exchanges=[129])
    status = finding(requirement="OP-065", path="status", exchanges=[12, 129])
    field = finding(requirement="ENV-011", path="timestamp", exchanges=[129])
    elsewhere = finding(requirement="ERROR-001", path="status", exchanges=[130])

    groups = grouped([body, status, field, elsewhere], NONE)

    assert rules(groups) == [["ENV-001", "OP-065"], ["ENV-011"], ["ERROR-001"]]


def test_one_rule_at_several_places_of_one_answer_is_one_group() -> None:
    rows = finding(requirement="ACCOUNT-028", path="data.accounts", expected=[], exchanges=[40, 41])
    total = finding(requirement="ACCOUNT-028", path="data.totalElements", expected=0, exchanges=[41])
    later = finding(requirement="ACCOUNT-028", path="data.totalElements", expected=7, exchanges=[42])

    groups = grouped([rows, total, later], NONE)

    assert [[each.path for each in group.findings] for group in groups] == [
        ["data.accounts", "data.totalElements"],
        ["data.totalElements"],
    ]


ACCEPTED = {"status": 200, "success": True, "code": "2000"}
WRONG = "AUTH.INVALID_CREDENTIALS"
REFUSED = {**ACCEPTED, "success": False, "status": 500}
INVALID = {"status": 400, "code": {"one of": ["4000", "VALIDATION.INVALID_PARAMETER"]}}
KEPT_OUT, FORM = {"one of": [400, 401, 403]}, {"one of": [400, 401]}

SEVERITY_ROWS: list[tuple[Any, ...]] = [
    ("TOKEN-015", COMPLETE, "success", False, True, "access"),
    ("HEADER-001", PROFILE, "status", KEPT_OUT, 200, "access"),
    ("HEADER-001", PROFILE, "status", FORM, 500, "client"),
    ("SECURE-007", PROFILE, "data.key", "no AES key", "x", "secret"),
    ("CHANNEL-046", PROFILE, "data.items[0].emailConfig.password", "a mask", "x", "secret"),
    ("ENV-008", PROFILE, "data", None, {}, "client"),
    ("ENV-008", PROFILE, "data.name", "a", "b", "client"),
    ("ENUM-002", CHANGE, "data.mfaMethods[0].value", "the field to be present", None, "client"),
    ("LOGIN-040", PROFILE, "code", WRONG, ACCEPTED, "access"),
    ("LOGIN-040", PROFILE, "code", WRONG, REFUSED, "client"),
    ("LOGIN-043", PROFILE, "code", INVALID, ACCEPTED, "client"),
    ("LOGIN-060", COMPLETE, "code", INVALID, ACCEPTED, "access"),
    ("LOGIN-001", COMPLETE, "status", 200, 201, "client"),
    ("LOGIN-025", PROFILE, "code", "AUTH.MFA_SEND_COOLDOWN", ACCEPTED, "client"),
    ("PROFILE-011", PROFILE, "data.accountName", None, "x", "data"),
    ("ACCOUNT-020", PROFILE, "status", 403, 200, "differs"),
    ("SESSION-037", PROFILE, "success", False, ACCEPTED, "access"),
]


@pytest.mark.parametrize("rule, endpoint, path, expected, actual, severity", SEVERITY_ROWS)
def test_the_severity_follows_from_the_requirement_and_from_what_was_seen(
    rule: str, endpoint: str, path: str, expected: Json, actual: Json, severity: str
) -> None:
    seen = finding(requirement=rule, endpoint=endpoint, path=path, expected=expected, actual=actual)

    assert severity_of(seen) == severity


def test_other_data_than_a_case_has_written_is_lost_data_and_what_a_check_sees_is_not() -> None:
    changed = {"requirement": "ENV-008", "endpoint": CHANGE, "path": "data.name"}

    assert severity_of(finding(**changed, expected="a", actual="b", exchanges=[3, 5])) == "data"
    assert severity_of(finding(**changed, case="check x")) == "client"


def test_the_report_shows_and_sorts_by_severity_and_results_name_it(tmp_path: Path) -> None:
    builder = sample()
    run = write_all(builder.run(), tmp_path, exchanges=builder.write(tmp_path / "exchanges.jsonl"))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert {each.requirement: each.severity for each in Run.read(tmp_path).findings} == {
        each.requirement: severity_of(each) for each in run.findings
    }
    assert html.index('id="finding-SECURE-007"') < html.index('id="finding-ENV-008"')
    assert SEVERITIES["secret"] in html
    assert list(RANK) == ["access", "secret", "data", "client", "differs", "own"]


def test_a_finding_in_the_card_of_another_keeps_its_anchor(tmp_path: Path) -> None:
    builder = conformant()
    for number, endpoint in ((40, PROFILE), (41, ROLES), (42, ACCOUNTS)):
        answer = exchange(number, endpoint, answer=envelope(timestamp=1795254787))
        builder.add(answer)
        builder.contradict("ENV-011", answer, path="timestamp", expected="epoch milliseconds")
    html = page_of(builder, tmp_path)

    assert html.count("<article") == 1
    assert "Also in 2 more places" in html
    for name in ("finding-ENV-011", "finding-ENV-011-2", "finding-ENV-011-3"):
        assert html.count(f'id="{name}"') == 1
        assert f'href="#{name}"' in html
    assert "1 card, one for each cause" in html


def test_rules_that_another_value_at_one_place_contradicts_share_a_card_whatever_their_level() -> None:
    page = finding(requirement="PAGE-029", path="data.pageSize", expected=20, actual=50, verdict="warn")
    limit = finding(requirement="LIMIT-011", path="data.pageSize", expected=20, actual=50, exchanges=[7])
    other = finding(requirement="LIMIT-011", path="data.pageSize", expected=20, actual=60, endpoint=ROLES)

    (group,) = grouped([limit, page], NONE)

    assert (group.lead, group.at_once) == (limit, [page])
    assert len(grouped([limit, page, other], NONE)) == 2


def test_answers_that_disagree_are_one_group_and_the_odd_one_leads() -> None:
    def seen(endpoint: str, other: str, record: str) -> FindingEntry:
        place = OtherPlaceEntry(exchange=3, endpoint=other, record=record, field="roleName")
        return finding(requirement="AGREE-002", verdict="warn", endpoint=endpoint, other=place)

    rows = [seen(ROLES, PROFILE, "a"), seen(PROFILE, ROLES, "a"), seen(ROLES, PROFILE, "b")]
    others = [seen(PROFILE, ROLES, "a"), seen(ACCOUNTS, ROLES, "a"), seen(ROLES, ACCOUNTS, "b")]

    assert len(grouped(rows, NONE)) == 1
    (odd,) = grouped(others, NONE)
    assert (odd.lead.endpoint, len(odd.findings)) == (ROLES, 3)
    assert len(grouped([*rows, seen(ACCOUNTS, CHANGE, "a")], NONE)) == 2


ACCOUNT = "GET /web/v1/system/accounts/admin/{userBizId}"
RIGHT, WRONG_EMAIL = "admin@example.test", "other@example.test"


def email_of(rule: str, endpoint: str, expected: str, actual: str, **more: Any) -> FindingEntry:
    message = f'data.accountEmail: expected "{expected}", seen "{actual}"'
    fields = {"path": "data.accountEmail", "message": message, "signature": rule, **more}
    return finding(requirement=rule, endpoint=endpoint, expected=expected, actual=actual, **fields)


def _wrong_email() -> FindingEntry:
    """The profile shows an email that its account did not sign in with."""
    return email_of("PROFILE-001", PROFILE, RIGHT, WRONG_EMAIL, exchanges=[7])


def _disagreement(endpoint: str = ACCOUNT, rule: str = "AGREE-001", **changes: Any) -> FindingEntry:
    """The account's own record shows the right email, and the profile another one."""
    place = OtherPlaceEntry(exchange=7, endpoint=PROFILE, record="ACC-001", field="accountEmail")
    return email_of(rule, endpoint, WRONG_EMAIL, RIGHT, **{"other": place, "exchanges": [6, 7, 8], **changes})


def test_two_answers_that_disagree_share_the_card_of_the_rule_that_rejects_one_of_them() -> None:
    query = _disagreement(endpoint=ACCOUNTS, path="data.accounts[0].accountEmail")

    (group,) = grouped([_disagreement(), query, _wrong_email()], NONE)

    assert group.lead.requirement == "PROFILE-001"
    assert group.at_once == [_disagreement(), query]


def test_a_record_that_another_reading_shows_otherwise_leads_before_the_filter_that_it_does_not_pass() -> (
    None
):
    seen = {"endpoint": ACCOUNTS, "path": "data.accounts[0].accountEmail"}
    by_filter = _disagreement(**seen, rule="ACCOUNT-023", other=None, filters=["email"])

    assert rules(grouped([by_filter, _disagreement(**seen)], NONE)) == [["AGREE-001", "ACCOUNT-023"]]


def test_no_failure_hides_in_the_card_of_a_warning() -> None:
    warning = _wrong_email().model_copy(update={"verdict": "warn"})

    assert len(grouped([_disagreement(), warning], NONE)) == 2


def test_what_is_reckoned_from_a_wrong_count_shares_its_card() -> None:
    count = {"requirement": "PAGE-008", "path": "data.pagination.totalPages", "expected": 1, "actual": 2}
    following = {"requirement": "PAGE-010", "path": "data.pagination.hasNext", "expected": True}
    rows = [finding(**count), finding(**following, actual=False)]

    assert rules(grouped(rows, NONE)) == [["PAGE-008", "PAGE-010"]]
    assert len(grouped([rows[0], rows[1].model_copy(update={"endpoint": ROLES})], NONE)) == 2


def test_a_rule_about_one_answer_stands_before_a_comparison_of_two() -> None:
    run = conformant().run().model_copy(update={"findings": [_disagreement(), _wrong_email()]})

    assert [each.requirement for each in gravest_first(run, run.findings)] == ["PROFILE-001", "AGREE-001"]
    assert [each.requirement.id for each in failures_of(run).blockers] == ["PROFILE-001", "AGREE-001"]


def test_what_another_answer_shows_is_nowhere_called_expected(tmp_path: Path) -> None:
    run = conformant().run(exit_code=1).model_copy(update={"findings": [_disagreement()]})
    write_all(run, tmp_path, exchanges=conformant().write(tmp_path / "exchanges.jsonl"))
    write_further(tmp_path, ["sarif"])
    names = ("report.html", "summary.md", "results.sarif", "junit.xml")
    formats = {name: (tmp_path / name).read_text(encoding="utf-8") for name in names}
    formats["terminal"] = "\n".join(summary_lines(run, colour=False, quiet=False))

    for name, text in formats.items():
        assert "disagrees with" in text.lower(), name
        assert not re.search(rf"expected:? [\"`&#3;quot]*{WRONG_EMAIL}", text), name


def _listings(*asked: dict[str, Any]) -> tuple[Sample, list[Exchange]]:
    """A run, and account listings that each hold an account, whatever was asked for."""
    builder = conformant()
    answer = envelope({"accounts": [{"accountEmail": RIGHT, "accountName": "Admin"}], "totalElements": 1})
    seen = [
        exchange(at, ACCOUNTS, sent={"name": None, **body, "page": 0}, answer=answer)
        for at, body in enumerate(asked, 40)
    ]
    builder.add(*seen)
    return builder, seen


def _cards(made: Sample, folder: Path) -> list[list[str]]:
    """The rules of each card."""
    run = write_all(made.run(), folder, exchanges=made.write(folder / "exchanges.jsonl"))
    return rules(grouped(gravest_first(run, run.findings), NONE))


def test_rules_that_listings_by_one_filter_alone_contradict_share_a_card(tmp_path: Path) -> None:
    made, (somebody, nobody) = _listings({"email": "somebody"}, {"email": "nobody"})
    made.contradict("ACCOUNT-023", somebody, path="data.accounts[0].accountEmail", expected="somebody")
    made.contradict("ACCOUNT-028", nobody, path="data.accounts", expected=[])
    made.contradict("ACCOUNT-028", nobody, path="data.totalElements", expected=0)

    assert _cards(made, tmp_path) == [["ACCOUNT-023", "ACCOUNT-028", "ACCOUNT-028"]]
    assert [each.filters for each in Run.read(tmp_path).findings] == [["email"]] * 3
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    others = html.split("<h4>Listings by the same filter, email, also contradict</h4>")[1].split("</ul>")[0]
    assert others.count("<li>") == 1
    assert re.findall(r' id="([^"]+)"', others) == ["finding-ACCOUNT-028", "finding-ACCOUNT-028-2"]
    assert "seen <code>1</code> in #41, expected 0" in others
    lines = summary_lines(Run.read(tmp_path), colour=False, quiet=False)
    assert "     also contradicts ACCOUNT-028, by the same filter: email" in lines


@pytest.mark.parametrize(
    "rule, asked, path",
    [
        ("ACCOUNT-024", {"name": "nobody"}, "data.accounts[0].accountName"),
        ("ACCOUNT-028", {"name": "nobody"}, "data.accounts"),
        ("ACCOUNT-028", {"email": "a", "name": "b"}, "data.accounts"),
        ("ACCOUNT-028", {}, "data.accounts"),
        ("ACCOUNT-001", {"email": "a"}, "data.accounts[0].bizId"),
        ("ACCOUNT-003", {"email": "a"}, "data.accounts[0].accountEmail"),
        ("PAGE-029", {"email": "a"}, "data.pageSize"),
        ("ENV-011", {"email": "a"}, "timestamp"),
    ],
)
def test_what_another_filter_or_none_gives_and_the_form_of_a_record_have_a_card_of_their_own(
    rule: str, asked: dict[str, Any], path: str, tmp_path: Path
) -> None:
    made, (somebody, other) = _listings({"email": "somebody"}, asked)
    made.contradict("ACCOUNT-023", somebody, path="data.accounts[0].accountEmail", expected="somebody")
    made.contradict(rule, other, path=path, expected="another")

    assert len(_cards(made, tmp_path)) == 2
