"""Envelope, enumeration objects, ids, times and the answers that are not shown (N4, N5)."""

import re
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any

from reference_impl.changes import chosen, data_rewritten, rewritten, row, together
from reference_impl.faults.operations import (
    FILE,
    INITIATE,
    MFA,
    PUBLIC_KEY,
    constants,
)
from reference_impl.fields import seconds
from reference_impl.routes import CONSTANTS_LISTS
from reference_impl.variants.variant import deep, enveloped, everywhere, may
from reference_impl.wrappers import Answer, Seen

EAST = timezone(timedelta(hours=8))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _zero_offset(value: Any) -> Any:
    return f"{value[:-1]}+00:00" if _is_time(value) else value


def _whole_seconds(value: Any) -> Any:
    """Fractions are shown of accounts only."""
    if not isinstance(value, dict) or "accountEmail" in value:
        return value
    return {name: f"{inner[:19]}Z" if _is_time(inner) else inner for name, inner in value.items()}


def _far_east(value: Any) -> Any:
    """Eight hours ahead, which is the same moment; accounts alone are said to be in UTC."""
    if not isinstance(value, dict) or "accountEmail" in value:
        return value
    return {name: _in(EAST, inner) if _is_time(inner) else inner for name, inner in value.items()}


ZONES = tuple(timezone(timedelta(minutes=minutes)) for minutes in (0, 540, -210))


def _now_here_now_there(seen: Seen, answer: Answer) -> None:
    """Each answer is one of several servers, with times in its zone and fields in its order. Times of
    accounts are said to be in UTC."""
    turn = seen.memory.setdefault("servers", Random(7)).randrange(len(ZONES))

    def shown(value: Any) -> Any:
        if not isinstance(value, dict) or "accountEmail" in value:
            return value
        fields = [
            (name, _in(ZONES[turn], inner) if _is_time(inner) else inner) for name, inner in value.items()
        ]
        return dict(fields[::-1] if turn else fields)

    answer.body["data"] = deep(answer.body["data"], shown)


def _in(zone: timezone, value: str) -> str:
    return datetime.fromtimestamp(seconds(value), zone).isoformat(timespec="milliseconds")


def _stamped_ahead(seen: Seen, answer: Answer) -> None:
    if isinstance(answer.body.get("timestamp"), int):
        answer.body["timestamp"] += 40_000


def _any_words(seen: Seen, answer: Answer) -> None:
    if not answer.body["success"]:
        answer.body["message"] = "¯\\_(ツ)_/¯ " * 20


def _no_words(seen: Seen, answer: Answer) -> None:
    if not answer.body["success"]:
        answer.body["message"] = ""


def _no_label(value: Any) -> Any:
    return (
        value | {"label": ""}
        if isinstance(value, dict) and value.keys() >= {"code", "value", "label"}
        else value
    )


def _null_description(value: Any) -> Any:
    coded = isinstance(value, dict) and value.keys() >= {"code", "value", "label"}
    return {"description": None} | value if coded else value


def _in_milliseconds(data: Any) -> Any:
    return data | {"createdAt": int(seconds(data["createdAt"]) * 1000)}


def _one_more(data: Any) -> Any:
    """A factor that the specification does not name."""
    sms = {"code": "SMS", "value": 10011003, "label": "Text message"}
    if isinstance(data, list):
        return [*data, {"mfaMethod": sms, "isEnabled": False, "isPrimary": False, "verifiedAt": None}]
    return data | {"mfaMethods": [*data["mfaMethods"], sms]}


def _renamed(value: Any) -> Any:
    """Declined and cancelled are conditions without a symbolic code of their own."""
    names = {"DECLINED": "REJECTED", "CANCELLED": "WITHDRAWN"}
    if isinstance(value, dict) and str(value.get("value", "")).startswith("100503"):
        return value | {"code": names.get(value["code"], value["code"])}
    return value


def _in_another_order(seen: Seen, answer: Answer) -> None:
    """Each answer of a list begins one entry later than the one before."""
    data = answer.body.get("data")
    if isinstance(data, list) and data:
        asked = seen.memory[seen.operation] = seen.memory.get(seen.operation, 0) + 1
        begins = asked % len(data)
        answer.body["data"] = data[begins:] + data[:begins]


def _more_codes(data: Any) -> Any:
    return [*data, {"code": "SOMETHING_ELSE", "value": 99_999_999, "label": "Something else"}]


_N5 = "N5: success answers are not shown"
_ID = "the form of an id is not stated"

VARIANTS = (
    may(
        "bare-envelope",
        "samples differ in whether version and timestamp are there",
        chosen(envelope_version=False, envelope_timestamp=False),
        "version timestamp",
    ),
    may("without-version", "some samples leave the version out", chosen(envelope_version=False), "version"),
    may(
        "without-timestamp",
        "some samples leave the timestamp out",
        chosen(envelope_timestamp=False),
        "timestamp",
    ),
    may(
        "timestamps-are-ahead",
        "no time of a record is said to be of the clock of `timestamp`",
        rewritten(enveloped(_stamped_ahead)),
        "timestamp",
    ),
    may("success-in-capitals", "both spellings are shown", chosen(success_message="SUCCESS")),
    may(
        "errors-in-any-words",
        "the text of a message is not stated",
        rewritten(enveloped(_any_words)),
        "words",
    ),
    may(
        "errors-without-words",
        "the text of a message is not stated",
        rewritten(enveloped(_no_words)),
        "words",
    ),
    may(
        "secure-channel-speaks-1-3-0",
        "of the secure channel only the session's version is shown",
        row(PUBLIC_KEY, version="1.3.0"),
    ),
    # Enumeration objects.
    may(
        "label-keys",
        "a label may be a translation key",
        chosen(label_style="key", descriptions=True),
        "labels",
    ),
    may("labels-without-words", "the text of a label is not stated", everywhere(_no_label), "labels"),
    may(
        "descriptions",
        "a description is present on some endpoints",
        chosen(descriptions=True),
        "labels descriptions",
    ),
    may(
        "null-descriptions",
        "a description is present on some endpoints",
        everywhere(_null_description),
        "descriptions",
    ),
    may(
        "constants-as-seen",
        "whether the constants lists are complete is not shown",
        chosen(constants_complete=False),
        "constants",
    ),
    may(
        "constants-beyond-the-seen",
        "whether the constants lists are complete is not shown",
        together(
            *(
                data_rewritten(_more_codes, constants(name))
                for name in ("wallet-statuses", "user-portal-types", "user-permission-types")
            )
        ),
        "constants",
    ),
    may(
        "constants-in-another-order-each-time",
        "no order of a constants list is stated",
        rewritten(_in_another_order, *(row.name for row in CONSTANTS_LISTS)),
    ),
    may(
        "other-names-for-unseen-states",
        "declined and cancelled exist as named conditions only",
        everywhere(_renamed),
    ),
    may(
        "a-third-factor",
        "whether the list of MFA methods is complete is not shown",
        data_rewritten(_one_more, INITIATE, MFA),
    ),
    may(
        "constants-for-everybody",
        "403 is shown as an error, not as a rule",
        chosen(constants_need_permission=False),
        "constants-access",
    ),
    may(
        "constants-in-public",
        "the constants table names no authentication",
        chosen(constants_public=True),
        "constants-access",
    ),
    # Ids and times.
    may("numeric-ids", _ID, chosen(ids="numeric"), "ids"),
    may("prefixed-ids", _ID, chosen(ids="prefixed"), "ids"),
    may("ulid-ids", _ID, chosen(ids="ulid"), "ids"),
    may("urn-ids", _ID, chosen(ids="urn"), "ids"),
    may(
        "microseconds", "how many digits a fraction has is not stated", chosen(fraction_digits=6), "fractions"
    ),
    may(
        "nanoseconds", "how many digits a fraction has is not stated", chosen(fraction_digits=9), "fractions"
    ),
    may("zero-offset", "UTC is written Z or +00:00 in ISO 8601", everywhere(_zero_offset), "times"),
    may(
        "whole-seconds",
        "fractions are stated for accounts only",
        everywhere(_whole_seconds),
        "times fractions",
    ),
    may("times-of-the-far-east", "UTC is stated for accounts only", everywhere(_far_east), "times"),
    may(
        "times-in-changing-zones",
        "UTC is stated for accounts only, and no order of fields",
        rewritten(enveloped(_now_here_now_there)),
        "times",
    ),
    may(
        "file-created-in-milliseconds",
        "an instant has no stated form",
        data_rewritten(_in_milliseconds, FILE),
        "times",
    ),
    # Answers that are not shown.
    may("answers-null", _N5, chosen(changes_answer="null"), "answers"),
    may("answers-an-empty-object", _N5, chosen(changes_answer="empty"), "answers"),
    may("answers-success", _N5, chosen(changes_answer="success"), "answers"),
    may("answers-true", _N5, chosen(changes_answer="true"), "answers"),
    may("answers-text", _N5, chosen(changes_answer="text"), "answers"),
    may("answers-an-array", _N5, chosen(changes_answer="array"), "answers"),
    may("answers-resource", _N5, chosen(changes_answer="resource"), "answers"),
    may(
        "my-workspaces-in-an-object",
        "N4: the response is not shown",
        chosen(workspaces_mine="workspaces"),
        "my-workspaces",
    ),
    may(
        "my-workspaces-in-items",
        "N4: the response is not shown",
        chosen(workspaces_mine="items"),
        "my-workspaces",
    ),
    may(
        "my-workspaces-in-pages",
        "N4: the response is not shown",
        chosen(workspaces_mine="page"),
        "my-workspaces",
    ),
    may(
        "permissions-as-codes",
        "the items of the role permissions are not shown",
        chosen(permission_items="codes"),
        "permission-items",
    ),
    may(
        "whitelist-of-objects",
        "fields of IP whitelist entries are not shown",
        chosen(whitelist_entries="objects"),
        "whitelist",
    ),
)
