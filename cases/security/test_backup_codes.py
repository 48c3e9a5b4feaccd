"""Backup codes: their summary, and what generating new ones does to it (chapter "Security endpoints")."""

from __future__ import annotations

from cases.premises import count, form, granted, settled
from cases.surroundings import Surroundings, by_admin
from conformance.cases import Account, Exchange, Portal, Verify, holds, mark, op


@mark.requirement("BACKUP-003", "BACKUP-004", "BACKUP-005", "MODEL-010")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_generated_backup_codes_all_remain(portal: Portal, verify: Verify, spare: Account) -> None:
    """Twice, as there may have been none before the first time."""
    around = Surroundings(portal, spare.token, beside=by_admin(portal, op.BACKUP_CODES))
    around.judged(verify, "MODEL-010", _generated(portal, verify, spare), (op.BACKUP_CODES,))
    _generated(portal, verify, spare)


def _generated(portal: Portal, verify: Verify, spare: Account) -> Exchange:
    """``totalGenerated`` may count all that were ever made, or those that were made last."""
    before = count(granted(portal.call(op.BACKUP_CODES, token=spare.token)), "data.totalGenerated")
    generated = granted(portal.call(op.BACKUP_CODES_GENERATE, token=spare.token))
    portal.changes.leave(
        op.BACKUP_CODES_GENERATE, f"[accounts.{spare.name}] has new backup codes", account=spare.name
    )
    verify.observe("backup-codes-answer", generated, form(generated.data))

    def left_and_made(summary: Exchange) -> tuple[int, int]:
        remaining, total = count(summary, "data.remainingCount"), count(summary, "data.totalGenerated")
        return remaining, total - before if total > before else total

    def all_remain(summary: Exchange) -> bool:
        remaining, made = left_and_made(summary)
        return remaining >= made > 0

    after = settled(portal, lambda: granted(portal.call(op.BACKUP_CODES, token=spare.token)), all_remain)
    _, made = left_and_made(after)
    expected = f"at least {made}, the number just generated" if made > 0 else "the codes just generated"
    verify("BACKUP-004", holds(after, "data.remainingCount", all_remain(after), expected, generated))
    return generated
