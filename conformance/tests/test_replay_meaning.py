"""What a difference means: each is a contradiction, a breaking change, a permitted change, or drift."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cli import main
from conformance.replay import ReplayResult
from conformance.replay.compare.callers import ServedCallers, foreign_sessions
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.meaning import Meanings
from conformance.replay.compare.outcome import Difference, Kind, Meaning, ReplayedExchange
from conformance.replay.differences import lines_of
from conformance.report.across.baseline_rows import load
from conformance.spec import BY_KEY
from conformance.spec import endpoints as op
from conformance.tests.replays import Replaying, comparer_of, recorder, replayed
from conformance.tests.traffic import answer, refusal
from conformance.traffic.exchange import Exchange

BREAKING = [
    {
        "answers-null": (op.INVITE, "data"),
        "constants-as-seen": (op.COUNTRIES, "data"),
        "credentials-400": (op.LOGIN_INITIATE, "status"),
        "history-oldest-first": (op.SESSIONS_HISTORY, "data.items"),
        "my-workspaces-in-pages": (op.WORKSPACES_MINE, "data"),
        "roles-in-another-order": (op.ROLES, "data"),
        "token-missing-4010": (op.PROFILE, "code"),
        "unfinished-orders": (op.TRANSFER_ORDERS, "data.content[*].status"),
        "update-answers-the-record-before": (op.PROFILE_UPDATE, "data.accountName"),
        "wrong-code-422": (op.LOGIN_COMPLETE, "status"),
    },
    {
        "answers-an-empty-object": (op.INVITE, "data.bizId"),
        "otp-only": (op.MFA, "data"),
        "pending-by-another-name": (op.LOGIN_INITIATE, "data.pendingApproval"),
        "what-is-left-is-told": (op.LOGIN_COMPLETE, "data.expiresIn"),
    },
]
"""Variants, and a place that each changes; none of a portal hides another."""

PERMITTED = [
    ("a-third-factor", "account-status-told", "bare-envelope", "created-is-201"),
    ("data-left-out", "errors-without-words", "key-as-jwk", "label-keys"),
    ("key-as-pem", "label-of-its-own", "labels-without-words", "login-results-by-other-numbers"),
    ("never-paginated", "no-rotation", "nulls-left-out", "timestamps-are-ahead"),
    ("secure-channel-speaks-1-3-0", "without-timestamp", "without-version"),
    ("chunked", "header-case", "gzip", "other-order-of-fields", "rate-of-all", "large-size-refused"),
    ("connection-close", "password-change-ends-sessions", "oaep-sha1", "encrypted-objects", "urn-ids"),
    ("old-refresh-tokens-stay-valid", "request-id-required", "zero-offset", "es256-tokens"),
    ("cbc-with-the-iv-last", "numeric-ids", "history-counted-for-each-account", "encrypted-answers"),
    ("firewall-200",),
    ("firewall-406",),
]
"""Variants that a client survives, or that differ in what nobody may rely on: the form of ids, of tokens."""


def meanings_of(result: ReplayResult) -> set[object]:
    """What the differences mean of a lawful portal, which leaves nothing behind."""
    found = {group["meaning"] for group in result.groups}
    assert "contradiction" not in found
    assert all(group["basis"] for group in result.groups)
    assert result.run.ending.left_behind == []
    return found


@pytest.mark.slow
@pytest.mark.parametrize("variants", BREAKING, ids=" ".join)
def test_a_lawful_variant_that_breaks_clients_contradicts_nothing_and_names_what_permits_it(
    visit: Replaying, variants: dict[str, tuple[str, str]]
) -> None:
    told = visit(variants=tuple(variants))

    assert "breaking" in meanings_of(told)
    breaking = [group for group in told.groups if group["meaning"] == "breaking"]
    assert {(group["endpoint"], group["path"]) for group in breaking} >= set(variants.values())
    assert told.run.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("variants", PERMITTED, ids=" ".join)
def test_a_permitted_change_is_no_regression_and_names_what_permits_it(
    visit: Replaying, variants: tuple[str, ...]
) -> None:
    told = visit(variants=variants)

    assert "breaking" not in meanings_of(told)
    assert told.run.regressions == []
    assert told.tally.share >= 0.95
    assert told.run.exit_code == 0


@pytest.fixture(scope="module")
def signed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sign-in with a wrong password and a wrong code, and what a page reads then."""
    with recorder(out := tmp_path_factory.mktemp("signed_in") / "traffic.jsonl") as (walker, _):
        walker.sign_in(walker.accounts["admin"], errs=True)
        for path in ("profile", "profile", "security/mfa", "security/sessions", "security/mfa/backup-codes"):
            walker.get(f"/{path}")
    return out


@pytest.mark.parametrize(
    ("fail_on", "variant", "code"),
    [
        ("contradiction", "wrong-code-422", 0),
        ("breaking", "wrong-code-422", 1),
        ("breaking", "without-version", 0),
        ("permitted", "without-version", 1),
    ],
)
def test_the_user_says_which_meaning_fails_a_replay(
    signed_in: Path, tmp_path: Path, fail_on: str, variant: str, code: int
) -> None:
    told = replayed(signed_in, tmp_path, variants=(variant,), fail_on=fail_on)

    assert told.run.exit_code == code
    assert bool(told.run.regressions) is bool(code)


def test_the_same_difference_at_many_answers_is_one_row_with_its_count(
    signed_in: Path, tmp_path: Path
) -> None:
    told = replayed(signed_in, tmp_path, variants=("without-version",))

    (row,) = (each for each in told.groups if (each["endpoint"], each["path"]) == (op.PROFILE, "version"))
    assert (row["times"], row["meaning"], row["basis"]) == (2, "permitted", "some samples omit version")
    assert "some samples omit version" in (tmp_path / "report.html").read_text()


def change(reports: Path, file: Path, *words: str) -> None:
    """Changes what is known by the reports of a replay."""
    assert main(["compare", str(reports), "--known", str(file), *words]) == 0


def test_an_accepted_regression_is_pruned_by_a_replay_that_does_not_show_it(
    signed_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, variant = tmp_path / "known.toml", ("wrong-code-422",)

    def exit_code(variants: tuple[str, ...], **options: Any) -> int:
        return replayed(signed_in, tmp_path, variants=variants, **options).run.exit_code

    assert exit_code(variant) == 1
    change(tmp_path, file, "--accept", "all")
    assert exit_code(("credentials-400",), known=file) == 1
    rows = load(file)
    assert {row.reason for row in rows} == {"say here why this is accepted"}

    assert exit_code(variant, known=file) == 0
    change(tmp_path, file, "--prune")
    assert load(file) == rows

    assert exit_code((), known=file) == 1
    change(tmp_path, file, "--prune")
    assert len(load(file)) == len(rows) - 1
    assert f"Removed from {file}: {rows[0].signature}" in capsys.readouterr().out


def pair_of(key: str, **more: object) -> ReplayedExchange:
    exchange = answer(key, {})
    return ReplayedExchange(1, replace(exchange, **more), exchange)


PASSWORDS = ("s****t9", "smtp-pass-9", "correct-horse-battery")
"""What may be one, in whole or in part."""


def unmasked(shown: str) -> Difference:
    return Difference("value", ("data", "items", 0, "emailConfig", "password"), "******", shown)


@pytest.mark.parametrize(
    ("key", "difference", "meaning"),
    [
        (op.PROFILE, Difference("missing", ("version",), "2.0.0", None), Meaning.PERMITTED),
        (op.PROFILE, Difference("missing", ("data", "accountName"), "A", None), Meaning.BREAKING),
        (op.PROFILE, Difference("extra", ("data", "more"), None, 1), Meaning.PERMITTED),
        (op.PROFILE, Difference("type", ("data", "accountRemark"), None, "x"), Meaning.PERMITTED),
        (op.PROFILE, Difference("type", ("data", "accountName"), None, "x"), Meaning.BREAKING),
        (op.PROFILE, Difference("value", ("data", "accountName"), "A", "B"), Meaning.BREAKING),
        (op.COUNTRIES, Difference("order", ("data",), [], []), Meaning.PERMITTED),
        (op.COUNTRIES, Difference("length", ("data",), 6, 2), Meaning.BREAKING),
        (op.COUNTRIES, Difference("length", ("data",), 2, 6), Meaning.PERMITTED),
        (op.ROLES, Difference("order", ("data",), [], []), Meaning.BREAKING),
        (op.LOGIN_INITIATE, Difference("status", ("status",), 401, 400), Meaning.BREAKING),
        (op.WORKSPACES_MINE, Difference("type", ("data",), [], {}), Meaning.BREAKING),
        (op.PROFILE, Difference("type", ("data", "accessToken"), "eyJ", "opaque"), Meaning.PERMITTED),
        (op.PUBLIC_KEY, Difference("repetition", ("data", "publicKey"), "abc", "xyz"), Meaning.PERMITTED),
        *((op.CHANNELS_QUERY, unmasked(shown), Meaning.PERMITTED) for shown in ("••••••••", "hidden", "")),
        *((op.CHANNELS_QUERY, unmasked(shown), Meaning.BREAKING) for shown in PASSWORDS),
    ],
)
def test_the_specification_decides_what_a_difference_means(
    key: str, difference: Difference, meaning: Meaning
) -> None:
    decided = Meanings().of(pair_of(key), difference)

    assert decided.meaning is meaning
    assert decided.basis


def test_a_response_that_lost_what_a_recorded_request_takes_from_it_breaks_the_client() -> None:
    meanings = Meanings(taken_from={"id-of-the-invitation": 1, "of an earlier one": 0}.get)
    made = {"bizId": "id-of-the-invitation", "message": "Welcome"}

    def meaning(key: str, recorded: object, replayed: object, kind: Kind = "type") -> Meaning:
        return meanings.of(pair_of(key), Difference(kind, ("data",), recorded, replayed)).meaning

    assert meaning(op.INVITE, made, None) is Meaning.BREAKING
    assert meaning(op.INVITE, made, {}) is Meaning.BREAKING
    assert meaning(op.INVITE, {**made, "bizId": "another"}, None) is Meaning.PERMITTED
    assert meaning(op.INVITE, {**made, "bizId": "of an earlier one"}, None) is Meaning.PERMITTED
    assert meaning(op.INVITE, "id-of-the-invitation", None, "missing") is Meaning.BREAKING
    assert meaning(op.PUBLIC_KEY, {**made, "publicKey": "key"}, None) is not Meaning.BREAKING


@pytest.mark.parametrize(
    ("recorded", "live", "basis"),
    [
        (
            refusal(op.LOGIN_MFA_SEND, "AUTH.MFA_SEND_COOLDOWN", 429),
            answer(op.LOGIN_MFA_SEND, {"sent": True}),
            "AUTH.MFA_SEND_COOLDOWN is stated here (LOGIN-025",
        ),
        (
            answer(op.TRANSFER_ORDERS, {}),
            refusal(op.TRANSFER_ORDERS, "4030", 403),
            "the endpoint is stated to need a bot challenge",
        ),
        (answer(op.ROLES, {}), refusal(op.ROLES, "4030", 403), "which further"),
    ],
)
def test_a_refusal_that_comes_or_goes_names_the_rule_or_the_gap(
    recorded: Exchange, live: Exchange, basis: str
) -> None:
    difference = Difference("status", ("status",), recorded.status, live.status)

    decided = Meanings().of(ReplayedExchange(1, recorded, live), difference)

    assert decided.meaning is Meaning.BREAKING
    assert decided.basis.startswith(basis)


def test_a_session_of_another_account_in_a_list_breaks_and_an_own_one_does_not() -> None:
    owners: dict[str, str] = {}
    entry = {"sessionId": "5d473325-1067-464f-ad5b-a50f4f0a1117"}

    def listed(account: str, *entries: object) -> list[Difference]:
        exchange = answer(op.SESSIONS, list(entries))
        return list(foreign_sessions(ReplayedExchange(1, exchange, exchange, account=account), owners))

    assert listed("admin", entry) == listed("admin", entry) == []
    assert listed("spare", {"sessionId": "another"}) == []
    assert listed("limited", {"sessionId": "another"}) == []
    (foreign,) = listed("spare", {"sessionId": "another"}, entry)
    assert foreign.path == "data[1].sessionId"
    assert Meanings().of(pair_of(op.SESSIONS), foreign).meaning is Meaning.BREAKING


@pytest.mark.parametrize(
    ("key", "difference", "meaning"),
    [
        (op.LOGIN_INITIATE, Difference("length", ("data", "mfaMethods"), 2, 1), Meaning.DRIFT),
        (op.MFA, Difference("value", ("data", 0, "isEnabled"), True, False), Meaning.DRIFT),
        (op.WORKSPACES_MINE, Difference("length", ("data",), 3, 0), Meaning.DRIFT),
        (op.WORKSPACES_MINE, Difference("type", ("data",), [], {}), Meaning.BREAKING),
        (op.PROFILE, Difference("missing", ("data", "bizId"), "A", None), Meaning.BREAKING),
        (op.COUNTRIES, Difference("length", ("data",), 6, 2), Meaning.BREAKING),
    ],
)
def test_what_another_account_has_of_its_own_is_drift(
    key: str, difference: Difference, meaning: Meaning
) -> None:
    stand_in = replace(pair_of(key), account="spare")

    assert Meanings(frozenset({"spare"})).of(stand_in, difference).meaning is meaning
    assert Meanings(frozenset({"admin"})).of(stand_in, difference).meaning is not Meaning.DRIFT


def test_another_person_by_another_account_is_drift() -> None:
    name = Difference("value", ("data", "accountName"), "A", "B")

    assert Meanings(frozenset({"spare"})).of(pair_of(op.PROFILE), name).meaning is Meaning.DRIFT


def test_a_preflight_is_the_edges() -> None:
    pair = pair_of(op.PROFILE)
    request = replace(pair.recorded.request, method="OPTIONS")
    preflight = replace(pair, recorded=replace(pair.recorded, request=request))

    assert Meanings().of(preflight, Difference("status", ("status",), 204, 405)).meaning is Meaning.DRIFT


@pytest.mark.parametrize(("days", "is_drift"), [((30, 31), True), ((0, 0), True), ((30, 3000), False)])
def test_epoch_numbers_near_their_responses_are_times_whatever_their_name(
    days: tuple[int, int], is_drift: bool
) -> None:
    started = "2026-11-22T10:00:00.000Z", "2027-02-22T10:00:00.000Z"
    old, new = (
        replace(answer(op.PROFILE_UPDATE, {"notAfter": epoch_ms(moment, ahead) + 138}), started=moment)
        for moment, ahead in zip(started, days, strict=True)
    )

    assert (_compared(old, new) == []) is is_drift


def epoch_ms(moment: str, days: int) -> int:
    return round((datetime.fromisoformat(moment) + timedelta(days=days)).timestamp() * 1000)


def _compared(old: Exchange, new: Exchange, comparer: Comparer | None = None) -> Sequence[Difference]:
    comparer = comparer or comparer_of()
    return comparer.compare(ReplayedExchange(1, old, new)).differences


def test_entries_of_somebody_else_were_not_left_by_an_earlier_replay() -> None:
    mine, others = ({"inviteeEmail": f"{name}@example.test", "message": "Hi"} for name in ("spare", "admin"))

    def found_in(*entries: object) -> list[str]:
        comparer = comparer_of(written={op.INVITE})
        recorded, live = answer(op.OWN_INVITATIONS, []), answer(op.OWN_INVITATIONS, list(entries))
        pair = ReplayedExchange(1, recorded, live, account="spare", email="Spare@example.test")
        return [each.path for each in comparer.compare(pair).differences]

    assert found_in(mine, mine) == []
    assert found_in(mine, others) == ["data"]


@pytest.mark.parametrize("hours", [0, 2])
def test_orders_of_another_range_of_days_are_drift(hours: int) -> None:
    def listed(*amounts: int) -> Exchange:
        content = [{"bizId": f"order-{amount}", "amount": amount} for amount in amounts]
        return answer(op.TRANSFER_ORDERS, {"content": content, "totalElements": len(amounts)})

    recorded, live = listed(5, 7, 9), listed(7, 11)
    later = datetime.fromisoformat(live.started) + timedelta(hours=hours)
    live = replace(live, started=later.isoformat())

    assert bool(list(_compared(recorded, live))) is not bool(hours)


def test_a_list_into_which_others_came_is_one_difference_and_its_ids_are_paired_by_their_content() -> None:
    def listed(portal: str, *names: str) -> Exchange:
        return answer(op.ROLES, [{"bizId": f"{name}-of-{portal}-portal", "roleName": name} for name in names])

    comparer = comparer_of()
    recorded, live = listed("recorded", "a", "b", "c", "d"), listed("live", "new", "a", "b", "c")

    (difference,) = _compared(recorded, live, comparer)

    assert (difference.path, difference.kind) == ("data", "order")
    assert "it has others now" in Meanings().of(pair_of(op.ROLES), difference).basis
    assert comparer.correlation.live["b-of-recorded-portal"] == "b-of-live-portal"
    assert "d-of-recorded-portal" not in comparer.correlation.live


def test_the_description_of_a_record_is_its_own_data_and_that_of_an_enumeration_is_not() -> None:
    def shown(text: str) -> Exchange:
        status = {"code": "ACTIVE", "value": 1, "label": "Active", "description": text}
        return answer(op.ROLES, [{"roleName": "a", "description": text, "roleStatus": status}])

    recorded, live = shown("Reads only"), shown("Watches transfers")
    pair = ReplayedExchange(1, recorded, live, account="admin")

    meanings = {each.path: Meanings().of(pair, each).meaning for each in _compared(recorded, live)}
    assert meanings == {"data[0].description": "breaking", "data[0].roleStatus.description": "permitted"}


def test_the_results_hold_each_difference_with_its_meaning(signed_in: Path, tmp_path: Path) -> None:
    replayed(signed_in, tmp_path, variants=("wrong-code-422",), faults=("a-method-twice",))

    results = json.loads((tmp_path / "results.json").read_text())
    lines = (tmp_path / "exchanges.jsonl").read_text().splitlines()
    assert (results["command"], results["exit_code"]) == ("replay", 1)
    twice, regression = sorted(results["regressions"], key=lambda each: str(each["kind"]))
    assert twice["kind"] == "length"
    assert twice["recorded"] + 1 == twice["replayed"]
    assert json.loads(lines[twice["exchange"] - 1])["request"]["url"].endswith("/security/mfa")
    assert (regression["meaning"], regression["kind"]) == ("breaking", "status")
    assert "AUTH.MFA_CODE_INVALID" in regression["basis"]
    assert results["replay"]["fail_on"] == "breaking"
    keys = {frozenset(group) for group in results["replay"]["differences"]}
    assert len(keys) == 1, "those of drift have the same keys"
    assert {"recorded", "replayed", "exchanges", "accepted"} <= set(*keys)


def test_each_change_is_shown_in_one_visible_line_with_both_values() -> None:
    group = {
        "meaning": "breaking", "endpoint": "GET /a", "path": "code", "kind": "value", "times": 1,
        "basis": "why", "recorded": "OLD", "replayed": "NEW\x1b[2J\n",
    }  # fmt: skip
    status = group | {"path": "status", "kind": "status", "recorded": 200, "replayed": 404}
    pages = group | {"path": "data.totalPages", "recorded": 10, "replayed": 9}
    left_out = group | {"path": "data.name", "kind": "missing"}
    shorter = group | {"path": "data", "kind": "length", "recorded": 3, "replayed": 2}

    lines = list(lines_of([group, status, pages, left_out, shorter]))

    assert lines[0].isprintable()
    assert 'GET /a  code "OLD" → "NEW' in lines[0]
    assert [line.partition("  ")[2] for line in lines[1:]] == [
        "status 200 → 404, in 1 answer: why",
        "data.totalPages 10 → 9, in 1 answer: why",
        'data.name "OLD" → left out, in 1 answer: why',
        "data length 3 → 2, in 1 answer: why",
    ]


def test_what_is_permitted_or_accepted_is_counted_by_its_reason_after_what_breaks() -> None:
    labels = [
        {
            "meaning": "permitted", "endpoint": "GET /a", "path": f"data[{number}].label", "kind": "value",
            "times": 2, "exchanges": [4, 5], "basis": "labels", "recorded": "A", "replayed": "B",
        }
        for number in range(23)
    ]  # fmt: skip
    breaking = labels[0] | {"meaning": "breaking", "basis": "why"}
    accepted = breaking | {"path": "data.name", "accepted": "renamed on purpose"}

    assert list(lines_of([accepted, *labels, breaking])) == [
        'BREAKING GET /a  data[0].label "A" → "B", in 2 answers: why',
        'ACCEPTED renamed on purpose: 1 place in 2 answers, such as GET /a  data.name "A" → "B"',
        'PERMITTED labels: 23 places in 2 answers, such as GET /a  data[0].label "A" → "B"',
    ]


def not_found(key: str, code: str = "RESOURCE.NOT_FOUND", account: str | None = "admin") -> ReplayedExchange:
    """An endpoint that answered, and is not found any more."""
    return ReplayedExchange(1, answer(key, {}), refusal(key, code, 404), account=account)


def served(*keys: str, account: str | None = "admin") -> ServedCallers:
    callers = ServedCallers()
    for key in keys:
        callers.note(replace(pair_of(key), account=account))
    return callers


STATUS = Difference("status", ("status",), 200, 404)


@pytest.mark.parametrize(
    ("pair", "callers", "requirement"),
    [
        (not_found(op.SESSIONS), served(op.PROFILE), "OP-023"),
        (not_found(op.SESSIONS), served(op.LOGIN_COMPLETE), "OP-023"),
        (not_found(op.SESSIONS), served(op.SESSIONS), None),
        (not_found(op.SESSIONS), served(op.PROFILE, account="spare"), None),
        (not_found(op.SESSIONS, account=None), served(op.PROFILE, account=None), None),
        (not_found(op.SESSIONS, account="limited"), served(op.PROFILE, account="limited"), None),
        (not_found(op.SESSIONS, "4040"), served(op.PROFILE), None),
        (not_found(op.COUNTRIES, account=None), served(op.PROFILE), BY_KEY[op.COUNTRIES].requirement),
        (not_found(op.WORKSPACES_MINE), served(op.PROFILE), None),
        (not_found(op.ROLE), served(op.PROFILE), None),
    ],
)
def test_what_every_caller_has_is_offered_to_one_who_is_served(
    pair: ReplayedExchange, callers: ServedCallers, requirement: str | None
) -> None:
    """An account that stands for the recorded one is another matter, as is a record with an id."""
    assert callers.misses(pair, STATUS, {"limited"}) == requirement


def test_an_endpoint_that_is_an_unknown_path_now_contradicts_its_rule(
    signed_in: Path, tmp_path: Path
) -> None:
    sessions = replayed(signed_in, tmp_path, faults=("sessions-are-an-unknown-path",)).run.regressions

    assert {(each.endpoint, each.meaning, each.basis) for each in sessions} == {
        (op.SESSIONS, "contradiction", "OP-023")
    }
