"""The fast lane of a replay: what it repeats comes to the same as what is rebuilt, compared and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.replay.compare.outcome import State
from conformance.replay.engine.step import Attempt, ReplayStep
from conformance.replay.fast_lane.lane import RepeatedStep
from conformance.tests.polling import poll, recording_of
from conformance.tests.replays import steps_of
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording_of(poll, tmp_path_factory.mktemp("polled") / "polled.jsonl")


def from_templates(steps: list[ReplayStep]) -> list[Attempt]:
    """The attempts whose request was not rebuilt."""
    return [step.attempt for step in steps if step.attempt is not None and step.attempt.rebuilt is None]


def recognised(steps: list[ReplayStep]) -> list[Exchange]:
    """The exchanges whose response was recognised by its bytes, and not decoded."""
    return [
        step.attempt.live for step in steps if isinstance(step, RepeatedStep) and step.attempt is not None
    ]


def test_what_repeats_is_sent_from_a_template_each_under_an_id_of_its_own(
    polled: Path, tmp_path: Path
) -> None:
    result, steps = steps_of(polled, tmp_path / "out", concurrency=2)

    assert result.tally.counts == {State.SAME: result.tally.wanted}
    assert len(from_templates(steps)) >= 20
    live = list(capture.read(tmp_path / "out" / "exchanges.jsonl"))
    ids = [exchange.request.header("x-request-id") for exchange in live]
    assert len(set(ids)) == len(ids) == result.tally.wanted


def test_only_what_reads_and_is_not_part_of_a_sign_in_is_sent_from_a_template(
    polled: Path, tmp_path: Path
) -> None:
    _, steps = steps_of(polled, tmp_path / "out", concurrency=2)

    operations = {attempt.live.request.operation for attempt in from_templates(steps)}
    assert operations
    assert None not in operations
    assert {each.impact for each in operations if each} == {"read-only"}
    assert not [each.key for each in operations if each and "/auth/" in each.path]


@pytest.mark.parametrize("variants", [(), ("gzip",), ("chunked",), ("header-case",), ("further-headers",)])
def test_a_response_that_is_recognised_by_its_bytes_is_recorded_as_one_that_is_decoded(
    variants: tuple[str, ...], polled: Path, tmp_path: Path
) -> None:
    _, steps = steps_of(polled, tmp_path, variants=variants)

    # The length of a packed body varies by chance, which its head shows.
    assert len(recognised(steps)) >= (0 if variants == ("gzip",) else 10)
    written = {exchange.n: exchange for exchange in capture.read(tmp_path / "exchanges.jsonl")}
    for live in recognised(steps):
        assert live.response is not None
        line = written[live.n]
        assert line.response is not None
        assert line.request.url == live.request.url
        assert line.request.header("x-request-id") == live.request.header("x-request-id")
        assert line.response.headers == live.response.headers
        assert line.response.body == live.response.body
        assert live.data == live.response.body["data"]


def test_what_goes_over_the_wire_is_what_is_recorded_of_it(polled: Path, tmp_path: Path) -> None:
    _, steps = steps_of(polled, tmp_path)

    sent = [attempt.send for attempt in from_templates(steps)]
    assert sent
    for send in sent:
        head = send.head.decode()
        target = send.request.url.partition("://")[2].partition("/")[2]
        assert head.startswith(f"{send.request.method} /{target} HTTP/1.1\r\n")
        assert all(f"\r\n{name}: {value}\r\n" in head for name, value in send.request.headers)
