"""Single contradictions of the specification, a file per chapter; none has a line in a handler.

A row of a chapter is a key, the requirements that it breaks and its name, and a change of the portal.
"""

from collections.abc import Iterator

from reference_impl.faults import (
    accounts,
    constants,
    endpoints,
    envelope,
    errors,
    fields,
    headers,
    invitations,
    models,
    notifications,
    orders,
    pages,
    passwords,
    profile,
    records,
    roles_files,
    secure_channel,
    security,
    sessions,
    sign_in,
    tokens,
)
from reference_impl.faults.consequences import CONSEQUENCES
from reference_impl.faults.fault import Fault

__all__ = ["FAULTS", "Fault"]

_CHAPTERS = (
    envelope.ROWS,
    fields.ROWS,
    records.ROWS,
    pages.ROWS,
    constants.ROWS,
    headers.ROWS,
    errors.ROWS,
    sign_in.ROWS,
    tokens.ROWS,
    passwords.ROWS,
    secure_channel.ROWS,
    security.ROWS,
    sessions.ROWS,
    profile.ROWS,
    invitations.ROWS,
    accounts.ROWS,
    notifications.ROWS,
    roles_files.ROWS,
    orders.ROWS,
    models.ROWS,
    endpoints.ROWS,
)


def _faults() -> Iterator[Fault]:
    """Raises ValueError where two faults have one name."""
    names: set[str] = set()
    for rows in _CHAPTERS:
        for key, change in rows.items():
            *breaks, name = key.split()
            if name in names:
                raise ValueError(f"two faults are called {name}")
            names.add(name)
            also = CONSEQUENCES.get(name, "").split()
            yield Fault(name, tuple(breaks), change, change.operations, tuple(also))


FAULTS = {fault.name: fault for fault in _faults()}
"""By name, in the specification's order."""
