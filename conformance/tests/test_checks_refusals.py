"""The check of ``conformance.checks.model.refusals``."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.checks.model.refusals import TEXTS_KEPT
from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import account, account_page, answer, channel, judged, page, refusal
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import OtherPlace

BEFORE, WANTED = "Name of before", "Name that was wanted"

BY_ONE = {"Authorization": "Bearer token-of-one"}


def profile(name: str, **other: Json) -> Exchange:
    return answer(op.PROFILE, account(accountName=name), **{"headers": BY_ONE, **other})


def refused(key: str, sent: Json, status: int = 400, **other: Json) -> Exchange:
    return refusal(key, "4000", status, sent=sent, **{"headers": BY_ONE, **other})


def numbered(*exchanges: Exchange) -> list[Exchange]:
    return [replace(exchange, n=number) for number, exchange in enumerate(exchanges, 1)]


def profile_update(**other: Json) -> Exchange:
    return refused(op.PROFILE_UPDATE, {"accountName": WANTED}, **other)


def accepted(name: str, **other: Json) -> Exchange:
    data = account(accountName=name)
    return answer(op.PROFILE_UPDATE, data, sent={"accountName": name}, **{"headers": BY_ONE, **other})


def accepted_unseen() -> Exchange:
    update = accepted(WANTED)
    return replace(update, request=replace(update.request, body=ABSENT, form="omitted"))


KEPT, STORED = ([profile(BEFORE), profile_update(), profile(name)] for name in (BEFORE, WANTED))

PROOFS = [Proof("MODEL-014", KEPT, STORED)]


def listed(name: str) -> Exchange:
    return answer(op.ACCOUNTS_QUERY, account_page(account(accountName=name)), sent={}, headers=BY_ONE)


def channels(name: str) -> Exchange:
    return answer(op.CHANNELS_QUERY, page(channel(channelName=name)), sent={}, headers=BY_ONE)


REFUSED_RECORD = refused(op.ACCOUNT_UPDATE, {"userBizId": "account-1", "accountName": WANTED})
REFUSED_CHANNEL = refused(op.CHANNEL_UPDATE, {"bizId": "channel-1", "channelName": WANTED})
LATER_UPDATES = [accepted(f"Name {number}") for number in range(TEXTS_KEPT + 1)]
BY_TWO = {"Authorization": "Bearer of-two"}

BOUNDS = [
    *(
        Bound("a listed record does not show what was refused", "", wrong=[numbered(*trace)], at=[place])
        for place, trace in (
            ("data.accounts[0].accountName", [listed(BEFORE), REFUSED_RECORD, listed(WANTED)]),
            ("data.items[0].channelName", [channels(BEFORE), REFUSED_CHANNEL, channels(WANTED)]),
        )
    ),
    Bound(
        "an accepted update does not excuse a refused one",
        "",
        wrong=[numbered(accepted("Another"), profile(BEFORE), profile_update(), profile(WANTED))],
        at=["data.accountName"],
    ),
    Bound(
        "what another update may have written is not held against a refusal: not read before, accepted at "
        "last, accepted before and shown late, failed at the server, a body that was not recorded, another "
        "text, another caller, a mask, or very many updates of which it is not known what they sent",
        "MODEL-014",
        lawful=[
            numbered(*trace)
            for trace in (
                [profile_update(), profile(WANTED)],
                [profile(BEFORE), profile_update(), accepted(WANTED), profile(WANTED)],
                [accepted(WANTED), profile(BEFORE), profile_update(), profile(WANTED)],
                [profile(BEFORE), profile_update(status=503), profile_update(), profile(WANTED)],
                [profile(BEFORE), profile_update(), accepted_unseen(), profile(WANTED)],
                [profile(BEFORE), profile_update(), profile("Name by somebody else")],
                [profile(BEFORE), profile_update(headers=BY_TWO), profile(WANTED)],
                [profile("***"), profile_update(), profile(WANTED)],
                [profile(BEFORE), profile_update(), *LATER_UPDATES, profile(WANTED)],
            )
        ],
    ),
]


def test_a_finding_names_what_was_read_before_and_the_refused_update() -> None:
    [finding] = [row for row in judged(*numbered(*STORED)).findings if row.requirement == "MODEL-014"]

    assert finding.other == OtherPlace(1, op.PROFILE, "", "accountName")
    assert (finding.path, finding.expected, finding.actual) == ("data.accountName", BEFORE, WANTED)
    assert f"sent by {op.PROFILE_UPDATE} and refused (exchange 2)" in finding.message
    assert set(finding.exchanges) == {1, 2, 3}
