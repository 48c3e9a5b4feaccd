"""Validates profiles without their secrets and without a target, as before a commit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from conformance.errors import UsageError
from conformance.target.profile.errors import sentences
from conformance.target.profile.model import NO_ACCOUNT, Profile, tables_of, text_of
from conformance.target.profile.positions import Positions
from conformance.target.profile.references import References

STAND_IN = "UNSETVALUE"
"""A value that is valid nearly everywhere: it is base32, a name and a regular expression."""

ADDRESSES = (("portal", "url"), ("portal", "proxy"))
OTHER_CODE = ("portal", "other_access_code")


@dataclass(frozen=True, slots=True)
class Validation:
    """``problems``: a sentence for each mistake. ``references``: the values that the environment or files
    give, and that were not looked at."""

    problems: tuple[str, ...]
    references: tuple[str, ...]


class StandIns(References):
    """Gives a stand-in for every reference, whatever the environment holds: the result is the same on each
    machine."""

    def __init__(self, positions: Positions) -> None:
        super().__init__(positions, {}, Path())
        self.references: dict[str, None] = {}

    def value(self, reference: str, place: tuple[str, ...]) -> str:
        self.references[reference] = None
        if place == OTHER_CODE:
            return f"{STAND_IN}2"  # it may not be the access code
        return f"http://{STAND_IN}" if place in ADDRESSES else STAND_IN


def validate(path: Path) -> Validation:
    """What is wrong with the profile in a file; nothing is sent and no secret is read."""
    stand_ins = StandIns(Positions(str(path), ""))
    try:
        text = text_of(path)
        stand_ins = StandIns(Positions(str(path), text))
        tables = tables_of(text, stand_ins, name=str(path))
        profile = Profile.model_validate(tables)
        profile.extend.within(path.parent).described()
    except UsageError as problem:
        problems = str(problem).splitlines()
    except ValidationError as problem:
        problems = list(sentences(problem, Profile, stand_ins.positions, stand_in=STAND_IN))
    else:
        problems = [] if profile.accounts else [f"{path}: {NO_ACCOUNT}"]
    return Validation(tuple(problems), tuple(stand_ins.references))
