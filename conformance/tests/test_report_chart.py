"""The drawings of a run's time: bars per chapter, and a timeline whose long pauses do not hide the work."""

from __future__ import annotations

from xml.etree import ElementTree

from conformance.report.formats.html.chart import bars, timeline
from conformance.report.model.run import OperationTime
from conformance.traffic.pulse import MOST_MOMENTS, Pulse


def pulse(*starts: float, sign_ins: int = 0) -> Pulse:
    drawn = Pulse()
    for at, start in enumerate(starts):
        drawn.add(start, 10.0, is_sign_in=at < sign_ins)
    return drawn


def timing(group: str, total: float) -> OperationTime:
    return OperationTime(
        endpoint=f"GET /{group}",
        group=group,
        requests=4,
        total_ms=total,
        median_ms=total / 8,
        p95_ms=1,
        max_ms=1,
    )


def drawn(svg: str, kind: str) -> list[ElementTree.Element]:
    return [one for one in ElementTree.fromstring(svg).iter() if one.get("class") == kind]


def test_each_chapter_has_a_bar_as_long_as_its_share() -> None:
    svg = bars([timing("Roles", 1000), timing("Files", 500), timing("Roles", 1000)])

    long, short = (float(one.get("width", "0%").rstrip("%")) for one in drawn(svg, "bar2"))
    assert round(long / short) == 4
    assert "Roles 2.0 s; Files 0.5 s" in str(ElementTree.fromstring(svg).get("aria-label"))


def test_nothing_is_drawn_of_nothing() -> None:
    assert bars([]) == ""
    assert timeline(pulse(), []) is None
    assert timeline(pulse(5.0), []) is None


def test_a_long_pause_is_drawn_short_and_says_how_long_it_was() -> None:
    found = timeline(pulse(*(100 + n / 10 for n in range(20)), *(3700 + n / 10 for n in range(20))), [])

    assert found is not None
    assert found.squeezed
    assert len(drawn(found.drawing, "gap")) == 1
    assert "59 min 58 s" in found.drawing or "1 h 0 min" in found.drawing


def test_every_drawing_is_well_formed_and_stays_within_its_frame() -> None:
    found = timeline(pulse(*(n * 7.3 for n in range(1, 400))), [])

    assert found is not None
    for one in drawn(found.drawing, "bar1"):
        assert 0 <= float(one.get("x", "-1")) <= 960
        assert 0 <= float(one.get("y", "-1")) <= 155


def test_of_a_million_exchanges_a_sample_is_drawn_like_all() -> None:
    def kinds(moments: int) -> Pulse:
        pulse = Pulse()
        for at in range(moments):
            pulse.add(1_000.0 + 200.0 * at / moments, 1.0, is_sign_in=at % 8 == 0)
        return pulse

    all_of, sample = kinds(12_000), kinds(240_000)
    few, many = timeline(all_of, []), timeline(sample, [])

    assert (all_of.others.every, sample.others.every, sample.sign_ins.every) == (1, 8, 1)
    assert len(sample.others.started) < MOST_MOMENTS
    assert few is not None
    assert many is not None
    for css in ("signin", "bar1"):
        tall, short = (
            [float(row.get("height", "0")) for row in drawn(found.drawing, css)] for found in (many, few)
        )
        assert len(tall) == len(short)
        assert all(abs(left - right) < 2 for left, right in zip(tall, short, strict=True))
