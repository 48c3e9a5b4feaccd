"""Codes from a real mail server, Dovecot over TLS; without Dovecot these tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

import pytest

from conformance.errors import Untestable
from conformance.target.portal.inboxes import reader
from conformance.tests.dovecot import PROGRAM, MailServer, mail_server
from conformance.tests.test_inboxes import EMAIL, Eventful

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="Dovecot is missing: apt-get install dovecot-imapd")


@pytest.fixture(scope="module")
def running() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


def mail(text: str, *, to: str = EMAIL, subject: str = "Sign in", **content: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "portal@example.test", to, subject
    message.set_content(text, **content)  # type: ignore[arg-type]
    return message


def test_a_code_is_taken_from_the_newest_message_to_the_address_after_the_mark(running: MailServer) -> None:
    running.deliver(mail("Your code is 111111."))
    inbox = reader(running.settings(), EMAIL, "post")
    mark = inbox.mark()

    assert not inbox.has_code_after(mark)

    def arrive() -> None:
        running.deliver(mail("Your code is 222222."))
        running.deliver(mail("Your code is 333333."))
        running.deliver(mail("Your code is 444444.", to="somebody@example.test"))

    assert inbox.code_after(mark, Eventful(lambda: None, arrive)) == "333333"
    assert inbox.has_code_after(mark)
    assert inbox.only_code_after(mark) is None

    later = inbox.mark()
    running.deliver(mail("Your code is 555555."))
    assert inbox.only_code_after(later) == "555555"


def test_the_same_code_in_a_new_message_is_a_new_code(running: MailServer) -> None:
    running.deliver(mail("000000"))
    inbox = reader(running.settings(), EMAIL, "post")
    mark = inbox.mark()

    assert inbox.code_after(mark, Eventful(lambda: running.deliver(mail("000000")))) == "000000"


@pytest.mark.parametrize(
    "message",
    [
        mail("<p>Ihr Schlüssel: <b>515151</b></p>", subtype="html", charset="iso-8859-1"),
        mail("Ключ 515151, до встречи", cte="base64"),
        mail("in the subject", subject="515151 ist Ihr Schlüssel"),
    ],
    ids=["html", "base64", "subject"],
)
def test_a_code_is_read_whatever_the_form_of_the_message(running: MailServer, message: EmailMessage) -> None:
    inbox = reader(running.settings(), EMAIL, "post")
    mark = inbox.mark()
    running.deliver(message)

    assert inbox.code_after(mark, Eventful()) == "515151"


def test_reading_changes_no_message_and_takes_the_folder_that_the_profile_names(running: MailServer) -> None:
    inbox = reader(running.settings(folder="Prüfung"), EMAIL, "post")
    mark = inbox.mark()
    running.deliver(mail("616161"), folder="Prüfung")

    assert inbox.code_after(mark, Eventful()) == "616161"
    arrived = running.names(".Pr&APw-fung/cur") + running.names(".Pr&APw-fung/new")
    assert len(arrived) == 1
    assert "S" not in arrived[0].partition(":2,")[2]


@pytest.mark.parametrize(
    "changed, words, fault",
    [
        ({"folder": "Nowhere"}, 'there is no folder "Nowhere"', "configuration"),
        ({"verify": True}, r"the certificate of 127\.0\.0\.1:\d+ is not trusted", "configuration"),
        ({"verify": "/nowhere/ca.pem"}, r"verify: /nowhere/ca\.pem cannot be read", "configuration"),
        ({"ssl": False, "timeout": 1.0}, r"127\.0\.0\.1:\d+", "environment"),
        (
            {"password": "wrong"},
            r"refuses the username and password \(\[AUTHENTICATIONFAILED\]",
            "credentials",
        ),
    ],
    ids=["folder", "certificate", "no CA file", "no TLS", "password"],
)
def test_what_the_profile_has_wrong_is_named(
    running: MailServer, changed: dict[str, object], words: str, fault: str
) -> None:
    with pytest.raises(Untestable, match=words) as caught:
        reader(running.settings(**changed), EMAIL, "post").mark()

    assert str(caught.value).startswith("[inboxes.post]: ")
    assert caught.value.fault_class == fault


@pytest.mark.parametrize("changed", [{"starttls": True}, {"verify": False}])
def test_tls_may_begin_by_starttls_and_a_certificate_need_not_be_checked(
    running: MailServer, changed: dict[str, object]
) -> None:
    inbox = reader(running.settings(**changed), EMAIL, "post")
    mark = inbox.mark()
    running.deliver(mail("Your code is 717171."))

    assert inbox.code_after(mark, Eventful()) == "717171"
