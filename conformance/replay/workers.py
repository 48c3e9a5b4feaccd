"""A replay that the workers of Dask share, as one result: what they found is merged, what is lost is named.

Each worker replays a share of the sessions and writes its reports into ``worker-1``, ``worker-2`` and so on
below those of the whole. A share whose worker dies is begun once more by another one, which first restores
what the dead one changed: the ledger of changes is in the same folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from conformance.errors import SuiteError, UsageError
from conformance.replay import command as replay_command
from conformance.replay import replay
from conformance.replay.assembly import analysed
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.engine.step import ReplayStep
from conformance.replay.options import ReplayOptions, Worker
from conformance.replay.recording.shares import Share
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import Ending, Run
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Ledger
from conformance.work.dask import Cluster, Lost, cluster_of
from conformance.work.merge import EXCHANGES, RESULTS, Beside, merge
from conformance.work.merged_replays import replay_details

if TYPE_CHECKING:
    from distributed import Future

BETWEEN_LOOKS_SECONDS = 0.25
"""Seconds after which a share looks whether somebody still waits for it."""

SHOWN_SESSIONS = 20
"""How many lost sessions are named."""

INTERRUPTED = Lost("the replay was interrupted")


class NothingToReplay(Exception):
    """There are more workers than shares."""


@dataclass(frozen=True)
class SharedReplay:
    """A replay that ``workers`` share. It goes on as long as the folder ``awaited`` is there."""

    files: Sequence[Path]
    profile: Profile
    options: ReplayOptions
    workers: int
    awaited: Path

    def folder(self, index: int) -> Path:
        """Report folder of a worker, by index from 0."""
        return self.options.out / f"worker-{index + 1}"

    def own_options(self, index: int) -> ReplayOptions:
        return replace(self.options, out=self.folder(index), worker=Worker(index, self.workers))


@dataclass(frozen=True)
class ShareEnd:
    """What became of a share. ``share`` is None where its worker returned none; ``problem`` says why."""

    index: int
    folder: Path
    share: Share | None
    problem: Exception | None = None

    @property
    def is_lost(self) -> bool:
        return self.share is None

    @property
    def is_empty(self) -> bool:
        return self.share is not None and not self.share.sessions

    def as_json(self) -> dict[str, Json]:
        share = self.share
        return {
            "worker": self.index + 1,
            "sessions": None if share is None else len(share.sessions),
            "exchanges": None if share is None else share.exchanges,
            "lost": self.is_lost,
        }

    def loss(self, share: Share) -> str:
        begins = sorted(first for first, _ in share.sessions.values())
        shown = ", ".join(f"#{number}" for number in begins[:SHOWN_SESSIONS])
        more = "" if len(begins) <= SHOWN_SESSIONS else f" and {len(begins) - SHOWN_SESSIONS} more"
        return (
            f"Worker {self.index + 1} did not end its share ({self.problem}), and nothing of it is counted: "
            f"{len(begins)} sessions with {share.exchanges} exchanges, which begin with {shown}{more}."
        )


def run(profile: Profile, arguments: SimpleNamespace, *, print_line: Callable[[str], None] = print) -> int:
    """``replay --workers`` and ``--scheduler``. Raises UsageError, CaptureError, TargetUnreachable."""
    options = replay_command.options_of(arguments)
    run = replay_on_workers(
        arguments.files, profile, options, workers=arguments.workers, scheduler=arguments.scheduler or ""
    )
    replay_command.show(run, options.out, form=arguments.format, print_line=print_line)
    return run.exit_code


def replay_on_workers(
    files: Sequence[Path], profile: Profile, options: ReplayOptions, *, workers: int = 1, scheduler: str = ""
) -> Run:
    """Replays on several workers, and writes the reports of the whole. UsageError: the options do not go
    together; or, as TargetUnreachable, what kept every worker from beginning."""
    option = "--scheduler" if scheduler else "--workers"
    check_options(profile, options, option)
    files = [Path(file).absolute() for file in files]
    options = replace(options, out=options.out.absolute())
    with cluster_of(files, options.out, workers=workers, scheduler=scheduler, option=option) as cluster:
        count = max(1, cluster.workers) if scheduler else workers
        order = SharedReplay(files, profile, options, count, cluster.folder)
        for index in range(count):
            clear(order.folder(index))
        tasks = [cluster.begin(replay_share, order, index) for index in range(count)]
        ends, is_interrupted = _ends(cluster, order, tasks)
    return merged(order, ends, is_interrupted=is_interrupted)


def check_options(profile: Profile, options: ReplayOptions, option: str) -> None:
    """UsageError: what several workers cannot do together."""
    options.check(profile)
    wrong = {
        "--rate": options.rate is not None,
        "--resume": options.resume,
    }
    for name, is_given in wrong.items():
        if is_given:
            raise UsageError(f"{name} needs the whole replay in one process: leave out {option}.")
    if profile.clock.advance is not None:
        raise UsageError(
            f"{profile.source}: [clock] advance: several workers cannot move one clock. "
            f"Take it out, or leave out {option}."
        )


def replay_share(order: SharedReplay, index: int) -> Share:
    """Replays a share on a worker, and returns it; an empty one where there are more workers than shares.
    SuiteError: as for ``replay``."""
    shares: list[Share] = []

    def take(share: Share) -> None:
        shares.append(share)
        if not share.sessions:
            raise NothingToReplay

    clear(order.folder(index))
    with suppress(NothingToReplay):
        options, listener = order.own_options(index), while_awaited(order.awaited)
        replay(order.files, order.profile, options, on_step=listener, on_share=take)
    return shares[-1]


def while_awaited(folder: Path) -> Callable[[ReplayStep], None]:
    """Interrupts a replay, from step to step, once a folder is gone."""
    due = time.monotonic()

    def listen(step: ReplayStep) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + BETWEEN_LOOKS_SECONDS
        if not folder.is_dir():
            raise KeyboardInterrupt

    return listen


def _ends(cluster: Cluster, order: SharedReplay, tasks: Sequence[Future]) -> tuple[list[ShareEnd], bool]:
    """Waits for all shares, and says whether they were interrupted. Then each restores what it changed, and
    is waited for; at the second time none is. UsageError, TargetUnreachable: what kept every worker from
    beginning."""
    try:
        ends = [_end(cluster, order, index, task) for index, task in enumerate(tasks)]
    except KeyboardInterrupt:
        cluster.folder.rmdir()
    else:
        errors = [end.problem for end in ends if isinstance(end.problem, SuiteError)]
        if len(errors) == len(ends):
            raise errors[0]
        return ends, False
    with suppress(KeyboardInterrupt):
        return [_end(cluster, order, index, task) for index, task in enumerate(tasks)], True
    return [ShareEnd(index, order.folder(index), None, INTERRUPTED) for index in range(order.workers)], True


def _end(cluster: Cluster, order: SharedReplay, index: int, task: Future) -> ShareEnd:
    folder = order.folder(index)
    try:
        return ShareEnd(index, folder, cluster.result(task))
    except (Lost, SuiteError) as problem:
        return ShareEnd(index, folder, None, problem)


def merged(order: SharedReplay, ends: Sequence[ShareEnd], *, is_interrupted: bool) -> Run:
    """The result of all shares that have ended, with what the others left to be restored. UsageError: the
    workers wrote elsewhere."""
    finished = [end.folder for end in ends if not end.is_lost and not end.is_empty]
    lost = [end for end in ends if end.is_lost]
    left_behind, cleanup = _restored(order.profile, [end.folder for end in lost])
    for end in ends:
        if end.is_empty:
            clear(end.folder)
            with suppress(OSError):  # a ledger in it stays
                end.folder.rmdir()
    beside = Beside(
        lost=" ".join(_losses(order, lost)),
        least_share=order.options.min_share,
        left_behind=left_behind,
        cleanup=cleanup,
        interrupted=is_interrupted,
        details={"workers": [end.as_json() for end in ends]},
    )
    if not finished:
        return _nothing(order, beside)
    for folder in finished:
        (folder / EXCHANGES).touch()
    return merge(finished, order.options.out, beside=beside)


def _losses(order: SharedReplay, lost: Sequence[ShareEnd]) -> Iterator[str]:
    """What is lost, as sentences: the recording is analysed here, which no worker returned the share of."""
    if not lost:
        return
    with analysed(order.files, order.profile, order.options) as recording:
        shares = recording.shared().shares(order.workers)
    for end in lost:
        if end.index < len(shares):
            yield end.loss(shares[end.index])


def _nothing(order: SharedReplay, beside: Beside) -> Run:
    """The run of which no worker ended its share."""
    options, now = order.options, datetime.now(UTC)
    exchanges = options.out / EXCHANGES
    exchanges.write_bytes(b"")
    return finish_run(
        Ledger(options.own.requirements),
        Outputs(options.out, exchanges, None),
        details={"replay": replay_details([], []), **beside.details},
        target_url=order.profile.portal.url,
        target_profile=options.profile_name or None,
        started=now,
        finished=now,
        impact=options.impact,
        fail_on="should" if options.strict else "security",
        command="replay",
        ending=Ending(
            inconclusive=beside.lost,
            interrupted=beside.interrupted,
            left_behind=list(beside.left_behind),
            cleanup=beside.cleanup,
        ),
    )


def _restored(profile: Profile, folders: Iterable[Path]) -> tuple[list[str], str]:
    """Restores changes that shares left; returns unrestored changes and the cleanup command."""
    left, commands = [], []
    for folder in folders:
        if not (folder / LEDGER).exists():
            continue
        with Portal.connect(profile, impact="disruptive", clock=clock_of(profile)) as portal:
            changes = ReplayChanges(portal, folder)
            left += changes.restore()
            if changes.ledger.pending:
                commands.append(changes.cleanup_command)
            changes.close()
    return left, " && ".join(filter(None, commands))


def clear(folder: Path) -> None:
    """Removes what an earlier replay wrote there, but for the ledger of changes: those are restored."""
    for name in (RESULTS, EXCHANGES):
        (folder / name).unlink(missing_ok=True)
