"""The drawing of a run's time: a bar for each chapter."""

from __future__ import annotations

from xml.etree import ElementTree

from conformance.report.formats.html.chart import bars
from conformance.report.model.run import OperationTime


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
    assert bars([]) == ""
