"""What a bystander with only the wire can judge: a file per chapter, and the judge that applies them all."""

from conformance.checks.judge import Judge
from conformance.checks.registry import CHECKS, READINGS, check, reading

__all__ = ["CHECKS", "READINGS", "Judge", "check", "reading"]
