"""Requests of a replay that change something: foreseen, noted before they are sent, lost for good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from conformance.replay.changes.reading import id_in
from conformance.replay.rebuild.actions import NoteChange
from conformance.replay.rebuild.factors import Client
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.plan import ReplayPlan
from conformance.report.model.words import listed, plural
from conformance.spec.endpoints import INVITE
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.restoring.ways import CREATIONS, NO_WAY_BACK, OF_A_RECORD, PASSWORDS, UNDO
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import ABSENT, Exchange, Json


def is_noted(key: str) -> bool:
    """Whether an operation changes what outlives the replay."""
    return key in UNDO or key in NO_WAY_BACK or key in PASSWORDS


def change_of(position: int, recorded: Exchange, rebuilt: Rebuilt, client: Client) -> NoteChange | None:
    """The change that a request is about to make; None where it makes none that outlives the replay."""
    operation = recorded.request.operation
    if operation is None or not is_noted(operation.key):
        return None
    request = rebuilt.request
    body = rebuilt.plain.request if rebuilt.plain is not None else request.body
    scheme, _, token = (request.header("authorization") or "").partition(" ")
    return NoteChange(
        position,
        operation.key,
        None if body is ABSENT else body,
        rebuilt.account,
        token or scheme or client.token,
        request.header("x-client-hash"),
        is_expected=recorded.success,
    )


def foreseen(plan: ReplayPlan, profile: Profile, accounts: Mapping[str, str]) -> Iterator[str]:
    """What a replay would send, and what it would omit. ``accounts`` are the profile's by recorded email."""
    wanted, sent = list(plan.wanted()), list(plan.sent())
    url = profile.portal.url
    yield f"{len(sent)} of {len(wanted)} requests of {plural(plan.sessions, 'client')} would go to {url}."
    operations: Counter[str] = Counter()
    for position in sent:
        operations[plan.endpoint(position)] += 1
    for key, times in sorted(operations.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{times:7} {key}"
    for why, times in Counter(
        plan.refused[position] for position in wanted if position in plan.refused
    ).most_common():
        yield f"{times:7} would not be sent: {why}."
    yield from changes_foreseen(plan)
    for email in plan.emails:
        name = f"[accounts.{accounts[email]}]" if email in accounts else "no account of the profile"
        yield f"        {email} signs in as {name}."


def changes_foreseen(plan: ReplayPlan) -> Iterator[str]:
    """Yields the changes that a replay would make: restored afterwards, or permanent with the reason."""
    changes = Counter(plan.changing[position] for position in _changing(plan))
    losses = Counter(plan.changing[position] for position in _losing(plan))
    for key, times in sorted((changes - losses).items()):
        own = "on records that the replay itself makes" if key in NO_WAY_BACK else "restored afterwards"
        yield f"{times:7} {key}: {own}{'; the mail that it sends stays' if key == INVITE else ''}."
    yield from losses_foreseen(plan)


def losses_foreseen(plan: ReplayPlan) -> Iterator[str]:
    """Yields the permanent changes of a replay, and why nothing restores them."""
    for key, times in sorted(Counter(plan.changing[position] for position in _losing(plan)).items()):
        yield f"{times:7} {key}: cannot be restored: {NO_WAY_BACK[key]}."


def _changing(plan: ReplayPlan) -> Iterator[int]:
    """The positions of what would be sent and changes something that outlives the replay."""
    return (at for at in plan.sent() if is_noted(plan.changing.get(at, "")))


def _losing(plan: ReplayPlan) -> Iterator[int]:
    """Positions of permanent changes, without changes to records that the recording created."""
    for position in _changing(plan):
        key = plan.changing[position]
        if key in NO_WAY_BACK and not (key in OF_A_RECORD and _is_own(plan, position)):
            yield position


def _is_own(plan: ReplayPlan, position: int) -> bool:
    """Whether a request is about a record that another request of the recording created, whatever the name
    of its id."""
    sent = plan.exchange(position).sent
    named = id_in(sent)
    values = sent.values() if named is None and isinstance(sent, dict) else [named]
    sources = (plan.sources.get(value) for value in values if isinstance(value, str))
    return any(source is not None and plan.changing.get(source) in CREATIONS for source in sources)


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
