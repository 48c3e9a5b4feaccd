"""The changes of a replay: in the ledger before they are sent, restored once the replay is over."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.errors import NoAnswer, TargetUnreachable, Untestable
from conformance.replay.changes.reading import body_before, id_of, is_named, new_name, record_before
from conformance.replay.changes.sent import Losses
from conformance.replay.rebuild.actions import NoteChange
from conformance.report.model.words import listed, plural
from conformance.spec.endpoints import ACCOUNT_PASSWORD_RESET, INVITATION_ACCEPT, OTP_SETUP, OTP_VERIFY
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER, ChangeCounts, ChangeLedger
from conformance.target.portal.restoring.made import told_id
from conformance.target.portal.restoring.read_back import shown_otherwise
from conformance.target.portal.restoring.restore import cleanup_command, pending_in_words, restore
from conformance.target.portal.restoring.ways import (
    CREATIONS,
    NO_WAY_BACK,
    PASSWORDS,
    REMOVALS,
    UNDO,
    CreationUndo,
    FieldsUndo,
    SwitchUndo,
)
from conformance.traffic.exchange import Exchange, Json, dig, steps

FOREIGN = 0
"""The number of a password that the replay did not make: no clean-up can make it again, so that it stands in
the ledger once the target has accepted it."""

KINDS = ("channel-types", "channels", "invitations", "currency-grants")
"""The parts of paths that tell which records an operation is about."""


@dataclass
class SentChange:
    """What a request changes once it is accepted: ``entry`` of the ledger is made, and ``removed`` ended; the
    record ``gone``, by kind and id, is there no more. ``password``: an account's new one. ``set_up``: the
    account that is issued a new authenticator secret."""

    entry: int | None = None
    removed: int | None = None
    gone: tuple[str, str] | None = None
    password: tuple[str, str] | None = None
    set_up: str | None = None


class ReplayChanges:
    """Notes what the requests of a replay change, as the cases of a run do, and restores it.

    The ledger is ``changes.jsonl`` under ``out``. LedgerError: it holds changes at another target.
    """

    def __init__(self, portal: Portal, out: Path) -> None:
        self._portal = portal
        self.ledger = ChangeLedger(
            out / LEDGER,
            run_id=portal.run_id,
            clock=portal.clock,
            target=portal.url,
            secrets=portal.secrets,
        )
        self._losses = Losses(self.ledger, self._new_value)
        self._numbers: Counter[str] = Counter()
        self._passwords: dict[str, tuple[str, int]] = {}
        """By password that the replay made: whose it is, and its number."""
        self._sent: defaultdict[int, SentChange] = defaultdict(SentChange)
        """By position, what a request that is on its way changes."""
        self._created: dict[tuple[str, str], int] = {}
        """By kind and id of a record that the replay created, the ledger's entry."""
        self._noted: dict[tuple[str, str, str | None, frozenset[str]], int] = {}
        """By account, operation, record and fields, the ledger's entry of what was there before all: where no
        record is named, each account changes its own."""
        self._holders: Counter[int] = Counter()
        """By entry, how many equal requests are on their way."""
        self._kept: set[int] = set()
        """Entries of which a request was accepted, or had no answer."""
        self._issued: dict[str, Json] = {}
        """By account, that secret as the target issued it: it is needed once the account uses it."""
        self._noting = threading.Lock()
        self._lock = threading.RLock()
        self._left_before = self.ledger.left
        self._otherwise: list[str] = []
        self._later = ChangeCounts(0, 0, 0)

    def new_password(self, account: str) -> str:
        """A password for an account of the profile, which a clean-up can compute again."""
        self._numbers[account] += 1
        number = self._numbers[account]
        password = self._portal.account(account).next_password(number)
        self._passwords[password] = (account, number)
        return password

    def present_password(self, account: str) -> str:
        return self._portal.account(account).password

    def note(self, change: NoteChange) -> None:
        """Notes a change before its request is sent, one at a time. LedgerError: it cannot be written."""
        with self._noting:
            if change.key == OTP_SETUP:
                self._sent[change.position].set_up = change.account
            try:
                self._note(change)
            except (Untestable, NoAnswer) as problem:
                self._losses.note(change, problem.reason)

    def _note(self, change: NoteChange) -> None:
        record = _record(change.key, id_of(self._portal, change))
        if change.key in REMOVALS and record[1]:
            self._sent[change.position].gone = record
        own = self._created.get(record) or self._own_by_name(change)
        if change.key in PASSWORDS:
            self._note_password(change)
        elif own is not None and change.key != INVITATION_ACCEPT:
            if change.key in REMOVALS:
                self._sent[change.position].removed = own
        elif change.key in NO_WAY_BACK:
            self._losses.note(change, NO_WAY_BACK[change.key])
        elif change.account is None:
            raise Untestable("the recording does not show whose session it is")
        else:
            self._note_undo(change, change.account)

    def _own_by_name(self, change: NoteChange) -> int | None:
        """The ledger's entry of the record that a request is about, where its creation returned no id."""
        kind, id = _record(change.key, id_of(self._portal, change))
        for entry in self.ledger.pending if kind and id else ():
            is_of_kind = entry.kind == "creating" and _record(entry.key, "")[0] == kind
            if not (is_of_kind and entry.result is None and entry.name):
                continue
            if is_named(self._portal, change, entry.key, entry.name):
                with self._lock:
                    self.ledger.created(entry.id, id)
                    self._created[kind, id] = entry.id
                return entry.id
        return None

    def _note_undo(self, change: NoteChange, account: str) -> None:
        undo, ledger = UNDO[change.key], self.ledger
        if isinstance(undo, CreationUndo):
            name = new_name(self._portal, change)
            number = ledger.creating(change.key, undo.body, name=name, account=account)
            self._sent[change.position].entry = number
            return
        sent = change.body if isinstance(change.body, dict) else {}
        signature = account, change.key, id_of(self._portal, change), frozenset(sent)
        with self._lock:
            if signature in self._noted:  # the first of them holds what was there before all
                self._hold(change.position, self._noted[signature])
                return
        if isinstance(undo, FieldsUndo):
            before = record_before(self._portal, change, undo.read)
            body: Json = body_before(self._portal, change, before, undo)
        elif isinstance(undo, SwitchUndo) and _is_set(record_before(self._portal, change, undo.read), undo):
            return
        else:
            body = change.body
        number = ledger.changed(change.key, body, account=account)
        with self._lock:
            self._noted[signature] = number
            self._hold(change.position, number)

    def _hold(self, position: int, number: int) -> None:
        self._sent[position].entry = number
        self._holders[number] += 1

    def _note_password(self, change: NoteChange) -> None:
        if change.account is None:
            self._losses.note(change, "the profile does not have its account")
            return
        account = self._portal.account(change.account)
        new = _new_password(change.body, account.password)
        if new is None:
            self._losses.note(change, "the request shows no new password")
            return
        owner, number = self._passwords.get(new, ("", 0))
        if owner or new not in (account.profile_password, account.password):
            number = number if owner == account.name else FOREIGN
            entry = self.ledger.changing_password(account.name, number, change.key)
            self._sent[change.position].entry = entry
        self._sent[change.position].password = account.name, new

    def finish(self, position: int, live: Exchange) -> None:
        """Takes the response to a request that was noted: what was refused has changed nothing."""
        self._losses.finish(position, live)
        sent = self._sent.pop(position, SentChange())
        with self._lock:
            if sent.entry is not None:
                self._finish_entry(sent.entry, live)
            if sent.removed is not None and live.success:
                self.ledger.undone(sent.removed)
            if sent.gone is not None and live.success:
                self._forget_changes_of(sent.gone)
        if not live.success:
            return
        if sent.set_up is not None:
            self._issued[sent.set_up] = live.data
        if sent.password is not None:
            self._take_password(*sent.password)

    def _finish_entry(self, number: int, live: Exchange) -> None:
        self._holders[number] -= 1
        if live.response is None or live.success:
            self._kept.add(number)  # without an answer nobody knows: it stays in the ledger
        if live.success:
            self._take_result(number, live)
            self.ledger.accepted(number, live.data)
        elif number not in self._kept and self._holders[number] <= 0:
            self._drop(number)

    def _forget_changes_of(self, record: tuple[str, str]) -> None:
        """A record that is gone needs no restoring of what was changed in it."""
        for (_, key, id, _), number in list(self._noted.items()):
            if _record(key, id) == record:
                self._drop(number)

    def _drop(self, number: int) -> None:
        """Takes a change for one that needs no restoring; it is noted anew where it is sent again."""
        self.ledger.undone(number)
        self._noted = {signature: entry for signature, entry in self._noted.items() if entry != number}

    def _take_result(self, number: int, live: Exchange) -> None:
        key = live.request.operation_key or ""
        id = told_id(self._portal, key, live) if key in CREATIONS else None
        if id is not None:
            self.ledger.created(number, id)
            self._created[_record(key, id)] = number

    def _take_password(self, name: str, password: str) -> None:
        account = self._portal.account(name)
        account.password_changed_to(password)
        present = {"email": account.email, "password": password}
        for change in self.ledger.pending:
            if change.kind == "password" and change.account == name and change.number == FOREIGN:
                self.ledger.not_restored(change.id, "it is restored at the end of the replay", present)
        if password == account.profile_password:
            for change in self.ledger.pending:
                if change.kind == "password" and change.account == name:
                    self.ledger.undone(change.id)

    def _new_value(self, change: NoteChange) -> Json:
        """The new value of a change that nothing restores, where it is a secret; None where it is none."""
        if change.key in (ACCOUNT_PASSWORD_RESET, *PASSWORDS):
            return change.body
        if change.key == OTP_VERIFY and change.account in self._issued:
            return {"account": change.account, "issued": self._issued[change.account]}
        return None

    def left_by_earlier(self) -> Iterator[str]:
        """Says what ``restore_earlier`` is about to restore, in a sentence."""
        pending = self.ledger.pending
        if pending:
            changes = plural(len(pending), "change")
            subjects = listed(dict.fromkeys(change.subject for change in pending))
            sentence = f"First restores {changes} of an earlier run, whatever --impact allows: {subjects}."
            yield self._portal.secrets.redact(sentence)

    def restore_earlier(self) -> None:
        """Restores what a replay that was killed left in the same ledger, before anything is sent."""
        self._attempt_restore()

    def restore(self) -> list[str]:
        """Restores pending changes, and returns failures as sentences, also for an unreachable target."""
        left = self._attempt_restore()
        self._otherwise = shown_otherwise(self._portal, self.ledger.restored)
        return left

    def without_way_back(self) -> list[str]:
        """What the target accepted although no way back had been found, as sentences."""
        return [self._portal.secrets.redact(sentence) for sentence in self._losses.unforeseen()]

    def _attempt_restore(self) -> list[str]:
        try:
            return restore(self._portal, self.ledger) if self.ledger.pending else []
        except TargetUnreachable:
            return self.pending("the target could not be reached")

    def pending(self, reason: str) -> list[str]:
        return pending_in_words(self._portal, self.ledger.pending, reason)

    @property
    def cleanup_command(self) -> str:
        """The command line that restores what is left; empty where it would restore nothing."""
        return (cleanup_command(self._portal, self.ledger) or "") if self.ledger.pending else ""

    @property
    def counts(self) -> ChangeCounts:
        """Counts the changes of this pass of the replay and of later passes."""
        refused = self._losses.refused
        return self.ledger.counts + self._later + ChangeCounts(0, -refused, 0, -refused)

    def followed_by(self, later: ReplayChanges) -> None:
        self._later += later.counts

    def notes(self) -> Iterator[str]:
        """What was not restored because nothing restores it, or is shown otherwise, as sentences."""
        yield from self._losses.notes()
        for sentence in self._otherwise:
            yield f"Restored, but shown otherwise: {sentence}."
        for value in self._left_before:
            yield f"Left by an earlier run: {value.sentence(self.ledger.path)}."

    def close(self) -> None:
        self.ledger.close()


def _record(key: str, id: str | None) -> tuple[str, str]:
    """A record by its kind and id: two of different kinds may have the same id."""
    return next((kind for kind in KINDS if kind in key), ""), id or ""


def _is_set(before: object, undo: SwitchUndo) -> bool:
    shown = dig(before, steps(undo.place))
    return type(shown) is type(undo.value) and shown == undo.value


def _new_password(body: Json, present: str) -> str | None:
    """Finds the password that a request sets: a field named as new, or else any but the present password."""
    if not isinstance(body, dict):
        return None
    sent = {
        name: value for name, value in body.items() if "password" in name.lower() and isinstance(value, str)
    }
    named = (value for name, value in sent.items() if "new" in name.lower())
    others = (value for value in sent.values() if value != present)
    return next(named, None) or next(others, None)
