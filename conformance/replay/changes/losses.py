"""What a replay changes for good: noted before it is sent, counted once the target has accepted it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from conformance.replay.rebuild.actions import NoteChange
from conformance.report.model.words import listed
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.restoring.ways import NO_WAY_BACK
from conformance.traffic.exchange import Exchange, Json


class Losses:
    """``value`` gives the new value of a change where nobody else has it: a secret that the replay sets."""

    def __init__(self, ledger: ChangeLedger, value: Callable[[NoteChange], Json]) -> None:
        self._ledger = ledger
        self._value = value
        self._sent: dict[int, tuple[NoteChange, str]] = {}
        """By position, a loss whose request is on its way."""
        self._counted: Counter[tuple[str, str, str]] = Counter()
        """By operation, reason and account."""
        self.refused = 0
        """Losses that were written down before the target refused them."""
        self._valued: set[str] = set()
        """The operations whose new value stands in the ledger."""

    def note(self, change: NoteChange, reason: str) -> None:
        """Notes what is not restored; what the recorded portal refused, only once the target accepts it."""
        self._sent[change.position] = change, reason
        if change.is_expected:
            self._write(change, reason)

    def finish(self, position: int, live: Exchange) -> None:
        """Takes the response: what was refused is no loss. Without one nobody knows."""
        sent = self._sent.pop(position, None)
        if sent is None:
            return
        change, reason = sent
        if not live.success and live.response is not None:
            self.refused += change.is_expected
            return
        if not change.is_expected:
            self._write(change, reason)
        self._counted[change.key, reason, change.account or ""] += 1

    def _write(self, change: NoteChange, reason: str) -> None:
        value = self._value(change)
        if value is not None:
            self._valued.add(change.key)
        self._ledger.leave(change.key, reason, value, account=change.account or "")

    def unforeseen(self) -> Iterator[str]:
        """Yields losses that the plan did not announce, as sentences without an end."""
        for key, reason, account in sorted(self._counted):
            if not _is_foreseen(key, reason):
                yield f"what {key} changed{f' for [accounts.{account}]' if account else ''}: {reason}"

    def notes(self) -> Iterator[str]:
        for key, reason in sorted({(key, reason) for key, reason, _ in self._counted}):
            if _is_foreseen(key, reason):
                of = {
                    account: times
                    for (*rest, account), times in self._counted.items()
                    if rest == [key, reason]
                }
                accounts = listed(f"[accounts.{account}]" for account in sorted(of) if account)
                whose = f" ({accounts})" if accounts else ""
                values = f" The values are in {self._ledger.path}." if key in self._valued else ""
                yield f"Not restored, {sum(of.values())} times {key}: {reason}{whose}.{values}"


def _is_foreseen(key: str, reason: str) -> bool:
    """Tells whether the plan names a loss before the replay sends anything."""
    return NO_WAY_BACK.get(key) == reason
