"""The 21 constants lists and the values of states (chapters "Constants lists", "States by resource")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import data_rewritten, rewritten
from reference_impl.faults.fault import Fault, fault, from_call, reported_in_last, spoil, turned
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CURRENT_WORKSPACE,
    INSTITUTION,
    ORDERS,
    OWN_INVITATIONS,
    PROFILE,
    TYPES_QUERY,
    constants,
)
from reference_impl.wrappers import Answer, Seen

# Two codes of each list, the requirement that its codes have their values, and the one that it has them all.
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
# Two lists also hold states that carry the same values.
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


def _renamed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda entry: spoil(entry, "code", lambda code: new if code == old else code)


def _off_by_one(requirement: str, name: str, code: str) -> Fault:
    operation = constants(name)
    return fault(
        f"{requirement} {STATE_OF.get(name, '')}",
        f"{name}-value-off-by-one",
        turned(operation, "[]", _valued(code, lambda value: value - 1)),
    )


def _left_out(requirement: str, name: str, code: str) -> Fault:
    operation = constants(name)
    return fault(requirement, f"{name}-lack-a-code", data_rewritten(_without(code), operation))


def _shorter(seen: Seen, answer: Answer) -> None:
    answer.body["data"] = answer.body["data"][:-1]


def _twice(listed: Any) -> Any:
    return [*listed, listed[-1] | {"value": listed[-1]["value"] + 7000}]


def _value_twice(listed: Any) -> Any:
    return [*listed, listed[-1] | {"code": "ANOTHER"}]


def _stated(field: str, **values: int) -> Callable[[dict[str, Any]], None]:
    """The numbers that these symbolic codes carry in a coded field."""

    def turn(record: dict[str, Any]) -> None:
        record[field]["value"] = values.get(record[field]["code"], record[field]["value"])

    return turn


def _only_past_the_first_page(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and answer.body["data"]["currentPage"] > 0:
        for account in answer.body["data"]["accounts"]:
            _stated("accountStatus", ACTIVE=10010302)(account)


GENERATED = tuple(
    fault
    for name, first, second, values, presence in SEEN
    for fault in (_off_by_one(values, name, first), _left_out(presence, name, second or first))
)

FAULTS = (
    *GENERATED,
    fault(
        "CONSTANT-034",
        "mfa-methods-swapped",
        turned(
            constants("user-mfa-methods"),
            "[]",
            lambda entry: spoil(
                entry, "value", lambda value: {10011001: 10011002, 10011002: 10011001}[value]
            ),
        ),
    ),
    fault(
        "CONSTANT-029",
        "account-status-by-another-name",
        turned(constants("user-account-statuses"), "[]", _renamed("REGISTERED", "NEW")),
        also="CONSTANT-050",
    ),
    fault(
        "CONSTANT-039",
        "wallet-status-of-another-list",
        turned(constants("wallet-statuses"), "[]", _valued("ACTIVE", lambda value: 10010202)),
    ),
    fault(
        "CONSTANT-020",
        "country-value-is-the-numeric-code",
        turned(constants("countries"), "[]", lambda entry: entry.update(value=entry["numericCode"])),
    ),
    fault(
        "CONSTANT-005",
        "last-country-lacks-its-alpha-3-code",
        reported_in_last(constants("countries"), "[]", alpha3Code=None),
    ),
    fault(
        "CONSTANT-002",
        "last-wallet-status-has-no-value",
        reported_in_last(constants("wallet-statuses"), "[]", value=None),
    ),
    fault("CONSTANT-062", "a-code-twice-in-a-list", data_rewritten(_twice, constants("order-statuses"))),
    fault(
        "CONSTANT-062", "a-value-twice-in-a-list", data_rewritten(_value_twice, constants("order-statuses"))
    ),
    fault(
        "CONSTANT-063",
        "alpha-2-code-is-the-alpha-3-code",
        turned(constants("countries"), "[]", lambda entry: entry.update(alpha2Code=entry["alpha3Code"])),
    ),
    fault(
        "CONSTANT-064",
        "a-list-shrinks-at-the-second-call",
        rewritten(from_call(2, _shorter), constants("timezones")),
    ),
    fault(
        "STATE-001",
        "account-status-of-another-list",
        turned(PROFILE, "", _stated("accountStatus", ACTIVE=10010301)),
    ),
    fault(
        "STATE-001",
        "account-status-wrong-past-the-first-page",
        rewritten(_only_past_the_first_page, ACCOUNTS_QUERY),
    ),
    fault(
        "STATE-002",
        "institution-status-off-by-one",
        turned(INSTITUTION, "", _stated("institutionStatus", ACTIVE=10010404)),
    ),
    fault("CONSTANT-072", "one-constants-list-is-forbidden", rewritten(_forbidden, constants("us-states"))),
    fault(
        "STATE-003",
        "workspace-status-off-by-one",
        turned(CURRENT_WORKSPACE, "", _stated("workspaceStatus", ACTIVE=10010303)),
    ),
    fault(
        "STATE-004",
        "expired-carries-the-value-of-declined",
        turned(OWN_INVITATIONS, "[]", _stated("invitationStatus", EXPIRED=10050303)),
    ),
    fault(
        "STATE-006",
        "type-statuses-swapped",
        turned(TYPES_QUERY, "items[]", _stated("typeStatus", ENABLED=80010302, DISABLED=80010301)),
        also="ENUM-009",
    ),
    fault(
        "STATE-007",
        "completed-order-with-status-three",
        turned(
            ORDERS,
            "content[]",
            lambda order: spoil(order, "status", lambda status: 4 if status == 2 else status),
        ),
    ),
    fault(
        "STATE-007",
        "completed-order-by-another-name",
        reported_in_last(ORDERS, "content[]", status=2, statusName="DONE"),
        also="ORDER-034",
    ),
)
