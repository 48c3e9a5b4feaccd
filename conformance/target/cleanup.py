"""Restores what an interrupted run left, from the ledger it wrote."""

from __future__ import annotations

from pathlib import Path

from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeLedger
from conformance.target.portal.restoring import restore
from conformance.target.profile.model import Profile


def cleanup(ledger_path: Path, profile: Profile) -> list[str]:
    """What could not be restored, as sentences. Raises LedgerError, ProfileError, TargetUnreachable.

    Whatever was allowed to be changed is allowed to be restored.
    """
    ledger = ChangeLedger.read(ledger_path)
    try:
        with Portal.connect(profile, impact="disruptive") as portal:
            return [portal.secrets.redact(str(change)) for change in restore(portal, ledger)]
    finally:
        ledger.close()
