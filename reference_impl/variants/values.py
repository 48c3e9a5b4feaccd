"""Forms that a value may have where the document gives a type and no more."""

import json
import re
from collections.abc import Callable
from typing import Any

from reference_impl.changes import chosen, data_rewritten, limited, rewritten, together, wrapped
from reference_impl.faults.fault import reported, turned
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    FILE,
    HISTORY,
    MFA,
    ORDERS,
    SESSION_CONFIG,
    SESSIONS,
)
from reference_impl.fields import seconds
from reference_impl.portal import Portal
from reference_impl.variants.variant import Variant, enveloped, everywhere, may
from reference_impl.wrappers import Answer, Respelled, Seen

NULLABLE_TEXTS = frozenset(
    {
        "accountRemark", "entityBizId", "extraData", "institutionDescription", "institutionRemark",
        "extraConfig", "message", "failureReason", "iconUrl", "channelRemark", "verifiedAt", "description",
        "lastLoginIp", "passwordChangedAt", "lastLoginAt",
    }
)  # fmt: skip
"""Fields that are a string or null, or of no type or null."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


def _empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: "" if name in NULLABLE_TEXTS and inner is None else inner for name, inner in value.items()}


def _times_as(write: Callable[[str], str]) -> Any:
    """Every time is written in another form of ISO 8601."""
    return everywhere(
        lambda value: write(value) if isinstance(value, str) and _TIME.fullmatch(value) else value
    )


def _compact(time: str) -> str:
    return time.replace("-", "").replace(":", "")


def _to_the_second(value: Any) -> Any:
    """Kept in a column without fractions, and shown with three."""
    return f"{value[:19]}.000Z" if isinstance(value, str) and _TIME.fullmatch(value) else value


def _changed_to_the_second(value: Any) -> Any:
    """Of two columns one has fractions."""
    if not isinstance(value, dict) or not isinstance(value.get("updatedAt"), str):
        return value
    return value | {"updatedAt": _to_the_second(value["updatedAt"])}


NAMES = ("Zoë Ångström", "李小龍", "محمد", "Ναταλία", "𝒜da 🎉", 'O\'Brien, "Bob" <b>', "Straße", "ﬁn İ")


def _in_every_script(portal: Portal) -> None:
    for kind, name in (("account", "accountName"), ("channel", "channelName"), ("channel type", "typeName")):
        for at, record in enumerate(portal.records[kind].values()):
            if at % 3 == 1:
                record[name] = f"{NAMES[at % len(NAMES)]} {at}"


def _in_another_state(portal: Portal) -> None:
    """States that the document does not name."""
    for at, record in enumerate(portal.records["channel"].values()):
        if at % 5 == 2:
            record["channelStatus"] = "FAILING"
    for at, record in enumerate(portal.records["transfer order"].values()):
        if at % 5 == 2:
            record |= {"status": 7, "statusName": "REVERSED", "completedAt": None}


def _first_of_all(change: Callable[[Portal], None]) -> Any:
    """The records are changed before the first answer that shows any."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        if not seen.memory:
            seen.memory["done"] = True
            change(seen.portal)

    return rewritten(rewriting)


def _in_capitals(account: dict[str, Any]) -> None:
    account["accountEmail"] = account["accountEmail"].upper()


def _whole_amounts(order: dict[str, Any]) -> None:
    order |= {name: int(order[name] * 100) for name in ("amount", "feeAmount", "totalAmount")}


def _regions(value: Any) -> Any:
    if isinstance(value, dict) and "defaultCountry" in value:
        return value | {"defaultCountry": "us", "defaultLanguage": "en-US"}
    return value


def _big_numbers(value: Any) -> bytes:
    """Numbers as some libraries write them."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r'("(?:amount|feeAmount|totalAmount)": [\d.]+)', r"\1E+0", text).encode()


def _phoneless(value: Any) -> Any:
    return value | {"accountPhone": ""} if isinstance(value, dict) and "accountPhone" in value else value


def _masked_by_nothing(config: dict[str, Any]) -> None:
    config["password"] = None


def _in_seconds(data: Any) -> Any:
    return data | {"createdAt": seconds(data["createdAt"])}


def _with_details(seen: Seen, answer: Answer) -> None:
    if not answer.body["success"]:
        answer.body |= {
            "errors": [{"field": None, "reason": "invalid"}],
            "traceId": "0",
            "path": seen.asked.path,
        }


_ID = "the form of an id is not stated"
_ISO = "ISO 8601 has several forms"
_STATES = "whether the lists of states and codes are complete is not shown"
_TYPE = "no more than the type of the field is stated"

VARIANTS: tuple[Variant, ...] = (
    may("ids-in-capitals", _ID, chosen(ids="upper"), "ids"),
    may("ids-counted-by-kind", _ID, chosen(ids="counted"), "ids"),
    may("empty-texts-for-null", "an empty string is a string", everywhere(_empty), "nulls"),
    may("times-in-the-basic-format", _ISO, _times_as(_compact), "times fractions"),
    may("times-in-small-letters", _ISO, _times_as(str.lower), "times"),
    may("fractions-behind-a-comma", _ISO, _times_as(lambda time: time.replace(".", ",")), "times"),
    may("times-with-short-offsets", _ISO, _times_as(lambda time: f"{time[:-1]}+00"), "times"),
    may("times-kept-to-the-second", _ISO, everywhere(_to_the_second), "times fractions"),
    may("changes-kept-to-the-second", _ISO, everywhere(_changed_to_the_second), "times fractions"),
    may("names-in-every-script", "a string holds any text", _first_of_all(_in_every_script), "names"),
    may("records-in-further-states", _STATES, _first_of_all(_in_another_state), "further-states"),
    may(
        "addresses-in-capitals",
        "addresses have no case to most",
        turned(ACCOUNTS_QUERY, "accounts[]", _in_capitals),
        "masked",
    ),
    may("whole-amounts", "an integer is a number", turned(ORDERS, "content[]", _whole_amounts), "amounts"),
    may(
        "amounts-with-exponents",
        "JSON has several forms of a number",
        wrapped(lambda app: Respelled(app, lambda octets: _big_numbers(json.loads(octets)))),
        "spelling amounts",
    ),
    may("regions-in-other-forms", _TYPE, everywhere(_regions), "regions"),
    may(
        "addresses-of-the-next-version",
        _TYPE,
        together(
            reported(SESSIONS, "[]", clientIp="2001:db8::1", userAgent="Firefox on Linux"),
            reported(HISTORY, "items[]", clientIp="2001:db8::1", userAgent=""),
        ),
        "addresses",
    ),
    may("phones-left-empty", _TYPE, everywhere(_phoneless), "masked"),
    may("sessions-without-bound", _TYPE, reported(SESSION_CONFIG, "", maxSessions=-1), "max-sessions"),
    may(
        "password-masked-by-null",
        "how a password is masked is not stated",
        turned(CHANNELS_QUERY, "items[].emailConfig", _masked_by_nothing),
        "mask",
    ),
    may(
        "password-masked-but-for-its-end",
        "how a password is masked is not stated",
        reported(CHANNELS_QUERY, "items[].emailConfig", password="••••••st"),
        "mask",
    ),
    may(
        "file-created-in-seconds", "an instant has no stated form", data_rewritten(_in_seconds, FILE), "times"
    ),
    may(
        "errors-with-details",
        "only some fields are shown",
        rewritten(enveloped(_with_details)),
        "extra-fields",
    ),
    may("verified-never-told", "verifiedAt is nullable", reported(MFA, "[]", verifiedAt=None), "verified"),
    may(
        "pages-without-bound",
        "the maximum page size is not shown",
        limited(max_page_size=1_000_000),
        "large-size",
    ),
)
