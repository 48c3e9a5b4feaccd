"""The drawings of a run's time: bars per chapter, and a timeline whose long pauses do not hide the work."""

from __future__ import annotations

from array import array
from xml.etree import ElementTree

from conformance.report.formats.html import chart
from conformance.report.formats.html.chart import Stretch, Timeline, aligned, bars, timeline
from conformance.report.model.run import OperationTime, Timed
from conformance.traffic.pulse import MOST_MOMENTS, Moments, Pulse


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


def test_names_are_escaped() -> None:
    assert "<script>" not in bars([timing("<script>", 1)])


def test_nothing_is_drawn_of_nothing() -> None:
    assert bars([]) == ""
    assert timeline(pulse(), []) is None
    assert timeline(pulse(5.0), []) is None


def test_sign_ins_and_other_requests_have_lanes_of_their_own() -> None:
    found = timeline(pulse(100, 101, 102, 103, sign_ins=2), [])

    assert found is not None
    assert len(drawn(found.drawing, "signin")) == 2
    assert len(drawn(found.drawing, "bar1")) == 2
    assert not found.squeezed


def test_a_long_pause_is_drawn_short_and_says_how_long_it_was() -> None:
    found = timeline(pulse(*(100 + n / 10 for n in range(20)), *(3700 + n / 10 for n in range(20))), [])

    assert found is not None
    assert found.squeezed
    assert len(drawn(found.drawing, "gap")) == 1
    assert "59 min 58 s" in found.drawing or "1 h 0 min" in found.drawing


def test_an_hour_does_not_hide_the_pauses_of_a_minute() -> None:
    found = timeline(pulse(0.1, 1, 2, 62, 63, 64, 3700, 3701), [])

    assert found is not None
    assert len(drawn(found.drawing, "gap")) == 2


def test_waits_at_once_stand_below_each_other() -> None:
    waits = [Timed(kind="wait", label=f"w{n}", start=100, end=160) for n in range(2)]
    found = timeline(pulse(100, 130, 160), waits)

    assert found is not None
    assert len({one.get("y") for one in drawn(found.drawing, "wait")}) == 2


def test_waits_measured_on_another_clock_begin_with_the_exchanges() -> None:
    told = [
        Timed(kind="case", label="first", start=5.0, end=6.0),
        Timed(kind="wait", label="cooldown", start=15.0, end=75.0),
    ]

    (wait,) = aligned(told, pulse(1_795_000_000.0, 1_795_000_100.0))

    assert (wait.start, wait.seconds) == (1_795_000_010.0, 60.0)


def test_every_drawing_is_well_formed_and_stays_within_its_frame() -> None:
    found = timeline(pulse(*(n * 7.3 for n in range(1, 400))), [])

    assert found is not None
    for one in drawn(found.drawing, "bar1"):
        assert 0 <= float(one.get("x", "-1")) <= 960
        assert 0 <= float(one.get("y", "-1")) <= 155


def test_exchanges_out_of_order_make_the_same_timeline() -> None:
    began, took = [100.0, 101.0, 0.0, 103.0, 190.0], [5.0, 10.0, 5.0, 20.0, 5.0]
    known = [at for at, time in enumerate(began) if time > 0]

    def drawn(order: list[int]) -> Timeline | None:
        pulse = Pulse()
        for at in order:
            pulse.add(began[at], took[at], is_sign_in=at == 1)
        return timeline(pulse, [])

    assert drawn(known) is not None
    assert drawn(known[::-1]) == drawn(known)
    without, whole = drawn(known), drawn([4, 2, 1, 0, 3])
    assert without is not None
    assert whole is not None
    assert whole.drawing.partition(">")[2] == without.drawing.partition(">")[2]  # its label counts all


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


def test_each_time_is_counted_where_it_is_drawn() -> None:
    stretches = [
        Stretch(1000.0, 1010.0, 70.0, 300.0, False),
        Stretch(1010.0, 1500.0, 300.0, 326.0, True),
        Stretch(1500.0, 1520.0, 326.0, 960.0, False),
    ]
    after = [0.0, 0.1, 4.9, 9.99, 10.0, 10.1, 250.0, 499.0, 500.0, 501.5, 519.9, 520.0, 521.0]
    times = [1000.0 + seconds for seconds in after]

    counts = chart._columns(Moments(array("d", times)), stretches)

    drawn = [(chart._place(time, stretches) - chart.LEFT) / (chart.WIDTH - chart.LEFT) for time in times]
    assert counts == [
        sum(min(int(share * chart.COLUMNS), chart.COLUMNS - 1) == at for share in drawn)
        for at in range(chart.COLUMNS)
    ]
