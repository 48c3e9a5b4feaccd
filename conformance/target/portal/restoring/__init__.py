"""The way back of every change: whether there is one, and taking it."""

from conformance.target.portal.restoring.password_history import PasswordHistory
from conformance.target.portal.restoring.restore import (
    NotRestored,
    cleanup_command,
    restore,
    restored_in_words,
)

__all__ = ["NotRestored", "PasswordHistory", "cleanup_command", "restore", "restored_in_words"]
