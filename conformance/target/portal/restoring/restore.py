"""Restores what a run changed at the target, from the ledger it wrote."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from conformance.errors import CannotSignIn, LedgerError, NoAnswer, Untestable
from conformance.spec import endpoints as op
from conformance.spec.operations import operation
from conformance.spec.tables import RECORD_UNKNOWN
from conformance.target.clock import LONGEST_WAIT
from conformance.target.portal import Portal, ProfileAccount
from conformance.target.portal.budget import retry_after
from conformance.target.portal.calls.bodies import with_result
from conformance.target.portal.changes import ChangeLedger, TargetChange
from conformance.target.portal.login import refusal
from conformance.target.portal.restoring.made import Made, is_answered, is_open, no_id
from conformance.target.portal.restoring.read_back import is_absent
from conformance.target.portal.restoring.ways import CREATIONS
from conformance.target.portal.sign_ins.attempts import PasswordRefused
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.comparisons import is_rate_limited

LISTED_LATE = 5.0
"""Seconds after which a listing shows what was made: how soon it does is not stated."""


def restore(portal: Portal, ledger: ChangeLedger, *, run: str | None = None) -> list[str]:
    """Restores whatever is pending (of one run, where ``run`` names it), the latest change first.

    Returns what could not be restored, as sentences without secrets. Raises LedgerError where the changes
    were made at another target, and nothing is sent; TargetUnreachable: then everything that is pending
    stays so.
    """
    if run is None and ledger.target not in ("", portal.url):
        raise LedgerError(
            f"{ledger.path}: these changes were made at {ledger.target}, "
            f"and the profile leads to {portal.url}. Nothing was sent. Name the profile of that portal."
        )
    with portal.clock.restoring():
        left = map(portal.secrets.redact, Restoring(portal, ledger).all_of(run))
        return list(dict.fromkeys(left))  # several changes of one password are one to be restored


def restore_own(portal: Portal) -> list[str]:
    """Restores pending changes of the portal's run; what could not be, as sentences."""
    return restore(portal, portal.changes, run=portal.run_id)


def pending_in_words(portal: Portal, changes: Iterable[TargetChange], reason: str) -> list[str]:
    """Changes that are not restored, as sentences that end in a reason."""
    return [portal.secrets.redact(f"{change.subject}: {reason}") for change in changes]


def take_away(portal: Portal, id: int) -> None:
    """Takes a record away that a change made, whose id is not known. Where it stays, no other one of its
    kind is made in the run, and the end of the run tries again."""
    for change in portal.changes.pending:
        if change.id == id:
            try:
                reason = Restoring(portal, portal.changes).restored_once(change)
            except (NoAnswer, Untestable) as problem:
                reason = problem.reason
            if reason is None:
                portal.changes.undone(id)
            else:
                portal.changes.not_restored(id, reason)


def cleanup_command(portal: Portal, ledger: ChangeLedger) -> str | None:
    """The command line that restores what a ledger lists; None where it is on no disk."""
    if ledger.path is None:
        return None
    words = ["portal-conformance", "cleanup", str(ledger.path), "--profile", portal.profile.source]
    return shlex.join(words)


def _is_unknown(answer: Exchange) -> bool:
    return answer.status == 404 or answer.code in RECORD_UNKNOWN


class Restoring:
    """One restoring of a ledger. ``passwords`` holds which of an account's passwords works, once it is found;
    ``refused`` those that do not, so that none is tried twice. ``answer`` is the last refusal of a way back;
    ``in_vain`` are the accounts that a new session did not help, and whether by HTTP 401."""

    def __init__(self, portal: Portal, ledger: ChangeLedger) -> None:
        self._portal = portal
        self._ledger = ledger
        self._passwords: dict[str, str] = {}
        self._refused: set[tuple[str, str]] = set()
        self._answer: Exchange | None = None
        self._in_vain: set[tuple[str, bool]] = set()
        self._is_searched = False
        """Whether the listing was there, and shows no id of the record to take away."""
        self._waits = False
        """Whether a record that no listing shows is looked for once more after a while."""

    def all_of(self, run: str | None) -> Iterator[str]:
        self._waits = True
        for change in self._ledger.pending:
            if change not in self._ledger.pending or run not in (None, change.run):
                continue
            reason = None if self._ledger.is_unsent(change.id) else self._restored(change)
            if reason is None:
                self._ledger.undone(change.id)
            else:
                present = self._present(change)
                is_written = self._ledger.not_restored(change.id, reason, present)
                where = f". Its present value is in {self._ledger.path}, which only you may read"
                is_kept = present is not None and is_written and self._ledger.path is not None
                yield f"{change.subject}: {reason}{where if is_kept else ''}"

    def _restored(self, change: TargetChange) -> str | None:
        """The reason why a change is not restored; None after success. A refusal is retried with a new
        session, secure channel and factor, as either may cause it."""
        reason: str | None = "the account cannot sign in"
        try:
            ways = list(self._ways(change))
        except Untestable as problem:
            return problem.reason
        for number, prepare in enumerate(ways):
            self._answer, self._is_searched = None, False
            try:
                prepare()
                reason = self.restored_once(change)
            except (NoAnswer, Untestable) as problem:
                reason = problem.reason
            if reason is None or self._is_final(change, is_anew=number > 0):
                return reason
        return reason

    def _is_final(self, change: TargetChange, *, is_anew: bool) -> bool:
        """Whether no new session helps: the record is unknown to the portal, or to its listing, or a new
        session of the account was refused like the one before it."""
        answer = self._answer
        if answer is None:
            return self._is_searched
        refused = (change.account, answer.status == 401)
        if is_anew:
            self._in_vain.add(refused)
        return refused in self._in_vain or (change.kind == "creating" and _is_unknown(answer))

    def _ways(self, change: TargetChange) -> Iterator[Callable[[], None]]:
        account = self._portal.account(change.account)

        def begin_anew(*factors: Factor) -> None:
            account.forget()
            self._portal.secure.forget()
            for factor in factors:
                account.prefer(factor)

        yield lambda: None
        yield begin_anew
        if len(account.factors) > 1:
            yield lambda: begin_anew(account.factors[1])

    def restored_once(self, change: TargetChange) -> str | None:
        """As ``_restored``, without another try."""
        if change.kind == "password":
            return self._password_restored(change)
        if change.kind == "creating" and change.result is None:
            return self._made_restored(change)
        return self._undone_once(change, change.result)

    def _made_restored(self, change: TargetChange) -> str | None:
        """Takes a record away whose id is not known, by each id that it may have."""
        search = Made.found(self._portal, change, others=self._ledger.results)
        if self._waits and not search.ids and search.problem is None and self._ledger.is_accepted(change.id):
            self._waits = False
            with suppress(Untestable):
                self._portal.clock.wait(LISTED_LATE, "what was made to be listed")
            search = Made.found(self._portal, change, others=self._ledger.results)
        is_made = search.is_shown or self._ledger.is_accepted(change.id)
        reason = search.problem or f"it was accepted, and {no_id(change)}"
        self._is_searched = search.problem is None and not search.ids
        for id in search.ids:
            refused = self._undone_once(change, id)
            if refused is None:
                return None
            reason = refused
        if not is_made and search.problem is not None:
            raise Untestable(search.problem, "target")
        return reason if is_made else None

    def _undone_once(self, change: TargetChange, result: str | None) -> str | None:
        body = undo_body(self._portal, change, result)
        token = self._portal.account(change.account).token
        answer = self._paced(lambda: self._portal.call(change.undo_key, json=body, token=token))
        is_in_use = not answer.success and not _is_unknown(answer)
        if is_in_use and self._taken_out_of_use(change, result, token):
            answer = self._paced(lambda: self._portal.call(change.undo_key, json=body, token=token))
        if answer.success or is_answered(self._portal, change, result) or is_absent(self._portal, change):
            return None
        self._answer = answer
        reason = f"{change.undo_key} was refused: {refusal(answer)}"
        if change.kind != "creating" or not _is_unknown(answer):
            return reason
        if change.result is None:
            return reason  # an id that was guessed may be none
        return f"{reason}, and a listing still shows it" if is_open(self._portal, change, result) else None

    def _taken_out_of_use(self, change: TargetChange, result: str | None, token: str) -> bool:
        """Whether a record could be deactivated: a portal may delete none that is in use."""
        key = CREATIONS[change.key].out_of_use if change.key in CREATIONS else None
        if key is None:
            return False
        with suppress(Untestable):  # the profile may have no body for it
            body = self._portal.operation_body(key, **({} if result is None else {"result_id": result}))
            return self._paced(lambda: self._portal.call(key, json=body, token=token)).success
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
                op.PASSWORD_CHANGE, email=account.email, password=password, new_password=own
            )
            answer = self._paced(lambda: self._portal.secure.post(op.PASSWORD_CHANGE, body, token=token))
            if not answer.success:
                self._answer = answer
                return f"{op.PASSWORD_CHANGE} was refused: {refusal(answer)}"
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
        """Passwords to try: the proven one, else the account's present password, the profile's, and those of
        pending changes."""
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
        body = with_result(change.undo_body, result)
        if change.kind != "creating":
            return body
        with suppress(Untestable):  # a body of the ledger that names another record is never sent
            portal.bodies.check_named(change.undo_key, body, id=result, name=change.name)
            return body
    try:
        return portal.operation_body(change.undo_key, **({} if result is None else {"result_id": result}))
    except Untestable:
        if result is None:
            raise
        return {"bizId": result}
