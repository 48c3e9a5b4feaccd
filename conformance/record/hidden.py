"""Says of secrets that are redacted what a replay needs to know of them, and what gives none of them away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.checks.access.claim_kinds import claim_kinds
from conformance.checks.records import sent_fields
from conformance.spec.endpoints import (
    LOGIN_COMPLETE,
    LOGIN_INITIATE,
    PASSWORD_CHANGE,
    PASSWORD_INIT,
    PASSWORD_RESET,
    TOKEN_REFRESH,
)
from conformance.spec.tables import INVALID_PARAMETER
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.hidden import CLAIMS, FORM, KIND, LONGEST, MISTAKE, NUMBER, OF, form_of, mistake_of
from conformance.traffic.redaction.redact import Secrets

SENDING_FORMS = frozenset({LOGIN_INITIATE, LOGIN_COMPLETE, PASSWORD_CHANGE, PASSWORD_RESET, PASSWORD_INIT})
"""The operations that may refuse a password or a code for its form."""

MOST_ACCOUNTS = 1000
MOST_MISTAKES = 5
"""Refused passwords of an account that are remembered."""


@dataclass
class HiddenSecrets:
    """Takes the exchanges of one recording in order, once their secrets are registered."""

    secrets: Secrets
    _passwords: dict[str, str] = field(default_factory=dict)
    """By email, the password that was accepted last."""
    _refused: dict[str, list[str]] = field(default_factory=dict)
    """By email, those that were refused before one was accepted."""

    def of(self, exchange: Exchange) -> dict[str, Json]:
        """What an exchange shows of hidden secrets, by their placeholders."""
        operation = exchange.request.operation
        key = operation.key if operation else ""
        if key in (LOGIN_COMPLETE, TOKEN_REFRESH) and exchange.success:
            return dict(self._token(exchange.at("data.accessToken")))
        hidden: dict[str, Json] = {}
        if key in SENDING_FORMS and not exchange.success:
            hidden.update(self._forms(exchange, key))
        if key == LOGIN_INITIATE:
            hidden.update(self._mistakes(exchange))
        return hidden

    def _forms(self, exchange: Exchange, key: str) -> Iterator[tuple[str, Json]]:
        """The forms of passwords and codes that may have been refused for them."""
        is_invalid = exchange.code in INVALID_PARAMETER
        for name, value in sent_fields(exchange).items():
            placeholder = self.secrets.placeholder(str(value)) if isinstance(value, str | int) else None
            if placeholder is None:
                continue
            if isinstance(value, int):
                if is_invalid and name == "code":
                    yield placeholder, {FORM: {KIND: NUMBER}}
            elif name.lower().endswith("password") and value not in self._passwords.values():
                is_new = name.lower().startswith("new") or key in (PASSWORD_RESET, PASSWORD_INIT)
                form = form_of(value, is_new=is_new)
                if form is not None and (is_invalid or len(value) >= LONGEST):
                    yield placeholder, {FORM: form}

    def _token(self, token: Json) -> Iterator[tuple[str, Json]]:
        placeholder = self.secrets.placeholder(token) if isinstance(token, str) else None
        if placeholder is not None:
            yield placeholder, {CLAIMS: claim_kinds(token)}

    def _mistakes(self, exchange: Exchange) -> Iterator[tuple[str, Json]]:
        sent = sent_fields(exchange)
        email, password = sent.get("email"), sent.get("password")
        if not isinstance(email, str) or not isinstance(password, str):
            return
        if not exchange.success:
            meant = self._passwords.get(email)
            if meant is not None:
                yield from self._mistake(password, meant)
            elif len(self._refused) < MOST_ACCOUNTS:
                self._refused[email] = [*self._refused.get(email, ()), password][-MOST_MISTAKES:]
            return
        for refused in self._refused.pop(email, ()):
            yield from self._mistake(refused, password)
        if email in self._passwords or len(self._passwords) < MOST_ACCOUNTS:
            self._passwords[email] = password

    def _mistake(self, password: str, meant: str) -> Iterator[tuple[str, Json]]:
        mistake = mistake_of(password, meant)
        placeholders = [self.secrets.placeholder(each) for each in (password, meant)]
        if mistake is not None and None not in placeholders:
            yield str(placeholders[0]), {MISTAKE: mistake, OF: placeholders[1]}
