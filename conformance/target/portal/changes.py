"""What a run changes at the target, written down before it happens, so that it can be put back."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import msgspec

from conformance.errors import CannotSignIn, LedgerError, Untestable
from conformance.spec.endpoints import (
    CHANNEL_CREATE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    CURRENCY_GRANT,
    CURRENCY_GRANTS,
    INVITATIONS,
    INVITE,
    PASSWORD_CHANGE,
)
from conformance.spec.operations import operation
from conformance.spec.requests import UNFILTERED
from conformance.spec.tables import RECORD_UNKNOWN
from conformance.target.clock import Clock
from conformance.target.portal.login import refusal
from conformance.target.portal.records import records_in
from conformance.traffic.exchange import ABSENT, Json, dig, steps
from conformance.traffic.redaction.redact import Secrets

if TYPE_CHECKING:
    from conformance.target.portal import Portal

Kind = Literal["creating", "changing", "password"]


LISTED_BY = {
    CHANNEL_CREATE: (CHANNELS_QUERY, "data.items"),
    CHANNEL_TYPE_CREATE: (CHANNEL_TYPES_QUERY, "data.items"),
    INVITE: (INVITATIONS, "data"),
    CURRENCY_GRANT: (CURRENCY_GRANTS, "data"),
}
"""Where a record stands whose id its creation did not tell, or that was made just before a crash."""


@dataclass(frozen=True)
class Change:
    """One thing to put back. ``name`` is found again in a listing; ``result`` is the created record's id;
    ``number`` says which of the run's passwords was set."""

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


@dataclass(frozen=True)
class Left:
    """What could not be put back, and why."""

    change: Change
    reason: str

    def __str__(self) -> str:
        what = {
            "creating": f"{self.change.result or self.change.name or 'a record'}, made by {self.change.key}",
            "changing": f"what {self.change.key} changed",
            "password": f"the password of [accounts.{self.change.account}]",
        }[self.change.kind]
        return f"{what}: {self.reason}"


class ChangeLedger:
    """Append-only, a line for each step, on the disk before the request is sent. It holds no secret.

    Without a path it is kept in memory only. The file appears with the first change. What an earlier run left
    in it stays in it. Raises LedgerError where that was at another target.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        run_id: str = "",
        clock: Clock | None = None,
        target: str = "",
        secrets: Secrets | None = None,
    ) -> None:
        self.path = path
        self.run_id = run_id
        self.target = target
        self._clock = clock
        self._secrets = secrets or Secrets()
        self._lock = threading.RLock()
        self._file: IO[str] | None = None
        self._cut = 0
        self._changes: dict[int, Change] = {}
        self._undone: set[int] = set()
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
        """Starts the file anew where nothing in it is pending, else leaves that to be put back."""
        self._read(path)
        if not self.pending:
            self._changes.clear()
            self._undone.clear()
            self._cut = 0
            path.unlink()
        elif self.target != target:
            raise LedgerError(
                f"{path}: an earlier run left changes at {self.target} that are not put back yet. "
                f"`portal-conformance cleanup {path}` does that."
            )
        self.run_id, self.target = run_id, target

    def _read(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise LedgerError(f"{path}: cannot be read ({problem}).") from None
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError):
                # A crash may cut the last line: then its request was never sent.
                if number == len(lines) and not text.endswith("\n"):
                    self._cut = len(line.encode())
                    break
                raise LedgerError(f"{path}, line {number}: this is not a ledger of changes.") from None

    @property
    def pending(self) -> list[Change]:
        """What is still to be put back, the latest first."""
        with self._lock:
            return [
                change for id, change in sorted(self._changes.items(), reverse=True) if id not in self._undone
            ]

    def creating(
        self,
        key: str,
        undo_key: str,
        undo_body: Json = None,
        *,
        name: str | None = None,
        account: str = "admin",
    ) -> int:
        """Notes that a record is about to be made; ``name`` is the text in it that begins with the run's id.

        ``undo_body`` may hold ``{result_id}``; without one the profile's is used, else the record's
        ``bizId``. Gives the id to hand to ``created`` and ``undone``.
        """
        return self._note(Change(0, "creating", key, account, undo_key, undo_body, name))

    def created(self, id: int, result_id: str) -> None:
        """Notes the id of the record that was made."""
        with self._lock:
            self._write({"event": "created", "id": id, "result": result_id})
            self._changes[id] = replace(self._changes[id], result=result_id)

    def changed(self, key: str, undo_key: str, undo_body: Json = ABSENT, *, account: str = "admin") -> int:
        """Notes, before it is sent, a change that ``undo_key`` with ``undo_body`` puts back."""
        return self._note(
            Change(0, "changing", key, account, undo_key, None if undo_body is ABSENT else undo_body)
        )

    def changing_password(self, account: str, number: int, key: str = PASSWORD_CHANGE) -> int:
        """Notes that an account gets the run's password of this number (``Account.next_password``)."""
        return self._note(Change(0, "password", key, account, number=number))

    def undone(self, id: int) -> None:
        """Notes that a change was put back, or never took place."""
        with self._lock:
            if id not in self._undone:
                self._write({"event": "undone", "id": id})
                self._undone.add(id)

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def _note(self, change: Change) -> int:
        if self._secrets.redact_json(change.undo_body) != change.undo_body:
            raise Untestable(f"{change.key} could not be undone without writing down a secret")
        with self._lock:
            change = replace(change, id=len(self._changes) + 1, run=self.run_id)
            row = {name: value for name, value in vars(change).items() if value not in (None, "")}
            self._write({"event": "change", **row, "at": self._clock.iso() if self._clock else ""})
            self._changes[change.id] = change
            return change.id

    def _write(self, row: Json) -> None:
        if self.path is None:
            return
        try:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self._cut:
                    os.truncate(self.path, self.path.stat().st_size - self._cut)
                self._file = self.path.open("a", encoding="utf-8")
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
            fields = {name: row[name] for name in Change.__dataclass_fields__ if name in row}
            self._changes[row["id"]] = _change_of(fields)
        elif event == "created":
            self._changes[row["id"]] = replace(self._changes[row["id"]], result=row["result"])
        elif event == "undone":
            self._undone.add(row["id"])


def _change_of(fields: dict[str, Json]) -> Change:
    """A change as a ledger holds it. ValueError: a field is of another type. KeyError: no such endpoint."""
    change = msgspec.convert(fields, Change)
    operation(change.key)
    if change.kind != "password":
        operation(change.undo_key)
    return change


def restore(portal: Portal, ledger: ChangeLedger, *, run: str | None = None) -> list[Left]:
    """Puts back whatever is pending (of one run, where ``run`` names it), the latest change first.

    What could not be put back is given back, with the reason. Raises LedgerError where the changes were made
    at another target, and nothing is sent.

    Raises TargetUnreachable: then everything that is pending stays so.
    """
    if run is None and ledger.target not in ("", portal.url):
        raise LedgerError(
            f"{ledger.path}: these changes were made at {ledger.target}, "
            f"and the profile leads to {portal.url}. Nothing was sent."
        )
    return list(_restored(portal, ledger, run))


def _restored(portal: Portal, ledger: ChangeLedger, run: str | None) -> Iterator[Left]:
    for change in ledger.pending:
        if change not in ledger.pending or run not in (None, change.run):
            continue
        try:
            reason = _put_back(portal, ledger, change)
        except Untestable as problem:
            reason = problem.reason
        if reason is None:
            ledger.undone(change.id)
        else:
            yield Left(change, reason)


def _put_back(portal: Portal, ledger: ChangeLedger, change: Change) -> str | None:
    """None where it is as it was, else why not."""
    if change.kind == "password":
        return _password_put_back(portal, ledger, change)
    result = change.result
    if change.kind == "creating" and result is None:
        result = _found_again(portal, change)
        if result is None:
            return None
    answer = portal.call(
        change.undo_key, json=_undo_body(portal, change, result), token=portal.account(change.account).token
    )
    gone = change.kind == "creating" and (answer.status == 404 or answer.code in RECORD_UNKNOWN)
    return None if answer.success or gone else f"{change.undo_key} was refused: {refusal(answer)}"


def _undo_body(portal: Portal, change: Change, result: str | None) -> Json:
    if operation(change.undo_key).request is None:
        return ABSENT
    if change.undo_body is not None:
        return _with_result(change.undo_body, result)
    try:
        return portal.operation_body(change.undo_key, **({} if result is None else {"result_id": result}))
    except Untestable:
        if result is None:
            raise
        return {"bizId": result}


def _with_result(body: Json, result: str | None) -> Json:
    if isinstance(body, dict):
        return {name: _with_result(inner, result) for name, inner in body.items()}
    if isinstance(body, list):
        return [_with_result(inner, result) for inner in body]
    return result if body == "{result_id}" else body


def _found_again(portal: Portal, change: Change) -> str | None:
    """The id of a record that may or may not have been made. Raises Untestable where nothing tells."""
    listing = LISTED_BY.get(change.key)
    if listing is None or change.name is None:
        raise Untestable("it is not known whether it was made, and no listing shows it")
    key, items = listing
    answer = portal.call(key, json=UNFILTERED.get(key, ABSENT), token=portal.account(change.account).token)
    if not answer.success:
        raise Untestable(f"{key} was refused: {refusal(answer)}", "target")
    for record in records_in(dig(answer.envelope, steps(items))):
        if any(isinstance(value, str) and change.name in value for value in record.values()):
            id = record.get("bizId")
            if isinstance(id, str):
                return id
    return None


def _password_put_back(portal: Portal, ledger: ChangeLedger, change: Change) -> str | None:
    """Signs in with whichever of the passwords holds, and changes it to the profile's own."""
    account = portal.account(change.account)
    own = account.profile_password
    set_by_run = account.password_of(change.run or ledger.run_id, change.number)
    current = account.password if change.run == portal.run_id else None
    for password in [current] if current is not None else [set_by_run, own]:
        try:
            session = account.sign_in_with(password)
        except CannotSignIn as problem:
            reason = problem.reason
            continue
        if password == own:
            return None
        body = portal.operation_body(
            PASSWORD_CHANGE, email=account.email, password=password, new_password=own
        )
        answer = portal.secure.post(PASSWORD_CHANGE, body, token=session.token)
        if not answer.success:
            return f"{PASSWORD_CHANGE} was refused: {refusal(answer)}"
        account.password_changed_to(own)
        for other in ledger.pending:
            if other.kind == "password" and other.account == change.account and other.id != change.id:
                ledger.undone(other.id)
        return None
    return reason
