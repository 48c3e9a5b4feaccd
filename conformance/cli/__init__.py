"""The command line: every command of the contract, and the exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import rich_click as click

from conformance.cli.command import usage_line
from conformance.cli.layout import print_error
from conformance.cli.output import redacted_output
from conformance.cli.program import invoke
from conformance.errors import ExitCode, SuiteError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; a user's error ends it with a line on what to do, without a traceback.

    SystemExit: the command line cannot be understood.
    """
    with _private_files(), _open_output(), redacted_output():
        try:
            with ending_by_signals():
                return invoke(sys.argv[1:] if arguments is None else arguments)
        except click.ClickException as wrong:
            print_error(usage_line(wrong))
            raise SystemExit(int(ExitCode.USAGE)) from None
        except SuiteError as error:
            print_error(f"portal-conformance: {error}")
            return int(error.exit_code)
        except OSError as error:
            print_error(f"portal-conformance: {_file_error(error)}")
            return ExitCode.USAGE
        except (KeyboardInterrupt, click.Abort):
            print_error("\nportal-conformance: interrupted.")
            return ExitCode.INTERRUPTED
        except Exception as bug:
            traceback.print_exc()
            print(f"portal-conformance: internal error: {type(bug).__name__}: {bug}", file=sys.stderr)
            return ExitCode.INTERNAL_ERROR


def _file_error(error: OSError) -> str:
    """Describes a failed file access: path, reason, advice."""
    place, reason = error.filename, (error.strerror or str(error)).lower()
    is_made = any(frame.name == "mkdir" for frame in traceback.extract_tb(error.__traceback__))
    if isinstance(error, FileNotFoundError) and not is_made:
        return f"Cannot read {place}: {reason}. Check the path."
    return f"Cannot write {place or 'the output'}: {reason}. Choose another --out or file."


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


if __name__ == "__main__":
    sys.exit(main())
