"""Draws the time of a run as SVG: per chapter, and along the run."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from markupsafe import Markup

from conformance.report.model.run import OperationTime, Timed
from conformance.report.model.words import duration, plural
from conformance.traffic.pulse import Moments, Pulse

WIDTH = 960.0
COLUMNS = 240
MOST_WAITS = 200
MOST_PAUSES = 16
SQUEEZED = 26.0
"""The width of a long pause, in pixels; it is drawn shorter than its share."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the run, in epoch seconds, and its place in the drawing, in pixels. A pause is empty."""

    start: float
    end: float
    left: float
    right: float
    pause: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    drawing: Markup
    squeezed: bool


def figure(height: float, words: str, *parts: Markup) -> Markup:
    """A drawing that is as wide as the page: places along it are percentages, heights are pixels."""
    drawn = Markup('<svg height="{:.0f}" role="img" aria-label="{}">{}</svg>')
    return drawn.format(height, words, Markup("").join(parts))


def line(css: str, height: float, points: Sequence[tuple[float, float]]) -> Markup:
    """A line through points, each a percentage of the width and pixels from the top."""
    return Markup(
        '<svg viewBox="0 0 100 {0:.0f}" height="{0:.0f}" preserveAspectRatio="none">'
        '<polyline class="{1}" points="{2}"/></svg>'
    ).format(height, css, " ".join(f"{x:.2f},{y:.1f}" for x, y in points))


BAR_HEIGHT = 36


def bars(timings: Sequence[OperationTime]) -> Markup:
    """A bar for each group of endpoints, below its name: the total time of the target, and its median times
    the requests."""
    groups: dict[str, list[OperationTime]] = {}
    for timing in timings:
        groups.setdefault(timing.group, []).append(timing)
    if not groups:
        return Markup("")
    totals = {name: _totals(rows) for name, rows in groups.items()}
    longest = max(total for total, _, _ in totals.values()) or 1.0
    drawn = [_bar(at, name, totals[name], longest) for at, name in enumerate(groups)]
    words = "; ".join(f"{name} {duration(total / 1000)}" for name, (total, _, _) in totals.items())
    return figure(BAR_HEIGHT * len(groups), f"Time per chapter: {words}", *drawn)


def _bar(at: int, name: str, totals: tuple[float, float, str], longest: float) -> Markup:
    top, (total, usual, words) = BAR_HEIGHT * at, totals
    return Markup(
        '<text class="ink" x="0" y="{}">{}</text><text x="100%" y="{}" text-anchor="end">{}</text>'
        '<rect class="bar2" y="{}" width="{:.2f}%" height="11" rx="2"/>'
        '<rect class="bar1" y="{}" width="{:.2f}%" height="11" rx="2"/>'
    ).format(
        top + 12, name, top + 12, words,
        top + 17, max(0.3, 100 * total / longest), top + 17, max(0.3, 100 * usual / longest),
    )  # fmt: skip


def _totals(rows: Sequence[OperationTime]) -> tuple[float, float, str]:
    """The total time of some endpoints in ms, the median times the requests, and the total in words."""
    total = sum(row.total_ms for row in rows)
    usual = min(total, sum(row.median_ms * row.requests for row in rows))
    requests = sum(row.requests for row in rows)
    return total, usual, f"{duration(total / 1000)} in {plural(requests, 'request')}"


def timeline(pulse: Pulse, waits: Sequence[Timed]) -> Timeline | None:
    """The run from its first request to its last: sign-ins, other requests and waits; long pauses are
    shortened."""
    times, ends = _spans(pulse)
    if len(times) < 2:
        return None
    stretches = _stretches(times, ends)
    signed, others = (_columns(kind, stretches) for kind in (pulse.sign_ins, pulse.others))
    most = max([1, *signed, *others])
    parts = [
        *_lane(signed, most, base=46, css="signin"),
        *_lane(others, most, base=102, css="bar1"),
        *_pauses(stretches),
        *_waits(waits, stretches),
        *_axis(stretches),
    ]
    labels = Markup(
        '<text x="0" y="38">sign-ins</text><text x="0" y="94">requests</text><text x="0" y="118">waits</text>'
    )
    number, steps = pulse.sign_ins.total + pulse.others.total, pulse.sign_ins.total
    words = (
        f"Timeline: {plural(number, 'request')}, {steps} of them sign-in steps, {plural(len(waits), 'wait')}"
    )
    drawing = Markup('<svg viewBox="0 0 {} 155" role="img" aria-label="{}">{}{}</svg>').format(
        int(WIDTH), words, labels, Markup("").join(parts)
    )
    return Timeline(drawing, any(stretch.pause for stretch in stretches))


def _spans(pulse: Pulse) -> tuple[array[float], array[float]]:
    """When exchanges began, in the order of time, and when each of them ended."""
    started = pulse.sign_ins.started + pulse.others.started
    elapsed = pulse.sign_ins.elapsed + pulse.others.elapsed
    order = sorted((at for at in range(len(started)) if started[at] > 0), key=started.__getitem__)
    times = array("d", map(started.__getitem__, order))
    return times, array("d", (time + elapsed[at] / 1000 for time, at in zip(times, order, strict=True)))


LEFT = 70.0
COLUMN_WIDTH = (WIDTH - LEFT) / COLUMNS


def _stretches(starts: Sequence[float], ends: Sequence[float]) -> list[Stretch]:
    """Cuts the run at its long pauses, so that minutes of waiting do not hide seconds of work."""
    whole = max(ends) - starts[0]
    cuts = sorted(_long_pauses(starts, ends, whole))
    busy = max(0.001, whole - sum(end - start for start, end in cuts))
    room = WIDTH - LEFT - SQUEEZED * len(cuts)
    drawn: list[Stretch] = []
    now, at = starts[0], LEFT
    for start, end in [*cuts, (max(ends), max(ends))]:
        width = room * (start - now) / busy
        drawn.append(Stretch(now, start, at, at + width, False))
        if end > start:
            drawn.append(Stretch(start, end, at + width, at + width + SQUEEZED, True))
        now, at = end, at + width + (SQUEEZED if end > start else 0)
    return drawn


def _long_pauses(
    starts: Sequence[float], ends: Sequence[float], whole: float
) -> Iterator[tuple[float, float]]:
    """Pauses that would each fill more than a twenty-fifth of the axis after longer pauses are cut."""
    pauses: list[tuple[float, float]] = []
    reached = ends[0]
    for start, end in zip(islice(starts, 1, None), islice(ends, 1, None), strict=True):
        if start - reached > 1.0:
            pauses.append((reached, start))
        if end > reached:
            reached = end
    for start, end in sorted(pauses, key=lambda pause: pause[0] - pause[1])[:MOST_PAUSES]:
        if end - start > whole / 25:
            yield start, end
            whole -= end - start


def _place(time: float, stretches: Sequence[Stretch]) -> float:
    for stretch in stretches:
        if time <= stretch.end:
            share = (time - stretch.start) / ((stretch.end - stretch.start) or 1.0)
            return stretch.left + max(0.0, share) * (stretch.right - stretch.left)
    return WIDTH


def _columns(moments: Moments, stretches: Sequence[Stretch]) -> list[int]:
    counts = [0] * COLUMNS
    for time in moments.times:
        column = int((_place(time, stretches) - LEFT) / COLUMN_WIDTH)
        counts[min(max(column, 0), COLUMNS - 1)] += moments.every
    return counts


def _lane(counts: Sequence[int], most: int, *, base: int, css: str) -> Iterator[Markup]:
    for at, count in enumerate(counts):
        if count:
            tall = max(3.0, 40.0 * (count / most) ** 0.5)
            left, top = f"{LEFT + at * COLUMN_WIDTH:.1f}", f"{base - tall:.1f}"
            size = f'width="{COLUMN_WIDTH - 0.6:.1f}" height="{tall:.1f}"'
            yield Markup(f'<rect class="{css}" x="{left}" y="{top}" {size}/>')


def _pauses(stretches: Sequence[Stretch]) -> Iterator[Markup]:
    for stretch in stretches:
        if stretch.pause:
            yield Markup('<rect class="gap" x="{:.1f}" y="4" width="{:.1f}" height="128"/>').format(
                stretch.left, SQUEEZED
            )
            yield Markup(
                '<text x="{:.1f}" y="68" text-anchor="middle" transform="rotate(-90 {:.1f} 68)">{}</text>'
            ).format(
                stretch.left + SQUEEZED / 2 + 4,
                stretch.left + SQUEEZED / 2 + 4,
                duration(stretch.end - stretch.start),
            )


def _waits(waits: Sequence[Timed], stretches: Sequence[Stretch]) -> Iterator[Markup]:
    """Overlapping waits are drawn below each other, in at most three rows."""
    taken = [0.0, 0.0, 0.0]
    for wait in sorted(waits, key=lambda span: span.start)[:MOST_WAITS]:
        start, end = _place(wait.start, stretches), _place(wait.end, stretches)
        lane = next((at for at, until in enumerate(taken) if start >= until), 2)
        taken[lane] = end
        yield Markup(
            '<rect class="wait" x="{:.1f}" y="{}" width="{:.1f}" height="6" rx="2"><title>{}</title></rect>'
        ).format(start, 108 + 8 * lane, max(2.0, end - start), f"{wait.label}: {duration(wait.seconds)}")


def aligned(timeline: Sequence[Timed], pulse: Pulse) -> list[Timed]:
    """The waits by the clock of the exchanges: waits by another clock are shifted to the first exchange."""
    waits = [span for span in timeline if span.kind == "wait"]
    first = pulse.earliest
    begin = min((span.start for span in timeline), default=0.0)
    if not waits or abs(begin - first) < 86_400:
        return waits
    return [
        span.model_copy(update={"start": span.start - begin + first, "end": span.end - begin + first})
        for span in waits
    ]


def _axis(stretches: Sequence[Stretch]) -> Iterator[Markup]:
    start = stretches[0].start
    yield Markup('<path class="rule" d="M{} 134H{}"/>').format(LEFT, WIDTH)
    ends = [(stretch.end, stretch.right) for stretch in stretches[-1:]]
    taken = LEFT - 100.0
    for time, at in [*((stretch.start, stretch.left) for stretch in stretches if not stretch.pause), *ends]:
        is_last = (time, at) in ends
        if at - taken > 84 and (is_last or WIDTH - at > 140):
            anchor = "end" if is_last else "start"
            label = "0" if time == start else f"+{duration(time - start)}"
            yield Markup('<text x="{:.1f}" y="149" text-anchor="{}">{}</text>').format(at, anchor, label)
            taken = at
