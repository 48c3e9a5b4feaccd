"""What is stored and named otherwise than it was sent (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, data_rewritten, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, fault, first, objects, on_success, reported, then, turned
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

        together(handled(operation, reading), *(then(update, forgotten) for update in updates))(plan)

    return Change(change, (operation,))


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
    fault("AGREE-002", "listed-roles-have-no-permission-codes", reported(ROLES, "[]", permissionCodes=[])),
    fault(
        "ROLE-010",
        "roles-of-other-workspaces-are-read-as-the-callers",
        handled(ROLE, _role_elsewhere),
        also="AGREE-002",
    ),
    fault("ROLE-016", "a-role-lacks-its-last-permission", data_rewritten(_but_the_last, ROLE_PERMISSIONS)),
    fault("INSTITUTION-011", "every-institution-is-the-callers", handled(INSTITUTION, _of_the_caller)),
    fault(
        "AGREE-010",
        "an-invitation-names-another-workspace",
        rewritten(on_success(_elsewhere), OWN_INVITATIONS, INVITATIONS),
    ),
    fault(
        "AGREE-010",
        "every-invitation-is-named-after-the-first-account",
        rewritten(on_success(_by_the_first), OWN_INVITATIONS, INVITATIONS),
        also="INVITATION-035",
    ),
    fault("INVITE-010", "a-message-loses-other-letters", asked(INVITE, _in_ascii("message"))),
    fault(
        "INVITATION-038",
        "a-reason-to-decline-replaces-the-message",
        then(
            DECLINE,
            lambda portal, caller, body: named_with(
                "invitation", "invitationBizId", message=body.get("reason")
            )(portal, caller, body),
        ),
    ),
    fault(
        "MODEL-021",
        "the-profile-is-kept-after-an-administrators-update",
        _kept_for_good(PROFILE, PROFILE_UPDATE),
        also="AGREE-001",
    ),
    fault("MODEL-021", "an-account-is-read-as-it-was-at-first", _kept_for_good(ACCOUNT), also="AGREE-001"),
    fault(
        "PROFILE-012",
        "a-name-loses-other-letters",
        asked(PROFILE_UPDATE, _in_ascii("accountName")),
        also="PROFILE-003",
    ),
    fault(
        "PROFILE-012",
        "a-name-is-not-stored-with-a-phone",
        asked(PROFILE_UPDATE, _one_at_a_time),
        also="PROFILE-003 PROFILE-004 PROFILE-007 PROFILE-008 MODEL-021",
    ),
    fault("PROFILE-013", "an-update-answers-another-country", turned(PROFILE_UPDATE, "", _of_france)),
    fault(
        "ACCOUNT-049",
        "a-change-of-status-notes-itself",
        then(ACCOUNT_STATUS, named_with("account", "userBizId", accountRemark="status changed")),
    ),
    fault(
        "ACCOUNT-049",
        "a-change-of-status-changes-the-last-account-too",
        then(ACCOUNT_STATUS, _last_account_too),
    ),
    fault(
        "GRANT-004", "every-grant-is-of-dollars", asked(GRANT, lambda body: body | {"currencyCode": "USD"})
    ),
    fault(
        "CHANNEL-063",
        "a-new-channel-forgets-its-port",
        then(CHANNEL_CREATE, newest_with("channel", emailConfig=_config(smtpPort=25))),
    ),
    fault(
        "CHANNELTYPE-034",
        "a-new-type-forgets-its-description",
        then(TYPE_CREATE, newest_with("channel type", typeDescription="")),
    ),
    fault(
        "CHANNEL-061",
        "an-update-resets-the-mail-settings",
        then(CHANNEL_UPDATE, named_with("channel", "bizId", emailConfig=_config(readTimeout=1))),
    ),
    fault(
        "CHANNEL-064",
        "a-deactivation-answers-another-host",
        reported(COMMAND, "", channelHost="mail.example.test"),
    ),
    fault(
        "CHANNELTYPE-036",
        "a-new-type-has-the-value-of-another",
        then(TYPE_CREATE, _two_alike),
        also="CHANNELTYPE-034",
    ),
    fault(
        "IPWHITELIST-003", "a-whitelist-forgets-long-addresses", asked(SET_WHITELIST, _without_long_addresses)
    ),
    fault(
        "ROLE-010",
        "the-newest-role-is-not-found",
        _not_found(ROLE, "role", "roleBizId", lambda portal, role: role is portal.newest("role")[0]),
    ),
    fault(
        "ACCOUNT-051",
        "accounts-that-are-not-active-are-not-found",
        _not_found(
            ACCOUNT, "account", "userBizId", lambda portal, account: account["accountStatus"] != "ACTIVE"
        ),
    ),
    fault(
        "CHANNEL-064", "a-deactivation-answers-another-port", reported(COMMAND, "emailConfig", smtpPort=2525)
    ),
    fault(
        "CONSTANT-071",
        "offsets-have-the-other-sign",
        reported(constants("timezones"), "[]", utcOffset=lambda offset: offset.replace("+", "-")),
    ),
)
