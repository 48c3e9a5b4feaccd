"""The 21 constants lists and the values of states (chapters "Constants lists", "States by resource")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import data_rewritten, rewritten
from reference_impl.faults.fault import Fault, from_call, of, spoil, told_in_last, turned
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

# The list, and the codes seen in it, in the specification's order: the n-th has the requirements
# CONSTANT-(20+n) for its values and CONSTANT-(41+n) for its codes being listed.
SEEN = (
    ("countries", "CN", "JP"),
    ("timezones", "UTC", "ASIA_SHANGHAI"),
    ("us-states", "AL", "AK"),
    ("currency-config-statuses", "ENABLED", "DISABLED"),
    ("notification-channel-statuses", "ACTIVE", "INACTIVE"),
    ("notification-channel-type-statuses", "ENABLED", "DISABLED"),
    ("notification-channel-types", "EMAIL", ""),
    ("order-statuses", "PROCESSING", "AUDITING"),
    ("transfer-statuses", "PENDING", "PROCESSING"),
    ("user-account-statuses", "REGISTERED", "ACTIVE"),
    ("user-institution-statuses", "PENDING", "REVIEWING"),
    ("user-institution-types", "PLATFORM", "TENANT"),
    ("user-invitation-statuses", "PENDING", "ACCEPTED"),
    ("user-join-sources", "REGISTRATION", "INVITATION"),
    ("user-mfa-methods", "EMAIL", "OTP"),
    ("user-permission-statuses", "ACTIVE", "DEPRECATED"),
    ("user-permission-types", "MENU", "BUTTON"),
    ("user-portal-types", "SYSTEM", "TENANT"),
    ("user-workspace-statuses", "PENDING_TENANT", "PENDING_REVIEW"),
    ("wallet-statuses", "ACTIVE", "INACTIVE"),
    ("workspace-role-types", "OWNER", "CUSTOM"),
)
# Two lists also hold states that carry the same values.
STATE_OF = {"notification-channel-statuses": "STATE-005", "user-permission-statuses": "STATE-008"}


def _valued(code: str, turn: Callable[[int], int]) -> Callable[[dict[str, Any]], None]:
    def turning(found: dict[str, Any]) -> None:
        if found["code"] == code:
            found["value"] = turn(found["value"])

    return turning


def _without(code: str) -> Callable[[Any], Any]:
    return lambda listed: [item for item in listed if item["code"] != code]


def _renamed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    return lambda found: spoil(found, "code", lambda code: new if code == old else code)


def _off_by_one(number: int, name: str, code: str) -> Fault:
    operation = constants(name)
    return of(
        f"CONSTANT-{20 + number:03} {STATE_OF.get(name, '')}",
        f"{name}-value-off-by-one",
        operation,
        apply=turned(operation, "[]", _valued(code, lambda value: value - 1)),
    )


def _left_out(number: int, name: str, code: str) -> Fault:
    operation = constants(name)
    return of(
        f"CONSTANT-{41 + number:03}",
        f"{name}-lack-a-code",
        operation,
        apply=data_rewritten(_without(code), operation),
    )


def _shorter(seen: Seen, answer: Answer) -> None:
    answer.body["data"] = answer.body["data"][:-1]


def _twice(listed: Any) -> Any:
    return [*listed, listed[-1] | {"value": listed[-1]["value"] + 7000}]


def _value_twice(listed: Any) -> Any:
    return [*listed, listed[-1] | {"code": "ANOTHER"}]


def _stated(field: str, **values: int) -> Callable[[dict[str, Any]], None]:
    """The numbers that these symbolic codes carry in a coded field."""

    def turn(found: dict[str, Any]) -> None:
        found[field]["value"] = values.get(found[field]["code"], found[field]["value"])

    return turn


def _only_past_the_first_page(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and answer.body["data"]["currentPage"] > 0:
        for account in answer.body["data"]["accounts"]:
            _stated("accountStatus", ACTIVE=10010302)(account)


GENERATED = tuple(
    fault
    for number, (name, one, other) in enumerate(SEEN)
    for fault in (_off_by_one(number, name, one), _left_out(number, name, other or one))
)

FAULTS = (
    *GENERATED,
    of(
        "CONSTANT-034",
        "mfa-methods-swapped",
        constants("user-mfa-methods"),
        apply=turned(
            constants("user-mfa-methods"),
            "[]",
            lambda found: spoil(
                found, "value", lambda value: {10011001: 10011002, 10011002: 10011001}[value]
            ),
        ),
    ),
    of(
        "CONSTANT-029",
        "account-status-by-another-name",
        constants("user-account-statuses"),
        apply=turned(constants("user-account-statuses"), "[]", _renamed("REGISTERED", "NEW")),
        also="CONSTANT-050",
    ),
    of(
        "CONSTANT-039",
        "wallet-status-of-another-list",
        constants("wallet-statuses"),
        apply=turned(constants("wallet-statuses"), "[]", _valued("ACTIVE", lambda value: 10010202)),
    ),
    of(
        "CONSTANT-020",
        "country-value-is-the-numeric-code",
        constants("countries"),
        apply=turned(constants("countries"), "[]", lambda found: found.update(value=found["numericCode"])),
    ),
    of(
        "CONSTANT-005",
        "last-country-lacks-its-alpha-3-code",
        constants("countries"),
        apply=told_in_last(constants("countries"), "[]", alpha3Code=None),
    ),
    of(
        "CONSTANT-002",
        "last-wallet-status-has-no-value",
        constants("wallet-statuses"),
        apply=told_in_last(constants("wallet-statuses"), "[]", value=None),
    ),
    of(
        "CONSTANT-062",
        "a-code-twice-in-a-list",
        constants("order-statuses"),
        apply=data_rewritten(_twice, constants("order-statuses")),
    ),
    of(
        "CONSTANT-062",
        "a-value-twice-in-a-list",
        constants("order-statuses"),
        apply=data_rewritten(_value_twice, constants("order-statuses")),
    ),
    of(
        "CONSTANT-063",
        "alpha-2-code-is-the-alpha-3-code",
        constants("countries"),
        apply=turned(
            constants("countries"), "[]", lambda found: found.update(alpha2Code=found["alpha3Code"])
        ),
    ),
    of(
        "CONSTANT-064",
        "a-list-shrinks-at-the-second-call",
        constants("timezones"),
        apply=rewritten(from_call(2, _shorter), constants("timezones")),
    ),
    of(
        "STATE-001",
        "account-status-of-another-list",
        PROFILE,
        apply=turned(PROFILE, "", _stated("accountStatus", ACTIVE=10010301)),
    ),
    of(
        "STATE-001",
        "account-status-wrong-past-the-first-page",
        ACCOUNTS_QUERY,
        apply=rewritten(_only_past_the_first_page, ACCOUNTS_QUERY),
    ),
    of(
        "STATE-002",
        "institution-status-off-by-one",
        INSTITUTION,
        apply=turned(INSTITUTION, "", _stated("institutionStatus", ACTIVE=10010404)),
    ),
    of(
        "STATE-003",
        "workspace-status-off-by-one",
        CURRENT_WORKSPACE,
        apply=turned(CURRENT_WORKSPACE, "", _stated("workspaceStatus", ACTIVE=10010303)),
    ),
    of(
        "STATE-004",
        "expired-carries-the-value-of-declined",
        OWN_INVITATIONS,
        apply=turned(OWN_INVITATIONS, "[]", _stated("invitationStatus", EXPIRED=10050303)),
    ),
    of(
        "STATE-006",
        "type-statuses-swapped",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "items[]", _stated("typeStatus", ENABLED=80010302, DISABLED=80010301)),
        also="ENUM-009",
    ),
    of(
        "STATE-007",
        "completed-order-with-status-three",
        ORDERS,
        apply=turned(
            ORDERS,
            "content[]",
            lambda order: spoil(order, "status", lambda status: 4 if status == 2 else status),
        ),
    ),
    of(
        "STATE-007",
        "completed-order-by-another-name",
        ORDERS,
        apply=told_in_last(ORDERS, "content[]", status=2, statusName="DONE"),
        also="ORDER-034",
    ),
)
