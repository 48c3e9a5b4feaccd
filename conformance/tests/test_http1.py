"""HTTP/1.1 without I/O: a response is the same however its bytes come, and who is unruly is trusted less."""

from __future__ import annotations

import pytest

from conformance.target.http1 import UNASKED, ResponseReader, ServerManners, WireResponse

LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKS = b"HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Late: 1\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + LENGTH
UNTIL_THE_END = b"HTTP/1.0 200 OK\r\n\r\n{}"


def read(*pieces: bytes, is_head: bool = False, most: int = 100) -> tuple[WireResponse | None, bool]:
    """The first response in the pieces, and whether its connection may be used again."""
    reader = ResponseReader(is_head=is_head, most=most)
    responses = (reader.take(piece) for piece in pieces)
    return next((response for response in responses if response is not None), None), reader.is_reusable


@pytest.mark.parametrize(
    "content, is_reusable",
    [(LENGTH, True), (CHUNKS, True), (INTERIM, True), (CLOSING, False), (UNTIL_THE_END, False)],
)
def test_a_response_is_the_same_in_one_piece_and_byte_by_byte(content: bytes, is_reusable: bool) -> None:
    whole, bytewise = read(content, b""), read(*(bytes([byte]) for byte in content), b"")

    assert whole == bytewise
    assert whole[0] is not None
    assert (whole[0].body, whole[0].error, whole[1]) == (b"{}", None, is_reusable)


def test_a_response_to_head_has_no_body() -> None:
    response, is_reusable = read(LENGTH.removesuffix(b"{}"), is_head=True)

    assert response is not None
    assert (response.status, response.body, is_reusable) == (200, b"", True)


@pytest.mark.parametrize("cut", [b"", LENGTH[:9], LENGTH[:-1], CHUNKS[:-2], INTERIM[:30]])
def test_a_connection_that_ends_before_the_response_is_none(cut: bytes) -> None:
    response, is_reusable = read(*([cut] if cut else []), b"")

    assert response is not None
    assert response.error
    assert not is_reusable


def test_bytes_behind_a_response_are_the_answer_to_nothing() -> None:
    response, _ = read(LENGTH + b"HTTP/1.1 200 OK")

    assert response is not None
    assert response.error == UNASKED


def test_a_body_beyond_the_bound_is_cut_and_ends_its_connection() -> None:
    response, is_reusable = read(LENGTH, most=1)

    assert response is not None
    assert (response.body, response.is_cut, is_reusable) == (b"{", True, False)


def test_who_spoke_unasked_is_listened_to_from_then_on_and_no_connection_is_kept() -> None:
    manners = ServerManners()
    waits = [manners.greeting_seconds() > 0 for _ in range(3)]
    assert (waits, manners.keeps_connections) == ([True, True, False], True)

    manners.note_unasked()
    assert manners.greeting_seconds() > 0
    assert not manners.keeps_connections


def test_after_a_response_a_server_is_listened_to_once_with_a_token_and_once_without() -> None:
    manners = ServerManners()

    waits = [manners.listening_seconds(is_authorized=each) > 0 for each in (True, False, True, False)]

    assert waits == [True, True, False, False]
