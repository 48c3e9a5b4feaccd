"""Latencies of a load: histograms that merge, and limits on them."""
