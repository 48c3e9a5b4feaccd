"""The program: ``portal-conformance`` and ``python -m conformance``."""

from __future__ import annotations

import sys

from conformance.errors import ExitCode
from conformance.traffic.garbage_collector import set_for_a_command


def main() -> int:
    """Runs the command line. Ctrl-C while it is still being imported ends it as at any other time."""
    try:
        set_for_a_command()
        from conformance.cli import (
            main as command_line,  # the import takes the longest, and can be interrupted
        )

        return command_line()
    except KeyboardInterrupt:
        print("\nportal-conformance: interrupted.", file=sys.stderr)
        return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
