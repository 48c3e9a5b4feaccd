"""Commands that record and send traffic: record, replay."""

from __future__ import annotations

import argparse

from conformance import record
from conformance.cli.options import (
    Commands,
    baseline_options,
    cache_option,
    command,
    format_option,
    impact_option,
    out_option,
    profile_of,
    redaction_options,
    target_options,
)
from conformance.errors import UsageError
from conformance.run.settings import path, text
from conformance.target.profile.model import load


def add_commands(commands: Commands[argparse.ArgumentParser]) -> None:
    _add_record(commands)
    _add_replay(commands)


def _add_record(commands: Commands[argparse.ArgumentParser]) -> None:
    recorded = command(
        commands, "record", record_traffic, "record traffic with a reverse proxy before a portal"
    )
    recorded.add_argument("--upstream", metavar="URL", type=text, required=True, help="the portal's base URL")
    recorded.add_argument(
        "--out",
        metavar="FILE",
        type=path,
        required=True,
        help="the capture to write; an existing file is not overwritten",
    )
    recorded.add_argument("--port", type=int, default=8080, help="port to listen on (default: 8080)")
    recorded.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    recorded.add_argument(
        "--judge", action="store_true", help="judge the traffic while recording, and print findings"
    )
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
    recorded.add_argument(
        "--profile",
        metavar="FILE",
        type=path,
        help="a profile whose secrets are redacted",
    )
    redaction_options(recorded)
    recorded.add_argument("--insecure", action="store_true", help="do not verify the portal's certificate")


def _add_replay(commands: Commands[argparse.ArgumentParser]) -> None:
    replay = command(
        commands, "replay", replay_traffic, "replay recorded traffic and report every regression"
    )
    replay.add_argument("files", metavar="FILE", nargs="+", type=path, help="a capture or a HAR file")
    target_options(replay)
    impact_option(replay)
    out_option(replay)
    _add_selection(replay)
    _add_comparison(replay)
    _add_meaning(replay)
    replay.add_argument(
        "--salvage", action="store_true", help="use the exchanges before the place where a file breaks"
    )
    replay.add_argument(
        "--resume", action="store_true", help="go on with the replay under --out that was interrupted"
    )
    replay.add_argument("--strict", action="store_true", help="a WARN counts as a FAIL")
    baseline_options(replay)
    replay.add_argument("--dry-run", action="store_true", help="print what would be sent, and send nothing")
    replay.add_argument("--explain", action="store_true", help="print where each dynamic value comes from")
    cache_option(replay)
    format_option(replay)


def _add_selection(replay: argparse.ArgumentParser) -> None:
    """Which exchanges are replayed, how fast, and how many at a time."""
    replay.add_argument(
        "--pace", default="max", help="speed of the replay: max (default), recorded, or a factor such as 10x"
    )
    replay.add_argument(
        "--concurrency",
        type=int,
        default=1,
        metavar="N",
        help="number of sessions that replay in parallel (default: 1)",
    )
    replay.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="replay only the endpoints that match; may be repeated",
    )
    replay.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out the endpoints that match; may be repeated",
    )


def _add_comparison(replay: argparse.ArgumentParser) -> None:
    """Which account stands for a recorded one, and which differences are noise."""
    replay.add_argument(
        "--account",
        action="append",
        default=[],
        metavar="EMAIL=NAME",
        help="the profile's account in place of a recorded email",
    )
    replay.add_argument(
        "--learn",
        type=path,
        metavar="FILE",
        help="write what differs between replays of one build to this noise file",
    )
    replay.add_argument(
        "--noise",
        type=path,
        metavar="FILE",
        help="compare the places in this noise file by type, shape or range only",
    )


def _add_meaning(replay: argparse.ArgumentParser) -> None:
    """Which differences fail a replay, and which are accepted."""
    replay.add_argument(
        "--fail-on",
        choices=("contradiction", "breaking", "permitted"),
        default="breaking",
        help="the least grave kind of difference that fails the replay (default: breaking)",
    )
    replay.add_argument(
        "--accept",
        type=path,
        metavar="FILE",
        help="accepted differences, each with a reason and a last day (changes.toml)",
    )
    replay.add_argument(
        "--accept-update", action="store_true", help="write the differences of this replay to --accept"
    )


def record_traffic(options: argparse.Namespace) -> int:
    """Records traffic until it is interrupted."""
    return record.run(
        options.upstream,
        options.out,
        record.RecordOptions(
            port=options.port,
            host=options.host,
            open_channel=options.open_channel,
            verify=not options.insecure,
            timeout=options.timeout,
            redact=options.redact,
            keep=options.keep,
        ),
        profile=load(options.profile) if options.profile else None,
        judge=options.judge,
    )


def replay_traffic(options: argparse.Namespace) -> int:
    """Replays captures and HAR files against the profile's portal."""
    from conformance.replay import command as replay_command  # its extra is needed by no other command

    profile = profile_of(options)
    if profile is None:
        raise UsageError("replay needs --profile FILE, the portal to replay against with its accounts.")
    return replay_command.run(profile, options)
