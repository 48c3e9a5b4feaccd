"""Each of the 88 endpoints, once not offered and once with data of another shape (chapter "Endpoints")."""

from typing import Any

from reference_impl.changes import data_rewritten
from reference_impl.faults.fault import Fault, fault, refusing
from reference_impl.faults.operations import (
    ACCOUNT,
    BACKUP_GENERATE,
    MY_WORKSPACES,
    OFFERED,
    OTP_SETUP,
    PUBLIC_KEY,
)
from reference_impl.routes import ROWS, Row

# Their answers are not shown (N4, N5), so that no shape of data contradicts anything.
NOT_SHOWN = frozenset({ACCOUNT, MY_WORKSPACES, OTP_SETUP, BACKUP_GENERATE})


def _slug(row: Row) -> str:
    path = row.path.removeprefix("/web/v1/").removeprefix("system/").replace("{", "").replace("}", "")
    return f"{row.method.lower()}-{path.replace('/', '-').lower()}"


def _nothing(data: Any) -> Any:
    return None


def _wrapped(data: Any) -> Any:
    """A list within an object, or an object within a list."""
    return {"list": data} if isinstance(data, list) else [data]


def _not_offered(row: Row) -> Fault:
    name = f"{_slug(row)}-is-not-offered"
    return fault(OFFERED[row.name], name, refusing(row.name, "METHOD_NOT_ALLOWED"))


def _misshapen(row: Row) -> Fault:
    is_odd = int(OFFERED[row.name].removeprefix("OP-")) % 2 == 1
    turn = _nothing if is_odd or row.name == PUBLIC_KEY else _wrapped
    word = "nothing" if turn is _nothing else "another-shape"
    return fault(OFFERED[row.name], f"{_slug(row)}-answers-{word}", data_rewritten(turn, row.name))


_SHOWN = [row for row in ROWS if row.answer == "shown" and row.name not in NOT_SHOWN]

FAULTS = (*map(_not_offered, ROWS), *map(_misshapen, _SHOWN))
