"""A code is taken only from what came after the mark, from every kind of inbox."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from conformance.errors import Untestable
from conformance.target.clock import SystemClock
from conformance.target.portal.inboxes import codes_in, reader
from conformance.target.portal.sign_ins.mail_text import mail_shape
from conformance.target.profile.tables import CommandInbox, FixedInbox, HttpInbox, ImapInbox

EMAIL = "admin@example.test"


class Clock(SystemClock):
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

    def __init__(self) -> None:
        self.status = 200
        self.text = "[]"
        self.asked: list[str] = []

    def put(self, text: str) -> Callable[[], None]:
        def change() -> None:
            self.text = text

        return change


@pytest.fixture
def served() -> Iterator[tuple[Served, str]]:
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
    yield held, f"http://127.0.0.1:{server.server_port}/inbox/{{email}}"
    server.shutdown()
    server.server_close()


def http(url: str, **settings: object) -> HttpInbox:
    return HttpInbox(kind="http", url=url, **settings)  # type: ignore[arg-type]


def test_only_a_code_that_came_after_the_mark_is_taken(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = '[{"text": "Your code is\\n111111"}]'
    inbox = reader(http(url), EMAIL, "mail")
    mark = inbox.mark()

    code = inbox.code_after(mark, Clock(lambda: None, held.put('[{"text": "222222"}, {"text": "111111"}]')))

    assert code == "222222"
    assert held.asked[0] == "/inbox/admin@example.test"


def test_without_waiting_only_a_newer_code_counts_as_arrived(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = '[{"text": "222222"}, {"text": "111111"}]'
    inbox = reader(http(url), EMAIL, "mail")
    mark = inbox.mark()
    shown = []

    for text in (held.text, '[{"text": "222222"}]', "[]", '[{"text": "333333"}, {"text": "222222"}]'):
        held.text = text
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
def test_a_code_is_certain_where_no_other_came(
    served: tuple[Served, str], now: str, only: str | None
) -> None:
    held, url = served
    held.text = '[{"text": "111111"}]'
    settings = http(url)
    of_all = settings.model_copy(update={"url": settings.url.replace("{email}", EMAIL)})
    inboxes = [reader(each, EMAIL, "mail") for each in (settings, of_all)]
    marks = [inbox.mark() for inbox in inboxes]

    held.text = now

    shown = [inbox.only_code_after(mark) for inbox, mark in zip(inboxes, marks, strict=True)]
    assert shown == [only, None]  # one that is asked for nobody's mails may show somebody else's


def test_the_same_code_twice_is_taken_where_there_are_more_of_them(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = "000000"
    inbox = reader(http(url), EMAIL, "mail")
    mark = inbox.mark()

    assert inbox.code_after(mark, Clock(held.put("000000 000000"))) == "000000"


def test_an_inbox_that_shows_the_time_is_not_taken_for_a_new_mail_at_once(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = '{"now": 1, "text": "111111"}'
    inbox = reader(http(url), EMAIL, "mail")
    mark = inbox.mark()
    clock = Clock(held.put('{"now": 2, "text": "111111"}'), held.put('{"now": 3, "text": "222222"}'))

    assert inbox.code_after(mark, clock) == "222222"


def test_where_nothing_comes_in_time_the_inbox_is_named(served: tuple[Served, str]) -> None:
    _, url = served
    inbox = reader(http(url, timeout=1.0), EMAIL, "mail")

    with pytest.raises(
        Untestable, match=r"\[inboxes\.mail\]: no code for admin@example\.test arrived within 1 s"
    ) as caught:
        inbox.code_after(inbox.mark(), Clock())

    assert caught.value.fault_class == "environment"


def test_an_inbox_that_is_missing_after_a_code_was_sent_has_a_wrong_url(served: tuple[Served, str]) -> None:
    held, url = served
    held.status = 404
    inbox = reader(http(url, timeout=1.0), EMAIL, "mail")

    with pytest.raises(
        Untestable, match=r"answered with HTTP 404, also after a code .* Check the url"
    ) as caught:
        inbox.code_after(inbox.mark(), Clock())

    assert caught.value.fault_class == "configuration"


def test_a_mail_that_the_pattern_does_not_match_is_shown_without_its_code(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = '[{"text": "Your code is 111 222"}]'
    inbox = reader(http(url, timeout=1.0), EMAIL, "mail")
    came = '[{"text": "Hello! Your code is 333 444, see https://x.example.test/?t=abc"}, '
    came += held.text.removeprefix("[")

    with pytest.raises(Untestable) as caught:
        inbox.code_after(inbox.mark(), Clock(held.put(came)))

    assert caught.value.reason == (
        "[inboxes.mail]: something arrived for admin@example.test, and no code of six digits is in it: "
        '"Hello! Your code is 000 000, see ‹link›" (codes are masked). Change the pattern'
    )
    assert caught.value.fault_class == "configuration"


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


def test_an_inbox_that_is_not_there_yet_is_empty_and_one_that_fails_is_named(
    served: tuple[Served, str],
) -> None:
    held, url = served
    held.status = 404
    inbox = reader(http(url), EMAIL, "mail")
    inbox.mark()

    held.status = 500
    with pytest.raises(Untestable, match=r"\[inboxes\.mail\]: http.* answers with HTTP 500"):
        inbox.mark()


def test_an_inbox_at_which_nothing_answers_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/{{email}}"

    with pytest.raises(Untestable, match=r"\[inboxes\.mail\]: nothing answers"):
        reader(http(url), EMAIL, "mail").mark()


@pytest.mark.parametrize(
    "text, pattern, codes",
    [
        ("code 123456, not 1234567", r"\b(\d{6})\b", ["123456"]),
        ("code: abc-DEF", r"[a-z]+-[A-Z]+", ["abc-DEF"]),
        ("none", r"\d+", []),
    ],
)
def test_a_code_is_the_first_group_or_the_whole_match(text: str, pattern: str, codes: list[str]) -> None:
    assert codes_in(text, pattern) == codes


def test_of_several_codes_in_one_new_mail_none_is_guessed(served: tuple[Served, str]) -> None:
    held, url = served
    held.text = '[{"text": "Your code is 111111"}]'
    inbox = reader(http(url), EMAIL, "mail")
    mark = inbox.mark()
    held.text = '[{"text": "Order 222222, code 333333"}, {"text": "Your code is 111111"}]'

    with pytest.raises(Untestable, match="2 different numbers of six digits"):
        inbox.code_after(mark, Clock())


def test_a_fixed_code_is_always_there() -> None:
    inbox = reader(FixedInbox(kind="fixed", code="000000"), EMAIL, "constant")

    assert inbox.code_after(inbox.mark(), Clock()) == "000000"
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

    assert inbox.code_after(mark, Clock(arrive)) == "222222"


@pytest.mark.parametrize(
    "argv, said",
    [
        (["/nowhere/at-all"], "the command /nowhere/at-all fails"),
        ([sys.executable, "-c", "import sys; sys.exit('no mailbox')"], r"ends with 1 \(no mailbox\)"),
    ],
)
def test_a_command_that_fails_is_named(argv: list[str], said: str) -> None:
    with pytest.raises(Untestable, match=said):
        reader(CommandInbox(kind="command", argv=argv), EMAIL, "own").mark()


# --- IMAP


class Mailbox:
    """A mail server that knows enough of IMAP for one client: LOGIN, SELECT, SEARCH and FETCH by UID."""

    def __init__(self) -> None:
        self.messages: dict[int, bytes] = {}
        self.password = "imap-secret"

    def put(self, uid: int, text: str, to: str = EMAIL) -> None:
        message = EmailMessage()
        message["To"], message["Subject"] = to, "Your code"
        message.set_content(text)
        self.messages[uid] = message.as_bytes()

    def answer(self, line: str) -> list[bytes]:
        tag, _, command = line.partition(" ")
        ok = f"{tag} OK done\r\n".encode()
        match command.split(" ")[0].upper():
            case "CAPABILITY":
                return [b"* CAPABILITY IMAP4rev1\r\n", ok]
            case "LOGIN":
                return [ok if self.password in command else f"{tag} NO wrong password\r\n".encode()]
            case "EXAMINE" | "SELECT":
                there = '"INBOX"' in command
                return [b"* 0 EXISTS\r\n", ok] if there else [f"{tag} NO no such folder\r\n".encode()]
            case "UID":
                return [*self._uid(command), ok]
        return [ok]

    def _uid(self, command: str) -> list[bytes]:
        words = command.split(" ")
        if words[1].upper() == "FETCH":
            raw = self.messages[int(words[2])]
            return [f"* 1 FETCH (UID {words[2]} BODY[] {{{len(raw)}}}\r\n".encode() + raw + b")\r\n"]
        first, to = re.search(r"UID (\d+):\*", command), re.search(r'TO "([^"]+)"', command)
        assert first is not None
        assert to is not None
        since, address = int(first[1]), to[1].encode()
        found = [uid for uid, raw in self.messages.items() if address in raw]
        # As servers do it, the last message matches n:* also where n is beyond it.
        kept = [uid for uid in found if uid >= since or (uid == max(found) and since)]
        return [("* SEARCH " + " ".join(map(str, sorted(kept)))).encode() + b"\r\n"]


@contextmanager
def imap() -> Iterator[tuple[Mailbox, int]]:
    mailbox = Mailbox()
    listening = socket.create_server(("127.0.0.1", 0))

    def talk(connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            stream.write(b"* OK ready\r\n")
            stream.flush()
            for line in stream:
                for words in mailbox.answer(line.decode().strip()):
                    stream.write(words)
                stream.flush()

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    try:
        yield mailbox, listening.getsockname()[1]
    finally:
        # Closing alone does not wake accept(), and a socket that is accepting goes on taking connections.
        listening.shutdown(socket.SHUT_RDWR)
        server.join()
        listening.close()


def imap_settings(port: int, **changed: object) -> ImapInbox:
    settings: dict[str, object] = {"username": "u", "password": "imap-secret", "ssl": False, **changed}
    return ImapInbox(kind="imap", host="127.0.0.1", port=port, **settings)  # type: ignore[arg-type]


def test_a_mail_over_imap_that_the_pattern_does_not_match_is_shown_without_its_code() -> None:
    with imap() as (mailbox, port):
        inbox = reader(imap_settings(port, timeout=3.0), EMAIL, "post")
        mark = inbox.mark()

        with pytest.raises(Untestable, match=r'"Your code The number is 0000\." \(codes are masked\)'):
            inbox.code_after(mark, Clock(lambda: mailbox.put(8, "The number is 4711.")))


def test_mail_over_imap_counts_by_uid_and_by_whom_it_is_to() -> None:
    with imap() as (mailbox, port):
        mailbox.put(7, "Your code is 111111.")
        inbox = reader(imap_settings(port), EMAIL, "post")
        mark = inbox.mark()

        def arrive() -> None:
            mailbox.put(8, "Your code is 333333.", to="somebody@example.test")
            mailbox.put(9, "Your code is 222222.")

        assert not inbox.has_code_after(mark)
        assert inbox.code_after(mark, Clock(lambda: None, arrive)) == "222222"
        assert inbox.has_code_after(mark)
        assert inbox.only_code_after(mark) == "222222"
        mailbox.put(10, "Your code is 444444.")
        assert inbox.only_code_after(mark) is None


@pytest.mark.parametrize(
    "changed, said, fault",
    [
        ({"password": "wrong"}, "the mail server refuses", "credentials"),
        ({"folder": "Nowhere"}, 'there is no folder "Nowhere"', "configuration"),
    ],
)
def test_a_mail_server_that_refuses_is_named(changed: dict[str, object], said: str, fault: str) -> None:
    with imap() as (_, port), pytest.raises(Untestable, match=said) as caught:
        reader(imap_settings(port, **changed), EMAIL, "post").mark()

    assert caught.value.fault_class == fault


def test_a_mail_server_that_is_not_there_is_named() -> None:
    with imap() as (_, port):
        pass

    with pytest.raises(Untestable, match=r"\[inboxes\.post\]: nothing answers at 127\.0\.0\.1"):
        reader(imap_settings(port), EMAIL, "post").mark()
