"""Where emailed codes arrive: what is there is marked before a send, and only what comes later is taken."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from imaplib import IMAP4
from itertools import chain, islice
from typing import NamedTuple, Protocol
from urllib.parse import quote

from imap_tools import (
    AND,
    BaseMailBox,
    ImapToolsError,
    MailBox,
    MailboxFolderSelectError,
    MailboxLoginError,
    MailBoxStartTls,
    MailBoxUnencrypted,
    U,
)

from conformance.errors import Untestable, UsageError
from conformance.target.clock import Clock
from conformance.target.portal.sign_ins.mail_text import mail_shape, messages, visible
from conformance.target.portal.transport import fetch
from conformance.target.profile.tables import CODE, CommandInbox, FixedInbox, HttpInbox, ImapInbox, Mailbox
from conformance.target.tls import checking_context
from conformance.traffic.patterns import compiled, matches

Mark = object
"""What an inbox held at one moment. It means something only to the inbox that made it."""

POLL_SECONDS = 0.2


class InboxFailure(Untestable):
    """An inbox gives no code."""

    default_class = "environment"


class NothingArrived(InboxFailure):
    """The inbox can be read, and no code came in time."""


class InboxAnswer(NamedTuple):
    """What an inbox holds. ``is_missing``: its address is answered with HTTP 404, as by some inboxes that
    hold no mail."""

    text: str
    is_missing: bool = False


class InboxReader(Protocol):
    def mark(self) -> Mark:
        """Remembers what is there now. Raises Untestable where the inbox cannot be read."""

    def code_after(self, mark: Mark, clock: Clock) -> str:
        """The newest code that came after a mark. Raises Untestable where none comes in time."""

    def has_code_after(self, mark: Mark) -> bool:
        """Whether a code came after a mark; none is waited for. Raises Untestable."""


class ProfileInboxReader(InboxReader, Protocol):
    def only_code_after(self, mark: Mark) -> str | None:
        """The code that came after a mark for this address; None where others came too, or the inbox cannot
        tell when one came or for whom. None is waited for. Raises Untestable."""


def reader(
    settings: HttpInbox | ImapInbox | CommandInbox | FixedInbox, email: str, name: str
) -> ProfileInboxReader:
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

    def only_code_after(self, mark: Mark) -> str | None:
        return None


class AnswerReader:
    """An inbox that answers with all it has, the newest message first."""

    def __init__(
        self, settings: HttpInbox | CommandInbox, ask: Callable[[], InboxAnswer], name: str, email: str
    ) -> None:
        self._settings, self._ask, self._name, self._email = settings, ask, name, email

    def mark(self) -> Mark:
        text = self._ask().text
        return text, self._codes(text)

    def code_after(self, mark: Mark, clock: Clock) -> str:
        assert isinstance(mark, tuple)
        before, old = mark
        until = clock.ticks() + self._settings.timeout
        while True:
            answer = self._ask()
            codes = self._codes(answer.text)
            if codes and codes != old:
                return _certain(codes[0], old, self._settings, self._name)
            if clock.ticks() >= until:
                # The same code twice in a row cannot be told from the old one, but for what stands around it.
                if codes and answer.text != before:
                    return _certain(codes[0], old, self._settings, self._name)
                raise self._nothing_came(before, answer)
            clock.pause(POLL_SECONDS, f"a code in [inboxes.{self._name}]")

    def has_code_after(self, mark: Mark) -> bool:
        """Older messages may be gone since: the newest tells."""
        assert isinstance(mark, tuple)
        codes = self._codes(self._ask().text)
        return bool(codes) and codes[:1] != mark[1][:1]

    def only_code_after(self, mark: Mark) -> str | None:
        assert isinstance(mark, tuple)
        if not self._settings.is_of_one_address:
            return None
        return _only(set(chain(*self._codes(self._ask().text))).difference(*mark[1]))

    def _nothing_came(self, before: str, answer: InboxAnswer) -> NothingArrived:
        """Why no code was found: the address is wrong, the pattern is, or no mail came."""
        if answer.is_missing:
            return NothingArrived(
                f"[inboxes.{self._name}]: its url is answered with HTTP 404, also after a code was sent to "
                f"{self._email}. Check the url",
                "configuration",
            )
        old = set(messages(before))
        new = [text for text in messages(answer.text) if text not in old]
        return _nothing_came(self._settings, self._name, self._email, new)

    def _codes(self, answer: str) -> list[list[str]]:
        return list(filter(None, (codes_in(text, self._settings.pattern) for text in messages(answer))))


class ImapReader:
    """A mailbox over IMAP: what counts is the UID, which only grows. Nothing in it is changed."""

    def __init__(self, settings: ImapInbox, email: str, name: str) -> None:
        self._settings, self._email, self._name = settings, email, name

    def mark(self) -> Mark:
        with self._open() as box:
            return max(self._uids(box, 1), default=0)

    def code_after(self, mark: Mark, clock: Clock) -> str:
        assert isinstance(mark, int)
        until = clock.ticks() + self._settings.timeout
        with self._open() as box:
            while True:
                code = next(self._codes_after(box, mark), None)
                if code is not None:
                    return code
                if clock.ticks() >= until:
                    newest = islice(self._messages_after(box, mark), 1)
                    raise _nothing_came(self._settings, self._name, self._email, newest)
                clock.pause(1.0, f"a code in [inboxes.{self._name}]")
                box.client.noop()  # a server tells of new messages with the answer to a command

    def has_code_after(self, mark: Mark) -> bool:
        assert isinstance(mark, int)
        with self._open() as box:
            return next(self._codes_after(box, mark), None) is not None

    def only_code_after(self, mark: Mark) -> str | None:
        assert isinstance(mark, int)
        with self._open() as box:
            texts = list(self._messages_after(box, mark))
        return _only({code for text in texts for code in codes_in(text, self._settings.pattern)})

    def _codes_after(self, box: BaseMailBox, mark: int) -> Iterator[str]:
        """The first code of each message that came after a mark, the newest message first."""
        for text in self._messages_after(box, mark):
            if codes := codes_in(text, self._settings.pattern):
                yield _certain(codes, [], self._settings, self._name)

    def _messages_after(self, box: BaseMailBox, mark: int) -> Iterator[str]:
        """The messages that came after a mark, the newest first."""
        # The range also names the last message where its number is below the first of the range.
        uids = [str(uid) for uid in sorted(self._uids(box, mark + 1), reverse=True) if uid > mark]
        for message in box.fetch(uid_list=uids, mark_seen=False) if uids else ():
            yield "\n".join((message.subject, visible(message.text), visible(message.html)))

    def _uids(self, box: BaseMailBox, first: int) -> list[int]:
        # A charset is named only where it is needed: not every server knows the word.
        charset = None if self._email.isascii() else "UTF-8"
        return [int(uid) for uid in box.uids(AND(uid=U(str(first), "*"), to=self._email), charset)]

    @contextmanager
    def _open(self) -> Iterator[BaseMailBox]:
        """The folder, open for reading. Raises Untestable where the server does not give it."""
        settings, place = self._settings, f"[inboxes.{self._name}]"
        address = f"{settings.host}:{settings.port}"
        try:
            with self._connected() as box:
                box.login(settings.username, settings.password, initial_folder=None)
                box.folder.set(settings.folder, readonly=True)
                yield box
        except MailboxLoginError as refused:
            raise InboxFailure(
                f"{place}: the mail server refuses the username and password ({_reply(refused)})",
                "credentials",
            ) from None
        except MailboxFolderSelectError:
            raise InboxFailure(
                f'{place}: there is no folder "{settings.folder}". Check its folder', "configuration"
            ) from None
        except ssl.SSLCertVerificationError as problem:
            raise InboxFailure(
                f"{place}: the certificate of {address} is not trusted ({problem.verify_message})."
                " Name its CA file in verify, or write verify = false",
                "configuration",
            ) from None
        except OSError as problem:
            raise InboxFailure(
                f"{place}: nothing answers at {address} ({problem}). Check its host, port and ssl",
                "environment",
            ) from None
        except (IMAP4.error, ImapToolsError) as problem:
            raise InboxFailure(
                f"{place}: {address} does not answer as a mail server does ({problem}). "
                "Check its host, port and ssl",
                "environment",
            ) from None

    @contextmanager
    def _connected(self) -> Iterator[BaseMailBox]:
        settings = self._settings
        where = settings.host, settings.port, settings.timeout
        if settings.starttls:
            box: BaseMailBox = MailBoxStartTls(*where, ssl_context=self._context())
        elif settings.ssl:
            box = MailBox(*where, ssl_context=self._context())
        else:
            box = MailBoxUnencrypted(*where)
        try:
            yield box
        finally:
            with suppress(OSError, IMAP4.error, ImapToolsError):  # the server may have ended it already
                box.logout()

    def _context(self) -> ssl.SSLContext:
        try:
            return checking_context(self._settings.verify)
        except OSError as problem:
            raise InboxFailure(
                f"[inboxes.{self._name}]: verify: {self._settings.verify} cannot be read ({problem}). "
                "Name a CA file",
                "configuration",
            ) from None


def _reply(refused: MailboxLoginError) -> str:
    lines = [line for line in refused.command_result[1] if isinstance(line, bytes)]
    return b" ".join(lines).decode(errors="replace") or str(refused.command_result[0])


def _only(codes: set[str]) -> str | None:
    return next(iter(codes)) if len(codes) == 1 else None


def _certain(codes: list[str], old: list[list[str]], settings: Mailbox, name: str) -> str:
    """The code of the newest message. Raises Untestable where the usual pattern matches several new texts."""
    before = set(chain(*old))
    new = [code for code in codes if code not in before]
    if len(set(new)) > 1 and settings.pattern == CODE:
        raise InboxFailure(
            f"[inboxes.{name}]: {len(set(new))} different numbers of six digits arrived in a message. Write a"
            " pattern that matches the code alone, such as 'code is (\\d{6})'",
            "configuration",
        )
    return (new or codes)[0]


def codes_in(text: str, pattern: str) -> list[str]:
    """Every match of the pattern, in order: its first group where it has one. Raises InboxFailure where the
    pattern takes too long."""
    try:
        hits = list(matches(compiled(pattern), text))
    except UsageError as slow:
        raise InboxFailure(str(slow).removesuffix("."), "configuration") from None
    return [match[1] if match.re.groups else match[0] for match in hits]


def _over_http(settings: HttpInbox, email: str, name: str) -> InboxAnswer:
    url = settings.url.replace("{email}", quote(email, safe="@"))
    try:
        status, text = fetch(url, timeout=settings.timeout, headers=settings.headers)
    except OSError as problem:
        raise InboxFailure(
            f"[inboxes.{name}]: nothing answers at {url} ({problem}). Check its url", "environment"
        ) from None
    if status == 404:
        return InboxAnswer("", is_missing=True)
    if status >= 300:
        raise InboxFailure(
            f"[inboxes.{name}]: {url} answers with HTTP {status}. Check its url", "environment"
        )
    return InboxAnswer(text)


def _by_command(settings: CommandInbox, email: str, name: str) -> InboxAnswer:
    argv = [word.replace("{email}", email) for word in settings.argv]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=settings.timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise InboxFailure(
            f"[inboxes.{name}]: the command {argv[0]} fails ({problem}). Check its argv", "environment"
        ) from None
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else "no message"
        raise InboxFailure(
            f"[inboxes.{name}]: the command {argv[0]} ends with {done.returncode} ({reason}). Check its argv",
            "environment",
        )
    return InboxAnswer(done.stdout.decode(errors="replace"))


def _nothing_came(settings: Mailbox, name: str, email: str, new: Iterable[str]) -> NothingArrived:
    """Why no code was found: no mail came, or the pattern is wrong for the ``new`` ones."""
    texts, pattern = list(new), settings.pattern
    if not texts:
        return NothingArrived(
            f"[inboxes.{name}]: no code for {email} arrived within {settings.timeout:g} s. Check that mails "
            "to this address arrive there; timeout is how long a run waits"
        )
    missing = "no code of six digits" if pattern == CODE else f"nothing that pattern '{pattern}' matches"
    return NothingArrived(
        f"[inboxes.{name}]: something arrived for {email}, and {missing} is in it: "
        f'"{mail_shape(chr(10).join(texts))}" (codes are masked). Change the pattern',
        "configuration",
    )
