"""The recorder's capture: one redacted line for each exchange, with what a replay knows of its secrets."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from conformance.checks.access.claims import claim_kinds
from conformance.checks.records import sent_fields
from conformance.errors import CaptureError, SuiteError
from conformance.judging import Watch
from conformance.spec import endpoints as op
from conformance.spec.tables import INVALID_PARAMETER
from conformance.traffic.capture import Writer
from conformance.traffic.capture.writer import rewrite
from conformance.traffic.exchange import Exchange, Json, Plain, Request, Response
from conformance.traffic.hidden import (
    CLAIMS,
    FORM,
    KIND,
    LONGEST_PASSWORD,
    MISTAKE,
    NUMBER,
    OF,
    form_of,
    mistake_of,
)
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets, secrets_in
from conformance.verdicts.findings import Finding


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a recorder takes at most. Seconds of a request count from its first byte to its last, those of the
    upstream portal from the first byte of the request to the last of the answer."""

    header_bytes: int = 64 * 1024
    body_bytes: int = 64 * 1024 * 1024
    request_seconds: float = 60.0
    upstream_seconds: float = 60.0
    connections: int = 1000


@dataclass
class Log:
    """The capture as it grows. ``on_finding`` is called once for each contradiction."""

    path: Path
    secrets: Secrets
    judge: Watch | None = None
    on_finding: Callable[[Finding], None] = lambda finding: None
    count: int = 0
    unanswered: int = 0
    stopped: str = ""
    """Why recording stopped before its end; empty where it did not."""
    max_bytes: int | None = None
    """Size of the file at which recording stops, as the user asked."""
    finder: SecretFinder = field(default_factory=SecretFinder)
    _reported: set[str] = field(default_factory=set)
    _is_stale: bool = False
    """Whether a response showed a value before a request said that it is a secret."""

    def __post_init__(self) -> None:
        self._writer = Writer(self.path)
        self.hidden = HiddenSecrets(self.secrets)
        self._lock = threading.Lock()

    def write(
        self,
        request: Request,
        response: Response | None,
        *,
        started: str,
        elapsed_ms: float,
        client: str,
        error: str | None = None,
        plain: Plain | None = None,
    ) -> None:
        """Appends one exchange. Where it cannot be written, recording stops, which is said at once."""
        with self._lock:
            if self.stopped or self.is_full:
                return
            exchange = Exchange(
                n=self.count + 1,
                started=started,
                elapsed_ms=elapsed_ms,
                client=client,
                request=request,
                response=response,
                error=error,
                plain=plain,
            )
            try:
                self._append(exchange)
            except SuiteError as problem:
                kept = "1 exchange" if self.count == 1 else f"{self.count} exchanges"
                stopped = f"Recording stopped: {self.path} holds {kept}; traffic passes on unrecorded."
                self._say(f"{problem} {stopped}")
                return
            self.count += 1
            self.unanswered += response is None
            if self.is_full:
                self._print(f"{self.path} is as large as --max-size allows: traffic passes on unrecorded.")
        for finding in self.judge(exchange) if self.judge else ():
            if finding.signature not in self._reported:
                self._reported.add(finding.signature)
                self.on_finding(finding)

    @property
    def is_full(self) -> bool:
        """Whether the file has the size at which recording stops."""
        return self.max_bytes is not None and self._writer.size >= self.max_bytes

    def _append(self, exchange: Exchange) -> None:
        """CaptureError: the file takes no more; UsageError: a pattern of the user's takes too long."""
        self._is_stale |= self.finder.has_returned(secrets_in(exchange), self.secrets)
        self.secrets.add_from(exchange)
        written = self.finder.register(exchange, self.secrets)
        line = self._writer.line(replace(written, hidden=self.hidden.of(exchange) or None)).decode()
        self._writer.write_line(self.secrets.redact_line(line).encode())

    def close(self) -> None:
        """Closes the capture, and redacts secrets that were recorded before registration. Reports a lack of
        disk space."""
        try:
            self._writer.close()
        except CaptureError as error:
            self._say(f"{error} Its end is missing: read it with --salvage.")
        if not self._is_stale and not self.finder.is_late:
            return
        try:
            rewrite(self._writer.path, self.secrets.redact_line)
        except CaptureError as error:
            self._say(f"{error} It still holds secrets that only later exchanges showed: do not pass it on.")

    def _say(self, problem: str) -> None:
        self.stopped = self.stopped or problem
        self._print(problem)

    def _print(self, line: str) -> None:
        print(self.secrets.redact(line), file=sys.stderr, flush=True)


SENDING_FORMS = frozenset(
    {op.LOGIN_INITIATE, op.LOGIN_COMPLETE, op.PASSWORD_CHANGE, op.PASSWORD_RESET, op.PASSWORD_INIT}
)
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
        if key in (op.LOGIN_COMPLETE, op.TOKEN_REFRESH) and exchange.success:
            token = exchange.at("data.accessToken")
            placeholder = self.secrets.placeholder(token) if isinstance(token, str) else None
            return {} if placeholder is None else {placeholder: {CLAIMS: claim_kinds(token)}}
        hidden: dict[str, Json] = {}
        if key in SENDING_FORMS and not exchange.success:
            hidden.update(self._forms(exchange, key))
        if key == op.LOGIN_INITIATE:
            hidden.update(self._mistakes(exchange))
        return hidden

    def _forms(self, exchange: Exchange, key: str) -> Iterator[tuple[str, Json]]:
        """Yields the placeholder and form of each secret that the portal may have rejected for its form:
        passwords, numeric codes."""
        is_invalid = exchange.code in INVALID_PARAMETER
        for name, value in sent_fields(exchange).items():
            placeholder = self.secrets.placeholder(str(value)) if isinstance(value, str | int) else None
            if placeholder is None:
                continue
            if isinstance(value, int):
                if is_invalid and name == "code":
                    yield placeholder, {FORM: {KIND: NUMBER}}
            elif name.lower().endswith("password") and value not in self._passwords.values():
                is_new = name.lower().startswith("new") or key in (op.PASSWORD_RESET, op.PASSWORD_INIT)
                form = form_of(value, is_new=is_new)
                if form is not None and (is_invalid or len(value) >= LONGEST_PASSWORD):
                    yield placeholder, {FORM: form}

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
