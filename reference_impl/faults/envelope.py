"""The envelope, versions and enumeration objects (chapters "Response envelope", "Enumeration object")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import chosen, rewritten, row
from reference_impl.faults.fault import GONE, Wrong, from_call, of, reported, spoil, turned
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
    of("ENV-001", "roles-without-envelope", ROLES, apply=rewritten(_data_alone, ROLES)),
    of(
        "ENV-001",
        "unknown-institution-answered-in-html",
        INSTITUTION,
        apply=rewritten(_page_of_html, INSTITUTION),
    ),
    of("ENV-002", "success-as-text", WALLETS, apply=rewritten(_any(success="true"), WALLETS)),
    of("ENV-002", "success-missing", WALLETS, apply=rewritten(_any(success=GONE), WALLETS)),
    of("ENV-002", "success-as-number-on-errors", ROLE, apply=rewritten(_bad(success=0), ROLE)),
    of("ENV-003", "code-2000-without-success", WALLETS, apply=rewritten(_good(success=False), WALLETS)),
    of("ENV-003", "error-code-with-success", INSTITUTION, apply=rewritten(_bad(success=True), INSTITUTION)),
    of("ENV-004", "code-as-number", apply=rewritten(_good(code=2000))),
    of("ENV-004", "code-missing", WALLETS, apply=rewritten(_any(code=GONE), WALLETS)),
    of("ENV-005", "success-with-code-zero", apply=rewritten(_good(code="0"))),
    of("ENV-005", "success-with-code-200", ROLES, apply=rewritten(_good(code="200"), ROLES)),
    of(
        "ENV-005",
        "success-with-other-code-in-japanese",
        COUNTRIES,
        apply=rewritten(_in_language("ja", code="2001"), COUNTRIES),
    ),
    of("ENV-006", "message-null-on-success", apply=rewritten(_good(message=None))),
    of("ENV-006", "message-missing-on-errors", apply=rewritten(_bad(message=GONE))),
    of(
        "ENV-006",
        "message-object-in-vietnamese",
        COUNTRIES,
        apply=rewritten(_in_language("vi", message={"vi": ""}), COUNTRIES),
    ),
    of(
        "ENV-020",
        "success-message-in-vietnamese",
        apply=rewritten(
            _where(
                lambda seen, answer: (
                    bool(answer.body["success"]) and seen.asked.headers.get("accept-language") == "vi"
                ),
                message="Thành công",
            )
        ),
    ),
    of("ENV-007", "success-message-done", apply=chosen(success_message="Done")),
    of("ENV-008", "error-with-empty-object", apply=rewritten(_bad(data={}))),
    of("ENV-008", "error-with-empty-text", ROLE, apply=rewritten(_bad(data=""), ROLE)),
    of("ENV-008", "validation-errors-in-data", apply=rewritten(_field_errors)),
    of("ENV-009", "version-as-number", apply=rewritten(_any(version=2.0))),
    of(
        "ENV-009",
        "version-as-object-in-chinese",
        COUNTRIES,
        apply=rewritten(_in_language("zh-Hant", version={"major": 2}), COUNTRIES),
    ),
    of("ENV-010", "timestamp-as-text", apply=rewritten(_any(timestamp=str))),
    of(
        "ENV-010",
        "timestamp-as-date",
        WALLETS,
        apply=rewritten(_any(timestamp="2026-01-01T00:00:00Z"), WALLETS),
    ),
    of("ENV-011", "timestamp-in-seconds", apply=rewritten(_any(timestamp=lambda value: value // 1000))),
    of("ENV-011", "timestamp-in-microseconds", apply=rewritten(_any(timestamp=lambda value: value * 1000))),
    of(
        "ENV-011",
        "timestamp-in-seconds-on-errors",
        apply=rewritten(_bad(timestamp=lambda value: value // 1000)),
    ),
    of(
        "ENV-014",
        "success-with-status-404",
        MY_WORKSPACES,
        apply=rewritten(_status(404, _answer_with_status_404), MY_WORKSPACES),
    ),
    of("ENV-015", "labelled-as-text", apply=rewritten(_labelled_as_text)),
    of(
        "ENV-018",
        "unknown-role-is-a-server-error",
        ROLE,
        apply=rewritten(_status(500, lambda answer: answer.status == 404), ROLE),
    ),
    of(
        "ENV-018",
        "unknown-account-is-a-server-error",
        ACCOUNT,
        apply=rewritten(_status(500, lambda answer: answer.status == 404), ACCOUNT),
    ),
    of("ENV-019", "initiate-echoes-the-password", INITIATE, apply=rewritten(_echoes("password"), INITIATE)),
    of("ENV-019", "forgot-echoes-the-challenge", FORGOT, apply=rewritten(_echoes("turnstileToken"), FORGOT)),
    of("VERSION-001", "version-2-0-1", apply=rewritten(_any(version="2.0.1"))),
    of("VERSION-001", "version-1-3-0-everywhere", apply=rewritten(_any(version="1.3.0"))),
    of("VERSION-001", "another-version-on-errors", apply=rewritten(_bad(version="2.1.0"))),
    of(
        "VERSION-002",
        "secure-session-version-2-0-0",
        SECURE_SESSION,
        apply=row(SECURE_SESSION, version="2.0.0"),
    ),
    of(
        "ENUM-005",
        "portal-carries-the-value-of-another",
        PROFILE,
        apply=turned(PROFILE, "accountPortal", _status_value(SYSTEM=10010202)),
    ),
    of(
        "ENUM-005",
        "mfa-method-values-swapped",
        MFA,
        apply=turned(MFA, "[].mfaMethod", _status_value(EMAIL=10011002, OTP=10011001)),
        also="ENUM-006",
    ),
    of(
        "ENUM-006",
        "mfa-method-by-another-name",
        MFA,
        apply=turned(
            MFA,
            "[].mfaMethod",
            lambda entry: spoil(entry, "code", lambda code: {"OTP": "TOTP"}.get(code, code)),
        ),
    ),
    of(
        "ENUM-006",
        "workspace-kind-by-another-name",
        CURRENT_WORKSPACE,
        apply=reported(CURRENT_WORKSPACE, "workspaceKind", code="PRODUCTION"),
    ),
    of(
        "ENUM-010",
        "role-types-with-other-values",
        ROLES,
        apply=turned(ROLES, "[].roleType", _status_value(OWNER=10010903, CUSTOM=10010904)),
        also="ENUM-009",
    ),
    of(
        "ENUM-011",
        "institution-type-by-another-name",
        INSTITUTION,
        apply=reported(INSTITUTION, "institutionType", code="HOUSE"),
    ),
    of(
        "ENUM-009",
        "cancelled-carries-another-value-each-time",
        OWN_INVITATIONS,
        apply=rewritten(from_call(1, _another_value_each_time), OWN_INVITATIONS),
    ),
)
