"""A replay changes the records that the recording changed, and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conformance.replay import replay
from conformance.replay.compare.json_comparison import JsonComparison
from conformance.replay.compare.times.clocks import Clocks
from conformance.replay.engine.step import ReplayStep
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec.endpoints import ACCOUNTS_QUERY, SESSIONS
from conformance.tests.replays import options_for, profile_of, recorder
from reference_impl import serve as reference

SEED = 23
REMARK = "written by a visit"
IDS = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(9)]


def account(number: int, *, email: str = "", id: str = "") -> dict[str, Any]:
    email = email or f"person{number}@example.test"
    return {"bizId": id or IDS[number], "accountEmail": email, "accountName": f"Person {number}"}


def compared(
    correlation: Correlation, old: list[Any], new: list[Any], **options: Any
) -> list[tuple[str, str]]:
    bodies = {"data": {"items": old}}, {"data": {"items": new}}
    return [(each.kind, each.path) for each in JsonComparison(correlation, *bodies, **options).differences()]


def test_records_in_another_order_are_compared_with_themselves_whatever_else_differs() -> None:
    correlation = Correlation(used={"person1@example.test", IDS[1]})
    old = [account(1), account(2), account(3)]
    new = [account(4), account(1), {**account(2), "accountName": "Another"}]

    assert compared(correlation, old, new, operation=ACCOUNTS_QUERY) == [
        ("order", "data.items"),
        ("value", "data.items[1].accountName"),
    ]
    assert correlation.live.get(IDS[1], IDS[1]) == IDS[1]
    assert not correlation.doubtful
    assert "person1@example.test" not in correlation.live, "nobody stands for another person"


URI = "otpauth://totp/Portal:spare?secret={}&digits=6&issuer=Portal"
SHEET = "keep these:\n{}\n{}"


@pytest.mark.parametrize(
    ("recorded", "live", "kinds"),
    [
        (URI.format("[secret-1]"), URI.format("JBSWY3DPEHPK3PXP"), []),
        (SHEET.format("[backup-code-1]", "[backup-code-2]"), SHEET.format("52x36x7s", "91m200aa"), []),
        (URI.format("[secret-1]"), URI.format("JBSWY3DPEHPK3PXP").replace("digits=6", "digits=8"), ["value"]),
        (SHEET.format("[backup-code-1]", "[backup-code-2]"), SHEET.format("52x36x7s", ""), ["value"]),
    ],
)
def test_a_word_of_a_text_that_was_redacted_may_be_any(recorded: str, live: str, kinds: list[str]) -> None:
    old, new = {**account(1), "text": recorded}, {**account(1), "text": live}

    assert [kind for kind, _ in compared(Correlation(used=()), [old], [new])] == kinds


def test_records_of_another_portal_are_known_by_their_email() -> None:
    correlation = Correlation(used=())
    new = [account(2, id=IDS[7]), account(1, id=IDS[8])]

    compared(correlation, [account(1), account(2)], new, operation=ACCOUNTS_QUERY)

    assert correlation.live == {IDS[1]: IDS[8], IDS[2]: IDS[7]}
    assert not correlation.doubtful


def test_a_record_of_another_name_in_the_same_place_is_doubtful_until_better_is_known() -> None:
    correlation = Correlation(used={"person1@example.test"})

    compared(correlation, [account(1)], [account(5)], operation=ACCOUNTS_QUERY)
    assert correlation.live == {IDS[1]: IDS[5]}
    assert correlation.doubtful == {IDS[1]}

    assert not correlation.pair(IDS[1], IDS[6], is_doubtful=True), "another doubtful one is a difference"
    compared(correlation, [account(1), account(2)], [account(2), account(1)], operation=ACCOUNTS_QUERY)
    assert correlation.live[IDS[1]] == IDS[1]
    assert not correlation.doubtful


def test_counted_ids_are_doubtful_and_replaced_alike() -> None:
    correlation = Correlation(used=(), counts_ids=True)
    places = {"operation": ACCOUNTS_QUERY}

    compared(correlation, [account(1, id="11")], [account(5, id="15")], **places)
    assert correlation.doubtful == {("account", "11")}

    compared(
        correlation, [account(5, id="15"), account(1, id="11")], [account(5, id="15"), account(1, id="12")]
    )
    compared(correlation, [account(5, id="15")], [account(5, id="15")], **places)
    compared(correlation, [account(1, id="11")], [account(1, id="12")], **places)
    assert correlation.counted["account", "11"] == "12"
    assert correlation.counted["account", "15"] == "15"
    assert not correlation.doubtful


def session(number: int, began: float, *, is_current: bool = False) -> dict[str, Any]:
    began_at = datetime.fromtimestamp(began, UTC).isoformat()
    return {"sessionId": IDS[number], "loginTime": began_at, "isCurrent": is_current, "clientIp": "::1"}


@pytest.mark.parametrize("others, is_sure", [(0, True), (1, False)])
def test_a_session_is_surely_the_replays_where_none_but_its_own_began_meanwhile(
    others: int, is_sure: bool
) -> None:
    correlation = Correlation(used={IDS[2]})
    old = [session(1, 1_700_000_010, is_current=True), session(2, 1_700_000_020)]
    foreign = [session(7, 1_800_000_015) for _ in range(others)]
    new = [
        session(6, 1_750_000_000),
        *foreign,
        session(5, 1_800_000_020),
        session(4, 1_800_000_010, is_current=True),
    ]
    bodies = {"data": old}, {"data": new}

    JsonComparison(
        correlation, *bodies, operation=SESSIONS, began=Clocks(1_700_000_000, 1_800_000_000)
    ).differences()

    assert correlation.live[IDS[1]] == IDS[4]
    assert (IDS[2] not in correlation.doubtful) is is_sure
    assert not is_sure or correlation.live[IDS[2]] == IDS[5], "the other one began before the replay"


@pytest.mark.parametrize("others, kinds", [(0, {"order"}), (1, set())])
def test_the_place_of_an_own_session_among_those_of_others_is_no_order(others: int, kinds: set[str]) -> None:
    old = [session(1, 1_700_000_010, is_current=True), session(2, 1_700_000_005)]
    own = session(5, 1_800_000_010, is_current=True)
    new = [session(7, 1_800_000_015) if others else session(4, 1_800_000_005), own]
    comparison = JsonComparison(
        Correlation(used=()),
        {"data": old},
        {"data": new},
        operation=SESSIONS,
        began=Clocks(1_700_000_000, 1_800_000_000),
    )

    assert {each.kind for each in comparison.differences()} - {"repetition"} == kinds


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An administrator looks for somebody by email, and writes a remark."""
    out = tmp_path_factory.mktemp("aligned") / "traffic.jsonl"
    with recorder(out, open_channel=True, seed=SEED) as (walker, _):
        walker.sign_in(walker.accounts["admin"])
        found = walker.post("/accounts/admin/query", {"pageSize": 5})["data"]["accounts"][-1]
        (found,) = walker.post("/accounts/admin/query", {"email": found["accountEmail"]})["data"]["accounts"]
        walker.post("/accounts/admin/update", {"userBizId": found["bizId"], "accountRemark": REMARK})
    return out


Change = Callable[[reference.Running], None]


def turned_round(portal: reference.Running) -> None:
    accounts = portal.portal.records["account"]
    items = list(accounts.items())
    accounts.clear()
    accounts.update(reversed(items))


def of_other_people(portal: reference.Running) -> None:
    """The portal finds somebody of another name for each email."""
    own = {each.email for each in portal.seeded.sign_ins.values()}
    for each in portal.portal.records["account"].values():
        if each["accountEmail"] not in own:
            each["accountEmail"], each["accountName"] = f"x{each['accountEmail']}", f"X {each['accountName']}"


@pytest.mark.parametrize(
    "change, seed, written_to",
    [
        pytest.param(turned_round, SEED, "{}", id="another order"),
        pytest.param(turned_round, SEED + 1, "{}", id="another order, other ids"),
        pytest.param(of_other_people, SEED, "x{}", id="other names, the same ids"),
        pytest.param(of_other_people, SEED + 1, None, id="other names, other ids"),
    ],
)
def test_the_account_that_was_looked_for_is_changed_and_no_other(
    recording: Path, tmp_path: Path, change: Change, seed: int, written_to: str | None
) -> None:
    recorded = [json.loads(line) for line in recording.read_text().splitlines()]
    email = recorded[-2]["request"]["body"]["email"]
    written: list[str] = []
    with reference.start(seed=seed) as portal:
        change(portal)
        accounts = portal.portal.records["account"]

        def note(step: ReplayStep) -> None:
            written.extend(
                each["accountEmail"] for each in accounts.values() if each["accountRemark"] == REMARK
            )

        result = replay([recording], profile_of(portal), options_for(tmp_path), on_step=note)

    assert set(written) == ({written_to.format(email)} if written_to else set())
    assert any("not surely there" in note for note in result.run.notes) is (written_to is None)
