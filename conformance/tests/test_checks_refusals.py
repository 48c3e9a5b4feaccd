"""The check of ``conformance.checks.model.refusals``."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.checks.model.refusals import TEXTS_KEPT
from conformance.spec.endpoints import (
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    CHANNEL_UPDATE,
    CHANNELS_QUERY,
    PROFILE,
    PROFILE_UPDATE,
)
from conformance.tests.proof import Proof
from conformance.tests.traffic import account, account_page, answer, channel, judged, page, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import OtherPlace

BEFORE, WANTED = "Name of before", "Name that was wanted"

BY_ONE = {"Authorization": "Bearer token-of-one"}


def profile(name: str, **other: Json) -> Exchange:
    return answer(PROFILE, account(accountName=name), **{"headers": BY_ONE, **other})


def refused(key: str, sent: Json, status: int = 400, **other: Json) -> Exchange:
    return refusal(key, "4000", status, sent=sent, **{"headers": BY_ONE, **other})


def numbered(*exchanges: Exchange) -> list[Exchange]:
    return [replace(exchange, n=number) for number, exchange in enumerate(exchanges, 1)]


def profile_update(**other: Json) -> Exchange:
    return refused(PROFILE_UPDATE, {"accountName": WANTED}, **other)


def accepted(name: str, **other: Json) -> Exchange:
    data = account(accountName=name)
    return answer(PROFILE_UPDATE, data, sent={"accountName": name}, **{"headers": BY_ONE, **other})


def accepted_unseen() -> Exchange:
    update = accepted(WANTED)
    return replace(update, request=replace(update.request, body=ABSENT, form="omitted"))


KEPT, STORED = ([profile(BEFORE), profile_update(), profile(name)] for name in (BEFORE, WANTED))

PROOFS = [Proof("MODEL-014", KEPT, STORED)]


def findings(*exchanges: Exchange) -> list[str]:
    return [finding.requirement for finding in judged(*numbered(*exchanges)).findings]


def test_a_finding_names_what_was_read_before_and_the_refused_update() -> None:
    [finding] = [row for row in judged(*numbered(*STORED)).findings if row.requirement == "MODEL-014"]

    assert finding.other == OtherPlace(1, PROFILE, "", "accountName")
    assert (finding.path, finding.expected, finding.actual) == ("data.accountName", BEFORE, WANTED)
    assert f"sent by {PROFILE_UPDATE} and refused (exchange 2)" in finding.message
    assert set(finding.exchanges) == {1, 2, 3}


@pytest.mark.parametrize(
    "trace",
    [
        [
            answer(ACCOUNTS_QUERY, account_page(account(accountName=BEFORE)), sent={}, headers=BY_ONE),
            refused(ACCOUNT_UPDATE, {"userBizId": "account-1", "accountName": WANTED}),
            answer(ACCOUNTS_QUERY, account_page(account(accountName=WANTED)), sent={}, headers=BY_ONE),
        ],
        [
            answer(CHANNELS_QUERY, page(channel(channelName=BEFORE)), sent={}, headers=BY_ONE),
            refused(CHANNEL_UPDATE, {"bizId": "channel-1", "channelName": WANTED}),
            answer(CHANNELS_QUERY, page(channel(channelName=WANTED)), sent={}, headers=BY_ONE),
        ],
    ],
    ids=["account", "channel"],
)
def test_a_listed_record_does_not_show_what_was_refused(trace: list[Exchange]) -> None:
    assert findings(*trace) == ["MODEL-014"]


@pytest.mark.parametrize(
    "trace",
    [
        [profile_update(), profile(WANTED)],
        [profile(BEFORE), profile_update(), accepted(WANTED), profile(WANTED)],
        [accepted(WANTED), profile(BEFORE), profile_update(), profile(WANTED)],
        [profile(BEFORE), profile_update(status=503), profile_update(), profile(WANTED)],
        [profile(BEFORE), profile_update(), accepted_unseen(), profile(WANTED)],
        [profile(BEFORE), profile_update(), profile("Name by somebody else")],
        [profile(BEFORE), profile_update(headers={"Authorization": "Bearer of-two"}), profile(WANTED)],
        [profile("***"), profile_update(), profile(WANTED)],
    ],
    ids=[
        "not read before",
        "accepted at last",
        "accepted before, and shown late",
        "failed at the server",
        "a body that was not recorded",
        "another text",
        "another caller",
        "a mask",
    ],
)
def test_what_another_update_may_have_written_is_not_held_against_a_refusal(trace: list[Exchange]) -> None:
    assert "MODEL-014" not in findings(*trace)


def test_an_accepted_update_does_not_excuse_a_refused_one() -> None:
    assert findings(accepted("Another"), profile(BEFORE), profile_update(), profile(WANTED)) == ["MODEL-014"]


def test_after_very_many_updates_it_is_not_known_what_they_sent() -> None:
    updates = [accepted(f"Name {number}") for number in range(TEXTS_KEPT + 1)]
    assert "MODEL-014" not in findings(profile(BEFORE), profile_update(), *updates, profile(WANTED))
