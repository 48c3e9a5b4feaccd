"""The judge: applies every check to every exchange."""

from conformance.judging.judge import Judge

__all__ = ["Judge"]
