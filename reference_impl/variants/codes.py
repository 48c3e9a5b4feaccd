"""Codes and times that are written in another way, and ids that are counted for each account."""

import re
from typing import Any

from reference_impl.changes import Change, rewritten, together
from reference_impl.faults.fault import objects, on_success, reported
from reference_impl.faults.operations import (
    ACCOUNT,
    ACCOUNTS_QUERY,
    CURRENT_WORKSPACE,
    HISTORY,
    MY_WORKSPACES,
    ORDERS,
    OWN_INVITATIONS,
    PROFILE,
    constants,
)
from reference_impl.variants.variant import Variant, day_of, may
from reference_impl.wrappers import Seen

TIMEZONES = constants("timezones")

_ACCOUNTS = ((PROFILE, ""), (ACCOUNTS_QUERY, "accounts[]"), (ACCOUNT, ""))
_WORKSPACES = ((CURRENT_WORKSPACE, ""), (MY_WORKSPACES, "[]"))


def _written(names: dict[str, str], *places: tuple[str, str], field: str) -> Change:
    """The field's values by other names, wherever it is shown."""

    def other(value: Any) -> Any:
        return names.get(value, value)

    return together(*(reported(operation, place, **{field: other}) for operation, place in places))


_ZONES = {"UTC": "UTC Standard Time", "ASIA_SHANGHAI": "China Standard Time"}
_OWN_ZONES = {"UTC": "ZONE-1", "ASIA_SHANGHAI": "ZONE-2"}


def _zones(names: dict[str, str]) -> Change:
    shown = [
        _written(names, *_ACCOUNTS, field="defaultTimezone"),
        _written(names, *_WORKSPACES, field="workspaceTimezone"),
    ]
    return together(*shown)


def _labelled(seen: Seen, data: Any) -> None:
    for zone in data:
        zone["label"] = _OWN_ZONES.get(zone["code"], zone["label"])


def _counted(seen: Seen, data: Any) -> None:
    """The history of each account begins with 1."""
    total = data["pagination"]["totalRecords"]
    for number, record in enumerate(objects(data, "items[]")):
        record["bizId"] = str(total - number)


def _ends_at_24(value: Any) -> Any:
    return value if value is None else f"{day_of(value)}T24:00:00Z"


def _leaps(value: Any) -> Any:
    return value if value is None else _SECONDS.sub(r"\g<1>60", value)


_SECONDS = re.compile(r"([Tt]\d\d:?\d\d:?)\d\d(?:[.,]\d+)?")
"""Of a time in the basic format as well."""


VARIANTS: tuple[Variant, ...] = (
    may(
        "zones-as-an-operating-system-names-them",
        "of which list a timezone code is taken is not stated",
        _zones(_ZONES),
        "timezone",
    ),
    may(
        "zones-of-its-own",
        "of which list a timezone code is taken is not stated",
        together(_zones(_OWN_ZONES), rewritten(on_success(_labelled), TIMEZONES)),
        "timezone labels",
    ),
    may(
        "countries-that-are-reserved",
        "which two letters stand for a country is not stated",
        _written({"US": "UK", "CN": "XK"}, *_ACCOUNTS, field="defaultCountry"),
        "country",
    ),
    may(
        "languages-named-after-countries",
        "a language code is short, and no more is stated",
        _written({"en": "us", "zh": "cn"}, *_ACCOUNTS, field="defaultLanguage"),
        "language",
    ),
    may(
        "history-counted-for-each-account",
        "what an id looks like is not stated",
        rewritten(on_success(_counted), HISTORY),
        "history-ids",
    ),
    may(
        "invitations-end-at-midnight",
        "ISO 8601 lets a day end at 24:00",
        reported(OWN_INVITATIONS, "[]", expiresAt=_ends_at_24),
        "expiry",
    ),
    may(
        "orders-end-in-leap-seconds",
        "ISO 8601 has a second 60",
        reported(ORDERS, "content[]", completedAt=_leaps),
        "completed",
    ),
)
