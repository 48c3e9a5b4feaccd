"""Journal of a replay on disk: outcomes of exchanges, from which an interrupted replay resumes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

import msgspec
from msgspec.structs import replace as with_fields

from conformance.errors import UsageError
from conformance.judging import judge_of, watch
from conformance.replay.assembly import Replay
from conformance.replay.compare.outcome import NO_RESPONSE, Difference, ExchangeOutcome, State
from conformance.replay.engine.step import ReplayStep
from conformance.replay.options import ReplayOptions
from conformance.replay.recording.needs import add_needs
from conformance.replay.recording.plan import REPLAYED, ReplayPlan
from conformance.target.http1 import NO_CONNECTION
from conformance.target.profile.model import Profile
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import for_its_owner

JOURNAL = "replayed.jsonl"
"""The journal's name in the folder of the reports; it is removed when a replay has ended."""

_ENCODE = msgspec.json.Encoder().encode


class JournalHead(msgspec.Struct):
    """Recordings, target and impact of a replay, which a resumed replay must share."""

    recordings: list[str]
    target: str
    impact: str = ""


class JournalEntry(msgspec.Struct, omit_defaults=True):
    """A finished exchange. ``outcome`` is None if both responses were equal; ``line`` is the live exchange's
    line in the log."""

    position: int
    line: int | None = None
    outcome: ExchangeOutcome | None = None


@dataclass
class ReplayJournal:
    """Appends entries, and has them written by ``flush``: after the log's lines that they name.

    It exists from ``begin`` on, which comes before the first request: a replay that is killed then can go on.
    """

    path: Path
    head: JournalHead
    secrets: Secrets

    def __post_init__(self) -> None:
        self._waiting: list[str] = []
        self._file: TextIO | None = None

    def add(self, step: ReplayStep) -> None:
        outcome = step.outcome
        if outcome.state is State.SAME:
            self._waiting.append(f'{{"position":{step.position},"line":{outcome.line}}}\n')
        else:
            self._waiting.append(self._text(step.position, outcome))

    def begin(self) -> TextIO:
        if self._file is not None:
            return self._file
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        if not is_new:
            _whole_lines(self.path)
        self._file = open(self.path, "a", encoding="utf-8", opener=for_its_owner)  # noqa: SIM115
        if is_new:
            self._file.write(_ENCODE(self.head).decode() + "\n")
            self._file.flush()
        return self._file

    def flush(self) -> None:
        if not self._waiting:
            return
        file = self.begin()
        waiting, self._waiting = self._waiting, []  # what a full disk does not take is sent again
        file.writelines(waiting)
        file.flush()

    def remove(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        self.path.unlink(missing_ok=True)

    def _text(self, position: int, outcome: ExchangeOutcome) -> str:
        plain = with_fields(outcome, differences=tuple(map(_plain, outcome.differences)))
        text = _ENCODE(JournalEntry(position, outcome.line, plain)).decode()
        return self.secrets.redact_line(text) + "\n"


def _plain(difference: Difference) -> Difference:
    recorded, replayed = (
        None if value is ABSENT else value for value in (difference.recorded, difference.replayed)
    )
    return replace(difference, recorded=recorded, replayed=replayed)


def entries_of(path: Path, head: JournalHead, *, lines: int) -> Iterator[JournalEntry]:
    """Journal entries whose lines are among the log's first ``lines``. UsageError: the journal is missing, or
    belongs to another replay."""
    try:
        *whole, _cut = path.read_bytes().split(b"\n")
    except OSError:
        raise UsageError(f"{path.parent}: there is no replay to resume. Leave out --resume.") from None
    before = _decoded(whole[0], JournalHead) if whole else None
    if not isinstance(before, JournalHead) or with_fields(before, impact=head.impact) != head:
        raise UsageError(f"{path}: this journal is of another recording or target. Choose another --out.")
    if before.impact not in ("", head.impact):
        raise UsageError(
            f"{path}: the interrupted replay had --impact {before.impact}, and this one has {head.impact}. "
            f"Resume it with --impact {before.impact}, or choose another --out."
        )
    for line in whole[1:]:
        entry = _decoded(line, JournalEntry)
        if isinstance(entry, JournalEntry) and (entry.line is None or entry.line <= lines):
            yield entry


def _decoded(line: bytes, kind: type[msgspec.Struct]) -> Json:
    """None where the line is none of this kind."""
    try:
        return msgspec.json.decode(line, type=kind)
    except ValueError:
        return None


NOT_SENT = frozenset({State.SKIPPED, State.UNWANTED, State.NOT_REPLAYABLE})


@dataclass(frozen=True)
class EarlierPart:
    """What the earlier part of a replay did: its entries, and the number of lines of its log."""

    entries: Sequence[JournalEntry] = ()
    lines: int = 0
    outcomes: list[ExchangeOutcome] = field(default_factory=list)

    def omit_from(self, plan: ReplayPlan) -> None:
        """Limits the plan to unfinished exchanges and the exchanges that these need."""
        if not self.entries:
            return
        for entry in self.entries:
            if entry.outcome is not None and _was_not_sent(entry.outcome):
                continue
            self.outcomes.append(entry.outcome or _same(plan, entry))
            plan.refused[entry.position] = REPLAYED
            plan.counted.add(entry.position)
        add_needs(plan, [REPLAYED])

    def count_in(self, ready: Replay, options: ReplayOptions) -> None:
        for outcome in self.outcomes:
            ready.tally.add(outcome)
        if self.lines:
            judging = judge_of(no_cache=not options.cache, model=False, own=options.own.checks)
            judge = watch(ready.ledger, judge=judging)
            for number, exchange in enumerate(capture.read(ready.log.path), 1):
                judge(with_fields(exchange, n=number))


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
    """The number of whole lines of a file; a last one that a crash cut off is removed."""
    if not path.exists():
        return 0
    text = path.read_bytes()
    end = text.rfind(b"\n") + 1
    if end < len(text):
        os.truncate(path, end)
    return text.count(b"\n")


def _same(plan: ReplayPlan, entry: JournalEntry) -> ExchangeOutcome:
    number, endpoint = plan.number_of(entry.position), plan.endpoint(entry.position)
    return ExchangeOutcome(number, State.SAME, endpoint, line=entry.line)
