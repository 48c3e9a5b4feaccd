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

import conformance
from conformance.cli.output import redacted_output
from conformance.errors import ExitCode, SuiteError

MODULES = {
    "cases": ("run", "plan", "requirements", "openapi", "selftest"),
    "target": ("serve", "doctor", "init", "cleanup"),
    "traffic": ("record", "replay"),
    "files": ("check", "compare", "matrix", "history"),
}
"""The commands by their module: a command imports only what it needs."""

PASSES_ON = ("run", "serve")
"""Commands that pass options which they do not have themselves to pytest, or to the reference portal."""

DESCRIPTION = (
    "Tests whether a portal conforms to the System Portal Web API specification, and shows the evidence."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; a user's error ends it with a line on what to do, without a traceback."""
    with _private_files(), _open_output(), redacted_output():
        try:
            return _run(sys.argv[1:] if arguments is None else arguments)
        except SuiteError as error:
            print(f"portal-conformance: {error}", file=sys.stderr)
            return int(error.exit_code)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.CONFORMANT
        except OSError as error:
            print(f"portal-conformance: {_file_error(error)}", file=sys.stderr)
            return ExitCode.USAGE
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED


def _file_error(error: OSError) -> str:
    """What cannot be read or written, why, and what to do."""
    place, reason = error.filename, (error.strerror or str(error)).lower()
    if isinstance(error, FileNotFoundError):
        return f"Cannot read {place}: {reason}. Check the path."
    return f"Cannot write {place or 'the output'}: {reason}. Choose another --out or file."


def _run(arguments: Sequence[str]) -> int:
    parser = _parser(arguments[0] if arguments else None)
    options, further = parser.parse_known_args(arguments)
    if further and options.command not in PASSES_ON:
        parser.exit(
            4, f"portal-conformance {options.command}: unknown option or argument: {' '.join(further)}\n"
        )
    options.further = further
    with ending_by_signals():
        return int(options.run(options))


@contextmanager
def _private_files() -> Iterator[None]:
    """Whatever a command writes may hold what a portal answered: its owner alone may read it."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _open_output() -> Iterator[None]:
    """Replaces a closed standard output or error by one that goes nowhere."""
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """Makes SIGTERM an interrupt: a job that is cancelled puts back what it changed, and writes its reports.
    SIGINT is one also where it was ignored, as in a background job of a shell script."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    if before[signal.SIGTERM] == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    if before[signal.SIGINT] == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Parser(argparse.ArgumentParser):
    """A parser whose usage errors end with exit code 4, as the contract says."""

    def exit(self, status: int = 0, message: str | None = None) -> None:  # type: ignore[override]
        super().exit(4 if status == 2 else status, message)


def _parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser with all commands, or only with those of the module that has the wanted one."""
    parser = Parser(prog="portal-conformance", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=conformance.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in [module for module, names in MODULES.items() if wanted in names] or MODULES:
        import_module(f"conformance.cli.{module}").add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
