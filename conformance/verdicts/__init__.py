"""From comparisons to verdicts: findings, the ledger, and what traffic covers."""
