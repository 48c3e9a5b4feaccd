"""A recording replayed on a fresh portal, for tests."""

from __future__ import annotations

import re
from pathlib import Path

from conformance import record
from conformance.replay import ReplayOptions, ReplayResult, replay
from conformance.replay.engine.step import ReplayStep
from conformance.target.profile.model import Profile, parse
from conformance.tests.scripted_client import walk
from reference_impl import serve as reference


def recorded_visit(folder: Path) -> Path:
    """A whole visit, recorded with the secure channel opened."""
    out = folder / "traffic.jsonl"
    with (
        reference.start() as portal,
        record.serve(portal.url, out, record.RecordOptions(open_channel=True)) as recorder,
    ):
        walk(recorder.url, portal.profile())
    return out


def profile_of(portal: reference.Running) -> Profile:
    return parse(portal.profile(), {})


def without_clock(profile: str) -> str:
    """A profile without a test clock: time passes by itself."""
    text, times = re.subn(r"(?ms)^\[clock\]\n.*?(?=^\[|\Z)", "", profile)
    assert times == 1
    return text


def options_for(out: Path, **options: object) -> ReplayOptions:
    """Options that allow everything, unless others are given."""
    return ReplayOptions(out=out, **{"impact": "disruptive", **options})  # type: ignore[arg-type]


def replayed(
    recording: Path,
    out: Path,
    *,
    faults: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    **options: object,
) -> ReplayResult:
    """The recording on a fresh portal: other keys, ids, tokens, passwords, clock."""
    return steps_of(recording, out, faults=faults, variants=variants, seed=None, **options)[0]


def steps_of(
    recording: Path,
    out: Path,
    *,
    faults: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    seed: int | None = None,
    **options: object,
) -> tuple[ReplayResult, list[ReplayStep]]:
    """As ``replayed``, with every step that was taken."""
    steps: list[ReplayStep] = []
    with reference.start(seed=seed, faults=faults, variants=variants) as portal:
        result = replay([recording], profile_of(portal), options_for(out, **options), on_step=steps.append)
    return result, steps
