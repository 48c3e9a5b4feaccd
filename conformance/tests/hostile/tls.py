"""Rows about TLS: certificates that are not to be trusted, and ends in the middle."""

from __future__ import annotations

from conformance.tests.hostile.plays import everywhere, reset_midway
from conformance.tests.hostile.wire import Gone, Row, Turn, Wire


def cut_handshake(wire: Wire) -> None:
    """Reads the client's first flight, sends half a record, and is gone."""
    wire.socket.recv(65536)
    wire.send(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")
    raise Gone


def hang_handshake(wire: Wire) -> None:
    wire.socket.recv(65536)
    wire.send(b"\x16\x03\x03\x00\x7a\x02")
    wire.hang()


def drip_handshake(wire: Wire) -> None:
    wire.socket.recv(65536)
    wire.drip(b"\x16\x03\x03\x3f\xff" + b"\x02" * 10_000)


correct = Turn.be_correct

ROWS = (
    Row("tls-self-signed", "Shows a certificate of its own.", correct, everywhere, certificate="self-signed"),
    Row("tls-expired", "Shows an expired certificate.", correct, everywhere, certificate="expired"),
    Row("tls-other-host", "Shows another host's certificate.", correct, everywhere, certificate="other-host"),
    Row("tls-plain", "Speaks plain HTTP where the profile says https.", correct, everywhere, scheme="https"),
    Row(
        "tls-handshake-cut",
        "Ends in the handshake.",
        correct,
        everywhere,
        greet=cut_handshake,
        scheme="https",
    ),
    Row(
        "tls-handshake-hangs",
        "Stops in the handshake.",
        correct,
        everywhere,
        greet=hang_handshake,
        scheme="https",
    ),
    Row(
        "tls-handshake-dripped",
        "Sends the handshake a byte at a time.",
        correct,
        everywhere,
        greet=drip_handshake,
        scheme="https",
    ),
    Row("tls-cut", "Ends in a body without ending TLS.", reset_midway, certificate="trusted"),
    Row("tls-correct", "Answers correctly over TLS.", correct, everywhere, certificate="trusted"),
)
