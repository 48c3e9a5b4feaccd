"""The marks of cases: what a case decides, what it needs, what it does to the target, how long it waits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.spec import Impact


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Declares the requirements that a case decides; what it leaves undecided is UNTESTED, by name."""
    return pytest.mark.requirement(*ids)


def needs(*parts: str) -> pytest.MarkDecorator:
    """Names what of the profile a case cannot do without: ``accounts.spare``, ``another_account``,
    ``records.file``, ``inboxes``, ``clock``, ``bot_challenge``, or an operation's key for its body."""
    return pytest.mark.needs(*parts)


def impact(level: Impact) -> pytest.MarkDecorator:
    """Greatest impact of a case on the target; unmarked cases only sign in and read."""
    return pytest.mark.impact(level)


def sign_ins(number: int, *, reuses: int = 0, leaves: int = 0) -> pytest.MarkDecorator:
    """How many sign-ins a case begins, so that a run can plan its ten per window.

    ``reuses``: how many of them may be login sessions of ``spare`` that another case has left; ``leaves``:
    how many it leaves itself.
    """
    return pytest.mark.sign_ins(number, reuses=reuses, leaves=leaves)


def waits(seconds: float, *, then: Sequence[str] = ()) -> pytest.MarkDecorator:
    """For a case that is a generator: how long it waits in all. It yields ``(seconds, why)`` where it waits,
    and other cases run meanwhile. ``then``: the requirements that it decides only after the wait."""
    return pytest.mark.waits(seconds, then=tuple(then))


def pauses(seconds: float) -> pytest.MarkDecorator:
    """For a case that is no generator: how long it waits in itself, while no other runs. Where time is short
    it comes later."""
    return pytest.mark.pauses(seconds)
