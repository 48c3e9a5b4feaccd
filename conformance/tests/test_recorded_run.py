"""A record in place of a portal: which request gets which answer, and where a case parts from it."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from conformance.errors import Untestable
from conformance.run.record import Record, RecordedClock, RecordedInbox
from conformance.target.portal.inboxes import NothingArrived
from conformance.traffic.exchange import Exchange, Json, Request, Response

URL = "https://portal.example.test/web/v1/system"


def recorded(number: int, path: str, body: Json, answer: Json) -> Exchange:
    return Exchange(
        n=number,
        started=f"2026-01-01T00:00:{number:02}Z",
        elapsed_ms=500.0,
        request=Request(method="POST", url=f"{URL}/{path}", body=body),
        response=Response(status=200, body=answer),
    )


def record_of(exchanges: Iterable[Exchange]) -> Record:
    record = Record(iter(exchanges), RecordedClock(0.0, time_budget=None, is_simulated=False))
    record.begin("a case", 99)
    return record


def answer(record: Record, path: str, body: Json) -> Json:
    request = httpx.Request("POST", f"{URL}/{path}", json=body)
    request.headers.clear()
    return record.handle_request(request).json()


def test_an_answer_has_the_texts_of_the_run_that_asks() -> None:
    was = {"name": "suite-0a0a0a-1", "token": "[token-1]"}
    record = record_of([recorded(1, "roles", was, {"data": [was, "of suite-0a0a0a-2"]})])

    now = {"name": "suite-1b1b1b-1", "token": "ey4"}

    assert answer(record, "roles", now) == {"data": [now, "of suite-1b1b1b-2"]}
    assert record.clock.iso() == "2026-01-01T00:00:01.500000Z"
    assert record.astray == {}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("roles", {"status": "CLOSED"}, id="another word"),
        pytest.param("roles", {"status": "OPEN", "page": 0}, id="one more member"),
        pytest.param("files", {"status": "OPEN"}, id="another endpoint"),
    ],
)
def test_a_case_that_sends_something_else_gets_no_answers_any_more(path: str, body: Json) -> None:
    record = record_of([recorded(number, "roles", {"status": "OPEN"}, {}) for number in (1, 2)])

    with pytest.raises(Untestable):
        answer(record, path, body)
    with pytest.raises(Untestable):
        answer(record, "roles", {"status": "OPEN"})

    assert list(record.astray) == ["a case"]


def test_a_secret_that_becomes_another_one_is_noticed() -> None:
    record = record_of([recorded(number, "roles", {"token": "[token-1]"}, {}) for number in (1, 2)])

    answer(record, "roles", {"token": "ey4"})
    with pytest.raises(Untestable):
        answer(record, "roles", {"token": "ey5"})


def test_requests_that_were_sent_at_once_may_come_in_another_order() -> None:
    record = record_of([recorded(1, "roles", {}, {"n": 1}), recorded(2, "files", {}, {"n": 2})])

    with ThreadPoolExecutor(1) as beside:
        answers = [beside.submit(answer, record, path, {}).result() for path in ("files", "roles")]
    record.end()

    assert (answers, record.astray) == ([{"n": 2}, {"n": 1}], {})


def test_requests_of_one_after_another_come_in_their_order() -> None:
    record = record_of([recorded(1, "roles", {}, {}), recorded(2, "files", {}, {})])

    with pytest.raises(Untestable):
        answer(record, "files", {})


def test_what_a_case_does_not_send_again_is_noticed() -> None:
    record = record_of([recorded(1, "roles", {}, {})])

    record.end()

    assert record.astray == {"a case": "it does not send what exchange 1 holds"}


def test_a_code_came_by_mail_where_the_record_goes_on() -> None:
    record = record_of([recorded(1, "auth/login/complete", {"code": "[code-1]"}, {})])
    inbox = RecordedInbox(record)

    code = inbox.code_after(inbox.mark(), record.clock)
    answer(record, "auth/login/complete", {"code": code})
    with pytest.raises(NothingArrived):
        inbox.code_after(inbox.mark(), record.clock)

    assert list(record.doubtful) == ["a case"]
