"""Each of the 88 endpoints, once not offered and once with data of another shape (chapter "Endpoints")."""

from itertools import count
from typing import Any

from reference_impl.changes import Change, data_rewritten
from reference_impl.faults import operations as op
from reference_impl.faults.fault import refusing
from reference_impl.routes import ROWS as ROUTES
from reference_impl.routes import Row

# Their answers are not shown (N4, N5), so that no shape of data contradicts anything.
NOT_SHOWN = frozenset({op.ACCOUNT, op.MY_WORKSPACES, op.OTP_SETUP, op.BACKUP_GENERATE})
INSERTED: dict[str, str] = {}
"""The ids of endpoints that came later: the others are numbered in the specification's order without them."""
_numbered = (f"OP-{number:03}" for number in count(1))
OFFERED = {row.name: INSERTED.get(row.name) or next(_numbered) for row in ROUTES}
"""The requirement that an endpoint is offered."""


def _slug(row: Row) -> str:
    path = row.path.removeprefix("/web/v1/").removeprefix("system/").replace("{", "").replace("}", "")
    return f"{row.method.lower()}-{path.replace('/', '-').lower()}"


def _wrapped(data: Any) -> Any:
    """A list within an object, or an object within a list."""
    return {"list": data} if isinstance(data, list) else [data]


def _misshapen(row: Row) -> tuple[str, Change]:
    """Every second endpoint answers nothing, and so does that of the public key."""
    if int(OFFERED[row.name][-1]) % 2 == 1 or row.name == op.PUBLIC_KEY:
        return f"{_slug(row)}-answers-nothing", data_rewritten(lambda data: None, row.name)
    return f"{_slug(row)}-answers-another-shape", data_rewritten(_wrapped, row.name)


REFUSED = {
    f"{OFFERED[row.name]} {_slug(row)}-is-not-offered": refusing(row.name, "METHOD_NOT_ALLOWED")
    for row in ROUTES
}
MISSHAPEN = {
    f"{OFFERED[row.name]} {name}": change
    for row in ROUTES
    if row.answer == "shown" and row.name not in NOT_SHOWN
    for name, change in [_misshapen(row)]
}

ROWS = {
    **REFUSED,
    **MISSHAPEN,
    "OP-023 sessions-are-an-unknown-path": refusing(op.SESSIONS, "PATH_UNKNOWN"),
}
