"""The command line: every command of the contract, and the exit codes."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper

import conformance
from conformance.errors import SuiteError

PARTS = {
    "cases": ("run", "plan", "requirements", "openapi", "selftest"),
    "target": ("serve", "doctor", "init", "cleanup"),
    "traffic": ("record", "replay"),
    "files": ("check", "compare", "matrix", "history"),
}
"""The commands by the module that has them: only what a command needs is imported."""

TAKES_MORE = ("run", "serve")
"""Commands that pass on what they do not know themselves: to pytest, and to the reference portal."""

DESCRIPTION = "Tells, with evidence, whether a portal does what the System Portal Web API specification says."


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; what a user got wrong is said in one line, without a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    with _private_files(), _printable_output():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments[0] if arguments else None)
    options, further = parser.parse_known_args(arguments)
    if further and options.command not in TAKES_MORE:
        parser.exit(4, f"portal-conformance {options.command}: unknown: {' '.join(further)}\n")
    options.further = further
    try:
        with ending_by_signals():
            return int(options.run(options))
    except SuiteError as error:
        print(f"portal-conformance: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"portal-conformance: {place}{error.strerror}. Choose another place.", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        return 2


@contextmanager
def _private_files() -> Iterator[None]:
    """Whatever a command writes may hold what a portal answered: its owner alone may read it."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _printable_output() -> Iterator[None]:
    """Where a character cannot be printed its escape is; where nothing can be, nothing is."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """SIGTERM is an interrupt too: a job that is cancelled puts back what it changed, and writes its reports.
    So is SIGINT where it is ignored, as a script's shell has it for what runs in the background."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    if before[signal.SIGTERM] == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    if before[signal.SIGINT] == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


class Parser(argparse.ArgumentParser):
    """Wrong options end with the contract's exit code 4."""

    def exit(self, status: int = 0, message: str | None = None) -> None:  # type: ignore[override]
        super().exit(4 if status == 2 else status, message)


def _parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """With all commands, or where one of them is wanted with those beside it."""
    parser = Parser(prog="portal-conformance", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=conformance.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for part in [part for part, names in PARTS.items() if wanted in names] or PARTS:
        import_module(f"conformance.cli.{part}").add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
