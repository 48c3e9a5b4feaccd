"""The envelope, versions and enumeration objects (chapters "Response envelope", "Enumeration object")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import chosen, rewritten, row
from reference_impl.faults import operations as op
from reference_impl.faults.fault import GONE, Wrong, answered, from_call, reported, spoil, turned
from reference_impl.wrappers import Answer, Seen

Rewriting = Callable[[Seen, Answer], None]


def _any(**wrong: Wrong) -> Rewriting:
    """Every answer's envelope tells other values."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        for name, value in wrong.items():
            spoil(answer.body, name, value)

    return rewriting


def _where(test: Callable[[Seen, Answer], object], **wrong: Wrong) -> Rewriting:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if test(seen, answer):
            _any(**wrong)(seen, answer)

    return rewriting


def _good(**wrong: Wrong) -> Rewriting:
    return _where(lambda seen, answer: answer.body["success"], **wrong)


def _bad(**wrong: Wrong) -> Rewriting:
    return _where(lambda seen, answer: not answer.body["success"], **wrong)


def _data_alone(seen: Seen, answer: Answer) -> None:
    if answer.body["success"]:
        answer.body = answer.body["data"]


def _page_of_html(seen: Seen, answer: Answer) -> None:
    if answer.status == 404:
        answer.body = b"<!doctype html><title>Not found</title>"
        answer.headers = [(b"content-type", b"text/html")]


def _labelled_as_text(seen: Seen, answer: Answer) -> None:
    answer.headers = [(b"content-type", b"text/plain;charset=utf-8")]


def _found_as_not_found(seen: Seen, answer: Answer) -> None:
    answer.status = 404 if answer.body["success"] else answer.status


def _as_server_error(seen: Seen, answer: Answer) -> None:
    answer.status = 500 if answer.status == 404 else answer.status


def _echoed(seen: Seen, answer: Answer) -> None:
    if answer.body["success"] and isinstance(seen.body, dict):
        answer.body["data"]["request"] = {"password": seen.body.get("password")}


def _another_value_each_time(seen: Seen, answer: Answer) -> None:
    for entry in answer.body["data"] or []:
        if entry["invitationStatus"]["code"] == "CANCELLED":
            entry["invitationStatus"]["value"] = 10050390 + seen.memory["calls"]


def _status_value(**values: int) -> Callable[[dict[str, Any]], None]:
    """The numbers that these symbolic codes carry."""

    def turn(entry: dict[str, Any]) -> None:
        entry["value"] = values.get(entry["code"], entry["value"])

    return turn


WALLETS = op.constants("wallet-statuses")


ROWS = {
    "ENV-001 roles-without-envelope": rewritten(_data_alone, op.ROLES),
    "ENV-001 unknown-institution-answered-in-html": rewritten(_page_of_html, op.INSTITUTION),
    "ENV-002 success-missing": rewritten(_any(success=GONE), WALLETS),
    "ENV-003 code-2000-without-success": rewritten(_good(success=False), WALLETS),
    "ENV-003 error-code-with-success": rewritten(_bad(success=True), op.INSTITUTION),
    "ENV-004 code-as-number": rewritten(_good(code=2000)),
    "ENV-005 success-with-code-zero": rewritten(_good(code="0")),
    "ENV-006 message-null-on-success": rewritten(_good(message=None)),
    "ENV-021 the-current-workspace-holds-the-access-code": answered(
        op.CURRENT_WORKSPACE, lambda call, data: data | {"extraData": {"ingress": call.portal.access_code}}
    ),
    "ENV-020 success-message-in-vietnamese": rewritten(
        _where(
            lambda seen, answer: (
                bool(answer.body["success"]) and seen.asked.headers.get("accept-language") == "vi"
            ),
            message="Thành công",
        )
    ),
    "ENV-007 success-message-done": chosen(success_message="Done"),
    "ENV-008 error-with-empty-object": rewritten(_bad(data={})),
    "ENV-009 version-as-number": rewritten(_any(version=2.0)),
    "ENV-010 timestamp-as-text": rewritten(_any(timestamp=str)),
    "ENV-011 timestamp-in-seconds": rewritten(_any(timestamp=lambda value: value // 1000)),
    "ENV-014 success-with-status-404": rewritten(_found_as_not_found, op.MY_WORKSPACES),
    "ENV-015 labelled-as-text": rewritten(_labelled_as_text),
    "ENV-018 unknown-role-is-a-server-error": rewritten(_as_server_error, op.ROLE),
    "ENV-019 initiate-echoes-the-password": rewritten(_echoed, op.INITIATE),
    "VERSION-001 version-2-0-1": rewritten(_any(version="2.0.1")),
    "VERSION-002 secure-session-version-2-0-0": row(op.SECURE_SESSION, version="2.0.0"),
    "ENUM-005 portal-carries-the-value-of-another": turned(
        op.PROFILE, "accountPortal", _status_value(SYSTEM=10010202)
    ),
    "ENUM-006 workspace-kind-by-another-name": reported(
        op.CURRENT_WORKSPACE, "workspaceKind", code="PRODUCTION"
    ),
    "ENUM-010 role-types-with-other-values": turned(
        op.ROLES, "[].roleType", _status_value(OWNER=10010903, CUSTOM=10010904)
    ),
    "ENUM-011 institution-type-by-another-name": reported(op.INSTITUTION, "institutionType", code="HOUSE"),
    "ENUM-009 cancelled-carries-another-value-each-time": rewritten(
        from_call(1, _another_value_each_time), op.OWN_INVITATIONS
    ),
}
