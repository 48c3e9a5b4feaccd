"""How grave a finding is, decided by the registry's facts of its requirement and by what was seen."""

from __future__ import annotations

from typing import Literal

from conformance.report.model.run import FindingEntry
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

Severity = Literal["access", "data", "client", "differs"]

SEVERITIES: dict[Severity, str] = {
    "access": "may let someone in",
    "data": "may lose data",
    "client": "breaks a client",
    "differs": "differs from a sample",
}
"""What each severity means, the gravest first."""

RANK = {name: rank for rank, name in enumerate(SEVERITIES)}

ACCESS_CHAPTERS = frozenset(
    {"AUTHN", "HEADER", "LOGIN", "TOKEN", "MFA", "PASSWORD", "SESSION", "LOGOUT", "SECURE", "IPWHITELIST"}
    | {"BACKUP", "INVITE"}
)
"""The chapters that decide who is let in; what they refuse must stay out."""

DISCLOSED = frozenset({"SECURE-007", "TOKEN-018"})
"""The requirements by which an answer shows what nobody may see."""


def severity_of(finding: FindingEntry) -> Severity:
    """The severity: of a ``should`` always that it differs."""
    row = REQUIREMENTS.get(finding.requirement)
    if row is None:
        return "client" if finding.verdict == "fail" else "differs"
    if row.level != "must":
        return "differs"
    if finding.requirement in DISCLOSED or (row.chapter in ACCESS_CHAPTERS and _is_let_through(finding)):
        return "access"
    return "data" if _is_effect(finding) else "client"


def _is_let_through(finding: FindingEntry) -> bool:
    """Whether a success was seen where a refusal was expected."""
    if finding.path == "success":
        return finding.expected is False and finding.actual is True
    return _is_refusal(finding.expected) and _is_success(finding.actual)


def _is_refusal(value: Json) -> bool:
    if isinstance(value, dict):
        return any(_is_refusal(value.get(name)) for name in ("status", "one of"))
    if isinstance(value, list):
        return bool(value) and all(map(_is_refusal, value))
    return is_number(value) and 400 <= value < 500


def _is_success(value: Json) -> bool:
    if isinstance(value, dict):
        return _is_success(value.get("status"))
    return is_number(value) and 200 <= value < 300


def _is_effect(finding: FindingEntry) -> bool:
    """Whether a case saw other data than what it wrote through an endpoint that changes something."""
    row, operation = REQUIREMENTS[finding.requirement], BY_KEY.get(finding.endpoint)
    changing = [BY_KEY[key] for key in row.operations if len(row.operations) < len(BY_KEY)]
    operations = [*changing, *([operation] if operation else [])]
    is_by_case = bool(finding.case and finding.case.startswith("cases/"))
    return (
        is_by_case
        and finding.path.startswith("data.")
        and any(each.impact != "read-only" for each in operations)
    )
