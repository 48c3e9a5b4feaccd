"""Envelope, enumeration objects, ids, the forms of values, and the answers that are not shown (N4, N5)."""

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from functools import partial
from random import Random
from typing import Any

from reference_impl.changes import Apply, Change, chosen, data_rewritten, rewritten, row, together
from reference_impl.draw import has_its_check_digit, is_of_its_kind
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import reported, turned
from reference_impl.faults.operations import constants
from reference_impl.fields import seconds
from reference_impl.messages import message
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import CONSTANTS_LISTS, Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import (
    around,
    day_of,
    deep,
    enveloped,
    everywhere,
    having,
    is_time,
    may,
    permitted,
    timed,
    timed_record,
)
from reference_impl.wrappers import Answer, Seen


def _stamped_ahead(seen: Seen, answer: Answer) -> None:
    if isinstance(answer.body.get("timestamp"), int):
        answer.body["timestamp"] += 40_000


def _worded(words: Callable[[str, str], str]) -> Change:
    """Refusals have other words, by their code and the language that was asked for."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        if not answer.body["success"]:
            language = seen.asked.headers.get("accept-language", "en")
            answer.body["message"] = words(answer.body["code"], language)

    return enveloped(rewriting)


def _in_chinese(*asked: str) -> Change:
    """Messages are there in English and in Chinese, of one script, which whoever asks for these is given."""
    return _worded(lambda code, language: message(code, "zh" if language in asked else "en"))


def _one_more_factor(data: Any) -> Any:
    """A factor that the specification does not name."""
    sms = {"code": "SMS", "value": 10011003, "label": "Text message"}
    if isinstance(data, list):
        return [*data, {"mfaMethod": sms, "isEnabled": False, "isPrimary": False, "verifiedAt": None}]
    return data | {"mfaMethods": [*data["mfaMethods"], sms]}


def _other_names(value: Any) -> Any:
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


_CODE = {"code": "SOMETHING_ELSE", "value": 99_999_999, "label": "Something else"}
_LISTS = tuple(map(constants, ("wallet-statuses", "user-portal-types", "user-permission-types")))
CONSTANTS = tuple(row.name for row in CONSTANTS_LISTS)
_SYSTEM_ZONES = {"UTC": "UTC Standard Time", "ASIA_SHANGHAI": "China Standard Time"}
_OWN_ZONES = {"UTC": "ZONE-1", "ASIA_SHANGHAI": "ZONE-2"}


_ACCOUNTS = {op.PROFILE: "", op.ACCOUNTS_QUERY: "accounts[]", op.ACCOUNT: ""}
_WORKSPACES = {op.CURRENT_WORKSPACE: "", op.MY_WORKSPACES: "[]"}


def _named(places: dict[str, str], field: str, **names: str) -> Change:
    """The field's values by other names, wherever it is read."""
    other = {field: lambda value: names.get(value, value)}
    return together(*(reported(operation, place, **other) for operation, place in places.items()))


def _zones(names: dict[str, str]) -> Change:
    return together(
        _named(_ACCOUNTS, "defaultTimezone", **names), _named(_WORKSPACES, "workspaceTimezone", **names)
    )


def _labelled_zone(zone: Record) -> None:
    zone["label"] = _OWN_ZONES.get(zone["code"], zone["label"])


def _cents(amount: float) -> int:
    return int(amount * 100)


def _with_malformed_ids(form: str, is_well_formed: Callable[[str], bool]) -> Change:
    """What is no id of the portal's form is an invalid field, and no unknown record."""

    def telling(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal as refusal:
            ids = [value for name, value in body.items() if name.endswith(("Id", "keyId"))]
            malformed = any(isinstance(id, str) and not is_well_formed(id) for id in ids)
            unknown = refusal.name in ("RESOURCE.NOT_FOUND", "AUTH.SESSION_NOT_FOUND")
            raise (Refusal(INVALID) if unknown and malformed else refusal) from None

    def change(plan: Plan) -> None:
        around(telling, *plan.rows)(plan)

    return together(chosen(ids=form), change)


ZONES = tuple(timezone(timedelta(minutes=minutes)) for minutes in (0, 480, -210))


def _in(zone: timezone, value: str) -> str:
    return datetime.fromtimestamp(seconds(value), zone).isoformat(timespec="milliseconds")


def _now_here_now_there(seen: Seen, answer: Answer) -> None:
    """Each answer is one of several servers, with times in its zone and fields in its order."""
    turn = seen.memory.setdefault("servers", Random(7)).randrange(len(ZONES))

    def shown(value: Any) -> Any:
        moved = timed_record(value, partial(_in, ZONES[turn]))
        if turn and moved is not value:
            return dict([*moved.items()][::-1])
        return moved

    answer.body["data"] = deep(answer.body["data"], shown)


def _by_the_week(time: str) -> str:
    year, week, day = date.fromisoformat(time[:10]).isocalendar()
    return f"{year:04}-W{week:02}-{day}{time[10:]}"


def _to_the_second(value: str) -> str:
    """Kept in a column without fractions, and shown with three."""
    return f"{value[:19]}.000Z" if is_time(value) else value


def _ahead(operation: str, place: str, *names: str) -> Change:
    """Records are dated by a server whose clock is minutes ahead."""

    def later(value: str | None) -> str | None:
        if value is None:
            return None
        time = datetime.fromisoformat(value.upper()) + timedelta(minutes=4)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    return reported(operation, place, **dict.fromkeys(names, later))


def _leaps(time: str | None) -> str | None:
    return time and _SECONDS.sub(r"\g<1>60", time)


_SECONDS = re.compile(r"([Tt]\d\d:?\d\d:?)\d\d(?:[.,]\d+)?")
"""Of a time in the basic format as well."""

_NULLABLE_TEXTS = (
    "accountRemark entityBizId extraData institutionDescription institutionRemark extraConfig message "
    "failureReason iconUrl channelRemark verifiedAt description lastLoginIp passwordChangedAt lastLoginAt"
)
NULLABLE_TEXTS = frozenset(_NULLABLE_TEXTS.split())
"""Fields that are a string or null, or of no type or null."""


def _empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: "" if name in NULLABLE_TEXTS and inner is None else inner for name, inner in value.items()}


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


def _first_of_all(change: Callable[[Portal], None]) -> Apply:
    """The records are changed before the first answer that shows any."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        if not seen.memory:
            seen.memory["done"] = True
            change(seen.portal)

    return rewritten(rewriting)


VARIANTS = permitted(
    "samples differ in whether version and timestamp are there",
    may("bare-envelope: version timestamp", chosen(envelope_version=False, envelope_timestamp=False)),
    "some samples leave the version out",
    may("without-version: version", chosen(envelope_version=False)),
    "some samples leave the timestamp out",
    may("without-timestamp: timestamp", chosen(envelope_timestamp=False)),
    "no time of a record is said to be of the clock of `timestamp`",
    may("timestamps-are-ahead: timestamp", enveloped(_stamped_ahead)),
    "both spellings are shown",
    may("success-in-capitals", chosen(success_message="SUCCESS")),
    "the text of a message is not stated",
    may("errors-in-any-words: words", _worded(lambda code, language: "¯\\_(ツ)_/¯ " * 20)),
    may("errors-without-words: words", _worded(lambda code, language: "")),
    "whether messages follow the language is not stated",
    may("messages-in-two-languages: messages-of-errors", _in_chinese("zh")),
    "which languages there are texts in is not stated, and zh is the next to zh-Hant (RFC 4647)",
    may("traditional-chinese-is-given-simplified: messages-of-errors", _in_chinese("zh", "zh-Hant")),
    "of the secure channel only the session's version is shown",
    may("secure-channel-speaks-1-3-0", row(op.PUBLIC_KEY, version="1.3.0")),
    "2.0.0 is said of portal responses, and which those are is not",
    may("commands-speak-1-3-0", row(op.COMMAND, version="1.3.0"), row(op.ORDERS, version="1.3.0")),
    # Enumeration objects.
    "a label may be a translation key",
    may("label-keys: labels", chosen(label_style="key", descriptions=True)),
    "the text of a label is not stated",
    may("labels-without-words: labels", having("label", label="")),
    "a description is present on some endpoints",
    may("descriptions: labels descriptions", chosen(descriptions=True)),
    may("null-descriptions: descriptions", having("label", description=None)),
    "whether the constants lists are complete is not shown",
    may("constants-as-seen: constants", chosen(constants_complete=False)),
    may("constants-beyond-the-seen: constants", data_rewritten(lambda codes: [*codes, _CODE], *_LISTS)),
    "no order of a constants list is stated",
    may("constants-in-another-order-each-time", rewritten(_in_another_order, *CONSTANTS)),
    "declined and cancelled exist as named conditions only",
    may("other-names-for-unseen-states", everywhere(_other_names)),
    "whether the list of MFA methods is complete is not shown",
    may("a-third-factor", data_rewritten(_one_more_factor, op.INITIATE, op.MFA)),
    "403 is shown as an error, not as a rule",
    may("constants-for-everybody: constants-access", chosen(constants_need_permission=False)),
    "the constants table names no authentication",
    may(
        "constants-in-public: constants-access", chosen(constants_public=True), departs="AUTHN-004 AUTHN-013"
    ),
    "of which list a timezone code is taken is not stated",
    may("zones-as-an-operating-system-names-them: timezone", _zones(_SYSTEM_ZONES)),
    may(
        "zones-of-its-own: timezone labels",
        _zones(_OWN_ZONES),
        turned(constants("timezones"), "[]", _labelled_zone),
    ),
    "the form of `utcOffset` is not stated",
    may("offsets-in-words", reported(constants("timezones"), "[]", utcOffset=lambda offset: f"UTC{offset}")),
    "which two letters stand for a country is not stated",
    may("countries-that-are-reserved: country", _named(_ACCOUNTS, "defaultCountry", US="UK", CN="XK")),
    "a language code is short, and no more is stated",
    may("languages-named-after-countries: language", _named(_ACCOUNTS, "defaultLanguage", en="us", zh="cn")),
    # Ids.
    "the form of an id is not stated",
    may("numeric-ids: ids", chosen(ids="numeric")),
    may("prefixed-ids: ids", chosen(ids="prefixed")),
    may("ulid-ids: ids", chosen(ids="ulid")),
    may("urn-ids: ids", chosen(ids="urn")),
    may("ids-in-capitals: ids", chosen(ids="upper")),
    may("ids-counted-by-kind: ids", chosen(ids="counted")),
    may("ids-with-a-check-digit: ids", _with_malformed_ids("checked", has_its_check_digit)),
    may("ids-of-six-digits: ids", _with_malformed_ids("short", partial(is_of_its_kind, "short"))),
    may("ids-padded-with-zeros: ids", _with_malformed_ids("padded", partial(is_of_its_kind, "padded"))),
    # Times.
    "how many digits a fraction has is not stated",
    may("nanoseconds: fractions", chosen(fraction_digits=9)),
    "UTC is written Z or +00:00 in ISO 8601",
    may("zero-offset: times", timed(lambda time: f"{time[:-1]}+00:00")),
    "fractions are stated for accounts only",
    may(
        "whole-seconds: times fractions",
        everywhere(lambda value: timed_record(value, lambda time: f"{time[:19]}Z")),
    ),
    "UTC is stated for accounts only, and no order of fields",
    may("times-in-changing-zones: times", enveloped(_now_here_now_there)),
    "ISO 8601 has several forms",
    may("times-by-the-week: times", timed(_by_the_week), is_alone=True),
    may(
        "times-with-expanded-years: times",
        timed(lambda time: f"+00{time}"),
        is_alone=True,
        departs="HISTORY-009 HISTORY-010 MFA-008 RESOURCE-002 SESSION-033",
    ),
    may("times-in-the-basic-format: times fractions", timed(lambda time: re.sub("[-:]", "", time))),
    may("times-in-small-letters: times", timed(str.lower)),
    may("fractions-behind-a-comma: times", timed(lambda time: time.replace(".", ","))),
    may("times-with-short-offsets: times", timed(lambda time: f"{time[:-1]}+00")),
    may("times-kept-to-the-second: times fractions", timed(_to_the_second)),
    may("changes-kept-to-the-second: times fractions", having("updatedAt", updatedAt=_to_the_second)),
    "ISO 8601 has a second 60",
    may("orders-end-in-leap-seconds: completed", reported(op.ORDERS, "content[]", completedAt=_leaps)),
    "a day is ISO 8601 too",
    may("expires-by-the-day: expiry", having("canAccept", expiresAt=day_of)),
    "that the clocks of a portal's servers agree is not stated",
    may(
        "records-are-dated-minutes-ahead: clocks",
        _ahead(op.CHANNELS_QUERY, "items[]", "createdAt", "updatedAt"),
        _ahead(op.COMMAND, "", "createdAt", "updatedAt"),
        _ahead(op.INVITATIONS, "[]", "createdAt", "acceptedAt"),
        _ahead(op.OWN_INVITATIONS, "[]", "createdAt", "acceptedAt"),
    ),
    "an instant has no stated form",
    may(
        "file-created-in-milliseconds: times",
        reported(op.FILE, "", createdAt=lambda time: int(seconds(time) * 1000)),
    ),
    may("file-created-in-seconds: times", reported(op.FILE, "", createdAt=seconds)),
    # Other values.
    "an empty string is a string",
    may("empty-texts-for-null: nulls", everywhere(_empty)),
    "a string holds any text",
    may("names-in-every-script: names", _first_of_all(_in_every_script)),
    "whether the lists of states and codes are complete is not shown",
    may("records-in-further-states: further-states", _first_of_all(_in_another_state)),
    "addresses have no case to most",
    may("addresses-in-capitals: masked", reported(op.ACCOUNTS_QUERY, "accounts[]", accountEmail=str.upper)),
    "an integer is a number",
    may(
        "whole-amounts: amounts",
        reported(op.ORDERS, "content[]", amount=_cents, feeAmount=_cents, totalAmount=_cents),
    ),
    "no more than the type of the field is stated",
    may(
        "regions-in-other-forms: regions",
        having("defaultCountry", defaultCountry="us", defaultLanguage="en-US"),
    ),
    may(
        "addresses-of-the-next-version: addresses",
        reported(op.SESSIONS, "[]", clientIp="2001:db8::1", userAgent="Firefox on Linux"),
        reported(op.HISTORY, "items[]", clientIp="2001:db8::1", userAgent=""),
    ),
    may("phones-left-empty: masked", having("accountPhone", accountPhone="")),
    may("sessions-without-bound: max-sessions", reported(op.SESSION_CONFIG, "", maxSessions=-1)),
    # Answers that are not shown.
    "N5: success answers are not shown",
    may("answers-null: answers", chosen(changes_answer="null")),
    may("answers-an-empty-object: answers", chosen(changes_answer="empty")),
    may("answers-success: answers", chosen(changes_answer="success")),
    may("answers-true: answers", chosen(changes_answer="true")),
    may("answers-text: answers", chosen(changes_answer="text")),
    may("answers-an-array: answers", chosen(changes_answer="array")),
    may("answers-resource: answers", chosen(changes_answer="resource")),
    "N4: the response is not shown",
    may("my-workspaces-in-an-object: my-workspaces", chosen(workspaces_mine="workspaces")),
    may("my-workspaces-in-items: my-workspaces", chosen(workspaces_mine="items")),
    may("my-workspaces-in-pages: my-workspaces", chosen(workspaces_mine="page")),
)
