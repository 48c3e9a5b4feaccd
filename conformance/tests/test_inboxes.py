"""A code is taken only from what came after the mark, from every kind of inbox."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from conformance.errors import Untestable
from conformance.target.clock import Clock
from conformance.target.portal.inboxes import ProfileInboxReader, reader
from conformance.target.portal.sign_ins.mail_text import mail_shape
from conformance.target.profile.tables import CommandInbox, FixedInbox, HttpInbox, ImapInbox, Inbox

EMAIL = "admin@example.test"


class Eventful(Clock):
    """Lets something happen with each pause, in place of taking time."""

    def __init__(self, *happenings: Callable[[], None]) -> None:
        super().__init__()
        self._happenings = list(happenings)
        self._ticks = 0.0

    def pause(self, seconds: float, why: str) -> None:
        self._ticks += seconds
        if self._happenings:
            self._happenings.pop(0)()

    def ticks(self) -> float:
        return self._ticks


class Served:
    """What an HTTP inbox holds."""

    url = ""

    def __init__(self) -> None:
        self.status = 200
        self.text = "[]"
        self.asked: list[str] = []

    def put(self, text: str) -> Callable[[], None]:
        def change() -> None:
            self.text = text

        return change

    def inbox(self, **settings: object) -> ProfileInboxReader:
        """A reader of it."""
        return reader(HttpInbox.model_validate({"kind": "http", "url": self.url, **settings}), EMAIL, "mail")

    def code(self, *texts: str, **settings: object) -> str:
        """The code that is taken, after a mark, while one text after the other is shown."""
        inbox = self.inbox(**settings)
        return inbox.code_after(inbox.mark(), Eventful(*map(self.put, texts)))


@pytest.fixture
def served() -> Iterator[Served]:
    held = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            held.asked.append(self.path)
            self.send_response(held.status)
            self.end_headers()
            self.wfile.write(held.text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    held.url = f"http://127.0.0.1:{server.server_port}/inbox/{{email}}"
    yield held
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("before", "texts"),
    [
        ('[{"text": "Your code is\\n111111"}]', [..., '[{"text": "222222"}, {"text": "111111"}]']),
        ("222222", ["222222 222222"]),  # the same code twice, where there are more of them
        ('{"now": 1, "text": "111111"}', ['{"now": 2, "text": "111111"}', '{"now": 3, "text": "222222"}']),
    ],
    ids=["newer", "the same again", "an inbox that shows the time"],
)
def test_only_a_code_that_came_after_the_mark_is_taken(served: Served, before: str, texts: list[Any]) -> None:
    served.text = before

    assert served.code(*(before if text is ... else text for text in texts)) == "222222"
    assert served.asked[0] == "/inbox/admin@example.test"


def test_without_waiting_only_a_newer_code_counts_as_arrived(served: Served) -> None:
    served.text = '[{"text": "222222"}, {"text": "111111"}]'
    inbox = served.inbox()
    mark = inbox.mark()
    shown = []

    for text in (served.text, '[{"text": "222222"}]', "[]", '[{"text": "333333"}, {"text": "222222"}]'):
        served.text = text
        shown.append(inbox.has_code_after(mark))

    assert shown == [False, False, False, True]  # old messages may be gone


@pytest.mark.parametrize(
    "now, only",
    [
        ('[{"text": "Code 222222"}, {"subject": "222222"}, {"text": "111111"}]', "222222"),
        ('[{"text": "111111"}]', None),
        ('[{"text": "Code 222222, order 333333"}, {"text": "111111"}]', None),
    ],
)
def test_a_code_is_certain_where_no_other_came(served: Served, now: str, only: str | None) -> None:
    served.text = '[{"text": "111111"}]'
    own = served.inbox()
    served.url = served.url.replace("{email}", EMAIL)
    inboxes = [own, served.inbox()]
    marks = [inbox.mark() for inbox in inboxes]

    served.text = now

    shown = [inbox.only_code_after(mark) for inbox, mark in zip(inboxes, marks, strict=True)]
    assert shown == [only, None]  # one that is asked for nobody's mails may show somebody else's


UNMATCHED = '[{"text": "Your code is 111 222"}]'
CAME = '[{"text": "Hello! Your code is 333 444, see https://x.example.test/?t=abc"}, ' + UNMATCHED[1:]
SHOWN = (
    r"^\[inboxes\.mail\]: something arrived for admin@example\.test, and no code of six digits is in it: "
    r'"Hello! Your code is 000 000, see ‹link›" \(codes are masked\)\. Change the pattern$'
)
SEVERAL = '[{"text": "Order 222222, code 333333"}, {"text": "Your code is 111111"}]'


@pytest.mark.parametrize(
    "status, before, after, said, fault",
    [
        (200, "[]", "[]", r"\[inboxes\.mail\]: no code for admin@example\.test arrived", "environment"),
        (404, "[]", "[]", "answered with HTTP 404, also after a code .* Check the url", "configuration"),
        (200, UNMATCHED, CAME, SHOWN, "configuration"),
        (200, '[{"text": "Your code is 111111"}]', SEVERAL, "2 different numbers of six digits", None),
    ],
    ids=["nothing comes in time", "a wrong url", "the pattern does not match", "none is guessed"],
)
def test_where_no_code_can_be_taken_the_inbox_is_named(
    served: Served, status: int, before: str, after: str, said: str, fault: str | None
) -> None:
    served.status, served.text = status, before

    with pytest.raises(Untestable, match=said) as caught:
        served.code(after, timeout=1.0)

    assert fault in (None, caught.value.fault_class)


@pytest.mark.parametrize(
    "text, shape",
    [
        ("Your code:\n\n  kxqzvw  \n\nBye", "Your code: xxxxxx Xxx"),
        ("Your code: kxqzvw is valid", "Your code: xxxxxx is valid"),
        ("AB-CD-EF or aB3", "XX-XX-XX or xX0"),
        ("thisisalongtokenwithoutdigits", "x" * 29),
        ("to me@example.test now", "to ‹address› now"),
        ("w " * 300, "w " * 79 + "w…"),
    ],
)
def test_of_a_mail_only_words_are_shown(text: str, shape: str) -> None:
    assert mail_shape(text) == shape


def test_an_inbox_that_is_not_there_yet_is_empty_and_one_that_fails_is_named(served: Served) -> None:
    served.status = 404
    inbox = served.inbox()
    inbox.mark()

    served.status = 500
    with pytest.raises(Untestable, match=r"\[inboxes\.mail\]: http.* answers with HTTP 500"):
        inbox.mark()


def test_a_fixed_code_is_always_there() -> None:
    inbox = reader(FixedInbox(kind="fixed", code="000000"), EMAIL, "constant")

    assert inbox.code_after(inbox.mark(), Eventful()) == "000000"
    assert not inbox.has_code_after(inbox.mark())
    assert inbox.only_code_after(inbox.mark()) is None


def test_a_command_prints_what_arrived(tmp_path: Path) -> None:
    box = tmp_path / EMAIL
    box.write_text("111111")
    program = "import sys, pathlib; print(pathlib.Path(sys.argv[1]).read_text())"
    settings = CommandInbox(kind="command", argv=[sys.executable, "-c", program, f"{tmp_path}/{{email}}"])
    inbox = reader(settings, EMAIL, "own")
    mark = inbox.mark()

    def arrive() -> None:
        box.write_text("222222\n111111")

    assert inbox.code_after(mark, Eventful(arrive)) == "222222"


LOCAL = {"host": "127.0.0.1", "port": 9, "username": "u", "password": "p"}
NO_MAILBOX = [sys.executable, "-c", "import sys; sys.exit('no mailbox')"]


@pytest.mark.parametrize(
    "settings, said",
    [
        (HttpInbox(kind="http", url="http://127.0.0.1:9/{email}"), "nothing answers"),
        (ImapInbox.model_validate({"kind": "imap", **LOCAL}), r"nothing answers at 127\.0\.0\.1"),
        (CommandInbox(kind="command", argv=["/nowhere/at-all"]), "the command /nowhere/at-all fails"),
        (CommandInbox(kind="command", argv=NO_MAILBOX), r".*ends with 1 \(no mailbox\)"),
    ],
)
def test_an_inbox_that_cannot_be_read_is_named(settings: Inbox, said: str) -> None:
    with pytest.raises(Untestable, match=rf"\[inboxes\.own\]: {said}"):
        reader(settings, EMAIL, "own").mark()
