"""Passwords that are forgotten, reset and changed (chapter "Authentication endpoints", gap N6)."""

from collections import defaultdict
from typing import Any

from reference_impl.changes import Change, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import erring, first, ruled
from reference_impl.limits import Limits
from reference_impl.passwords import Password
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Unfit, password
from reference_impl.variants.variant import around, enveloped, grant, keeping, may, permitted, refused
from reference_impl.wrappers import Answer, Seen


def _address_repeated(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and isinstance(seen.body, dict):
        email = str(seen.body.get("email")).lower()
        answer.body["data"]["message"] = f"If {email} has an account, a mail is on its way."


def _told_in_its_data(seen: Seen, answer: Answer) -> None:
    sent = seen.body if isinstance(seen.body, dict) else {}
    refused = answer.body["code"] in ("4030", INVALID) and isinstance(sent.get("email"), str)
    if refused and not isinstance(sent.get("turnstileToken", ""), dict | list):
        grant(answer, {"success": False, "message": "The verification failed."})


def _of_its_code(portal: Portal, caller: Caller, body: Body) -> None:
    """The account is the one that was mailed the code, whatever email is sent beside it."""
    owners = [id for id, code in portal.password_codes.items() if code.text == body["code"]]
    if owners:
        body["email"] = portal.records["account"][owners[-1]]["accountEmail"]


def _once_tried(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """A code that was mailed is good for one try."""
    account = portal.account_of(body["email"])
    try:
        return handler(portal, caller, body)
    finally:
        if account is not None:
            portal.password_codes.pop(account["bizId"], None)


def _until_it_expires(portal: Portal, caller: Caller, body: Body) -> None:
    """A code that was mailed serves as often as it is sent."""
    for code in portal.password_codes.values():
        if code.text == body["code"]:
            code.state = "SENT"


def _with_history(status: int, *operations: str, is_present_in: bool) -> Change:
    """Refuses passwords that the account had before, and the present one where that is in the history."""
    had: dict[str, list[Password]] = defaultdict(list)

    def setting(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        account = portal.account_of(body.get("email", "")) or caller.known_account or {}
        id, before = str(body.get("userBizId") or account.get("bizId")), dict(portal.passwords)
        is_known = not is_present_in or before[id].matches(body["oldPassword"])
        used = [*had[id], *([before[id]] if is_present_in else [])]
        if is_known and any(old.matches(body.get("newPassword", "")) for old in used):
            raise Refusal("PASSWORD_USED")
        data = handler(portal, caller, body)
        for id, replaced in before.items():
            if portal.passwords[id] is not replaced:
                had[id].append(replaced)
        return data

    return together(erring("PASSWORD_USED", "PASSWORD.IN_HISTORY", status), around(setting, *operations))


def _with_a_sign(value: Any, limits: Limits) -> str:
    """A rule of the portal's own for new passwords; those of before it stay."""
    text = password(value, limits)
    if "!" not in text:
        raise Unfit
    return text


def wrong_password_is(refusal: str) -> Change:
    """A wrong present password is refused by a row of its own in the table of errors."""

    def is_wrong(portal: Portal, caller: Caller, body: Body) -> bool:
        return not portal.passwords[caller.account_id].matches(body["oldPassword"])

    return refused(op.CHANGE, refusal, is_wrong)


PASSWORDS_SET = (op.CHANGE, op.RESET, op.INIT, op.ACCOUNT_PASSWORD)

VARIANTS = permitted(
    "the generic text is not shown",
    may("forgot-repeats-the-address: forgot-text", enveloped(_address_repeated, op.FORGOT)),
    "what success false means there is not stated",
    may("forgot-tells-in-its-data: forgot", enveloped(_told_in_its_data, op.FORGOT)),
    "N6: what else than the code a password reset takes is not shown",
    may("a-mailed-code-names-its-account", first(op.RESET, _of_its_code), first(op.INIT, _of_its_code)),
    "what a wrong code does to one that was mailed is not stated",
    may("a-mailed-code-is-tried-once: mailed-code", around(_once_tried, op.RESET)),
    "N6: how often a mailed code serves is not shown",
    may("a-mailed-code-serves-again: mailed-code", first(op.RESET, _until_it_expires)),
    "which passwords are taken is not stated beyond their length",
    may(
        "passwords-never-again: password-history",
        keeping(lambda: _with_history(400, *PASSWORDS_SET, is_present_in=False)),
    ),
    may("password-history", keeping(lambda: _with_history(409, op.CHANGE, is_present_in=True))),
    may(
        "new-passwords-need-a-sign: password-history",
        erring("PASSWORD_WRONG", "PASSWORD.WRONG", 403),
        wrong_password_is("PASSWORD_WRONG"),
        ruled(op.CHANGE, "newPassword", _with_a_sign),
        ruled(op.RESET, "newPassword", _with_a_sign),
    ),
)
