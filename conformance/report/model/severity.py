"""How grave a finding is, decided by the registry's facts of its requirement and by what was seen."""

from __future__ import annotations

from typing import Literal

from conformance.report.model.run import FindingEntry
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.spec import endpoints as op
from conformance.spec.requirements import PINNED, Requirement
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number
from conformance.verdicts.findings import Finding

Severity = Literal["access", "secret", "data", "client", "differs", "own"]

SEVERITIES: dict[Severity, str] = {
    "access": "may let someone in",
    "secret": "shows a secret",
    "data": "may lose data",
    "client": "breaks a client",
    "differs": "differs from what is shown",
    "own": "violates a rule of your own",
}
"""What each severity means, the gravest first."""

GRAVE: frozenset[Severity] = frozenset({"access", "secret", "data"})
"""The severities of a contradiction that harms whoever uses the portal, whatever its level."""

RANK = {name: rank for rank, name in enumerate(SEVERITIES)}

ACCESS_CHAPTERS = frozenset(
    {"AUTHN", "HEADER", "LOGIN", "TOKEN", "MFA", "PASSWORD", "SESSION", "LOGOUT", "SECURE", "IPWHITELIST"}
    | {"BACKUP", "INVITATION", "FILE", "ORDER"}
)
"""The chapters that decide who is let in; what they refuse must stay out."""

ACCESS_CODES = frozenset(
    {"ACCESS.TOKEN_MISSING", "ACCESS.PERMISSION_DENIED", "AUTH.INVALID_CREDENTIALS", "AUTH.SESSION_NOT_FOUND"}
    | {"AUTH.MFA_CODE_INVALID", "4010", "4030"}
)
"""The error codes that keep somebody out; the others refuse a request for its form, or for its time."""

ISSUING = frozenset({op.LOGIN_COMPLETE, op.TOKEN_REFRESH})
"""The endpoints whose success lets somebody in, whatever it was that had to be refused."""

DISCLOSED = frozenset(
    {"AUTHN-026", "CHANNEL-046", "ENV-019", "ENV-021", "LOGIN-066", "MODEL-007", "MODEL-008", "PASSWORD-003"}
    | {"SECURE-007", "TOKEN-018"}
)
"""The requirements by which an answer shows what nobody, or nobody else, may see."""

LEFT_ALONE = frozenset(
    {"MODEL-009", "MODEL-010", "MODEL-011", "MODEL-012", "MODEL-013", "MODEL-014", "MODEL-015", "MODEL-016"}
    | {"PROFILE-006", "PROFILE-007", "PROFILE-011", "ACCOUNT-035", "ACCOUNT-047", "CHANNEL-061"}
    | {"CHANNELTYPE-033", "IPWHITELIST-011"}
)
"""The requirements by which a request leaves alone what it does not name."""

MISTAKEN = frozenset({"ENV-014", "PAGE-014"})
"""The requirements of level should by which a client takes a success for an error, or a page for the last."""

COMPARING = frozenset({"ENUM-009", "MODEL-002", "MODEL-003"})
"""The requirements, beside those of the chapter AGREE, that compare two answers of which either may be
wrong."""


def compares_answers(finding: FindingEntry) -> bool:
    """Whether the finding compares two answers, of which either may be wrong."""
    chapter, _, _ = finding.requirement.rpartition("-")
    return chapter == "AGREE" or finding.requirement in COMPARING


def gravity(finding: FindingEntry) -> tuple[int, bool]:
    """The order of findings, the gravest first; of one severity, those about a single answer before
    comparisons of two."""
    return RANK[severity_of(finding)], compares_answers(finding)


def severity_of(finding: FindingEntry | Finding) -> Severity:
    """What the contradiction does, whatever its level. Where it neither lets in, nor shows or loses anything,
    a contradicted must breaks a client, and a should differs unless a client takes it for an error."""
    row = REQUIREMENTS.get(finding.requirement)
    if row is None and not finding.requirement.startswith(PINNED):
        return "own"
    if row is None:
        return "client" if finding.verdict == "fail" else "differs"
    if _is_let_through(finding, row):
        return "access"
    if finding.requirement in DISCLOSED:
        return "secret"
    if finding.requirement in LEFT_ALONE or _is_effect(finding, row):
        return "data"
    return "client" if row.level == "must" or finding.requirement in MISTAKEN else "differs"


def _is_let_through(finding: FindingEntry | Finding, row: Requirement) -> bool:
    """Whether a success was seen where somebody is to be kept out."""
    if not _is_success(finding.actual):
        return False
    if finding.endpoint in ISSUING and finding.path in ("code", "success", "status"):
        return not _is_success(finding.expected)
    if finding.path == "code":
        return _is_code_of_access(finding.expected)
    if row.chapter not in ACCESS_CHAPTERS:
        return False
    return finding.expected is False if finding.path == "success" else _is_refusal(finding.expected)


def _is_code_of_access(expected: Json) -> bool:
    if isinstance(expected, dict):
        named = next((expected[name] for name in ("code", "one of") if name in expected), None)
        return _is_code_of_access(named)
    if isinstance(expected, list):
        return bool(expected) and all(map(_is_code_of_access, expected))
    return expected in ACCESS_CODES


def _is_refusal(value: Json) -> bool:
    if isinstance(value, dict):
        return any(_is_refusal(value.get(name)) for name in ("status", "one of"))
    if isinstance(value, list):
        return bool(value) and all(map(_is_refusal, value)) and value != [400]
    return is_number(value) and 400 <= value < 500


def _is_success(value: Json) -> bool:
    if isinstance(value, dict):
        return value.get("success") is True or _is_success(value.get("status"))
    return value is True or (is_number(value) and 200 <= value < 300)


def _is_effect(finding: FindingEntry | Finding, row: Requirement) -> bool:
    """Whether a case read other data than what it had written: several exchanges led there, and one of the
    rule's endpoints changes something."""
    operation = BY_KEY.get(finding.endpoint)
    changing = [BY_KEY[key] for key in row.operations if len(row.operations) < len(BY_KEY)]
    operations = [*changing, *([operation] if operation else [])]
    is_by_case = bool(finding.case and finding.case.startswith("cases/"))
    return (
        is_by_case
        and len(finding.exchanges) > 1
        and finding.path.startswith("data.")
        and any(each.impact != "read-only" for each in operations)
    )
