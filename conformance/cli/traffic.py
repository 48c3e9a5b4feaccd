"""Commands that record and send traffic: record, replay."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance import record
from conformance.cli.options import (
    Commands,
    baseline_options,
    command,
    format_option,
    impact_option,
    out_option,
    profile_of,
    target_options,
)
from conformance.errors import UsageError


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    _add_record(commands)
    _add_replay(commands)


def _add_record(commands: Commands[argparse.ArgumentParser]) -> None:
    recorded = command(commands, "record", record_traffic, "a recording reverse proxy before a portal")
    recorded.add_argument("--upstream", metavar="URL", required=True, help="the portal")
    recorded.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="the capture; never overwritten"
    )
    recorded.add_argument("--port", type=int, default=8080)
    recorded.add_argument("--host", default="127.0.0.1", help="where to listen (default: loopback only)")
    recorded.add_argument("--judge", action="store_true", help="judge as it goes, and print findings")
    recorded.add_argument(
        "--open-channel", action="store_true", help="record the plaintext of encrypted bodies"
    )
    recorded.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="the longest an exchange may take (default: 60)",
    )
    recorded.add_argument("--insecure", action="store_true", help="do not verify the portal's certificate")


def _add_replay(commands: Commands[argparse.ArgumentParser]) -> None:
    replayed = command(
        commands, "replay", replay_traffic, "replay recorded traffic and report every regression"
    )
    replayed.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a capture or a HAR file")
    target_options(replayed)
    impact_option(replayed)
    out_option(replayed)
    replayed.add_argument("--pace", default="max", help="max (default), recorded, or a factor such as 10x")
    replayed.add_argument(
        "--concurrency", type=int, default=1, metavar="N", help="sessions at a time (default: 1)"
    )
    replayed.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="only these endpoints"
    )
    replayed.add_argument(
        "--skip", action="append", default=[], metavar="PATTERN", help="not these endpoints"
    )
    replayed.add_argument(
        "--account", action="append", default=[], metavar="EMAIL=NAME", help="who stands for whom"
    )
    replayed.add_argument(
        "--learn", type=Path, metavar="FILE", help="learn what differs between replays of one build"
    )
    replayed.add_argument("--noise", type=Path, metavar="FILE", help="compare by what was learned")
    replayed.add_argument("--salvage", action="store_true", help="use what stands before a break in a file")
    replayed.add_argument("--strict", action="store_true", help="a WARN counts as a FAIL")
    baseline_options(replayed)
    replayed.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    replayed.add_argument("--explain", action="store_true", help="say where each dynamic value comes from")
    format_option(replayed)


def record_traffic(options: argparse.Namespace) -> int:
    """Records until interrupted."""
    return record.run(
        options.upstream,
        options.out,
        port=options.port,
        host=options.host,
        judge=options.judge,
        open_channel=options.open_channel,
        verify=not options.insecure,
        timeout=options.timeout,
    )


def replay_traffic(options: argparse.Namespace) -> int:
    """Replays captures against the profile's portal."""
    from conformance.replay import command as replay_command  # its extra is needed by no other command

    profile = profile_of(options)
    if profile is None:
        raise UsageError("replay needs --profile FILE: the portal to replay against, and its accounts")
    return replay_command.run(profile, options)
