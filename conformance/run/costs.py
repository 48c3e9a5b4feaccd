"""What each case sends, counted as it runs: ``run --record-costs`` writes it, and ``plan`` adds it up."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, MAILING
from conformance.spec.tables import MFA_METHODS

if TYPE_CHECKING:  # counting needs no profile
    from conformance.target.profile.model import Profile
    from conformance.traffic.exchange import Exchange

CODES_OF_SIGN_INS = ("mailed_codes", "authenticator_codes")
"""What is counted of an account's sign-ins, by where their code came from."""

NOBODY = "nobody"
"""Stands for all addresses that the suite makes up."""


@dataclass(frozen=True)
class CaseCost:
    """What one case sent when it was last measured against the bundled portal. ``accounts``: by account, or
    ``nobody``, how many of its mails, those among them with a code of its sign-in, sign-ins by a code of the
    authenticator, wrong passwords and wrong codes."""

    requests: int = 0
    sign_ins: int = 0
    mails: int = 0
    changes: int = 0
    accounts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def measured_costs() -> Mapping[str, CaseCost]:
    """The measured cost of each case, by node id; ``run --record-costs`` writes them."""
    path = files("conformance.run") / "costs.json"
    return {case: CaseCost(**row) for case, row in json.loads(path.read_text(encoding="utf-8")).items()}


@dataclass
class CaseCosts:
    """Requests, sign-ins, mails and changes by case. ``accounts``: the profile's accounts by their email."""

    accounts: Mapping[str, str] = field(default_factory=dict)
    by_case: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, profile: Profile) -> CaseCosts:
        """The costs of a run with a profile, none of which is counted yet."""
        return cls({account.email.lower(): name for name, account in profile.accounts.items()})

    def count(self, case: str | None, exchange: Exchange) -> None:
        """Counts an exchange of a case; one that no case has sent is nobody's cost."""
        operation = exchange.request.operation
        if case is None:
            return
        cost = self.by_case.setdefault(case, {"requests": 0, "sign_ins": 0, "mails": 0, "changes": 0})
        cost["requests"] += 1
        if operation is None:
            return
        is_mail = exchange.success and operation.key in MAILING
        cost["sign_ins"] += operation.key == LOGIN_INITIATE
        cost["mails"] += is_mail
        cost["changes"] += exchange.success and operation.impact != "read-only"
        for what in _mailed(exchange) if is_mail else _signed_in(exchange):
            counts = cost.setdefault("accounts", {}).setdefault(self._account(exchange), {})
            counts[what] = counts.get(what, 0) + 1

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.by_case, indent=1, sort_keys=True) + "\n", encoding="utf-8")

    def _account(self, exchange: Exchange) -> str:
        """The account whose sign-in an exchange belongs to, or to whose address a mail goes."""
        operation, body = exchange.request.operation, exchange.request.body
        if operation is not None and operation.key in (LOGIN_MFA_SEND, LOGIN_COMPLETE):
            return exchange.client or NOBODY
        fields = body if isinstance(body, dict) else {}
        address = next((fields[name] for name in ("email", "inviteeEmail") if name in fields), None)
        return self.accounts.get(address.lower(), NOBODY) if isinstance(address, str) else NOBODY


def _mailed(exchange: Exchange) -> Iterator[str]:
    """What a mail is counted as."""
    operation = exchange.request.operation
    yield "mails"
    if operation is not None and operation.key == LOGIN_MFA_SEND:
        yield "mailed_codes"


def _signed_in(exchange: Exchange) -> Iterator[str]:
    """What of a sign-in the portal refused, a password or a code; and whether it took an authenticator's."""
    operation = exchange.request.operation
    key = operation.key if operation is not None else ""
    if key == LOGIN_INITIATE and exchange.code == "AUTH.INVALID_CREDENTIALS":
        yield "wrong_passwords"
    if key == LOGIN_COMPLETE and exchange.code == "AUTH.MFA_CODE_INVALID":
        yield "wrong_codes"
    if key == LOGIN_COMPLETE and exchange.success and _method(exchange) == MFA_METHODS["OTP"]:
        yield "authenticator_codes"


def _method(exchange: Exchange) -> object:
    return exchange.sent.get("method") if isinstance(exchange.sent, dict) else None
