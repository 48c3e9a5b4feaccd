"""What is stored and named otherwise than it was sent (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, data_rewritten, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, first, objects, of, on_success, reported, then, turned
from reference_impl.faults.operations import (
    ACCOUNT,
    ACCOUNT_STATUS,
    CHANNEL_CREATE,
    CHANNEL_UPDATE,
    COMMAND,
    DECLINE,
    GRANT,
    INSTITUTION,
    INVITATIONS,
    INVITE,
    OWN_INVITATIONS,
    PROFILE,
    PROFILE_UPDATE,
    ROLE,
    ROLE_PERMISSIONS,
    ROLES,
    SET_WHITELIST,
    TYPE_CREATE,
    constants,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen


def newest_with(kind: str, **values: Any) -> Callable[[Portal, Caller, Body], None]:
    """The record that was made last has other values; a function is given the record."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.newest(kind)[0]
        record.update({name: value(record) if callable(value) else value for name, value in values.items()})

    return changing


def named_with(kind: str, name: str, **values: Any) -> Callable[[Portal, Caller, Body], None]:
    """The record that the body names has other values; a function is given the record."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.records[kind].get(body[name])
        if record is not None:
            record.update({key: value(record) if callable(value) else value for key, value in values.items()})

    return changing


# Accounts and the profile.


def _in_ascii(field: str) -> Callable[[Body], Body]:
    def change(body: Body) -> Body:
        text = body.get(field)
        return body | {field: text.encode("ascii", "ignore").decode()} if isinstance(text, str) else body

    return change


def _one_at_a_time(body: Body) -> Body:
    """Where a phone is sent, the name is left as it is."""
    return {
        name: value for name, value in body.items() if name != "accountName" or "accountPhone" not in body
    }


def _last_account_too(portal: Portal, caller: Caller, body: Body) -> None:
    named = portal.records["account"].get(body["userBizId"], {})
    portal.newest("account")[0]["accountStatus"] = named.get("accountStatus", "ACTIVE")


def _kept_for_good(operation: str, *updates: str) -> Change:
    """What an operation gave first to a caller it gives until the caller changes it."""

    def change(plan: Plan) -> None:
        kept: dict[str, Any] = {}

        def reading(handler: Handler) -> Handler:
            def shown(portal: Portal, caller: Caller, body: Body) -> Any:
                key = str(body.get("userBizId", caller.account_id))
                return kept.setdefault(key, handler(portal, caller, body))

            return shown

        def forgotten(portal: Portal, caller: Caller, body: Body) -> None:
            kept.clear()

        together((handled(operation, reading), *(then(update, forgotten) for update in updates)))(plan)

    return change


def _of_france(record: Record) -> None:
    record["defaultCountry"] = "FR"


# Invitations.


def _elsewhere(seen: Seen, data: Any) -> None:
    """Each invitation names a workspace beside its own."""
    workspaces = seen.portal.records["workspace"]
    for record in objects(data, "[]"):
        others = [each for id, each in workspaces.items() if id != record["workspaceBizId"]]
        record["workspaceName"] = others[0]["workspaceName"]


def _by_the_first(seen: Seen, data: Any) -> None:
    first = next(iter(seen.portal.records["account"].values()))
    for record in objects(data, "[]"):
        record["inviterName"] = first["accountName"]


# Roles, institutions, channels.


def _role_elsewhere(handler: Handler) -> Handler:
    """A role of another workspace is read as one of the caller's."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body) | {"workspaceBizId": caller.account["workspaceBizIds"][0]}

    return reading


def _but_the_last(data: Any) -> Any:
    return data[:-1]


def _of_the_caller(handler: Handler) -> Handler:
    """Whatever institution is asked for, the caller's is given."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        portal.find("institution", body["institutionBizId"])
        return handler(portal, caller, body | {"institutionBizId": caller.account["institutionBizId"]})

    return reading


def _config(**values: Any) -> Callable[[Record], Record]:
    return lambda record: record["emailConfig"] | values


def _two_alike(portal: Portal, caller: Caller, body: Body) -> None:
    """A new type has the value of the one that was made before it."""
    new, *others = portal.newest("channel type")
    new["typeValue"] = others[0]["typeValue"]


def _without_long_addresses(body: Body) -> Body:
    return body | {"ips": [ip for ip in body["ips"] if ":" not in ip]}


def _not_found(operation: str, kind: str, name: str, is_hidden: Callable[[Portal, Record], bool]) -> Change:
    """Some records of a kind are listed and not found."""

    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        record = portal.records[kind].get(body[name])
        if record is not None and is_hidden(portal, record):
            raise Refusal("RESOURCE.NOT_FOUND")

    return first(operation, refusing)


FAULTS = (
    of(
        "AGREE-002",
        "listed-roles-have-no-permission-codes",
        ROLES,
        apply=reported(ROLES, "[]", permissionCodes=[]),
    ),
    of(
        "ROLE-010",
        "roles-of-other-workspaces-are-read-as-the-callers",
        ROLE,
        apply=handled(ROLE, _role_elsewhere),
        also="AGREE-002",
    ),
    of(
        "ROLE-016",
        "a-role-lacks-its-last-permission",
        ROLE_PERMISSIONS,
        apply=data_rewritten(_but_the_last, ROLE_PERMISSIONS),
    ),
    of(
        "INSTITUTION-011",
        "every-institution-is-the-callers",
        INSTITUTION,
        apply=handled(INSTITUTION, _of_the_caller),
    ),
    of(
        "AGREE-010",
        "an-invitation-names-another-workspace",
        OWN_INVITATIONS,
        INVITATIONS,
        apply=rewritten(on_success(_elsewhere), OWN_INVITATIONS, INVITATIONS),
    ),
    of(
        "AGREE-010",
        "every-invitation-is-named-after-the-first-account",
        OWN_INVITATIONS,
        INVITATIONS,
        apply=rewritten(on_success(_by_the_first), OWN_INVITATIONS, INVITATIONS),
        also="INVITATION-035",
    ),
    of(
        "INVITE-010",
        "a-message-loses-other-letters",
        INVITE,
        apply=asked(INVITE, _in_ascii("message")),
    ),
    of(
        "INVITATION-038",
        "a-reason-to-decline-replaces-the-message",
        DECLINE,
        apply=then(
            DECLINE,
            lambda portal, caller, body: named_with(
                "invitation", "invitationBizId", message=body.get("reason")
            )(portal, caller, body),
        ),
    ),
    of(
        "MODEL-021",
        "the-profile-is-kept-after-an-administrators-update",
        PROFILE,
        apply=_kept_for_good(PROFILE, PROFILE_UPDATE),
        also="AGREE-001",
    ),
    of(
        "MODEL-021",
        "an-account-is-read-as-it-was-at-first",
        ACCOUNT,
        apply=_kept_for_good(ACCOUNT),
        also="AGREE-001",
    ),
    of(
        "PROFILE-012",
        "a-name-loses-other-letters",
        PROFILE_UPDATE,
        apply=asked(PROFILE_UPDATE, _in_ascii("accountName")),
        also="PROFILE-003",
    ),
    of(
        "PROFILE-012",
        "a-name-is-not-stored-with-a-phone",
        PROFILE_UPDATE,
        apply=asked(PROFILE_UPDATE, _one_at_a_time),
        also="PROFILE-003 PROFILE-004 PROFILE-007 PROFILE-008 MODEL-021",
    ),
    of(
        "PROFILE-013",
        "an-update-answers-another-country",
        PROFILE_UPDATE,
        apply=turned(PROFILE_UPDATE, "", _of_france),
    ),
    of(
        "ACCOUNT-049",
        "a-change-of-status-notes-itself",
        ACCOUNT_STATUS,
        apply=then(ACCOUNT_STATUS, named_with("account", "userBizId", accountRemark="status changed")),
    ),
    of(
        "ACCOUNT-049",
        "a-change-of-status-changes-the-last-account-too",
        ACCOUNT_STATUS,
        apply=then(ACCOUNT_STATUS, _last_account_too),
    ),
    of(
        "GRANT-004",
        "every-grant-is-of-dollars",
        GRANT,
        apply=asked(GRANT, lambda body: body | {"currencyCode": "USD"}),
    ),
    of(
        "CHANNEL-063",
        "a-new-channel-forgets-its-port",
        CHANNEL_CREATE,
        apply=then(CHANNEL_CREATE, newest_with("channel", emailConfig=_config(smtpPort=25))),
    ),
    of(
        "CHANNELTYPE-034",
        "a-new-type-forgets-its-description",
        TYPE_CREATE,
        apply=then(TYPE_CREATE, newest_with("channel type", typeDescription="")),
    ),
    of(
        "CHANNEL-061",
        "an-update-resets-the-mail-settings",
        CHANNEL_UPDATE,
        apply=then(CHANNEL_UPDATE, named_with("channel", "bizId", emailConfig=_config(readTimeout=1))),
    ),
    of(
        "CHANNEL-064",
        "a-deactivation-answers-another-host",
        COMMAND,
        apply=reported(COMMAND, "", channelHost="mail.example.test"),
    ),
    of(
        "CHANNELTYPE-036",
        "a-new-type-has-the-value-of-another",
        TYPE_CREATE,
        apply=then(TYPE_CREATE, _two_alike),
        also="CHANNELTYPE-034",
    ),
    of(
        "IPWHITELIST-003",
        "a-whitelist-forgets-long-addresses",
        SET_WHITELIST,
        apply=asked(SET_WHITELIST, _without_long_addresses),
    ),
    of(
        "ROLE-010",
        "the-newest-role-is-not-found",
        ROLE,
        apply=_not_found(ROLE, "role", "roleBizId", lambda portal, role: role is portal.newest("role")[0]),
    ),
    of(
        "ACCOUNT-051",
        "accounts-that-are-not-active-are-not-found",
        ACCOUNT,
        apply=_not_found(
            ACCOUNT, "account", "userBizId", lambda portal, account: account["accountStatus"] != "ACTIVE"
        ),
    ),
    of(
        "CHANNEL-064",
        "a-deactivation-answers-another-port",
        COMMAND,
        apply=reported(COMMAND, "emailConfig", smtpPort=2525),
    ),
    of(
        "CONSTANT-071",
        "offsets-have-the-other-sign",
        constants("timezones"),
        apply=reported(constants("timezones"), "[]", utcOffset=lambda offset: offset.replace("+", "-")),
    ),
)
