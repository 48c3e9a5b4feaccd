"""A recording replayed on a fresh portal, for tests."""

from __future__ import annotations

from pathlib import Path

from conformance.replay import Options, Replayed, replay
from conformance.target.profile.model import Profile, parse
from reference_impl import serve as reference


def profile_of(portal: reference.Running) -> Profile:
    return parse(portal.profile(), {})


def replayed(
    recording: Path,
    out: Path,
    *,
    faults: tuple[str, ...] = (),
    variants: tuple[str, ...] = (),
    **options: object,
) -> Replayed:
    """The recording on a fresh portal: other keys, ids, tokens, passwords, clock."""
    chosen = Options(out=out, **{"impact": "disruptive", **options})  # type: ignore[arg-type]
    with reference.start(faults=faults, variants=variants) as portal:
        return replay([recording], profile_of(portal), chosen)
