"""The ledger of changes: whatever a run changes is written down first, so that it can be restored."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from operator import add
from pathlib import Path
from typing import IO, Literal

import msgspec

from conformance.errors import LedgerError, Untestable
from conformance.spec.endpoints import INVITE, PASSWORD_CHANGE
from conformance.spec.operations import operation
from conformance.target.clock import Clock
from conformance.target.portal.records import own_id
from conformance.target.portal.restoring.ways import undo_key
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import for_its_owner

Kind = Literal["creating", "changing", "password"]

WRITTEN_OUT = "backslashreplace"
"""What no encoding can carry, half of a surrogate pair, becomes the escape that JSON has for it."""

LEDGER = "changes.jsonl"
"""The ledger's name in the folder of a run's reports."""


@dataclass(frozen=True)
class TargetChange:
    """One change to restore. ``name`` is what a listing shows; ``result`` is the created record's id, ``ids``
    are texts of the answer that may be it; ``number`` says which of the run's passwords was set."""

    id: int
    kind: Kind
    key: str
    account: str
    undo_key: str = ""
    undo_body: Json = None
    name: str | None = None
    result: str | None = None
    number: int = 0
    run: str = ""
    ids: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        return {
            "creating": f"{self.result or self.name or 'a record'}, made by {self.key}",
            "changing": f"what {self.key} changed for [accounts.{self.account}]",
            "password": f"the password of [accounts.{self.account}]",
        }[self.kind]


@dataclass(frozen=True)
class LeftValue:
    """A change that nothing restores, whose new value stands in the ledger: a secret that the suite set or
    was issued."""

    key: str
    reason: str
    target: str

    def sentence(self, path: Path | None) -> str:
        return (
            f"{self.key} at {self.target}: {self.reason}. The new value is in {path}, which only you may read"
        )


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """How many changes a run attempted, how many the target accepted, how many of these were restored, and
    how many nothing restores."""

    attempted: int
    accepted: int
    restored: int
    staying: int = 0

    def __add__(self, other: ChangeCounts) -> ChangeCounts:
        return ChangeCounts(*map(add, astuple(self), astuple(other)))


class Originals:
    """What the fields of a record were before the run first changed them. A portal may show a write late:
    then what is read before the next change is a value of the run's own, and nothing to be restored."""

    def __init__(self) -> None:
        self._sent: dict[str, dict[str, list[Json]]] = {}
        self._first: dict[Json, dict[str, Json]] = {}

    def note(self, exchange: Exchange) -> None:
        operation, sent = exchange.request.operation, exchange.sent
        if operation is None or operation.key not in self._sent or not isinstance(sent, dict):
            return
        for name, value in sent.items():
            values = self._sent[operation.key].setdefault(name, [])
            if value not in values:
                values.append(value)
                del values[:-VALUES_KEPT]

    def of(self, key: str, shown: Json, *, account: str) -> Json:
        """The body that restores a record, by the one that is ``shown`` before a change by ``key``."""
        if not isinstance(shown, dict):
            return shown
        sent = self._sent.setdefault(key, {})
        record = (key, account, *(value for name, value in shown.items() if name.endswith("Id")))
        first = self._first.setdefault(str(record), {})
        for name, value in shown.items():
            if name not in first or value not in sent.get(name, ()):
                first[name] = value
        return {name: first[name] for name in shown}


VALUES_KEPT = 50


class ChangeLedger:
    """Append-only, a line for each step, on the disk before the request is sent. It holds no secret. Where
    the disk is full, what was restored may stand there as pending: to restore it again does no harm.

    ``check_way_back`` raises Untestable where a change could not be restored: then it is not made.
    ``result_ids`` say by endpoint where its answer has the id of what it made, where that is known.
    Without a path it is kept in memory only. The file appears with the first change. What an earlier run left
    in it stays in it: changes that are pending, and values that nothing restores until they were reported.
    Raises LedgerError where changes are pending at another target.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        run_id: str = "",
        clock: Clock | None = None,
        target: str = "",
        secrets: Secrets | None = None,
        check_way_back: Callable[[TargetChange], None] = lambda change: None,
        result_ids: Mapping[str, str | None] | None = None,
    ) -> None:
        self.path = path
        self._check_way_back = check_way_back
        self._result_ids = result_ids or {}
        self.run_id = run_id
        self.target = target
        self._clock = clock
        self._secrets = secrets or Secrets()
        self._lock = threading.RLock()
        self._file: IO[str] | None = None
        self._cut = 0
        self._changes: dict[int, TargetChange] = {}
        self._undone: set[int] = set()
        self._left: list[LeftValue] = []
        self._accepted: set[int] = set()
        self._not_taken_away: dict[str, str] = {}
        self._stays: set[int] = set()
        self._unrestorable: list[str] = []
        self._requests: Counter[str] | None = None
        self._requests_before: dict[int, int] = {}
        self.originals = Originals()
        if path is not None and path.exists():
            self._go_on(path, run_id, target)

    @classmethod
    def read(cls, path: Path) -> ChangeLedger:
        """A ledger that a run left; what is undone from now on is appended to it. Raises LedgerError."""
        ledger = cls()
        ledger._read(path)
        ledger.path = path
        return ledger

    def _go_on(self, path: Path, run_id: str, target: str) -> None:
        """Starts the file anew where nothing in it is pending or left, else keeps it."""
        self._read(path)
        if not self.pending and not self._left:
            self._changes.clear()
            self._undone.clear()
            self._accepted.clear()
            self._stays.clear()
            self._cut = 0
            path.unlink()
        elif self.pending and self.target != target:
            raise LedgerError(
                f"{path}: an earlier run left changes at {self.target} that are not restored yet. "
                f"`portal-conformance cleanup {path}` does that."
            )
        self.run_id, self.target = run_id, target

    def _read(self, path: Path) -> None:
        try:
            *whole, last = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise LedgerError(
                f"{path}: there is no such file. A run that changes nothing writes none."
            ) from None
        except OSError as problem:
            raise LedgerError(
                f"{path}: cannot be read ({(problem.strerror or str(problem)).lower()}). Check the path."
            ) from None
        for number, line in enumerate([*whole, last] if last else whole, 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError):
                # A crash may cut the last line: then its request was never sent.
                if number > len(whole):
                    self._cut = len(line)
                    break
                raise LedgerError(
                    f"{path}, line {number}: this is not a ledger of changes. Name the "
                    "changes.jsonl of a run."
                ) from None

    @property
    def pending(self) -> list[TargetChange]:
        """The changes that are still to be restored, the latest first."""
        with self._lock:
            ids = self._changes.keys() - self._undone - self._stays
            return [self._changes[id] for id in sorted(ids, reverse=True)]

    @property
    def own_pending(self) -> list[TargetChange]:
        """The changes of this run that are still to be restored, the latest first."""
        return [change for change in self.pending if change.run == self.run_id]

    @property
    def left(self) -> list[LeftValue]:
        """What nothing restores and was not reported yet, the earliest first."""
        return list(self._left)

    @property
    def restored(self) -> list[TargetChange]:
        """The changes of this run that the target accepted and that were restored, the earliest first."""
        with self._lock:
            changes = [self._changes[id] for id in sorted(self._accepted & self._undone)]
        return [change for change in changes if change.run == self.run_id]

    @property
    def traces(self) -> Iterator[str]:
        """Sentences on what changes of this run leave to be seen, although they are restored."""
        restored = self.restored
        count = sum(change.key == INVITE for change in restored)
        if count:
            yield f"Invitations made and cancelled, which lists may still show: {count}."
        if len(restored) > count:
            yield "Records that were changed and changed back may show a newer updatedAt."

    @property
    def results(self) -> frozenset[str]:
        """The ids of the records that were created, as far as their creation returned them."""
        with self._lock:
            return frozenset(change.result for change in self._changes.values() if change.result)

    @property
    def taken_back(self) -> frozenset[str]:
        """The ids of those that were taken away again: a listing may show them for a while."""
        with self._lock:
            changes = [self._changes[id] for id in self._undone]
        return frozenset(change.result for change in changes if change.result)

    @property
    def counts(self) -> ChangeCounts:
        """The changes of this run. A refused one is none; a password counts once until it is restored."""
        with self._lock:
            own = {id for id, change in self._changes.items() if change.run == self.run_id}
            others = len(self._unrestorable) - len(own & self._stays)
            return ChangeCounts(
                len(own) + others,
                len((self._accepted | self._stays) & own) + others,
                len(self._accepted & own & self._undone),
                len(self._unrestorable),
            )

    @property
    def unrestorable(self) -> list[str]:
        """What this run changed that nothing restores, each reason once, with how often."""
        with self._lock:
            times = Counter(self._unrestorable)
        return [reason if count == 1 else f"{reason} ({count} times)" for reason, count in times.items()]

    def follow_requests(self) -> None:
        """From now on ``sends`` is called before each request, and what was not asked for is known."""
        self._requests = Counter()

    def sends(self, key: str) -> None:
        """Takes note that a request is about to be sent."""
        if self._requests is not None:
            self._requests[key] += 1

    def turned_away(self, key: str) -> None:
        """Takes note that a rate limit turned a request away, so that nothing was done by it."""
        if self._requests is not None:
            self._requests[key] -= 1

    def is_unsent(self, id: int) -> bool:
        """Whether a change was certainly not asked for, or turned away by a rate limit: there is nothing to
        restore. False where requests are not followed."""
        with self._lock:
            change = self._changes[id]
            if self._requests is None or id in self._accepted or change.result is not None:
                return False
            return self._requests_before.get(id) == self._requests[change.key]

    def notice(self, exchange: Exchange) -> None:
        """Remembers that the target accepted a change, where an exchange shows it."""
        operation = exchange.request.operation
        if operation is None or not exchange.success:
            return
        with self._lock:
            self.originals.note(exchange)
            pending = [change for change in self.own_pending if change.key == operation.key]
            is_changed = any(change.id in self._accepted for change in pending if change.kind == "password")
            waiting = [change.id for change in pending if change.id not in self._accepted]
            if waiting and not is_changed:
                path = self._result_ids.get(operation.key)
                self.accepted(waiting[0], exchange.data, result=exchange.at(path) if path else None)

    def accepted(self, id: int, data: Json = None, *, result: Json = None) -> None:
        """Notes that the target accepted a change. Of a record whose id is not known yet it is written down:
        it was made, even where no listing shows it. ``data`` is what the target answered, and ``result`` what
        stands where the id is known to stand."""
        with self._lock:
            self._accepted.add(id)
            change = self._changes[id]
            if change.kind == "creating" and change.result is None:
                id_shown = result if isinstance(result, str) and result else own_id(data, name=change.name)
                ids = [] if id_shown is None or self._secrets.redact(id_shown) != id_shown else [id_shown]
                self._changes[id] = replace(change, ids=tuple(ids))
                self._write_if_possible({"event": "accepted", "id": id, "ids": ids})

    def is_accepted(self, id: int) -> bool:
        with self._lock:
            return id in self._accepted

    def creating(
        self,
        key: str,
        undo_body: Json = None,
        *,
        name: str | None = None,
        account: str = "admin",
    ) -> int:
        """Notes that a record is about to be made; ``name`` is the text in it that begins with the run's id.

        ``undo_body`` may hold ``{result_id}``; without one the profile's is used, else the record's
        ``bizId``. Gives the id to hand to ``created`` and ``undone``.
        """
        return self._note(TargetChange(0, "creating", key, account, undo_key(key), undo_body, name))

    def created(self, id: int, result_id: str) -> None:
        with self._lock:
            self._changes[id] = replace(self._changes[id], result=result_id)
            self._write({"event": "created", "id": id, "result": result_id})

    def changed(self, key: str, undo_body: Json = ABSENT, *, account: str = "admin") -> int:
        """Notes, before it is sent, a change that its way back with ``undo_body`` restores."""
        body = None if undo_body is ABSENT else undo_body
        return self._note(TargetChange(0, "changing", key, account, undo_key(key), body))

    def changing_password(self, account: str, number: int, key: str = PASSWORD_CHANGE) -> int:
        """Notes that an account gets the run's password of this number (``Account.next_password``)."""
        return self._note(TargetChange(0, "password", key, account, number=number))

    def undone(self, id: int) -> None:
        """Notes that a change was restored, or never took place."""
        with self._lock:
            if id not in self._undone:
                self._undone.add(id)
                self._write_if_possible({"event": "undone", "id": id})
                if self._clock is not None and not self.own_pending:
                    self._clock.release()

    def not_restored(self, id: int, reason: str, present: Json = None) -> bool:
        """Notes that a change could not be restored. ``present`` is the value there now, where the suite made
        it: a secret, in a file that only its owner may read. Whether that could be written."""
        with self._lock:
            change = self._changes[id]
            if change.kind == "creating" and change.result is None:
                self._not_taken_away[change.key] = reason
            row = {"event": "not restored", "id": id, "reason": self._secrets.redact(reason)}
            return self._write_if_possible(row if present is None else {**row, "present": present})

    def stays(self, id: int, reason: str) -> None:
        """Notes that nothing restores a change any more: an invitation was answered, say."""
        with self._lock:
            if id not in self._undone | self._stays:
                self._stays.add(id)
                self._unrestorable.append(reason)
                row = {"event": "left", "id": id, "key": self._changes[id].key, "reason": reason}
                self._write_if_possible(row)

    def is_left(self, key: str, *, account: str) -> bool:
        """Whether a change by an endpoint stays, although its undoing was accepted."""
        with self._lock:
            stays = [self._changes[id] for id in self._stays]
        return any((change.key, change.account) == (key, account) for change in stays)

    def leave(self, key: str, reason: str, present: Json = None, *, account: str = "") -> None:
        """Notes a change that nothing restores. ``present``: as for ``not_restored``."""
        with self._lock:
            row = {"event": "left", "key": key, "reason": self._secrets.redact(reason)}
            self._unrestorable.append(row["reason"])
            row |= {"account": account} if account else {}
            self._write(row if present is None else {**row, "present": present})
            if present is not None:
                self._left.append(LeftValue(key, row["reason"], self.target))

    def reported(self) -> None:
        """Notes that the user was shown what is left: the next run may start the file anew."""
        with self._lock:
            if self._left:
                self._write({"event": "reported"})
                self._left.clear()

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                with suppress(OSError):  # each line was written before, if it could be
                    self._file.close()
                self._file = None

    def _note(self, change: TargetChange) -> int:
        if change.kind == "creating" and (reason := self._not_taken_away.get(change.key)) is not None:
            raise Untestable(
                f"nothing more is created, as an earlier record could not be removed: {reason}", "target"
            )
        self._check_way_back(change)
        if self._secrets.redact_json(change.undo_body) != change.undo_body:
            raise Untestable(
                f"{change.key} is not sent: what restores it holds a secret, which no file may have"
            )
        with self._lock:
            change = replace(change, id=len(self._changes) + 1, run=self.run_id)
            row = {name: value for name, value in vars(change).items() if value not in (None, "", ())}
            self._write({"event": "change", **row, "at": self._clock.iso() if self._clock else ""})
            self._changes[change.id] = change
            if self._requests is not None and change.kind != "password":
                self._requests_before[change.id] = self._requests[change.key]
            return change.id

    def _write_if_possible(self, row: Json) -> bool:
        """Writes what no request waits for: a full disk keeps no other change from being restored."""
        try:
            self._write(row)
        except LedgerError:
            return False
        return True

    def _write(self, row: Json) -> None:
        if self.path is None:
            return
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self._cut:
                    os.truncate(self.path, self.path.stat().st_size - self._cut)
                self._file = open(  # noqa: SIM115 (closed by `close`)
                    self.path, "a", encoding="utf-8", errors=WRITTEN_OUT, opener=for_its_owner
                )
                if self.target:
                    self._file.write(
                        json.dumps({"event": "run", "run": self.run_id, "target": self.target}) + "\n"
                    )
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise LedgerError(f"{self.path}: cannot be written ({problem}). Nothing was changed.") from None

    def _take(self, row: Json) -> None:
        event = row["event"]
        if event == "run":
            self.run_id, self.target = row["run"], row["target"]
        elif event == "change":
            fields = {name: row[name] for name in TargetChange.__dataclass_fields__ if name in row}
            self._changes[row["id"]] = _change_of(fields)
        elif event == "created":
            self._changes[row["id"]] = replace(self._changes[row["id"]], result=row["result"])
        elif event == "accepted":
            self._accepted.add(row["id"])
            ids = msgspec.convert(row["ids"], tuple[str, ...])
            self._changes[row["id"]] = replace(self._changes[row["id"]], ids=ids)
        elif event == "undone":
            self._undone.add(row["id"])
        elif event == "left":
            self._take_left(row)
        elif event == "reported":
            self._left.clear()

    def _take_left(self, row: dict[str, Json]) -> None:
        if "id" in row:
            self._stays.add(row["id"])
        elif row.get("present") is not None:
            self._left.append(LeftValue(row["key"], row["reason"], self.target))


def _change_of(fields: dict[str, Json]) -> TargetChange:
    """A change as a ledger holds it. ValueError: a field is of another type. KeyError: no such endpoint."""
    change = msgspec.convert(fields, TargetChange)
    operation(change.key)
    if change.kind != "password":
        operation(change.undo_key)
    return change
