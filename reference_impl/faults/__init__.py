"""Single contradictions of the specification, a file per chapter; none has a line in a handler."""

from dataclasses import replace

from reference_impl.faults import (
    accounts,
    agreement,
    constants,
    dated,
    effects,
    elsewhere,
    endpoints,
    ends,
    envelope,
    fields,
    filtered,
    headers,
    in_company,
    later_on,
    nearly,
    notifications,
    others,
    owners,
    pages,
    profile,
    records,
    refusals,
    roles_files_orders,
    sealed,
    secure_channel,
    security,
    side_effects,
    sign_in,
    steps,
    stored,
    tokens,
    traces,
    twice,
)
from reference_impl.faults.consequences import CONSEQUENCES
from reference_impl.faults.fault import Fault

__all__ = ["FAULTS", "Fault"]

_CHAPTERS = (
    envelope,
    fields,
    pages,
    constants,
    headers,
    sign_in,
    steps,
    tokens,
    secure_channel,
    security,
    profile,
    records,
    accounts,
    notifications,
    roles_files_orders,
    endpoints,
    agreement,
    owners,
    refusals,
    sealed,
    effects,
    filtered,
    side_effects,
    others,
    nearly,
    ends,
    stored,
    dated,
    traces,
    twice,
    in_company,
    elsewhere,
    later_on,
)


def _by_name() -> dict[str, Fault]:
    """Raises ValueError where two faults have one name."""
    faults: dict[str, Fault] = {}
    for chapter in _CHAPTERS:
        for fault in chapter.FAULTS:
            if fault.name in faults:
                raise ValueError(f"two faults are called {fault.name}")
            faults[fault.name] = replace(fault, also=_also(fault))
    return faults


def _also(fault: Fault) -> tuple[str, ...]:
    """What its row lists, and the table of consequences."""
    return tuple(dict.fromkeys((*fault.also, *CONSEQUENCES.get(fault.name, "").split())))


FAULTS = _by_name()
"""By name, in the specification's order."""
