"""A recording that is made at a fresh portal and replayed on another one, for tests."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conformance import record
from conformance.replay import ReplayOptions, ReplayResult, replay
from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.comparer import Comparer
from conformance.replay.engine.step import ReplayStep
from conformance.replay.rebuild.correlation import Correlation
from conformance.target.profile.model import Profile, parse
from conformance.tests.scripted_client import Walker
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange
from reference_impl import serve as reference

Edit = Callable[[str], str]
Replaying = Callable[..., ReplayResult]
"""A replay of a whole visit on a fresh portal, with options of ``replayed``."""

OF_THE_PORTAL = frozenset({"faults", "variants", "seed", "wrap", "choices", "limits"})
"""Options of a replay that say on which portal it is made."""


@contextmanager
def recorder(
    out: Path, *, open_channel: bool = False, edit: Edit = str, **options: Any
) -> Iterator[tuple[Walker, reference.Running]]:
    """A person whose visit of a fresh portal is recorded, and the portal. ``edit`` is done in the profile."""
    with (
        reference.start(**options) as portal,
        record.serve(portal.url, out, record.RecordOptions(open_channel=open_channel)) as serving,
    ):
        yield Walker(serving.url, tomllib.loads(edit(portal.profile()))), portal


def recorded(out: Path, visit: Callable[[Walker], object], **options: Any) -> Path:
    """A recording of what ``visit`` does, with the secure channel opened."""
    with recorder(out, open_channel=True, **options) as (walker, _):
        visit(walker)
    return out


def recorded_visit(folder: Path) -> Path:
    """A whole visit, recorded with the secure channel opened."""
    return recorded(folder / "traffic.jsonl", Walker.visit)


def written(path: Path, *exchanges: Exchange) -> Path:
    with capture.Writer(path) as writer:
        for exchange in exchanges:
            writer.write(exchange)
    return path


def rewritten(recording: Path, change: Callable[[dict[str, Any]], object], out: Path | None = None) -> Path:
    """The recording, with a change in each of its lines: in its place, or ``out``."""
    lines = [json.loads(line) for line in recording.read_text("utf-8").splitlines()]
    for line in lines:
        change(line)
    out = out or recording
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return out


def profile_of(portal: reference.Running) -> Profile:
    return parse(portal.profile(), {})


def without_clock(profile: str) -> str:
    """A profile without a test clock: time passes by itself."""
    text, times = re.subn(r"(?ms)^\[clock\]\n.*?(?=^\[|\Z)", "", profile)
    assert times == 1
    return text


def comparer_of(**options: Any) -> Comparer:
    """A comparer that has seen nothing yet."""
    return Comparer(Correlation(used={}), **options)


def assessor_of(**options: Any) -> Assessor:
    """What decides the outcome of exchanges, with such a comparer."""
    comparer = comparer_of(**options)
    return Assessor(comparer, RecordedBaseline([], comparer.correlation))


def options_for(out: Path, **options: object) -> ReplayOptions:
    """Options that allow everything, unless others are given."""
    return ReplayOptions(out=out, **{"impact": "disruptive", **options})  # type: ignore[arg-type]


def replayed(recording: Path, out: Path, **options: Any) -> ReplayResult:
    """The recording on a fresh portal: other keys, ids, tokens, passwords, clock."""
    return steps_of(recording, out, **options)[0]


def steps_of(
    recording: Path,
    out: Path,
    *,
    edit: Edit = str,
    prepare: Callable[[reference.Running], object] = id,
    on_step: Callable[[ReplayStep], object] = id,
    **options: Any,
) -> tuple[ReplayResult, list[ReplayStep]]:
    """As ``replayed``, with every step taken. ``edit`` changes the profile, ``prepare`` the portal."""
    steps: list[ReplayStep] = []

    def take(step: ReplayStep) -> None:
        steps.append(step)
        on_step(step)

    of_portal = {name: options.pop(name) for name in OF_THE_PORTAL & options.keys()}
    with reference.start(**of_portal) as portal:
        prepare(portal)
        profile = parse(edit(portal.profile()), {})
        result = replay([recording], profile, options_for(out, **options), on_step=take)
    return result, steps
