"""Puts back what an interrupted run left, from the ledger it wrote."""

from __future__ import annotations

from pathlib import Path

from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeLedger, restore
from conformance.target.profile.model import Profile


def cleanup(ledger_path: Path, profile: Profile) -> list[str]:
    """What could not be put back, as sentences. Raises LedgerError, ProfileError, TargetUnreachable.

    Whatever was allowed to be changed is allowed to be put back.
    """
    ledger = ChangeLedger.read(ledger_path)
    try:
        with Portal.connect(profile, impact="disruptive") as portal:
            return [str(left) for left in restore(portal, ledger)]
    finally:
        ledger.close()
