"""Commands that record and send traffic: record, replay.

What a command needs is imported when it runs, so that its help is quick.
"""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial

from conformance.cli import options as opt
from conformance.cli.command import PATH, Choice, Options, argument, command, flag, option, repeated
from conformance.cli.layout import print_line, status_until_shown
from conformance.errors import UsageError

SELECTION = (
    option(
        "--pace", default="max", help="speed of the replay: max (default), recorded, or a factor such as 10x"
    ),
    option(
        "--concurrency",
        type=int,
        default=1,
        metavar="N",
        help="number of sessions that replay in parallel (default: 1)",
    ),
    opt.WORKERS,
    opt.SCHEDULER,
    repeated(
        "--only", metavar="PATTERN", allow_from_autoenv=False, help="replay only the endpoints that match"
    ),
    repeated(
        "--skip", metavar="PATTERN", allow_from_autoenv=False, help="leave out the endpoints that match"
    ),
    repeated(
        "--recorded-host",
        metavar="HOST",
        help="replay only what was recorded at this host, if the files hold several hosts",
    ),
)
"""Which exchanges are replayed, how fast, and how many at a time."""

LOAD_PANEL = "A load (extra scale)"
load_option = partial(option, panel=LOAD_PANEL)
LOAD = (
    load_option(
        "--rate", metavar="RATE", help="start requests at this rate, such as 200/s, however long answers take"
    ),
    load_option(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="number of times that a load is replayed (default: 1)",
    ),
    load_option("--duration", metavar="TIME", help="repeat a load until this time is over, such as 5m"),
    load_option("--ramp", metavar="TIME", help="reach the rate in this time, such as 30s (default: at once)"),
    repeated(
        "--latency",
        panel=LOAD_PANEL,
        metavar="LIMIT",
        help="fail a load whose latency exceeds a limit: 'p95 <= 1.2x' (of the recorded one), 'p99 <= 250ms'",
    ),
)
"""How a recording is replayed as a load, in a group of its own at the end of the help."""

COMPARISON = (
    option(
        "--account",
        multiple=True,
        metavar="EMAIL=NAME",
        help="sign in as this account of the profile in place of the recorded one; EMAIL=none leaves out "
        "its requests",
    ),
    option(
        "--fail-on",
        type=Choice(("contradiction", "breaking", "permitted")),
        default="breaking",
        help="the mildest kind of difference that fails the replay (default: breaking)",
    ),
)
"""Which account stands for a recorded one, and which differences fail a replay."""


@command(
    "record",
    option("--upstream", metavar="URL", required=True, help="the portal's base URL"),
    option(
        "--out",
        type=PATH,
        required=True,
        allow_from_autoenv=False,
        help="the capture to write; an existing file is not overwritten; in a folder, a new name",
    ),
    option("--port", type=int, metavar="N", default=8080, help="port to listen on (default: 8080)"),
    option("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"),
    flag("--judge", help="judge the traffic while recording, and print findings"),
    flag("--open-channel", help="record the plaintext of encrypted bodies"),
    option(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="the longest an exchange may take (default: 60)",
    ),
    option("--profile", type=PATH, help="a profile, of which secrets are redacted, and TLS and proxy used"),
    *opt.REDACTION,
    option(
        "--certificate",
        type=PATH,
        help="take HTTPS from clients, with the certificate and key in this PEM file",
    ),
    option("--max-size", metavar="MB", type=float, help="record no more once the capture has this size"),
    flag("--insecure", help="do not verify the portal's certificate"),
)
def record_traffic(options: Options) -> int:
    """Records traffic until it is interrupted."""
    from conformance import record
    from conformance.target.profile.model import load
    from conformance.target.tls import tls_context

    profile = load(options.profile) if options.profile else None
    at = None if profile is None else profile.at(options.upstream, is_insecure=options.insecure)
    return record.run(
        options.upstream,
        options.out / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl" if options.out.is_dir() else options.out,
        record.RecordOptions(
            port=options.port,
            host=options.host,
            open_channel=options.open_channel,
            verify=(at and tls_context(at)) or not options.insecure,
            proxy=None if at is None else at.portal.proxy,
            timeout=options.timeout,
            redact=options.redact,
            keep=options.keep,
            certificate=options.certificate,
            max_bytes=None if options.max_size is None else int(options.max_size * 1_000_000),
        ),
        profile=profile,
        judge=options.judge,
        print_line=print_line,
    )


@command(
    "replay",
    argument("files", "FILE", nargs=-1, required=True, help="a capture or a HAR file"),
    opt.TARGET,
    opt.PROFILE,
    opt.IMPACT,
    opt.OUT_BESIDE,
    opt.FORCE,
    opt.FORMATS,
    *SELECTION,
    *COMPARISON,
    opt.DESCRIPTION,
    opt.SALVAGE,
    flag("--resume", help="continue the interrupted replay whose reports are in --out"),
    opt.STRICT,
    opt.KNOWN,
    opt.RULES,
    opt.WAIT,
    flag("--dry-run", help="print what would be sent, and send nothing"),
    opt.NO_CACHE,
    opt.FORMAT,
    *LOAD,
)
def replay_traffic(options: Options) -> int:
    """Replays captures and HAR files against the profile's portal."""
    from conformance.cli.profile import alone, profile_of
    from conformance.report.formats.write import write_further

    opt.refuse_both_kinds_of_workers(options)
    profile = profile_of(options)
    if profile is None:
        raise UsageError("replay needs --profile FILE, the portal to replay against with its accounts.")
    profile = profile.describing(options.description)
    profile.extend.described()  # what is wrong in one is said before anything is sent
    options.out = opt.folder_beside_run(options, "replay")
    from conformance.replay import command as replay_command  # its extra is needed by no other command
    from conformance.replay import workers  # what is wrong in the options is said before these are loaded

    is_alone = options.dry_run or not (options.workers > 1 or options.scheduler)
    run = replay_command.run if is_alone else workers.run
    with nullcontext() if options.dry_run else alone(profile, is_waiting=options.wait):
        if options.format == "json":
            code = run(profile, options, print_line=print_line)
        else:
            with status_until_shown(f"replaying against {profile.portal.url} …") as show:
                code = run(profile, options, print_line=show)
    if not options.dry_run:
        write_further(options.out, options.formats)
    return code
