"""What a command prints holds no secret, no control character of a target's making and no CI command."""

from __future__ import annotations

import io
import os
import sys

import pytest

from conformance.cli.output import RedactedStream, redacted_output
from conformance.spec import REQUIREMENTS
from conformance.tests.test_report_terminal import Terminal
from conformance.traffic.redaction.redact import Secrets


def shown(*texts: str, secret: str = "", stream: io.StringIO | None = None) -> str:
    secrets = Secrets()
    secrets.add(secret, "password")
    stream = stream or io.StringIO()
    output = RedactedStream(stream, [secrets])
    for text in texts:
        print(text, end="", file=output)
    return stream.getvalue()


def test_a_secret_is_redacted_on_both_streams(capsys: pytest.CaptureFixture[str]) -> None:
    with redacted_output():
        Secrets().add("a-planted-secret", "password")
        print("out: a-planted-secret")
        print("err: a-planted-secret", file=sys.stderr)
    print("after: a-planted-secret")

    printed = capsys.readouterr()
    assert printed.out == "out: [password-1]\nafter: a-planted-secret\n"
    assert printed.err == "err: [password-1]\n"


@pytest.mark.parametrize("name", list(REQUIREMENTS)[::25])
def test_a_statement_stays_as_it_is(name: str) -> None:
    statement = REQUIREMENTS[name].statement
    longest = max(statement.replace("`", " ").replace(",", " ").split(), key=len)

    assert shown(f"FAIL {statement}\n", secret=longest).startswith(f"FAIL {statement}")


def test_a_secret_beside_a_statement_is_redacted() -> None:
    statement = next(iter(REQUIREMENTS.values())).statement
    secret = max(statement.replace("`", " ").split(), key=len)

    assert shown(f"{statement} | {secret}\n", secret=secret) == f"{statement} | [password-1]\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("\x1b[31;1mFAIL\x1b[0m\n", "\x1b[31;1mFAIL\x1b[0m\n"),
        ("\x1b[8mhidden", "␛[8mhidden"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\rb", "a␍b"),
        ("a\u202eb\u200bc", "a‹U+202E›b‹U+200B›c"),
        ("a\tb · ä → 日本\r\n", "a\tb · ä → 日本\n"),
    ],
)
def test_control_characters_are_written_out_and_colours_stay(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_terminal_keeps_its_carriage_return() -> None:
    assert shown("collecting\r\x1b[8m", stream=Terminal()) == "collecting\r␛[8m"


@pytest.mark.parametrize(
    "texts, expected",
    [
        (("::error ::x\n",), "‹U+003A›:error ::x\n"),
        (("a\n  ::warning\n",), "a\n  ‹U+003A›:warning\n"),
        (("a", "::b\n", "::c"), "a::b\n‹U+003A›:c"),
        (("  ", "::b"), "  ‹U+003A›:b"),
        (("see ##[error]x and ##vso[task]",), "see ‹U+0023›#[error]x and ‹U+0023›#vso[task]"),
        (("cases/test_a.py::test_b\n",), "cases/test_a.py::test_b\n"),
    ],
)
def test_no_line_is_a_command_to_a_ci_server(texts: tuple[str, ...], expected: str) -> None:
    assert shown(*texts) == expected


def test_what_the_terminal_cannot_encode_is_written_out() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    print("a ‹b", file=RedactedStream(stream, []))
    stream.seek(0)

    assert stream.read() == "a \\u2039b\n"


def test_a_reader_that_leaves_ends_no_command() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        stream = RedactedStream(pipe, [])
        for _ in range(3):
            stream.write("a line of a report\n" * 10_000)
            stream.flush()
