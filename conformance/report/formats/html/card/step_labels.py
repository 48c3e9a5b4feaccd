"""What each step of a finding is: which code or password it sends, and whether it is sent again."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.report.model.again import WRONG_CODE
from conformance.report.model.evidence import SignInRecord
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import REDACTED


def step_labels(
    exchanges: Mapping[int, Exchange], sign_ins: SignInRecord, *, is_live: bool = True
) -> dict[int, str]:
    """The labels by the numbers of the exchanges, which are in order; a step that the record does not
    explain has none. In recorded traffic every code is redacted, the wrong ones as well."""
    sent: list[tuple[str, str, Json]] = []
    labels: dict[int, str] = {}
    for number, exchange in exchanges.items():
        request = (exchange.request.method, exchange.request.url, exchange.sent)
        words = [_credential(exchange, sign_ins, is_live=is_live), "again" if request in sent else ""]
        label = ", ".join(word for word in words if word)
        if label:
            labels[number] = label
        sent.append(request)
    return labels


def _is_right(code: str) -> bool:
    return bool(REDACTED.fullmatch(code)) and not code.startswith(WRONG_CODE)


def _credential(exchange: Exchange, sign_ins: SignInRecord, *, is_live: bool) -> str:
    """Which code or password a step of a sign-in sends. A run makes up the wrong ones: its passwords are not
    redacted, and its codes are redacted as wrong ones."""
    operation, sent = exchange.request.operation, exchange.sent
    if operation is None or not isinstance(sent, dict):
        return ""
    code, password = sent.get("code"), sent.get("password")
    if operation.key == LOGIN_COMPLETE and isinstance(code, str):
        if not is_live:
            return ""
        return "the account's code" if _is_right(code) else "wrong code"
    if operation.key == LOGIN_INITIATE and isinstance(password, str):
        right = sign_ins.password_of(str(sent.get("email")))
        return "the account's password" if right is not None and password == right else "wrong password"
    return ""
