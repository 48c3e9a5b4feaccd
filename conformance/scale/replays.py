"""A replay that several workers share, as one result: what they found is merged, what is lost is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from conformance.check.merged_replays import replay_details
from conformance.check.merged_runs import Beside, merge
from conformance.errors import SuiteError, TargetUnreachable, UsageError
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.options import ReplayOptions
from conformance.report.finish import Outputs, finish_run
from conformance.report.model.run import Ending, Run
from conformance.scale.order import (
    EXCHANGES,
    WorkerNote,
    WorkerOrder,
    await_end,
    clear,
    folder_of,
    note_in,
    remove,
    run_in,
)
from conformance.scale.processes import Processes
from conformance.spec import REQUIREMENTS
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER
from conformance.target.portal.transport import clock_of
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Ledger

Start = Callable[[Sequence[WorkerOrder]], Processes]
"""Starts the processes of all workers."""

SHOWN_SESSIONS = 20
"""How many lost sessions are named."""


@dataclass(frozen=True)
class WorkerEnd:
    """What became of a worker. ``run`` is None where it did not finish."""

    number: int
    folder: Path
    note: WorkerNote | None
    run: Run | None

    @property
    def has_share(self) -> bool:
        """Whether it had anything to do, as far as it is known."""
        return self.note is None or self.note.sessions is None or bool(self.note.sessions)

    @property
    def is_lost(self) -> bool:
        return self.run is None and self.has_share

    def as_json(self) -> dict[str, Json]:
        sessions = self.note.sessions if self.note is not None else None
        return {
            "worker": self.number,
            "sessions": None if sessions is None else len(sessions),
            "exchanges": None if sessions is None else sum(each.exchanges for each in sessions),
            "lost": self.is_lost,
        }

    def loss(self) -> str:
        """What is lost with this worker, as a sentence."""
        why = f": {self.note.error}" if self.note is not None and self.note.error else ""
        return f"Worker {self.number} did not end its share{why or ','} {self._sessions()}."

    def _sessions(self) -> str:
        sessions = self.note.sessions if self.note is not None else None
        if sessions is None:
            return "which it had not found yet"
        shown = ", ".join(f"#{each.first}" for each in sessions[:SHOWN_SESSIONS])
        more = "" if len(sessions) <= SHOWN_SESSIONS else f" and {len(sessions) - SHOWN_SESSIONS} more"
        exchanges = sum(each.exchanges for each in sessions)
        return (
            f"and nothing of it is counted: {len(sessions)} sessions with {exchanges} exchanges, which begin "
            f"with {shown}{more}"
        )


def replay_on_workers(
    files: Sequence[Path], profile: Profile, options: ReplayOptions, *, workers: int, start: Start
) -> Run:
    """Replays on several workers, and writes the reports of the whole. UsageError: the options do not go
    together; or, as TargetUnreachable, what kept every worker from beginning."""
    check_options(profile, options, workers)
    order = WorkerOrder(tuple(file.absolute() for file in files), profile, options, workers)
    orders = [order.of(index) for index in range(workers)]
    for each in orders:
        clear(each.folder)
    interrupted = False
    try:
        start(orders).wait()
    except KeyboardInterrupt:
        interrupted = True
    return merged(order, is_interrupted=interrupted)


def check_options(profile: Profile, options: ReplayOptions, workers: int) -> None:
    """UsageError: what several workers cannot do together."""
    if workers < 1:
        raise UsageError(f"--workers {workers}: give 1 or more.")
    options.check(profile)
    wrong = {
        "--resume": options.resume,
        "--learn": options.learn is not None,
        "--accept-update": options.accept_update,
        "--baseline": options.baseline is not None,
    }
    for name, is_given in wrong.items():
        if is_given:
            raise UsageError(f"{name} needs the whole replay in one process: leave out --workers.")
    if profile.clock.advance is not None:
        raise UsageError(
            f"{profile.source}: [clock] advance: several workers cannot move one clock. "
            "Take it out, or leave out --workers."
        )


def merged(order: WorkerOrder, *, is_interrupted: bool) -> Run:
    """The result of all workers that have ended, with what those that have not left to be restored."""
    out = order.options.out
    ends = list(_ends(order, is_interrupted=is_interrupted))
    finished = [end for end in ends if end.run is not None]
    lost = [end for end in ends if end.is_lost]
    _raise_if_none_began(ends)
    left_behind, cleanup = _restored(order.profile, [end.folder for end in ends if end.run is None])
    for end in ends:
        if end.run is None and not end.has_share:
            remove(end.folder)
    for end in finished:
        (end.folder / EXCHANGES).touch()
    beside = Beside(
        lost=" ".join(end.loss() for end in lost),
        least_share=order.options.min_share,
        left_behind=left_behind,
        cleanup=cleanup,
        interrupted=is_interrupted,
        details={"workers": [end.as_json() for end in ends]},
    )
    if not finished:
        return _nothing(order, beside)
    return merge([end.folder for end in finished], out, beside=beside)


def _nothing(order: WorkerOrder, beside: Beside) -> Run:
    """The run of which no worker ended its share."""
    options, now = order.options, datetime.now(UTC)
    exchanges = options.out / EXCHANGES
    exchanges.write_bytes(b"")
    return finish_run(
        Ledger(REQUIREMENTS),
        Outputs(options.out, exchanges, None),
        details={"replay": replay_details([], []), **beside.details},
        target_url=order.profile.portal.url,
        target_profile=options.profile_name or None,
        started=now,
        finished=now,
        impact=options.impact,
        strict=options.strict,
        command="replay",
        ending=Ending(
            inconclusive=beside.lost,
            interrupted=beside.interrupted,
            left_behind=list(beside.left_behind),
            cleanup=beside.cleanup,
        ),
    )


def _ends(order: WorkerOrder, *, is_interrupted: bool) -> Iterator[WorkerEnd]:
    """A worker that was stopped in its share counts as lost, unless all of them were."""
    for index in range(order.workers):
        folder = folder_of(order.options.out, index)
        await_end(folder)
        run = run_in(folder)
        if run is not None and run.ending.interrupted and not is_interrupted:
            run = None
        yield WorkerEnd(index + 1, folder, note_in(folder), run)


def _raise_if_none_began(ends: Sequence[WorkerEnd]) -> None:
    """What kept all workers from beginning is said as one process says it."""
    errors = [end.note for end in ends if end.note is not None and end.note.error]
    if errors and all(end.run is None for end in ends):
        kind: type[SuiteError] = TargetUnreachable if errors[0].exit_code == 6 else UsageError
        raise kind(errors[0].error)


def _restored(profile: Profile, folders: Sequence[Path]) -> tuple[list[str], str]:
    """Restores what workers changed that could not do so themselves: what is left, and the command for it."""
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
