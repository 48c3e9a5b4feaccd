"""What pytest's objects hold of a run: the session on the config, the state of a case on its item."""

from __future__ import annotations

import pytest

from conformance.report.model.run import Run
from conformance.rules.registry import OwnRules
from conformance.run.schedule import Steps
from conformance.run.session import RunSession
from conformance.verdicts.selection import RuleSelection
from conformance.verdicts.verify import Verify

SESSION = pytest.StashKey[RunSession]()
FINAL = pytest.StashKey[Run]()
VERIFY = pytest.StashKey[Verify]()
STEPS = pytest.StashKey[Steps]()
DESELECTED = pytest.StashKey[int]()
"""How many cases were collected and are not to run."""
RULES = pytest.StashKey[RuleSelection | None]()
"""The rules that the options select."""
OWN = pytest.StashKey[OwnRules]()
"""The user's own rules."""
DUE = pytest.StashKey[tuple[float, str]]()
"""The moment at which a suspended case goes on, and what it waits for."""
PUT_OFF = pytest.StashKey[bool]()
"""Whether a case is to begin anew, when others are done; False where it has been put off before."""
