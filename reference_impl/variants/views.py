"""What a portal shows, where the document leaves it open (several chapters)."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from reference_impl.changes import data_rewritten, handled, rewritten, together
from reference_impl.faults.fault import objects, on_success, reported, turned
from reference_impl.faults.operations import (
    CHANNELS_QUERY,
    COMMAND,
    INVITATIONS,
    OWN_INVITATIONS,
    ROLE,
    ROLE_PERMISSIONS,
    ROLES,
    SESSION_CONFIG,
    SESSIONS,
)
from reference_impl.messages import message
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen


def _named_by_email(seen: Seen, data: Any) -> None:
    accounts = seen.portal.records["account"]
    for place in ("items[]", ""):
        for record in objects(data, place):
            for name in ("createdBy", "updatedBy"):
                if record.get(name) in accounts:
                    record[name] = accounts[record[name]]["accountEmail"]


def _as_they_were_called(seen: Seen, data: Any) -> None:
    """An invitation keeps the names of the moment at which it was sent."""
    for record in objects(data, "[]"):
        record["inviterName"] = f"{record['inviterName']}, as it was"
        record["workspaceName"] = f"{record['workspaceName']} (old)"


def _as_before(handler: Handler) -> Handler:
    """The last login that is shown is the one before the session that asks."""

    def showing(portal: Portal, caller: Caller, body: Body) -> Any:
        data, session = handler(portal, caller, body), caller.session
        earlier = [
            entry
            for entry in portal.history.get(caller.account_id, [])
            if entry["loginResult"] == 1 and session and entry["loginTime"] < session.login_time
        ]
        last = earlier[-1] if earlier else {"loginTime": None, "clientIp": None}
        shown = portal.view("session config", {"lastLoginAt": last["loginTime"]})["lastLoginAt"]
        return data | {"lastLoginAt": shown, "lastLoginIp": last["clientIp"]}

    return showing


def _by_the_quarter_hour(item: Record) -> None:
    time = datetime.fromisoformat(item["lastActivityTime"].upper())
    begun = max(time - timedelta(minutes=time.minute % 15), datetime.fromisoformat(item["loginTime"].upper()))
    item["lastActivityTime"] = begun.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _minutes_ahead(names: tuple[str, ...]) -> Callable[[Record], None]:
    """Records are dated by a server whose clock is minutes ahead."""

    def turn(item: Record) -> None:
        for name in names:
            if isinstance(item.get(name), str):
                time = datetime.fromisoformat(item[name].upper()) + timedelta(minutes=4)
                item[name] = time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    return turn


def _as_a_tree(data: Any) -> Any:
    """The first permission of an area holds the others of it."""
    areas: dict[str, Record] = {}
    for item in data:
        area = item["permissionCode"].partition(":")[0]
        if area in areas:
            areas[area].setdefault("children", []).append(item)
        else:
            areas[area] = item
    return list(areas.values())


def _in_chinese(*asked: str) -> Callable[[Seen, Answer], None]:
    """Messages are there in English and in Chinese, of one script, which whoever asks for these is given."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        language = seen.asked.headers.get("accept-language", "en")
        if not answer.body["success"]:
            answer.body["message"] = message(answer.body["code"], "zh" if language in asked else "en")

    return rewriting


VARIANTS: tuple[Variant, ...] = (
    may(
        "authors-by-their-address",
        "what `createdBy` and `updatedBy` name an account by is not stated",
        rewritten(on_success(_named_by_email), CHANNELS_QUERY, COMMAND),
        "authors",
    ),
    may(
        "invitations-keep-the-names-of-their-day",
        "of when the names in an invitation are is not stated",
        rewritten(on_success(_as_they_were_called), OWN_INVITATIONS, INVITATIONS),
        "invitation-names",
    ),
    may(
        "last-login-is-the-one-before",
        "whether the last login is that of the session itself is not stated",
        handled(SESSION_CONFIG, _as_before),
        "session-config",
    ),
    may(
        "activity-by-the-quarter-hour",
        "how exact the last activity of a session is is not stated",
        turned(SESSIONS, "[]", _by_the_quarter_hour),
        "activity",
    ),
    may(
        "records-are-dated-minutes-ahead",
        "that the clocks of a portal's servers agree is not stated",
        together(
            turned(CHANNELS_QUERY, "items[]", _minutes_ahead(("createdAt", "updatedAt"))),
            turned(COMMAND, "", _minutes_ahead(("createdAt", "updatedAt"))),
            turned(INVITATIONS, "[]", _minutes_ahead(("createdAt", "acceptedAt"))),
            turned(OWN_INVITATIONS, "[]", _minutes_ahead(("createdAt", "acceptedAt"))),
        ),
        "clocks",
    ),
    may(
        "permissions-as-a-tree",
        "fields of the items of a role's permissions are not shown",
        data_rewritten(_as_a_tree, ROLE_PERMISSIONS),
        "permission-items",
    ),
    may(
        "roles-show-no-permission-codes",
        "`permissionCodes` is an empty array in the samples",
        together(reported(ROLES, "[]", permissionCodes=[]), reported(ROLE, "", permissionCodes=[])),
    ),
    may(
        "messages-in-two-languages",
        "whether messages follow the language is not stated",
        rewritten(enveloped(_in_chinese("zh"))),
        "messages-of-errors",
    ),
    may(
        "traditional-chinese-is-given-simplified",
        "which languages there are texts in is not stated, and zh is the next to zh-Hant (RFC 4647)",
        rewritten(enveloped(_in_chinese("zh", "zh-Hant"))),
        "messages-of-errors",
    ),
    may(
        "a-deactivation-shows-no-remark",
        "fields that are null say nothing",
        reported(COMMAND, "", channelRemark=None),
    ),
)
