"""Restores what an interrupted run left, from the ledger it wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from conformance.target.locks import held, locks_of, out_lock_path
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.restoring.read_back import shown_otherwise
from conformance.target.portal.restoring.restore import restore
from conformance.target.profile.model import Profile


@dataclass(frozen=True, slots=True)
class Restored:
    """``changes``: how many the ledger listed as not restored; ``problems``: what could not be restored, and
    ``otherwise``: what was, and is shown otherwise than before, as sentences."""

    changes: int = 0
    problems: Sequence[str] = ()
    otherwise: Sequence[str] = ()


def cleanup(
    ledger_path: Path,
    profile: Profile,
    *,
    on_wait: Callable[[str], None] | None = None,
    on_left: Callable[[str], None] = lambda sentence: None,
) -> Restored:
    """Restores what the ledger lists. ``on_left`` is called with each value that nothing restores. A ledger
    that lists nothing needs no portal.

    A run that holds the target or the ledger is waited for, once ``on_wait`` was told so; without one
    HeldElsewhere is raised. Raises LedgerError, ProfileError, TargetUnreachable.

    Whatever was allowed to be changed is allowed to be restored.
    """
    if not ledger_path.exists() and ledger_path.name == LEDGER and out_lock_path(ledger_path.parent).exists():
        return Restored()  # the run ended before its first change
    ChangeLedger.read(ledger_path)  # a file that is none is named before anything is locked
    locks = locks_of(profile, out=ledger_path.parent, history=None)
    with held(locks, on_wait=on_wait, note=str(ledger_path.absolute())):
        with closing(ChangeLedger.read(ledger_path)) as ledger:
            done = Restored()
            if ledger.pending:
                with Portal.connect(profile, impact="disruptive") as portal:
                    done = restore_pending(portal, ledger)
            for value in ledger.left:
                on_left(value.sentence(ledger_path))
            ledger.reported()
            return done


def restore_pending(portal: Portal, ledger: ChangeLedger) -> Restored:
    """Restores what is pending, of whatever run, and reads back what was restored."""
    pending = ledger.pending
    problems = restore(portal, ledger)
    restored = [change for change in reversed(pending) if change not in ledger.pending]
    return Restored(len(pending), problems, shown_otherwise(portal, restored))
