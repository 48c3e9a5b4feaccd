"""Where emailed codes arrive: what is there is marked before a send, and only what comes later is taken."""

from __future__ import annotations

import email as mail
import email.policy
import imaplib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from typing import Protocol
from urllib.parse import quote

from conformance.errors import Untestable
from conformance.target.clock import Clock
from conformance.target.portal.transport import fetch
from conformance.target.profile.model import CommandInbox, FixedInbox, HttpInbox, ImapInbox, Mailbox
from conformance.traffic.exchange import Json

Mark = object
"""What an inbox held at one moment. It means something only to the inbox that made it."""

POLL = 0.2


class NothingArrived(Untestable):
    """The inbox can be read, and no code came in time."""

    default_class = "environment"


class InboxReader(Protocol):
    def mark(self) -> Mark:
        """Remembers what is there now. Raises Untestable where the inbox cannot be read."""

    def code_after(self, mark: Mark, clock: Clock) -> str:
        """The newest code that came after a mark. Raises Untestable where none comes in time."""

    def has_code_after(self, mark: Mark) -> bool:
        """Whether a code came after a mark; none is waited for. Raises Untestable."""


def reader(settings: HttpInbox | ImapInbox | CommandInbox | FixedInbox, email: str, name: str) -> InboxReader:
    """The reader for one address in one of the profile's inboxes."""
    match settings:
        case HttpInbox():
            return AnswerReader(settings, lambda: _over_http(settings, email, name), name, email)
        case CommandInbox():
            return AnswerReader(settings, lambda: _by_command(settings, email, name), name, email)
        case ImapInbox():
            return ImapReader(settings, email, name)
        case FixedInbox():
            return FixedReader(settings.code)


class FixedReader:
    def __init__(self, code: str) -> None:
        self._code = code

    def mark(self) -> Mark:
        return None

    def code_after(self, mark: Mark, clock: Clock) -> str:
        return self._code

    def has_code_after(self, mark: Mark) -> bool:
        return False


class AnswerReader:
    """An inbox that answers with all it has, the newest message first."""

    def __init__(self, settings: Mailbox, ask: Callable[[], str], name: str, email: str) -> None:
        self._settings, self._ask, self._name, self._email = settings, ask, name, email

    def mark(self) -> Mark:
        answer = self._ask()
        return answer, self._codes(answer)

    def code_after(self, mark: Mark, clock: Clock) -> str:
        assert isinstance(mark, tuple)
        before, old = mark
        until = clock.ticks() + self._settings.timeout
        while True:
            answer = self._ask()
            codes = self._codes(answer)
            if codes and codes != old:
                return codes[0]
            if clock.ticks() >= until:
                # The same code twice in a row cannot be told from the old one, but for what stands around it.
                if codes and answer != before:
                    return codes[0]
                raise _nothing_came(self._name, self._email, self._settings.timeout)
            clock.pause(POLL, f"a code in [inboxes.{self._name}]")

    def has_code_after(self, mark: Mark) -> bool:
        """Older messages may be gone since: the newest tells."""
        assert isinstance(mark, tuple)
        codes = self._codes(self._ask())
        return bool(codes) and codes[:1] != mark[1][:1]

    def _codes(self, answer: str) -> list[str]:
        return codes_in("\n".join(_texts_of(answer)), self._settings.pattern)


class ImapReader:
    """A mailbox over IMAP: what counts is the UID, which only grows."""

    def __init__(self, settings: ImapInbox, email: str, name: str) -> None:
        self._settings, self._email, self._name = settings, email, name

    def mark(self) -> Mark:
        return max(self._uids(self._connection(), "ALL"), default=0)

    def code_after(self, mark: Mark, clock: Clock) -> str:
        assert isinstance(mark, int)
        until = clock.ticks() + self._settings.timeout
        while True:
            code = next(self._coded_after(mark), None)
            if code is not None:
                return code
            if clock.ticks() >= until:
                raise _nothing_came(self._name, self._email, self._settings.timeout)
            clock.pause(1.0, f"a code in [inboxes.{self._name}]")

    def has_code_after(self, mark: Mark) -> bool:
        assert isinstance(mark, int)
        return next(self._coded_after(mark), None) is not None

    def _coded_after(self, mark: int) -> Iterator[str]:
        """The first code of each message that came after a mark, the newest message first."""
        connection = self._connection()
        for uid in sorted(self._uids(connection, f"UID {mark + 1}:*"), reverse=True):
            codes = codes_in(self._message(connection, uid), self._settings.pattern) if uid > mark else []
            yield from codes[:1]

    def _connection(self) -> imaplib.IMAP4:
        settings = self._settings
        try:
            kind = imaplib.IMAP4_SSL if settings.ssl else imaplib.IMAP4
            connection = kind(settings.host, settings.port, timeout=settings.timeout)
        except OSError as problem:
            raise Untestable(
                f"[inboxes.{self._name}]: nothing answers at {settings.host}:{settings.port} ({problem})",
                "environment",
            ) from None
        try:
            connection.login(settings.username, settings.password)
            status, _ = connection.select(f'"{settings.folder}"', readonly=True)
        except imaplib.IMAP4.error as problem:
            raise Untestable(
                f"[inboxes.{self._name}]: the mail server refuses ({problem})", "credentials"
            ) from None
        if status != "OK":
            raise Untestable(f'[inboxes.{self._name}]: there is no folder "{settings.folder}"')
        return connection

    def _uids(self, connection: imaplib.IMAP4, criteria: str) -> list[int]:
        _, uids = connection.uid("SEARCH", f'{criteria} TO "{self._email}"')
        return [int(uid) for uid in (uids[0] or b"").split()]

    def _message(self, connection: imaplib.IMAP4, uid: int) -> str:
        _, fetched = connection.uid("FETCH", str(uid), "(BODY.PEEK[])")
        raw = next((part[1] for part in fetched if isinstance(part, tuple)), b"")
        message = mail.message_from_bytes(raw, policy=email.policy.default)
        parts = [part.get_content() for part in message.walk() if part.get_content_maintype() == "text"]
        return "\n".join((str(message["subject"] or ""), *map(str, parts)))


def codes_in(text: str, pattern: str) -> list[str]:
    """Every match of the pattern, in order: its first group where it has one."""
    return [match[1] if match.re.groups else match[0] for match in re.finditer(pattern, text)]


def _texts_of(answer: str) -> Iterator[str]:
    """An answer in JSON value by value, so that no escape hides a word's edge; any other as it is."""
    try:
        value = json.loads(answer)
    except ValueError:
        yield answer
    else:
        yield from _leaves(value)


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif value is not None:
        yield str(value)


def _over_http(settings: HttpInbox, email: str, name: str) -> str:
    url = settings.url.replace("{email}", quote(email, safe="@"))
    try:
        status, text = fetch(url, timeout=settings.timeout, headers=settings.headers)
    except OSError as problem:
        raise Untestable(f"[inboxes.{name}]: nothing answers at {url} ({problem})", "environment") from None
    if status == 404:
        return ""
    if status >= 300:
        raise Untestable(f"[inboxes.{name}]: {url} answers with HTTP {status}", "environment")
    return text


def _by_command(settings: CommandInbox, email: str, name: str) -> str:
    argv = [word.replace("{email}", email) for word in settings.argv]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=settings.timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Untestable(
            f"[inboxes.{name}]: the command {argv[0]} fails ({problem})", "environment"
        ) from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "no message"
        raise Untestable(
            f"[inboxes.{name}]: the command {argv[0]} ends with {done.returncode} ({reason})", "environment"
        )
    return done.stdout.decode(errors="replace")


def _nothing_came(name: str, email: str, timeout: float) -> NothingArrived:
    return NothingArrived(f"[inboxes.{name}]: no code for {email} arrived within {timeout:g} s")
