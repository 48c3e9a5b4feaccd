"""Restores what a run changed at the target, from the ledger it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.errors import CannotSignIn, LedgerError, NoAnswer, Untestable
from conformance.spec.endpoints import (
    CHANNEL_CREATE,
    CHANNEL_DEACTIVATE,
    CHANNEL_DELETE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPE_DELETE,
    CHANNEL_TYPE_DISABLE,
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
from conformance.target.clock import LONGEST_WAIT
from conformance.target.portal.budget import retry_after
from conformance.target.portal.changes import ChangeLedger, TargetChange
from conformance.target.portal.login import refusal
from conformance.target.portal.records import records_in
from conformance.target.portal.sign_ins.attempts import PasswordRefused
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig, steps
from conformance.verdicts.comparisons import is_rate_limited

if TYPE_CHECKING:
    from conformance.target.portal import Portal
    from conformance.target.portal.accounts import ProfileAccount

LISTED_BY = {
    CHANNEL_CREATE: (CHANNELS_QUERY, "data.items"),
    CHANNEL_TYPE_CREATE: (CHANNEL_TYPES_QUERY, "data.items"),
    INVITE: (INVITATIONS, "data"),
    CURRENCY_GRANT: (CURRENCY_GRANTS, "data"),
}
"""The listing of a record whose id is unknown: its creation did not return it, or a crash came first."""

OUT_OF_USE = {CHANNEL_DELETE: CHANNEL_DEACTIVATE, CHANNEL_TYPE_DELETE: CHANNEL_TYPE_DISABLE}
"""What takes a record out of use, by what deletes it."""

WAITING = "PENDING"
"""The state of an invitation that nobody has answered yet."""


def _is_in_use(change: TargetChange, answer: Exchange) -> bool:
    """Whether a record may not be deleted because it is in use."""
    return change.undo_key in OUT_OF_USE and not answer.success and not _is_unknown(answer)


def _is_unknown(answer: Exchange) -> bool:
    """Whether the record is there no more."""
    return answer.status == 404 or answer.code in RECORD_UNKNOWN


@dataclass(frozen=True)
class NotRestored:
    """A change that could not be restored, and why. ``present`` is the value there now, where the suite made
    it: a secret, for the ledger alone."""

    change: TargetChange
    reason: str
    present: Json = None

    def sentence(self, ledger: ChangeLedger) -> str:
        """What was not restored, why, and where its present value stands."""
        text = f"{self.change.subject}: {self.reason}"
        if self.present is None or ledger.path is None:
            return text
        return f"{text}. Its present value is in {ledger.path}, which only you may read"


def restore(portal: Portal, ledger: ChangeLedger, *, run: str | None = None) -> list[NotRestored]:
    """Restores whatever is pending (of one run, where ``run`` names it), the latest change first.

    Returns what could not be restored. Raises LedgerError where the changes were made at another target, and
    nothing is sent; TargetUnreachable: then everything that is pending stays so.
    """
    if run is None and ledger.target not in ("", portal.url):
        raise LedgerError(
            f"{ledger.path}: these changes were made at {ledger.target}, "
            f"and the profile leads to {portal.url}. Nothing was sent. Name the profile of that portal."
        )
    with portal.clock.restoring():
        return list(Restoring(portal, ledger).all_of(run))


def restored_in_words(portal: Portal, ledger: ChangeLedger, *, run: str | None = None) -> list[str]:
    """Restores as ``restore`` does; what could not be restored, as sentences without secrets."""
    return [portal.secrets.redact(left.sentence(ledger)) for left in restore(portal, ledger, run=run)]


def cleanup_command(portal: Portal, ledger: ChangeLedger) -> str | None:
    """The command line that restores what a ledger lists; None where it is on no disk."""
    if ledger.path is None:
        return None
    words = ["portal-conformance", "cleanup", str(ledger.path), "--profile", portal.profile.source]
    return shlex.join(words)


class Restoring:
    """One restoring of a ledger. ``passwords`` holds which of an account's passwords works, once it is found;
    ``refused`` those that do not, so that none is tried twice."""

    def __init__(self, portal: Portal, ledger: ChangeLedger) -> None:
        self._portal = portal
        self._ledger = ledger
        self._passwords: dict[str, str] = {}
        self._refused: set[tuple[str, str]] = set()

    def all_of(self, run: str | None) -> Iterator[NotRestored]:
        for change in self._ledger.pending:
            if change not in self._ledger.pending or run not in (None, change.run):
                continue
            reason = self._restored(change)
            if reason is None:
                self._ledger.undone(change.id)
            else:
                present = self._present(change)
                is_written = self._ledger.not_restored(change.id, reason, present)
                yield NotRestored(change, reason, present if is_written else None)

    def _restored(self, change: TargetChange) -> str | None:
        """None where it is as it was, else why not. A refusal is tried anew from scratch: the session, the
        secure channel or the factor may be what is refused."""
        reason: str | None = "the account cannot sign in"
        try:
            ways = list(self._ways(change))
        except Untestable as problem:
            return problem.reason
        for prepare in ways:
            try:
                prepare()
                reason = self._restored_once(change)
            except (NoAnswer, Untestable) as problem:
                reason = problem.reason
            if reason is None:
                return None
        return reason

    def _ways(self, change: TargetChange) -> Iterator[Callable[[], None]]:
        account = self._portal.account(change.account)
        yield lambda: None
        yield lambda: self._begin_anew(account)
        if len(account.factors) > 1:
            yield lambda: self._begin_by_other_factor(account)

    def _begin_anew(self, account: ProfileAccount) -> None:
        account.forget()
        self._portal.secure.forget()

    def _begin_by_other_factor(self, account: ProfileAccount) -> None:
        self._begin_anew(account)
        account.prefer(account.factors[1])

    def _restored_once(self, change: TargetChange) -> str | None:
        if change.kind == "password":
            return self._password_restored(change)
        result = change.result
        if change.kind == "creating" and result is None:
            result = record_id(self._portal, change, others=self._ledger.results)
            if result is None:
                return None
        body = undo_body(self._portal, change, result)
        token = self._portal.account(change.account).token
        answer = self._paced(lambda: self._portal.call(change.undo_key, json=body, token=token))
        if _is_in_use(change, answer) and self._taken_out_of_use(change, result, token):
            answer = self._paced(lambda: self._portal.call(change.undo_key, json=body, token=token))
        gone = change.kind == "creating" and _is_unknown(answer)
        if answer.success or gone or self._is_answered(change, result, token):
            return None
        return f"{change.undo_key} was refused: {refusal(answer)}"

    def _taken_out_of_use(self, change: TargetChange, result: str | None, token: str) -> bool:
        """Whether a record could be deactivated: a portal may delete none that is in use."""
        key = OUT_OF_USE[change.undo_key]
        with suppress(Untestable):  # the profile may have no body for it
            body = self._portal.operation_body(key, **({} if result is None else {"result_id": result}))
            return self._paced(lambda: self._portal.call(key, json=body, token=token)).success
        return False

    def _is_answered(self, change: TargetChange, result: str | None, token: str) -> bool:
        """Whether a record that waits for somebody's answer was answered: there is nothing to withdraw."""
        if change.key != INVITE or change.kind != "creating":
            return False
        states = (
            dig(record, ["invitationStatus", "code"])
            for record in _listed(self._portal, change.key, token)
            if record.get("bizId") == result
        )
        with suppress(Untestable):
            return any(isinstance(state, str) and state != WAITING for state in states)
        return False

    def _paced(self, send: Callable[[], Exchange]) -> Exchange:
        """The answer; once more after the target's rate limit, where that is what refuses."""
        answer = send()
        if not is_rate_limited(answer):
            return answer
        seconds = retry_after(answer)
        pause = self._portal.budget.window if seconds is None else min(seconds, LONGEST_WAIT) + 0.1
        self._portal.clock.wait(pause, "the target's rate limit to pass")
        return send()

    def _password_restored(self, change: TargetChange) -> str | None:
        """Signs in with whichever of the passwords works, and changes it to the profile's own."""
        account = self._portal.account(change.account)
        own = account.profile_password
        token = self._signed_in(account, change)
        password = self._passwords[account.name]
        if password != own:
            body = self._portal.operation_body(
                PASSWORD_CHANGE, email=account.email, password=password, new_password=own
            )
            answer = self._paced(lambda: self._portal.secure.post(PASSWORD_CHANGE, body, token=token))
            if not answer.success:
                return f"{PASSWORD_CHANGE} was refused: {refusal(answer)}"
            account.password_changed_to(own)
            self._passwords[account.name] = own
        for other in self._ledger.pending:
            if other.kind == "password" and other.account == change.account and other.id != change.id:
                self._ledger.undone(other.id)
        return None

    def _signed_in(self, account: ProfileAccount, change: TargetChange) -> str:
        """A token of the account, by the first password that works. Raises CannotSignIn."""
        reason = CannotSignIn(f"[accounts.{account.name}]: none of its passwords signs in")
        for password in self._candidates(account, change):
            try:
                token = account.sign_in_with(password).token
            except PasswordRefused as problem:
                self._refused.add((account.name, password))
                reason = problem
                continue
            self._passwords[account.name] = password
            return token
        raise reason

    def _candidates(self, account: ProfileAccount, change: TargetChange) -> list[str]:
        """The password that works, or those that may: the one that the account has in this run, the
        profile's, and those that the pending changes may have set."""
        if account.name in self._passwords:
            return [self._passwords[account.name]]
        own_run = [account.password] if change.run == self._portal.run_id else []
        set_by_runs = [
            account.password_of(other.run or self._ledger.run_id, other.number)
            for other in self._ledger.pending
            if other.kind == "password" and other.account == account.name
        ]
        candidates = dict.fromkeys((*own_run, account.profile_password, *set_by_runs))
        return [password for password in candidates if (account.name, password) not in self._refused]

    def _present(self, change: TargetChange) -> Json:
        """The password that the account has now, where a run made it."""
        if change.kind != "password":
            return None
        account = self._portal.account(change.account)
        password = self._passwords.get(account.name, account.password)
        return (
            None if password == account.profile_password else {"email": account.email, "password": password}
        )


def undo_body(portal: Portal, change: TargetChange, result: str | None) -> Json:
    """The body of the request that restores a change. Raises Untestable where the profile lacks it."""
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


def record_id(portal: Portal, change: TargetChange, *, others: Container[str] = ()) -> str | None:
    """The id of a record that may or may not have been created; None where it was not. ``others`` are those
    of other changes, which may have the same name.

    Raises Untestable where no listing shows it.
    """
    if change.key not in LISTED_BY or change.name is None:
        raise Untestable("no listing shows whether it was created")
    for record in _listed(portal, change.key, portal.account(change.account).token):
        if any(isinstance(value, str) and change.name in value for value in record.values()):
            id = record.get("bizId")
            if isinstance(id, str) and id not in others:
                return id
    return None


def _listed(portal: Portal, key: str, token: str) -> Iterator[dict[str, Json]]:
    """The records that the listing of what an operation creates shows. Untestable: it is refused."""
    listing, items = LISTED_BY[key]
    answer = portal.call(listing, json=UNFILTERED.get(listing, ABSENT), token=token)
    if not answer.success:
        raise Untestable(f"{listing} was refused: {refusal(answer)}", "target")
    yield from records_in(dig(answer.envelope, steps(items)))
