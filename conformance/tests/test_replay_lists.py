"""Lists of records: which entries of two are the same, what others made longer, and what is learned of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conformance.replay import replay
from conformance.replay.compare.clocks import Clocks
from conformance.replay.compare.json_comparison import JsonComparison
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.replay.compare.repetition import ShownEarlier
from conformance.replay.engine.step import ReplayStep
from conformance.replay.rebuild.correlation import Correlation
from conformance.spec import endpoints as op
from conformance.tests.replays import comparer_of, options_for, profile_of, recorder
from conformance.tests.traffic import NOW, answer
from conformance.traffic.exchange import Json
from conformance.traffic.values import hidden_number
from reference_impl import serve as reference


def replayed(key: str, old: Json, new: Json) -> list[tuple[str, str]]:
    """The places and kinds of the differences; each breaks a client."""
    pair = ReplayedExchange(1, answer(key, old), answer(key, new))
    began = Clocks(NOW.timestamp(), NOW.timestamp())
    differences = comparer_of(written={op.CHANNEL_CREATE}, began=began).compare(pair).differences
    assert {Meanings().of(pair, each).meaning for each in differences} <= {"breaking"}
    return [(each.path, each.kind) for each in differences]


def history(hours: list[int], **entry: Json) -> dict[str, Any]:
    """A history of sign-ins so many hours ago."""
    shown: dict[str, Json] = {"clientIp": "203.0.113.7", "loginResult": 1, "failureReason": None} | entry
    items = [{**shown, "loginTime": (NOW - timedelta(hours=each)).isoformat()} for each in hours]
    return {"items": items, "pagination": {"totalRecords": len(items), "currentPage": 1, "pageSize": 20}}


def channels(**pagination: Json) -> Json:
    first: dict[str, Json] = {"totalRecords": 7, "totalPages": 2, "hasNext": True, "empty": False}
    return {"items": [], "pagination": first | pagination}


NEWEST_FIRST = history([2, 4, 6])
ORDER = [("data.items", "order")]
HIDDEN = [(f"data.items[{at}].clientIp", "value") for at in range(3)]


def invitation(letter: str, days: int = 3, **fields: Json) -> dict[str, Json]:
    id = f"{8 * letter}-0000-4000-8000-000000000000"
    return {"bizId": id, "createdAt": (NOW - timedelta(days=days)).isoformat(), "canAccept": True} | fields


SEEDED, OTHERS = [invitation("a"), invitation("b")], [invitation("a"), invitation("c", canAccept=False)]
NEWER = [invitation("a"), invitation("c", days=-1, canAccept=False)]
CAN_ACCEPT = [("data[1].canAccept", "value")]
MOVED_AND_CHANGED = [("data", "order"), ("data[0].canAccept", "value")]
ROLE: dict[str, Json] = {"bizId": f"{8 * 'a'}-0000-4000-8000-000000000000", "roleName": "Auditor"}
OTHER_ROLE: dict[str, Json] = {"bizId": f"{8 * 'b'}-0000-4000-8000-000000000000", "roleName": "Clerk"}
GROWN_AND_CHANGED = [("data", "length"), ("data[0].roleName", "value")]
OWN: dict[str, Json] = {"isCurrent": True, "userAgent": "A browser"}
OTHER: dict[str, Json] = {"isCurrent": False, "userAgent": "Another"}


def counted(name: str) -> list[tuple[str, str]]:
    return [(f"data.pagination.{name}", "value")]


@pytest.mark.parametrize(
    ("key", "old", "new", "expected"),
    [
        # A history that is turned round, however many signed in since; what is in no order is not.
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([9, 5, 3]), ORDER),
        (op.SESSIONS_HISTORY, history([9, 5, 3]), NEWEST_FIRST, ORDER),
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([3, 5, 7, 9]), []),
        # A record that is changed, in a list that has another one more.
        (op.ROLES, [ROLE], [ROLE | {"roleName": "Another"}, OTHER_ROLE], GROWN_AND_CHANGED),
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([9, 3]), []),
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([3, 9, 5]), []),
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([3, 3, 3]), []),
        # Another address of others is none, and one that is no address any more is one.
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([3, 5, 7], clientIp="198.51.100.9"), []),
        (op.SESSIONS_HISTORY, NEWEST_FIRST, history([3, 5, 7], clientIp="hidden"), HIDDEN),
        # An earlier replay leaves more records and never fewer.
        (op.CHANNELS_QUERY, channels(), channels(totalRecords=9), []),
        (op.CHANNELS_QUERY, channels(), channels(totalRecords=0), counted("totalRecords")),
        (op.CHANNELS_QUERY, channels(), channels(totalPages=3), []),
        (op.CHANNELS_QUERY, channels(), channels(totalPages=1), counted("totalPages")),
        (op.CHANNELS_QUERY, channels(hasNext=False), channels(), []),
        (op.CHANNELS_QUERY, channels(), channels(hasNext=False), counted("hasNext")),
        (op.CHANNELS_QUERY, channels(empty=True), channels(empty=False), []),
        (op.CHANNELS_QUERY, channels(), channels(empty=True), counted("empty")),
        # A record with an id of its own, from before, is another one where the ids of others are equal.
        (op.INVITATIONS, SEEDED, OTHERS, []),
        (op.INVITATIONS, SEEDED, [SEEDED[0], invitation("b", canAccept=False)], CAN_ACCEPT),
        (op.INVITATIONS, SEEDED[1:], OTHERS[1:], [("data[0].canAccept", "value")]),
        (op.INVITATIONS, [SEEDED[0], invitation("b", days=-1)], NEWER, CAN_ACCEPT),
        (op.INVITATIONS, SEEDED, [SEEDED[1], invitation("a", canAccept=False)], MOVED_AND_CHANGED),
        # The own session is compared where others began beside it.
        (op.SESSIONS, [OWN], [OTHER, OWN], []),
        (op.SESSIONS, [OWN], [OTHER, OWN | {"userAgent": "Another"}], [("data[1].userAgent", "value")]),
        (op.SESSIONS, [OWN], [OTHER, OTHER], []),
    ],
)
def test_what_others_made_longer_is_no_change_of_a_portal(
    key: str, old: Json, new: Json, expected: list[tuple[str, str]]
) -> None:
    assert replayed(key, old, new) == expected


def method(code: str, *, is_enabled: bool) -> Json:
    return {"mfaMethod": {"code": code, "value": len(code), "label": code}, "isEnabled": is_enabled}


def test_a_method_that_is_off_now_is_told_beside_one_that_is_listed_twice() -> None:
    before = [method(code, is_enabled=True) for code in ("EMAIL", "OTP")]
    now = [method(code, is_enabled=False) for code in ("EMAIL", "OTP", "EMAIL")]

    pair = ReplayedExchange(1, answer(op.MFA, before), answer(op.MFA, now))
    differences = comparer_of().compare(pair).differences

    assert [(each.path, each.kind) for each in differences] == [
        ("data", "length"),
        ("data[1].isEnabled", "value"),
    ]


@pytest.mark.parametrize(
    ("live", "kind", "meaning"),
    [(None, "type", "breaking"), ("ORDER", "type", "breaking"), (1, "length", "drift")],
)
def test_null_in_place_of_a_list_is_another_form_also_of_another_record(
    live: Json, kind: Any, meaning: str
) -> None:
    recorded = answer(op.ROLES, {"permissionGroups": ["ORDER"]})
    pair = ReplayedExchange(1, recorded, recorded, shows_another=True)
    old = 2 if kind == "length" else ["ORDER"]

    assert Meanings().of(pair, Difference(kind, ("data", "permissionGroups"), old, live)).meaning == meaning


SEED = 23
REMARK = "written by a visit"
IDS = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(9)]


def account(number: int, *, email: str = "", id: str = "") -> dict[str, Any]:
    email = email or f"person{number}@example.test"
    return {"bizId": id or IDS[number], "accountEmail": email, "accountName": f"Person {number}"}


def aligned(
    correlation: Correlation, old: list[Any], new: list[Any], **options: Any
) -> list[tuple[str, str]]:
    bodies = {"data": {"items": old}}, {"data": {"items": new}}
    return [(each.kind, each.path) for each in compared(correlation, *bodies, **options)]


def compared(
    correlation: Correlation, old: Json, new: Json, *, operation: str = op.ROLES, began: Clocks | None = None
) -> list[Difference]:
    pair = ReplayedExchange(1, answer(operation, body=old), answer(operation, body=new))
    return JsonComparison(correlation, pair, ShownEarlier(), began=began).differences(old, new)


def test_records_in_another_order_are_compared_with_themselves_whatever_else_differs() -> None:
    correlation = Correlation(used={"person1@example.test", IDS[1]})
    old = [account(1), account(2), account(3)]
    new = [account(4), account(1), {**account(2), "accountName": "Another"}]

    assert aligned(correlation, old, new, operation=op.ACCOUNTS_QUERY) == [
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

    assert [kind for kind, _ in aligned(Correlation(used=()), [old], [new])] == kinds


def test_a_number_that_was_redacted_may_be_any_number_and_no_text() -> None:
    recorded = {"data": {"refreshToken": hidden_number("[refresh-token-1]")}}

    assert compared(Correlation(used=set()), recorded, {"data": {"refreshToken": 2050847201}}) == []
    (other,) = compared(Correlation(used=set()), recorded, {"data": {"refreshToken": "2050847201"}})
    assert other.kind == "type"


def test_a_record_of_another_name_in_the_same_place_is_doubtful_until_better_is_known() -> None:
    correlation = Correlation(used={"person1@example.test"})

    aligned(correlation, [account(1)], [account(5)], operation=op.ACCOUNTS_QUERY)
    assert correlation.live == {IDS[1]: IDS[5]}
    assert correlation.doubtful == {IDS[1]}

    assert not correlation.pair(IDS[1], IDS[6], is_doubtful=True), "another doubtful one is a difference"
    aligned(correlation, [account(1), account(2)], [account(2), account(1)], operation=op.ACCOUNTS_QUERY)
    assert correlation.live[IDS[1]] == IDS[1]
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

    began = Clocks(1_700_000_000, 1_800_000_000)
    compared(correlation, *bodies, operation=op.SESSIONS, began=began)

    assert correlation.live[IDS[1]] == IDS[4]
    assert (IDS[2] not in correlation.doubtful) is is_sure
    assert not is_sure or correlation.live[IDS[2]] == IDS[5], "the other one began before the replay"


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
