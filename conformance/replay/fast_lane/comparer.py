"""The cache of comparisons: a wrapper of the comparer that compares repeated pairs of responses once."""

from __future__ import annotations

from conformance.replay.compare.comparer import ResponseComparer, ResponseComparison
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.fast_lane.epoch import Epoch

CACHED_PAIRS = 100_000

NO_DIFFERENCES = ResponseComparison([], is_stable=True)


class CachingComparer:
    """Finds two responses the same where two with the same fingerprints were, in this epoch."""

    def __init__(self, comparer: ResponseComparer, epoch: Epoch) -> None:
        self._comparer = comparer
        self._epoch = epoch
        self._same: dict[tuple[int, int], int] = {}
        """By fingerprints, the correlation's generation in which they were the same."""

    def compare(self, pair: ReplayedExchange) -> ResponseComparison:
        """As ``Comparer.compare``."""
        if self.is_same(pair):
            return NO_DIFFERENCES
        comparison = self._comparer.compare(pair)
        if pair.fingerprints is not None and comparison.is_stable:
            if len(self._same) >= CACHED_PAIRS:
                self._same.clear()
            self._same[pair.fingerprints] = self._epoch.of_requests
        return comparison

    def is_same(self, pair: ReplayedExchange) -> bool:
        """Whether two responses with these fingerprints are known to be the same."""
        if pair.fingerprints is None:
            return False
        return self._same.get(pair.fingerprints) == self._epoch.of_requests
