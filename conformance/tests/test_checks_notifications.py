"""The checks of ``conformance.checks.notifications``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from conformance.spec import endpoints as op
from conformance.tests.proof import Bound, Proof
from conformance.tests.test_checks_pages import unknown
from conformance.tests.traffic import (
    DISABLED,
    NOW,
    answer,
    channel,
    channel_type,
    email_config,
    page,
    refusal,
)
from conformance.traffic.exchange import Exchange, Json

INACTIVE = channel(channelStatus="INACTIVE")


def types(*listed: Json, **filters: Json) -> Exchange:
    return answer(op.CHANNEL_TYPES_QUERY, page(*listed), sent=filters)


def channels(*listed: Json, n: int = 1, minutes: float = 0, **filters: Json) -> Exchange:
    return answer(
        op.CHANNELS_QUERY, page(*listed), sent=filters, n=n, started=NOW + timedelta(minutes=minutes)
    )


def created(password: str) -> Exchange:
    return answer(
        op.CHANNEL_CREATE, None, sent={"channelName": "Mail", "emailConfig": {"password": password}}
    )


def shows(password: Json) -> dict[str, Any]:
    return channel(emailConfig=email_config(password=password))


ACTIVATE = "POST /web/v1/system/notifications/channels/activate"
COMMANDED = answer(op.CHANNEL_COMMAND_DEACTIVATE, INACTIVE, sent={"bizId": "channel-1"}, n=3)

OF_SMS = channel_type(bizId="type-2", typeCode="SMS", typeValue=80010102)


def switched(key: str, id: str = "channel-1") -> Exchange:
    return answer(key, None, sent={"bizId": id})


OFF, STILL_ON = switched(op.CHANNEL_DEACTIVATE), channels(channel(), minutes=0.5)
BY_ID = {"bizId": "channel-1"}
UNSWITCHED = [OFF, STILL_ON]

SWITCHED = [
    Proof("CHANNEL-049", [OFF, channels(INACTIVE)], UNSWITCHED),
    *(
        Proof("CHANNEL-049", traced, UNSWITCHED, silent=True)
        for traced in (
            [OFF, channels(channel(), minutes=0.05)],
            [OFF, channels(channel(), minutes=2)],
            [OFF, switched(ACTIVATE), STILL_ON],
            [OFF, refusal(ACTIVATE, "BUSY", 504, sent=BY_ID), STILL_ON],
            [OFF, channels(channel(channelStatus="ENDING"), minutes=0.5)],
            [switched(op.CHANNEL_DEACTIVATE, "channel-2"), STILL_ON],
            [refusal(op.CHANNEL_DEACTIVATE, "4030", 403, sent=BY_ID), STILL_ON],
        )
    ),
]

PROOFS = [
    *SWITCHED,
    Proof(
        "CHANNELTYPE-023",
        [
            types(channel_type()),
            unknown(types(channel_type(**DISABLED)), "omitted"),
            types(channel_type(), enabledOnly=True),  # all are enabled anyway
        ],
        types(channel_type(**DISABLED), enabledOnly=True),
        silent=True,
    ),
    Proof(
        "CHANNELTYPE-020",
        [types(channel_type(), OF_SMS), types(channel_type(), bizId="type-1")],
        types(OF_SMS, bizId="type-1"),
    ),
    Proof("CHANNELTYPE-036", types(channel_type()), types(channel_type(), {**OF_SMS, "typeCode": "EMAIL"})),
    Proof("CHANNEL-040", [channels(channel()), channels(channel(), bizId="channel-1")], [], silent=True),
    Proof(
        "CHANNEL-046",
        [
            channels(shows("[hidden]")),
            created("open-sesame"),
            created("[hidden]"),
            channels(shows("se****me"), shows("••••••••"), shows("[hidden]"), shows(None)),
        ],
        [created("open-sesame"), channels(shows("open-sesame"))],
        silent=True,
    ),
    Proof(
        "CHANNEL-046",
        [created("open-sesame"), channels(shows("se****me"), shows("••••••••"), shows(None))],
        [],
    ),
    Proof(
        "CHANNEL-031",
        [
            *(COMMANDED, channels(INACTIVE, n=4), channels(channel(), n=5, minutes=1)),
            *(COMMANDED, channels(channel(), n=7, minutes=9.5 / 60)),
            answer(ACTIVATE, channel(), sent={"bizId": "channel-1"}, n=8),
            channels(channel(), n=9, minutes=1),
        ],
        [COMMANDED, channels(channel(), n=4), channels(channel(), n=5, minutes=1)],
    ),
]

BOUNDS = [
    Bound(
        "a form of a filter that is passed over is no contradiction while the other is followed",
        "",
        lawful=[
            [
                types(channel_type(), typeStatus="DISABLED"),
                types(channel_type(**DISABLED), typeStatus=80010302),
            ]
        ],
    ),
    Bound(
        "a filter that may mean nothing, or a part of a text in other letters, contradicts nothing",
        "",
        lawful=[types(channel_type(), typeCode=wanted) for wanted in ("", " EMAIL", None, 7, "mail")],
    ),
    Bound(
        "a channel in a further state may be active",
        "CHANNEL-044",
        wrong=[channels(INACTIVE, activeOnly=True)],
        lawful=[
            channels(INACTIVE, activeOnly=False),
            channels(channel(channelStatus="DEGRADED"), activeOnly=True),
        ],
    ),
    Bound(
        "a refused command says nothing of the channel",
        "",
        lawful=[[refusal(op.CHANNEL_COMMAND_DEACTIVATE, "4040", 404, sent=BY_ID), channels(channel())]],
    ),
]
