"""Backup codes: their summary, and what generating new ones does to it (chapter "Security endpoints")."""

from __future__ import annotations

from cases.premises import count, form, granted
from conformance.cases import Account, Portal, Verify, holds, impact, needs, requirement
from conformance.spec.endpoints import BACKUP_CODES, BACKUP_CODES_GENERATE


@requirement("BACKUP-003")
def test_backup_codes_are_summed_up(portal: Portal, admin: Account) -> None:
    granted(portal.call(BACKUP_CODES, token=admin.token))


@requirement("BACKUP-004", "BACKUP-005")
@needs("accounts.spare")
@impact("disruptive")
def test_generated_backup_codes_all_remain(portal: Portal, verify: Verify, spare: Account) -> None:
    generated = granted(portal.call(BACKUP_CODES_GENERATE, token=spare.token))
    verify.observe("backup-codes-answer", generated, form(generated.data))

    after = granted(portal.call(BACKUP_CODES, token=spare.token))
    remaining, total = count(after, "data.remainingCount"), count(after, "data.totalGenerated")
    verify(
        "BACKUP-004",
        holds(after, "data.remainingCount", remaining >= total > 0, f"all {total}, and some", generated),
    )
