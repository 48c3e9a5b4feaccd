"""The way back of every change: whether there is one, and taking it."""

from conformance.target.portal.restoring.made import listed_id, shown_elsewhere, told_id
from conformance.target.portal.restoring.password_history import PasswordHistory
from conformance.target.portal.restoring.read_back import shown_otherwise
from conformance.target.portal.restoring.restore import (
    NotRestored,
    cleanup_command,
    restore,
    restored_in_words,
    take_away,
)
from conformance.target.portal.restoring.sessions import OwnSessions, end_sessions

__all__ = [
    "NotRestored",
    "OwnSessions",
    "PasswordHistory",
    "cleanup_command",
    "end_sessions",
    "listed_id",
    "restore",
    "restored_in_words",
    "shown_elsewhere",
    "shown_otherwise",
    "take_away",
    "told_id",
]
