"""The 21 constants lists and the values of states (chapters "Constants lists", "States by resource")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import data_rewritten, rewritten
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, from_call, reported, served, turned
from reference_impl.faults.verbs import MFA_METHODS
from reference_impl.wrappers import Answer, Seen

SEEN = (
    ("countries", "CN", "JP", "CONSTANT-020", "CONSTANT-041"),
    ("timezones", "UTC", "ASIA_SHANGHAI", "CONSTANT-021", "CONSTANT-042"),
    ("us-states", "AL", "AK", "CONSTANT-022", "CONSTANT-043"),
    ("currency-config-statuses", "ENABLED", "DISABLED", "CONSTANT-023", "CONSTANT-044"),
    ("notification-channel-statuses", "ACTIVE", "INACTIVE", "CONSTANT-024", "CONSTANT-045"),
    ("notification-channel-type-statuses", "ENABLED", "DISABLED", "CONSTANT-025", "CONSTANT-046"),
    ("notification-channel-types", "EMAIL", "", "CONSTANT-026", "CONSTANT-047"),
    ("order-statuses", "PROCESSING", "AUDITING", "CONSTANT-027", "CONSTANT-048"),
    ("transfer-statuses", "PENDING", "PROCESSING", "CONSTANT-028", "CONSTANT-049"),
    ("user-account-statuses", "REGISTERED", "ACTIVE", "CONSTANT-029", "CONSTANT-050"),
    ("user-institution-statuses", "PENDING", "REVIEWING", "CONSTANT-030", "CONSTANT-051"),
    ("user-institution-types", "PLATFORM", "TENANT", "CONSTANT-031", "CONSTANT-052"),
    ("user-invitation-statuses", "PENDING", "ACCEPTED", "CONSTANT-032", "CONSTANT-053"),
    ("user-join-sources", "REGISTRATION", "INVITATION", "CONSTANT-033", "CONSTANT-054"),
    ("user-mfa-methods", "EMAIL", "OTP", "CONSTANT-034", "CONSTANT-055"),
    ("user-permission-statuses", "ACTIVE", "DEPRECATED", "CONSTANT-035", "CONSTANT-056"),
    ("user-permission-types", "MENU", "BUTTON", "CONSTANT-036", "CONSTANT-057"),
    ("user-portal-types", "SYSTEM", "TENANT", "CONSTANT-037", "CONSTANT-058"),
    ("user-workspace-statuses", "PENDING_TENANT", "PENDING_REVIEW", "CONSTANT-038", "CONSTANT-059"),
    ("wallet-statuses", "ACTIVE", "INACTIVE", "CONSTANT-039", "CONSTANT-060"),
    ("workspace-role-types", "OWNER", "CUSTOM", "CONSTANT-040", "CONSTANT-061"),
)
STATE_OF = {"notification-channel-statuses": "STATE-005", "user-permission-statuses": "STATE-008"}


def _valued(code: str, turn: Callable[[int], int]) -> Callable[[dict[str, Any]], None]:
    def turning(entry: dict[str, Any]) -> None:
        if entry["code"] == code:
            entry["value"] = turn(entry["value"])

    return turning


def _forbidden(seen: Seen, answer: Answer) -> None:
    """Who lacks the permission is refused in other words."""
    if answer.status == 403:
        answer.body |= {"code": "ACCESS.FORBIDDEN", "message": "ACCESS.FORBIDDEN"}


def _without(code: str) -> Callable[[Any], Any]:
    return lambda listed: [item for item in listed if item["code"] != code]


def _stated(field: str, **values: int) -> Callable[[dict[str, Any]], None]:
    """The numbers that these symbolic codes carry in a coded field."""

    def turn(record: dict[str, Any]) -> None:
        record[field]["value"] = values.get(record[field]["code"], record[field]["value"])

    return turn


def _the_last_is_done(data: Any) -> Any:
    for order in data["content"][-1:]:
        order |= {"status": 2, "statusName": "DONE"}
    return data


OFF_BY_ONE = {
    f"{values} {STATE_OF.get(name, '')} {name}-value-off-by-one": turned(
        op.constants(name), "[]", _valued(first, lambda value: value - 1)
    )
    for name, first, _, values, _ in SEEN
}
LEFT_OUT = {
    f"{presence} {name}-lack-a-code": data_rewritten(_without(second or first), op.constants(name))
    for name, first, second, _, presence in SEEN
}


def _of_the_caller(call: Call) -> Any:
    factors = call.portal.security(call.caller.account_id)["factors"]
    shown = call.run()
    return [item for item in shown if factors.get(item["code"], {}).get("isEnabled", True)]


COUNTRIES = op.constants("countries")
TIMEZONES = op.constants("timezones")


def _numbered_otherwise(country: dict[str, Any]) -> None:
    if country["code"] == "JP":
        country["numericCode"] = 393


def _extras_of_the_first(data: Any) -> Any:
    own = ("code", "value", "label", "description")
    extras = {name: value for name, value in data[0].items() if name not in own}
    return [item | extras for item in data]


ROWS = {
    **OFF_BY_ONE,
    **LEFT_OUT,
    "CONSTANT-062 a-value-twice-in-a-list": data_rewritten(
        lambda listed: [*listed, listed[-1] | {"code": "ANOTHER"}], op.constants("order-statuses")
    ),
    "CONSTANT-063 alpha-2-code-is-the-alpha-3-code": turned(
        op.constants("countries"), "[]", lambda entry: entry.update(alpha2Code=entry["alpha3Code"])
    ),
    "CONSTANT-064 a-list-shrinks-at-the-second-call": rewritten(
        from_call(2, lambda seen, answer: answer.body.update(data=answer.body["data"][:-1])),
        op.constants("timezones"),
    ),
    "STATE-001 account-status-of-another-list": turned(
        op.PROFILE, "", _stated("accountStatus", ACTIVE=10010301)
    ),
    "STATE-002 institution-status-off-by-one": turned(
        op.INSTITUTION, "", _stated("institutionStatus", ACTIVE=10010404)
    ),
    "CONSTANT-072 one-constants-list-is-forbidden": rewritten(_forbidden, op.constants("us-states")),
    "STATE-003 workspace-status-off-by-one": turned(
        op.CURRENT_WORKSPACE, "", _stated("workspaceStatus", ACTIVE=10010303)
    ),
    "STATE-004 expired-carries-the-value-of-declined": turned(
        op.OWN_INVITATIONS, "[]", _stated("invitationStatus", EXPIRED=10050303)
    ),
    "STATE-006 type-statuses-swapped": turned(
        op.TYPES_QUERY, "items[]", _stated("typeStatus", ENABLED=80010302, DISABLED=80010301)
    ),
    "STATE-007 completed-order-by-another-name": data_rewritten(_the_last_is_done, op.ORDERS),
    "CONSTANT-064 mfa-methods-are-those-of-the-caller": served(MFA_METHODS, _of_the_caller),
    "CONSTANT-070 offsets-are-names-of-zones": reported(
        op.constants("timezones"), "[]", utcOffset="Asia/Shanghai"
    ),
    "CONSTANT-067 japan-has-another-number": turned(COUNTRIES, "[]", _numbered_otherwise),
    "CONSTANT-068 shanghai-is-nowhere": reported(TIMEZONES, "[]", zoneIdCode="Asia/Nowhere"),
    "CONSTANT-069 countries-have-the-codes-of-the-first": data_rewritten(
        _extras_of_the_first, op.constants("countries")
    ),
    "CONSTANT-071 offsets-have-the-other-sign": reported(
        op.constants("timezones"), "[]", utcOffset=lambda offset: offset.replace("+", "-")
    ),
}
