"""Fuzzing: mutated input files and options for every command that reads some, and what each comes to.

A trial runs one command in this process. A fault is an exception that escapes, an exit code that is 3 or none
of the contract's, a traceback that is printed, or a command that does not end in time.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import signal
import tomllib
import traceback
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

from conformance.cli import main

SECONDS = 20
"""After which a command hangs."""

LAWFUL_CODES = frozenset({0, 1, 2, 4, 5, 6, 7})

CLOSED = "http://127.0.0.1:9"
"""An address where nothing listens."""

PROFILE = f"""profile = 1

[portal]
url = "{CLOSED}"
access_code = "an-access-code"
headers = {{ "X-LOCALE" = "en" }}
edge_headers = true
verify = true
timeout = 0.5

[accounts.admin]
email = "admin@example.test"
password = "a-password-of-admin"
mfa = "OTP"
otp_secret = "JBSWY3DPEHPK3PXP"

[accounts.spare]
email = "spare@example.test"
password = "a-password-of-spare"
mfa = "EMAIL"
inbox = "mail"

[inboxes.mail]
kind = "fixed"
code = "000000"

[records]
workspace = "ws-1"

[limits]
login_window = 60
max_mails = 20

[readings]
"invalid-credentials-status" = 401

[operations."POST /web/v1/system/auth/password/change"]
body = {{ oldPassword = "{{password}}", newPassword = "{{new_password}}" }}
"""

KNOWN = """[[known]]
rule = "LOGIN-004"
endpoint = "POST /web/v1/system/auth/login/initiate"
path = "data.expiresIn"
reason = "known since spring"
until = 2030-01-01

[[known]]
endpoint = "GET /web/v1/system/profile"
path = "data.updatedAt"
kind = "value"
was = 1
reason = "moves"
flaky = true
"""

UPDATE, INVITE = "POST /web/v1/system/profile/update", "POST /web/v1/system/invitations"
CHANGED = {"kind": "changing", "key": UPDATE, "account": "spare", "undo_key": UPDATE}
CREATED = {"kind": "creating", "key": INVITE, "account": "admin", "undo_key": f"{INVITE}/cancel"}
INVITED = {"undo_body": {"invitationBizId": "{result_id}"}, "name": "suite-1@example.test"}
LEDGER = "\n".join(
    json.dumps(row)
    for row in (
        {"event": "run", "run": "ab12", "target": CLOSED},
        {"event": "change", "id": 1, **CHANGED, "undo_body": {"accountName": "Spare"}},
        {"event": "change", "id": 2, **CREATED, **INVITED},
        {"event": "undone", "id": 1},
    )
)

TEXTS = {"portal.toml": PROFILE, "known.toml": KNOWN, "changes.jsonl": LEDGER}
"""Correct inputs."""

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan"),
    "", " ", "x", "0", "-1", "null", "a" * 5000, "\x00", "\u202e", "\ud800", "é", "2026-02-31T25:61:61Z",
    "9999-12-31", "http://", "${NOT_SET}", "../../etc/passwd", "%00", "[", "{}", [], {}, [None], [[]],
    {"": None}, [{}] * 50,
)  # fmt: skip
"""Values that stand where another is expected."""


SUBJECTS: dict[str, tuple[str, ...]] = {
    "portal.toml": ("plan --profile mutated", "replay capture.jsonl --profile mutated --dry-run"),
    "capture.jsonl": (
        "check mutated --out out",
        "check mutated --out out --salvage",
        "replay mutated --profile portal.toml --dry-run",
    ),
    "traffic.har": ("check mutated --out out", "replay mutated --profile portal.toml --dry-run"),
    "known.toml": (
        "check capture.jsonl --out out --known mutated",
        "compare results.json --known mutated --accept all --prune",
    ),
    "changes.jsonl": ("cleanup mutated --profile portal.toml",),
    "results.json": (
        "compare mutated results.json",
        "compare results.json mutated --out out",
        "compare results.json mutated results.json mutated",
    ),
    "history.db": ("history --history mutated", "history --history mutated --out out"),
}
"""The commands that read each of the correct inputs, with a mutated one in its place."""

FILES = frozenset({"mutated", "out", "missing", *SUBJECTS})
"""Words of a command that name something in the folder of the inputs."""


def within(folder: Path, words: Iterable[str]) -> tuple[str, ...]:
    """A command line whose files are those of a folder."""
    return tuple(str(folder / word) if word in FILES else word for word in words)


WORDS = """
    --profile --target --out --format --impact --strict --known --accept --prune --rerun --time-budget
    --effort --seed --salvage --only --skip --account --pace --concurrency --dry-run
    --history --help --version -- -k text json read-only mutating 0 -1 10x 1e999 90s a@example.test=admin x=y
    capture.jsonl traffic.har portal.toml results.json history.db missing é * ["""
"""What drawn command lines are made of; the words that name a file become its path."""

DRAWN_COMMANDS = ("check", "compare", "history", "plan", "requirements", "openapi", "nonsense", "")
"""Commands that reach no target, whatever their options are."""


def prepared(folder: Path, *, run: Path) -> None:
    """Correct inputs of every kind. ``run`` is the folder of a finished run, with its history."""
    here = Path(__file__).parent
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with (run / "exchanges.jsonl").open(encoding="utf-8") as lines:
        (folder / "capture.jsonl").write_text("".join(islice(lines, 25)))
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    results["requirements"] = results["requirements"][:20]
    results["observations"] = results["observations"][:10]
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    shutil.copy(here / "dialects" / "chrome.har", folder / "traffic.har")
    shutil.copy(run / "history.db", folder / "history.db")


# --- mutations


def mutated(content: bytes, draw: random.Random) -> bytes:
    """A correct input with one to three things wrong, in its bytes or in its structure."""
    for _ in range(draw.randint(1, 3)):
        change = draw.choice((_in_bytes, _in_structure, _in_structure))
        content = change(content, draw)
    return content


def _in_bytes(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content) + 1)
    end = min(len(content), at + draw.choice((1, 1, 2, 8, 100)))
    piece = draw.choice(
        (b"", draw.randbytes(1), draw.randbytes(8), content[at:end] * 3, b'"', b"\n", b"\xff\xfe")
    )
    match draw.randrange(4):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + piece + content[at:]
        case 2:
            return content[:at] + piece + content[end:]
        case _:
            return content[:at] + content[end:]


def _in_structure(content: bytes, draw: random.Random) -> bytes:
    """Another value, name or nesting at one place of a JSON, JSON lines or TOML document."""
    text = content.decode("utf-8", errors="surrogateescape")
    with contextlib.suppress(ValueError, RecursionError):
        return _dumped(_changed(json.loads(text), draw))
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return _in_a_line(content, draw)
    changed = _changed(document, draw)
    try:
        text = _toml(changed) if isinstance(changed, dict) else _inline(changed)
    except RecursionError:
        return b"deep = " + b"[" * 3000 + b"]" * 3000
    return text.encode("utf-8", errors="surrogatepass")


def _in_a_line(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = _dumped(_changed(json.loads(lines[at]), draw))
    except (ValueError, RecursionError):
        return _in_bytes(content, draw)
    return b"\n".join(lines)


def _dumped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("utf-8", errors="surrogatepass")


def _changed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        if draw.random() < 0.1:
            return {key: inner for key, inner in value.items() if key != name}
        if draw.random() < 0.1:
            return {(f"{key}s" if key == name else key): inner for key, inner in value.items()}
        return {**value, name: _changed(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        return [*value[:at], _changed(value[at], draw), *value[at + 1 :]]
    if draw.random() < 0.05:
        return _deep(value, draw.choice((10, 200, 3000)))
    return draw.choice(ODD)


def _deep(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


def _toml(document: dict[str, Any]) -> str:
    """A TOML document in which every value stands inline, as far as TOML can say it."""
    return "\n".join(f"{json.dumps(str(name))} = {_inline(value)}" for name, value in document.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(inner) for inner in value) + "]"
    if value is None:
        return '""'
    return json.dumps(value) if isinstance(value, bool | str) else str(value)


def drawn_options(folder: Path, draw: random.Random) -> tuple[str, ...]:
    """A command line of words that the commands know, in any order."""
    line = [
        draw.choice(DRAWN_COMMANDS),
        *(draw.choice((*WORDS.split(), "", " ")) for _ in range(draw.randint(0, 5))),
    ]
    if line[0] in ("check", "compare") and "--out" not in line:
        line += ["--out", "out"]
    return within(folder, line)


# --- trials


class Hangs(Exception):
    """The command did not end in time."""


def outcome(command: Sequence[str]) -> str | None:
    """What is wrong with how a command ended; None where nothing is."""
    output = io.StringIO()
    before = signal.signal(signal.SIGALRM, _hang)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = main(list(command))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except Hangs:
        return f"it did not end within {SECONDS} s"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {str(error)[:200]} ({Path(where.filename).name}:{where.lineno})"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if "Traceback (most recent call last)" in output.getvalue():
        return "a traceback is printed"
    return None if code in LAWFUL_CODES else f"exit code {code}: {output.getvalue()[-300:]}"


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hangs


def trial(kind: str, folder: Path, content: bytes) -> list[str]:
    """What is wrong with how the commands end that read this kind of input, with this content."""
    (folder / "mutated").write_bytes(content)
    return [
        f"{kind}: {command}: {problem} {content!r}"
        for command in SUBJECTS[kind]
        if (problem := outcome(within(folder, command.split())))
    ]


def fuzz(kind: str, folder: Path, seeds: Sequence[int]) -> Iterator[str]:
    """The problems of a trial for each seed. ``kind`` is one of SUBJECTS, or ``options``."""
    for draw in map(random.Random, seeds):
        if kind != "options":
            yield from trial(kind, folder, mutated((folder / kind).read_bytes(), draw))
        elif problem := outcome(arguments := drawn_options(folder, draw)):
            yield f"{arguments}: {problem}"
