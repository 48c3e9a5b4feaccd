"""The envelope, versions and enumeration objects (chapters "Response envelope", "Enumeration object")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import chosen, rewritten, row
from reference_impl.faults.fault import GONE, Wrong, fault, from_call, reported, spoil, turned
from reference_impl.faults.operations import (
    ACCOUNT,
    CURRENT_WORKSPACE,
    FORGOT,
    INITIATE,
    INSTITUTION,
    MFA,
    MY_WORKSPACES,
    OWN_INVITATIONS,
    PROFILE,
    ROLE,
    ROLES,
    SECURE_SESSION,
    constants,
)
from reference_impl.wrappers import Answer, Seen

Rewriting = Callable[[Seen, Answer], None]


def _any(**wrong: Wrong) -> Rewriting:
    """Every answer's envelope tells other values."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        for name, value in wrong.items():
            spoil(answer.body, name, value)

    return rewriting


def _good(**wrong: Wrong) -> Rewriting:
    return _where(lambda seen, answer: bool(answer.body["success"]), **wrong)


def _bad(**wrong: Wrong) -> Rewriting:
    return _where(lambda seen, answer: not answer.body["success"], **wrong)


def _where(test: Callable[[Seen, Answer], bool], **wrong: Wrong) -> Rewriting:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if test(seen, answer):
            _any(**wrong)(seen, answer)

    return rewriting


def _in_language(language: str, **wrong: Wrong) -> Rewriting:
    return _where(lambda seen, answer: seen.asked.headers.get("accept-language") == language, **wrong)


def _data_alone(seen: Seen, answer: Answer) -> None:
    if answer.body["success"]:
        answer.body = answer.body["data"]


def _page_of_html(seen: Seen, answer: Answer) -> None:
    if answer.status == 404:
        answer.body = b"<!doctype html><title>Not found</title>"
        answer.headers = [(b"content-type", b"text/html")]


def _labelled_as_text(seen: Seen, answer: Answer) -> None:
    answer.headers = [(b"content-type", b"text/plain;charset=utf-8")]


def _status(status: int, test: Callable[[Answer], bool]) -> Rewriting:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if test(answer):
            answer.status = status

    return rewriting


def _field_errors(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] in ("VALIDATION.INVALID_PARAMETER", "4000"):
        answer.body["data"] = [{"field": "body", "message": "is not valid"}]


def _echoes(name: str) -> Rewriting:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if answer.body["success"] and isinstance(seen.body, dict):
            answer.body["data"]["request"] = {name: seen.body.get(name)}

    return rewriting


def _another_value_each_time(seen: Seen, answer: Answer) -> None:
    for entry in answer.body["data"] or []:
        if entry["invitationStatus"]["code"] == "CANCELLED":
            entry["invitationStatus"]["value"] = 10050390 + seen.memory["calls"]


def _answer_with_status_404(answer: Answer) -> bool:
    return bool(answer.body["success"])


def _status_value(**values: int) -> Callable[[dict[str, Any]], None]:
    """The numbers that these symbolic codes carry."""

    def turn(entry: dict[str, Any]) -> None:
        entry["value"] = values.get(entry["code"], entry["value"])

    return turn


COUNTRIES = constants("countries")
WALLETS = constants("wallet-statuses")
ORDER_STATUSES = constants("order-statuses")

FAULTS = (
    fault("ENV-001", "roles-without-envelope", rewritten(_data_alone, ROLES)),
    fault("ENV-001", "unknown-institution-answered-in-html", rewritten(_page_of_html, INSTITUTION)),
    fault("ENV-002", "success-as-text", rewritten(_any(success="true"), WALLETS)),
    fault("ENV-002", "success-missing", rewritten(_any(success=GONE), WALLETS)),
    fault("ENV-002", "success-as-number-on-errors", rewritten(_bad(success=0), ROLE)),
    fault("ENV-003", "code-2000-without-success", rewritten(_good(success=False), WALLETS)),
    fault("ENV-003", "error-code-with-success", rewritten(_bad(success=True), INSTITUTION)),
    fault("ENV-004", "code-as-number", rewritten(_good(code=2000))),
    fault("ENV-004", "code-missing", rewritten(_any(code=GONE), WALLETS)),
    fault("ENV-005", "success-with-code-zero", rewritten(_good(code="0"))),
    fault("ENV-005", "success-with-code-200", rewritten(_good(code="200"), ROLES)),
    fault(
        "ENV-005",
        "success-with-other-code-in-japanese",
        rewritten(_in_language("ja", code="2001"), COUNTRIES),
    ),
    fault("ENV-006", "message-null-on-success", rewritten(_good(message=None))),
    fault("ENV-006", "message-missing-on-errors", rewritten(_bad(message=GONE))),
    fault(
        "ENV-006",
        "message-object-in-vietnamese",
        rewritten(_in_language("vi", message={"vi": ""}), COUNTRIES),
    ),
    fault(
        "ENV-020",
        "success-message-in-vietnamese",
        rewritten(
            _where(
                lambda seen, answer: (
                    bool(answer.body["success"]) and seen.asked.headers.get("accept-language") == "vi"
                ),
                message="Thành công",
            )
        ),
    ),
    fault("ENV-007", "success-message-done", chosen(success_message="Done")),
    fault("ENV-008", "error-with-empty-object", rewritten(_bad(data={}))),
    fault("ENV-008", "error-with-empty-text", rewritten(_bad(data=""), ROLE)),
    fault("ENV-008", "validation-errors-in-data", rewritten(_field_errors)),
    fault("ENV-009", "version-as-number", rewritten(_any(version=2.0))),
    fault(
        "ENV-009",
        "version-as-object-in-chinese",
        rewritten(_in_language("zh-Hant", version={"major": 2}), COUNTRIES),
    ),
    fault("ENV-010", "timestamp-as-text", rewritten(_any(timestamp=str))),
    fault("ENV-010", "timestamp-as-date", rewritten(_any(timestamp="2026-01-01T00:00:00Z"), WALLETS)),
    fault("ENV-011", "timestamp-in-seconds", rewritten(_any(timestamp=lambda value: value // 1000))),
    fault("ENV-011", "timestamp-in-microseconds", rewritten(_any(timestamp=lambda value: value * 1000))),
    fault(
        "ENV-011", "timestamp-in-seconds-on-errors", rewritten(_bad(timestamp=lambda value: value // 1000))
    ),
    fault(
        "ENV-014", "success-with-status-404", rewritten(_status(404, _answer_with_status_404), MY_WORKSPACES)
    ),
    fault("ENV-015", "labelled-as-text", rewritten(_labelled_as_text)),
    fault(
        "ENV-018",
        "unknown-role-is-a-server-error",
        rewritten(_status(500, lambda answer: answer.status == 404), ROLE),
    ),
    fault(
        "ENV-018",
        "unknown-account-is-a-server-error",
        rewritten(_status(500, lambda answer: answer.status == 404), ACCOUNT),
    ),
    fault("ENV-019", "initiate-echoes-the-password", rewritten(_echoes("password"), INITIATE)),
    fault("ENV-019", "forgot-echoes-the-challenge", rewritten(_echoes("turnstileToken"), FORGOT)),
    fault("VERSION-001", "version-2-0-1", rewritten(_any(version="2.0.1"))),
    fault("VERSION-001", "version-1-3-0-everywhere", rewritten(_any(version="1.3.0"))),
    fault("VERSION-001", "another-version-on-errors", rewritten(_bad(version="2.1.0"))),
    fault("VERSION-002", "secure-session-version-2-0-0", row(SECURE_SESSION, version="2.0.0")),
    fault(
        "ENUM-005",
        "portal-carries-the-value-of-another",
        turned(PROFILE, "accountPortal", _status_value(SYSTEM=10010202)),
    ),
    fault(
        "ENUM-005",
        "mfa-method-values-swapped",
        turned(MFA, "[].mfaMethod", _status_value(EMAIL=10011002, OTP=10011001)),
        also="ENUM-006",
    ),
    fault(
        "ENUM-006",
        "mfa-method-by-another-name",
        turned(
            MFA,
            "[].mfaMethod",
            lambda entry: spoil(entry, "code", lambda code: {"OTP": "TOTP"}.get(code, code)),
        ),
    ),
    fault(
        "ENUM-006",
        "workspace-kind-by-another-name",
        reported(CURRENT_WORKSPACE, "workspaceKind", code="PRODUCTION"),
    ),
    fault(
        "ENUM-010",
        "role-types-with-other-values",
        turned(ROLES, "[].roleType", _status_value(OWNER=10010903, CUSTOM=10010904)),
        also="ENUM-009",
    ),
    fault(
        "ENUM-011", "institution-type-by-another-name", reported(INSTITUTION, "institutionType", code="HOUSE")
    ),
    fault(
        "ENUM-009",
        "cancelled-carries-another-value-each-time",
        rewritten(from_call(1, _another_value_each_time), OWN_INVITATIONS),
    ),
)
