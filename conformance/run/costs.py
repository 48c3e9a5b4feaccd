"""What each case sends, counted as it runs: ``run --record-costs`` writes it, and ``plan`` adds it up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from conformance.traffic.exchange import Exchange

MAILING = ("/login/mfa/send", "/password/forgot", "/system/invitations")
"""Paths whose success sends a mail to somebody."""


@dataclass
class CaseCosts:
    """Requests, sign-ins, mails and changes by case."""

    by_case: dict[str, dict[str, int]] = field(default_factory=dict)

    def count(self, case: str | None, exchange: Exchange) -> None:
        """Counts an exchange of a case; one that no case has sent is nobody's cost."""
        operation = exchange.request.operation
        if case is None:
            return
        cost = self.by_case.setdefault(case, {"requests": 0, "sign_ins": 0, "mails": 0, "changes": 0})
        cost["requests"] += 1
        if operation is not None:
            cost["sign_ins"] += operation.path.endswith("/login/initiate")
            cost["mails"] += exchange.success and operation.path.endswith(MAILING)
            cost["changes"] += exchange.success and operation.impact != "read-only"

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.by_case, indent=1, sort_keys=True) + "\n", encoding="utf-8")
