"""Sentences of the document that may be read in two ways, each taken here the other way."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from reference_impl.changes import Change, chosen, data_rewritten, handled, rewritten, row, together
from reference_impl.draw import has_its_check_digit, is_of_its_kind
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import asked, erring, first, renamed
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANGE,
    CHANNELS_QUERY,
    COMMAND,
    FORGOT,
    INIT,
    INVITE,
    ORDERS,
    RESET,
    ROLES,
    SEND,
    TYPES_QUERY,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import NOTHING, Body, allowed, checked, text
from reference_impl.variants.variant import Variant, day_of, enveloped, everywhere, may
from reference_impl.wrappers import Answer, Seen


def _refuse(answer: Answer, code: str, status: int) -> None:
    answer.status = status
    answer.body |= {"success": False, "code": code, "message": code, "data": None}


def _grant(answer: Answer, data: Any) -> None:
    answer.status = 200
    answer.body |= {"success": True, "code": "2000", "message": "Success", "data": data}


def _form_first(plan: Plan) -> None:
    """Of a request without a token, and with a body against its rules, the body is told first."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        row = plan.rows.get(seen.operation)
        if answer.status != 401 or row is None or row.takes is NOTHING or row.method == "GET":
            return
        try:
            checked(row.takes, seen.body, limits=seen.portal.limits, strict=False)
        except Refusal:
            _refuse(answer, "4000" if row.name == COMMAND else INVALID, 400)

    rewritten(enveloped(rewriting))(plan)


def _with_malformed_ids(plan: Plan, form: str, is_well_formed: Callable[[str], bool]) -> None:
    """What is no id of the portal's form is an invalid field, and no unknown record."""

    def telling(handler: Handler) -> Handler:
        def answering(portal: Portal, caller: Caller, body: Body) -> Any:
            try:
                return handler(portal, caller, body)
            except Refusal as refusal:
                ids = [value for name, value in body.items() if name.endswith(("Id", "keyId"))]
                malformed = any(isinstance(id, str) and not is_well_formed(id) for id in ids)
                unknown = refusal.name in ("RESOURCE.NOT_FOUND", "AUTH.SESSION_NOT_FOUND")
                raise (Refusal(INVALID) if unknown and malformed else refusal) from None

        return answering

    chosen(ids=form)(plan)
    for name in plan.rows:
        handled(name, telling)(plan)


def _with_check_digits(plan: Plan) -> None:
    _with_malformed_ids(plan, "checked", has_its_check_digit)


def _with_short_numbers(plan: Plan) -> None:
    _with_malformed_ids(plan, "short", partial(is_of_its_kind, "short"))


def _with_padded_numbers(plan: Plan) -> None:
    _with_malformed_ids(plan, "padded", partial(is_of_its_kind, "padded"))


def _ten_at_least(body: Body) -> Body:
    size = body.get("size")
    return body | {"size": 10} if isinstance(size, int) and 0 < size < 10 else body


def _range_of_completion(handler: Handler) -> Handler:
    """The range is of the time at which an order was completed, where it was; some took weeks."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        orders = portal.records["transfer order"]
        now = portal.now()
        start, end = body.get("startTime", now - 30 * 86400), body.get("endTime", now)
        for at, order in enumerate(orders.values()):
            if at % 7 == 0 and order["createdAt"] < now - 41 * 86400 and order["completedAt"]:
                order["completedAt"] = order["createdAt"] + 40 * 86400
            elif at % 7 == 1 and order["completedAt"]:
                order["completedAt"] = min(order["createdAt"] + 3 * 86400, now)
        kept = {
            id: order
            for id, order in orders.items()
            if start <= (order["completedAt"] or order["createdAt"]) <= end
        }
        portal.records["transfer order"] = kept
        try:
            return handler(portal, caller, body | {"startTime": 0.0, "endTime": now})
        finally:
            portal.records["transfer order"] = orders

    return querying


def _emails_by_words(handler: Handler) -> Handler:
    """An address is looked for by its words, any of which will do."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        words = set(re.findall(r"\w+", (body.get("email") or "").casefold()))
        everybody = portal.records["account"]
        portal.records["account"] = {
            id: record
            for id, record in everybody.items()
            if not words or words & set(re.findall(r"\w+", record["accountEmail"].casefold()))
        }
        try:
            return handler(portal, caller, body | {"email": None})
        finally:
            portal.records["account"] = everybody

    return querying


def _codes_in_part(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        wanted = (body.get("typeCode") or "").casefold()
        types = portal.records["channel type"]
        portal.records["channel type"] = {
            id: record for id, record in types.items() if wanted in record["typeCode"].casefold()
        }
        try:
            return handler(portal, caller, body | {"typeCode": None})
        finally:
            portal.records["channel type"] = types

    return querying


def _active_in_any_state_but_one(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        if not body.get("activeOnly"):
            return handler(portal, caller, body)
        channels = portal.records["channel"]
        portal.records["channel"] = {
            id: record for id, record in channels.items() if record["channelStatus"] != "INACTIVE"
        }
        try:
            return handler(portal, caller, body | {"activeOnly": False})
        finally:
            portal.records["channel"] = channels

    return querying


def _not_null(operation: str, *names: str) -> Change:
    def change(plan: Plan) -> None:
        takes = plan.rows[operation].takes
        fields = {**takes.fields, **{name: allowed(text()) for name in names}}
        plan.rows[operation] = replace(plan.rows[operation], takes=replace(takes, fields=fields))

    return Change(change, (operation,))


def _for_anybody(seen: Seen, answer: Answer) -> None:
    """Whoever is not named may use the invitation."""
    sent = seen.body if isinstance(seen.body, dict) else {}
    if answer.status == 400 and "inviteeEmail" not in sent and isinstance(sent.get("expirationDays"), int):
        _grant(answer, None)


def _told_in_its_data(seen: Seen, answer: Answer) -> None:
    sent = seen.body if isinstance(seen.body, dict) else {}
    refused = answer.body["code"] in ("4030", INVALID) and isinstance(sent.get("email"), str)
    if refused and not isinstance(sent.get("turnstileToken", ""), dict | list):
        _grant(answer, {"success": False, "message": "The verification failed."})


def _of_another_row(seen: Seen, answer: Answer) -> None:
    """Codes whose rows speak of other endpoints, or of fields, come with statuses of their own."""
    code = answer.body["code"]
    if seen.operation == SEND and code == "AUTH.SESSION_NOT_FOUND":
        answer.status = 400
    elif seen.asked.media_type == "text/plain" and code == INVALID:
        answer.status = 415


def _tell_a_wrong_password(portal: Portal, caller: Caller, body: Body) -> None:
    if not portal.passwords[caller.account_id].matches(body["oldPassword"]):
        raise Refusal("WRONG_CURRENT_PASSWORD")


def _no_workspace(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and "x-workspace-id" not in seen.asked.headers:
        _refuse(answer, "WORKSPACE.NOT_CHOSEN", 404)


def _in_part(data: Any) -> Any:
    """Of addresses in a listing no more is shown than tells them apart."""
    for account in data["accounts"]:
        name, _, domain = account["accountEmail"].partition("@")
        account["accountEmail"] = f"{name[0]}***@{domain}"
    return data


def _phone_in_part(value: Any) -> Any:
    return value | {"accountPhone": "***"} if isinstance(value, dict) and "accountPhone" in value else value


def _by_the_day(value: Any) -> Any:
    """An expiry is a day."""
    has_one = isinstance(value, dict) and "canAccept" in value
    return value | {"expiresAt": day_of(value["expiresAt"])} if has_one else value


VARIANTS: tuple[Variant, ...] = (
    may(
        "form-before-token",
        "which of two errors is told first is not stated",
        _form_first,
        "order-of-errors",
    ),
    may("ids-with-a-check-digit", "the form of an id is not stated", _with_check_digits, "ids"),
    may("ids-of-six-digits", "the form of an id is not stated", _with_short_numbers, "ids"),
    may("ids-padded-with-zeros", "the form of an id is not stated", _with_padded_numbers, "ids"),
    may(
        "pages-of-ten-at-least",
        "the least page size is not shown",
        together(asked(ACCOUNTS_QUERY, _ten_at_least), asked(ORDERS, _ten_at_least)),
        "small-size",
    ),
    may(
        "range-of-completion", "which time a range is of is not stated", handled(ORDERS, _range_of_completion)
    ),
    may("emails-by-words", "how a text is matched is not stated", handled(ACCOUNTS_QUERY, _emails_by_words)),
    may("type-codes-in-part", "how a text is matched is not stated", handled(TYPES_QUERY, _codes_in_part)),
    may(
        "active-while-activating",
        "which further states are active is not shown",
        together(
            chosen(activated_status="ACTIVATING"), handled(CHANNELS_QUERY, _active_in_any_state_but_one)
        ),
        "activated active-only",
    ),
    may(
        "only-the-status-is-nullable",
        "nullable stands behind the last of several names",
        together(
            _not_null(TYPES_QUERY, "bizId", "typeCode"),
            _not_null(CHANNELS_QUERY, "bizId", "institutionBizId", "channelCategory"),
        ),
    ),
    may(
        "plain-passwords-too",
        "bodies may be sent encrypted",
        together(*(row(operation, sealed=False) for operation in (RESET, INIT, CHANGE))),
    ),
    may(
        "unknown-channel-as-any-id",
        "two codes are given",
        renamed(COMMAND, "RESOURCE.NOT_FOUND", "RESOURCE.NOT_FOUND"),
    ),
    may(
        "commands-speak-1-3-0",
        "2.0.0 is said of portal responses, and which those are is not",
        together(row(COMMAND, version="1.3.0"), row(ORDERS, version="1.3.0")),
    ),
    may(
        "invitations-for-anybody",
        "inviteeEmail is not marked required",
        rewritten(enveloped(_for_anybody), INVITE),
    ),
    may(
        "forgot-tells-in-its-data",
        "what success false means there is not stated",
        rewritten(enveloped(_told_in_its_data), FORGOT),
        "forgot",
    ),
    may(
        "no-workspace-chosen",
        "what a caller without a workspace is answered is not stated",
        rewritten(enveloped(_no_workspace), ROLES, "GET /web/v1/system/workspaces/current"),
    ),
    may(
        "codes-of-other-rows",
        "the row of a code names where it is given, and not what status it has elsewhere",
        together(
            rewritten(enveloped(_of_another_row)),
            erring("WRONG_CURRENT_PASSWORD", "AUTH.INVALID_CREDENTIALS", 422),
            first(CHANGE, _tell_a_wrong_password),
        ),
    ),
    may(
        "addresses-in-part",
        "whether an address is shown whole is not stated",
        together(data_rewritten(_in_part, ACCOUNTS_QUERY), everywhere(_phone_in_part)),
        "masked",
    ),
    may("expires-by-the-day", "a day is ISO 8601 too", everywhere(_by_the_day), "expiry"),
    may(
        "unspecified-statuses-are-200",
        "the HTTP status is unspecified",
        chosen(
            mfa_cooldown_status=200,
            mfa_code_invalid_status=200,
            bot_refused_status=200,
            channel_unknown_status=200,
            portal_mismatch_status=200,
        ),
        "cooldown-status wrong-code-status challenge-status mismatch channel-unknown-status",
    ),
)
