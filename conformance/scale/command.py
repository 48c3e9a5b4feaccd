"""``replay --workers N``: starts the workers, and prints what they found together."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from conformance.replay import command as replay_command
from conformance.scale.processes import plain_workers
from conformance.scale.replays import replay_on_workers
from conformance.target.profile.model import Profile


def run(profile: Profile, arguments: SimpleNamespace, *, print_line: Callable[[str], None] = print) -> int:
    """Replays on several workers. ``print_line`` prints a line of the result. UsageError, CaptureError,
    TargetUnreachable."""
    options = replay_command.options_of(arguments)
    finished = replay_on_workers(
        arguments.files, profile, options, workers=arguments.workers, start=plain_workers
    )
    replay_command.show(finished, options.out, form=arguments.format, print_line=print_line)
    return finished.exit_code
