"""The untested rules that follow from a finding: their reason names the answer that the finding is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.report.model.evidence import RunEvidence
from conformance.report.model.groups import FindingGroup
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.words import Untested, untested
from conformance.spec import BY_KEY
from conformance.spec.endpoints import LOGIN_COMPLETE, LOGIN_INITIATE, LOGIN_MFA_SEND, PROFILE, SECURE_SESSION

REFUSAL = re.compile(r"\(?HTTP (?P<status>\d{3})(?:, (?P<code>[A-Z0-9][A-Z0-9_.]*))?")
"""How a reason names the status and the code of the answer that kept a rule from being tested."""

ENDPOINT = re.compile(r"\b(?:GET|POST|PUT|PATCH|DELETE) /\S+")

STEPS = {
    "secure channel": (SECURE_SESSION,),
    "login session": (LOGIN_MFA_SEND, LOGIN_COMPLETE),
    "code is refused": (LOGIN_COMPLETE,),
    "sign-in": (LOGIN_INITIATE, LOGIN_MFA_SEND, LOGIN_COMPLETE),
    "email or password": (LOGIN_INITIATE,),
    "profile": (PROFILE,),
}
"""What a reason calls an endpoint that it does not name."""


@dataclass
class Consequences:
    """Gives each reason to the first finding, in the order of the page, that explains it."""

    run: Run
    evidence: RunEvidence
    left: list[Untested] = field(init=False)

    def __post_init__(self) -> None:
        self.left = [group for group in untested(self.run) if REFUSAL.search(group.reason)]

    def of(self, group: FindingGroup) -> Sequence[Untested]:
        """The reasons that the findings of a group explain and no group before it did."""
        if not self.left:
            return ()
        explained = [
            reason for reason in self.left if any(self._explains(each, reason) for each in group.findings)
        ]
        self.left = [reason for reason in self.left if reason not in explained]
        return explained

    def _explains(self, finding: FindingEntry, reason: Untested) -> bool:
        match = REFUSAL.search(reason.reason)
        exchange = self.evidence.exchanges.get(finding.exchanges[-1]) if finding.exchanges else None
        if match is None or exchange is None or exchange.success:
            return False
        if finding.endpoint not in _endpoints(reason.reason):
            return False
        return exchange.status == int(match["status"]) and match["code"] in (None, exchange.code)


def _endpoints(reason: str) -> frozenset[str]:
    """The endpoints whose answer a reason is about."""
    named = [key for key in ENDPOINT.findall(reason) if key in BY_KEY]
    if named:
        return frozenset(named[:1])
    return frozenset(key for words, keys in STEPS.items() if words in reason for key in keys)
