"""Garbage is collected by the amount of traffic."""

from __future__ import annotations

from pathlib import Path

from conformance.run.hooks.loop import DUE_BYTES, GarbageByTraffic


def test_garbage_is_collected_once_for_each_due_amount_of_traffic(tmp_path: Path) -> None:
    record, collected = tmp_path / "exchanges.jsonl", []
    garbage = GarbageByTraffic(record, lambda: collected.append(record.stat().st_size))

    garbage.collect_where_due()
    assert collected == []

    for size in (DUE_BYTES, DUE_BYTES + 1, DUE_BYTES + 2, 2 * DUE_BYTES + 2):
        record.write_bytes(bytes(size))
        garbage.collect_where_due()

    assert collected == [DUE_BYTES + 1, 2 * DUE_BYTES + 2]
