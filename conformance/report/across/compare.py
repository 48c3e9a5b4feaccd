"""Two runs, or two replays, of one target or release after the other: what is worse, better, and other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from conformance.report.formats.page import render, spelled
from conformance.report.formats.summary import code, quoted
from conformance.report.model.marked import literal
from conformance.report.model.run import (
    FindingEntry,
    ObservationEntry,
    OperationTime,
    Regression,
    RequirementEntry,
    Run,
    Since,
    VerdictName,
)
from conformance.report.model.visible import json_text, one_line
from conformance.report.model.words import day_and_time, headline, listed, numbers

BAD: tuple[VerdictName, ...] = ("fail", "warn")
SLOWER = 1.5
"""How many times the median must have grown or shrunk to be told, and by how many milliseconds at least."""
AT_LEAST_MS = 20.0
MOST = 200


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Side(Part):
    """One of the two runs, in short."""

    url: str
    profile: str | None
    started: str
    verdict: str
    numbers: str
    exit_code: int


class Change(Part):
    """A requirement that came to another verdict. ``endpoints`` are those of its findings in the run
    that has them."""

    requirement: str
    level: str
    statement: str
    old: VerdictName | None
    new: VerdictName | None
    endpoints: list[str] = []
    message: str = ""


class Place(Part):
    """A finding that only one of the runs has, of a requirement that fails in both."""

    signature: str
    requirement: str
    endpoint: str
    message: str


class ReadingChange(Part):
    key: str
    old: list[JsonValue]
    new: list[JsonValue]


class Seen(Part):
    topic: str
    endpoint: str
    observed: JsonValue


class TimeChange(Part):
    """Median milliseconds of one endpoint in both runs."""

    endpoint: str
    old_ms: float
    new_ms: float
    requests: int

    @property
    def factor(self) -> float:
        return self.new_ms / self.old_ms if self.old_ms else 0.0


class Comparison(Part):
    """What fails now and did not is newly failing, also where the old run could not try it; what the new run
    could not try is neither worse nor fixed."""

    old: Side
    new: Side
    newly_failing: list[Change] = []
    fixed: list[Change] = []
    new_places: list[Place] = []
    gone_places: list[Place] = []
    no_longer_tested: list[Change] = []
    newly_tested: list[Change] = []
    changed_readings: list[ReadingChange] = []
    new_observations: list[Seen] = []
    gone_observations: list[Seen] = []
    new_regressions: list[Regression] = []
    fixed_regressions: list[Regression] = []
    slower: list[TimeChange] = []
    faster: list[TimeChange] = []
    timings: list[TimeChange] = []

    @property
    def is_worse(self) -> bool:
        """Whether something fails that did not: what makes `compare` end with exit code 1."""
        return bool(self.newly_failing or self.new_places or self.new_regressions)


def compare(old: Run, new: Run) -> Comparison:
    """What changed from one run to the other. A WARN weighs where the new run was strict."""
    weighed = BAD if new.strict else ("fail",)
    before = {row.id: row for row in old.requirements}
    after = {row.id: row for row in new.requirements}
    changes = [_change(before.get(name), after.get(name), old, new) for name in {**before, **after}]
    newly = [one for one in changes if one.new in weighed and one.old not in weighed]
    fixed = [
        one
        for one in changes
        if (one.old in weighed and one.new in ("pass", "open")) or (one.old == "warn" and one.new == "pass")
    ]
    steady = {one.requirement for one in changes if one.old in weighed and one.new in weighed}
    times = sorted(_times(old.timings, new.timings), key=lambda one: -one.factor)
    return Comparison(
        old=_side(old),
        new=_side(new),
        newly_failing=newly,
        fixed=fixed,
        new_places=_places(new, old, steady),
        gone_places=_places(old, new, steady),
        no_longer_tested=[
            one for one in changes if one.new in ("untested", None) and one.old not in ("untested", None)
        ],
        newly_tested=[one for one in changes if one.old in ("untested", None) and one.new == "pass"],
        changed_readings=_readings(old, new),
        new_observations=_observations(new, old),
        gone_observations=_observations(old, new),
        new_regressions=_regressions(new, old),
        fixed_regressions=_regressions(old, new),
        slower=[one for one in times if one.factor >= SLOWER and one.new_ms - one.old_ms >= AT_LEAST_MS],
        faster=[
            one
            for one in reversed(times)
            if one.factor <= 1 / SLOWER and one.old_ms - one.new_ms >= AT_LEAST_MS
        ],
        timings=times,
    )


def since(old: Run, new: Run) -> Since:
    """The change in the few words that a run's own report has room for: of what both could decide."""
    found = compare(old, new)
    newly = [one.requirement for one in found.newly_failing if one.old not in (None, "untested")]
    return Since(
        started=old.started,
        newly_failing=list(dict.fromkeys([*newly, *(one.requirement for one in found.new_places)])),
        fixed=[one.requirement for one in found.fixed],
        changed_readings=[one.key for one in found.changed_readings],
    )


def as_json(found: Comparison) -> str:
    return json_text(found.model_dump(mode="json"))


def as_text(found: Comparison) -> str:
    """For the terminal: what is worse last, so that it stands where one looks."""
    blocks = [
        [
            f"{name}: {side.url}, {day_and_time(side.started)}: {side.verdict} ({side.numbers})"
            for name, side in (("old", found.old), ("new", found.new))
        ],
        *(
            [title, *(f"  {line}" for line in lines)]
            for title, lines in reversed(list(_blocks(found, one_line)))
        ),
        [conclusion(found)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def as_markdown(found: Comparison) -> str:
    """For a pull request: what is worse first."""
    lines = [f"## {conclusion(found)}", "", "| | target | when | verdict | |", "|---|---|---|---|---|"]
    for name, side in (("old", found.old), ("new", found.new)):
        lines.append(
            f"| {name} | {code(side.url)} | {day_and_time(side.started)} | {side.verdict} | {side.numbers} |"
        )
    for title, rows in _blocks(found, quoted):
        lines += ["", f"### {title}", "", *(f"- {row}" for row in rows)]
    return "\n".join(lines) + "\n"


def as_html(found: Comparison) -> str:
    """One self-contained page of the same look as a run's report."""
    return render(
        "compare.html.j2",
        found=found,
        conclusion=conclusion(found),
        spelled=spelled,
        literal=literal,
        day_and_time=day_and_time,
        tone="bad" if found.is_worse else "good",
        most=MOST,
    )


def conclusion(found: Comparison) -> str:
    """The comparison in one sentence."""
    worse = [
        (len(found.newly_failing), "newly failing"),
        (len(found.new_places), "failing in a new place"),
        (len(found.new_regressions), "newly regressed"),
    ]
    other = [
        (len(found.fixed), "fixed"),
        (len(found.changed_readings), "read otherwise"),
        (len(found.no_longer_tested), "no longer tested"),
        (len(found.slower), "slower"),
    ]
    said = [f"{count:,} {words}" for count, words in [*worse, *other] if count]
    return ", ".join(said) if said else "Nothing changed"


def write_all(found: Comparison, out: Path) -> None:
    """``compare.html``, ``compare.json`` and ``compare.md`` in a folder, which is made where it is
    missing."""
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("compare.html", as_html(found)),
        ("compare.json", as_json(found)),
        ("compare.md", as_markdown(found)),
    ):
        (out / name).write_text(text, encoding="utf-8", errors="backslashreplace")


def _blocks(found: Comparison, safe: Any) -> Iterator[tuple[str, list[str]]]:
    """Titles with their lines, the worst first; ``safe`` makes a text from a target harmless."""
    changes = (
        ("Newly failing", found.newly_failing),
        ("Fixed", found.fixed),
        ("No longer tested", found.no_longer_tested),
    )
    places = (("Failing in a new place", found.new_places), ("No longer failing there", found.gone_places))
    yield from _block(changes[0][0], [_told(one, safe) for one in changes[0][1]])
    for title, rows in places[:1]:
        yield from _block(
            title, [f"{one.requirement} {safe(one.endpoint)}: {safe(one.message)}" for one in rows]
        )
    yield from _block("New regressions", [_regression(one, safe) for one in found.new_regressions])
    yield from _block(
        "Changed readings",
        [
            f"{one.key}: {safe(_values(one.old))} is now {safe(_values(one.new))}"
            for one in found.changed_readings
        ],
    )
    yield from _block("Slower", [_time(one) for one in found.slower])
    yield from _block(changes[2][0], [f"{one.requirement} {one.statement}" for one in changes[2][1]])
    yield from _block(
        "New observations",
        [
            f"{safe(one.topic)}: {safe(literal(one.observed, 120))} ({safe(one.endpoint)})"
            for one in found.new_observations
        ],
    )
    yield from _block(changes[1][0], [f"{one.requirement} {one.statement}" for one in changes[1][1]])
    for title, rows in places[1:]:
        yield from _block(
            title, [f"{one.requirement} {safe(one.endpoint)}: {safe(one.message)}" for one in rows]
        )
    yield from _block("No longer regressed", [_regression(one, safe) for one in found.fixed_regressions])
    yield from _block("Faster", [_time(one) for one in found.faster])


def _block(title: str, rows: list[str]) -> Iterator[tuple[str, list[str]]]:
    if rows:
        more = [f"and {len(rows) - 40:,} more"] if len(rows) > 40 else []
        yield f"{title} ({len(rows):,})", [*rows[:40], *more]


def _told(one: Change, safe: Any) -> str:
    where = f": {safe(listed(one.endpoints, 3))}" if one.endpoints else ""
    return f"{one.requirement} {one.statement} ({one.old or 'not there'} → {one.new}){where}"


def _regression(one: Regression, safe: Any) -> str:
    values = f"{safe(literal(one.recorded, 80))} is now {safe(literal(one.replayed, 80))}"
    return f"{safe(one.endpoint)} {safe(one.path)} {one.kind}: {values}"


def _time(one: TimeChange) -> str:
    return f"{one.endpoint}: {one.old_ms:,.0f} ms → {one.new_ms:,.0f} ms ({one.factor:.1f} times)"


def _values(values: list[JsonValue]) -> str:
    return " and ".join(literal(value, 80) for value in values) or "nothing"


def _side(run: Run) -> Side:
    return Side(
        url=run.target.url,
        profile=run.target.profile,
        started=run.started,
        verdict=headline(run).title,
        numbers=numbers(run),
        exit_code=run.exit_code,
    )


def _change(old: RequirementEntry | None, new: RequirementEntry | None, before: Run, after: Run) -> Change:
    row = new or old
    assert row is not None  # every name comes from one of the two
    findings = _findings_of(after, row.id) or _findings_of(before, row.id)
    return Change(
        requirement=row.id,
        level=row.level,
        statement=row.statement,
        old=old.verdict if old else None,
        new=new.verdict if new else None,
        endpoints=list(dict.fromkeys(one.endpoint for one in findings)),
        message=findings[0].message if findings else "",
    )


def _findings_of(run: Run, requirement: str) -> list[FindingEntry]:
    return [one for one in run.findings if one.requirement == requirement and one.verdict in BAD]


def _places(has: Run, lacks: Run, requirements: set[str]) -> list[Place]:
    known = {one.signature for one in lacks.findings}
    return [
        Place(
            signature=one.signature, requirement=one.requirement, endpoint=one.endpoint, message=one.message
        )
        for one in has.findings
        if one.requirement in requirements and one.signature not in known and one.verdict in BAD
    ]


def _readings(old: Run, new: Run) -> list[ReadingChange]:
    before = {one.key: one.observed for one in old.readings}
    return [
        ReadingChange(key=one.key, old=before[one.key], new=one.observed)
        for one in new.readings
        if one.key in before and _set(before[one.key]) != _set(one.observed)
    ]


def _set(values: list[JsonValue]) -> set[str]:
    return {json.dumps(value, sort_keys=True) for value in values}


def _observations(has: Run, lacks: Run) -> list[Seen]:
    readings = {one.key for one in (*has.readings, *lacks.readings)}
    known = {_key(one) for one in lacks.observations}
    return [
        Seen(topic=one.topic, endpoint=one.endpoint, observed=one.observed)
        for one in has.observations
        if one.topic not in readings and _key(one) not in known
    ]


def _key(one: ObservationEntry) -> tuple[str, str, str]:
    return (one.topic, one.endpoint, json.dumps(one.observed, sort_keys=True))


def _regressions(has: Run, lacks: Run) -> list[Regression]:
    known = {(one.endpoint, one.path, one.kind) for one in lacks.regressions}
    return [one for one in has.regressions if (one.endpoint, one.path, one.kind) not in known]


def _times(old: list[OperationTime], new: list[OperationTime]) -> Iterator[TimeChange]:
    before: Mapping[str, OperationTime] = {one.endpoint: one for one in old}
    for one in new:
        if one.endpoint in before:
            yield TimeChange(
                endpoint=one.endpoint,
                old_ms=before[one.endpoint].median_ms,
                new_ms=one.median_ms,
                requests=one.requests,
            )
