"""Goes on with a replay that was killed: what it sent is read from its log and journal, not sent again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from conformance.judging import judge_of, watch
from conformance.replay.assembly import Replay
from conformance.replay.compare.outcome import NO_RESPONSE, ExchangeOutcome, State
from conformance.replay.engine.journal import JOURNAL, JournalEntry, JournalHead, entries_of
from conformance.replay.options import ReplayOptions
from conformance.replay.rebuild.actions import NO_CONNECTION
from conformance.replay.recording.needs import add_needs
from conformance.replay.recording.plan import REPLAYED, ReplayPlan
from conformance.target.profile.model import Profile
from conformance.traffic import capture

NOT_SENT = frozenset({State.SKIPPED, State.UNWANTED, State.NOT_REPLAYABLE})


@dataclass(frozen=True)
class EarlierPart:
    """What the earlier part of a replay did: its entries, and the number of lines of its log."""

    entries: Sequence[JournalEntry] = ()
    lines: int = 0
    outcomes: list[ExchangeOutcome] = field(default_factory=list)

    def omit_from(self, plan: ReplayPlan) -> None:
        """Has the plan send only what is left, and what that needs."""
        if not self.entries:
            return
        for entry in self.entries:
            if entry.outcome is not None and _was_not_sent(entry.outcome):
                continue
            self.outcomes.append(entry.outcome or _same(plan, entry))
            plan.refused[entry.position] = REPLAYED
            plan.counted.add(entry.position)
        add_needs(plan, [REPLAYED])

    def count_in(self, ready: Replay, *, no_cache: bool) -> None:
        """Adds the earlier outcomes and verdicts to those of the replay."""
        for outcome in self.outcomes:
            ready.sessions.tally.add(outcome)
        if self.lines:
            judge = watch(ready.ledger, judge=judge_of(no_cache=no_cache, model=False))
            for number, exchange in enumerate(capture.read(ready.log.path), 1):
                judge(replace(exchange, n=number))


def _was_not_sent(outcome: ExchangeOutcome) -> bool:
    """Whether nothing of an exchange reached the target: it is sent now, where it can be."""
    return outcome.state in NOT_SENT or outcome.reason.startswith(f"{NO_RESPONSE} ({NO_CONNECTION}")


def head_of_journal(files: Sequence[str | Path], profile: Profile, options: ReplayOptions) -> JournalHead:
    names = [f"{Path(file).absolute()} {Path(file).stat().st_size}" for file in files]
    return JournalHead(names, profile.portal.url, options.impact)


def earlier_part(head: JournalHead, options: ReplayOptions) -> EarlierPart:
    """The earlier part that a replay goes on with; an empty one where it begins anew. UsageError: as for
    ``entries_of``."""
    journal = options.out / JOURNAL
    if not options.resume:
        journal.unlink(missing_ok=True)
        return EarlierPart()
    lines = _whole_lines(options.out / "exchanges.jsonl")
    return EarlierPart(list(entries_of(journal, head, lines=lines)), lines)


def _whole_lines(path: Path) -> int:
    """The number of whole lines of a log; a last one that a crash cut off is removed."""
    if not path.exists():
        return 0
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        path.write_bytes(whole)
    return whole.count(b"\n")


def _same(plan: ReplayPlan, entry: JournalEntry) -> ExchangeOutcome:
    line = plan.line(entry.position)
    return ExchangeOutcome(plan.number_of(entry.position), State.SAME, line.endpoint, line=entry.line)
