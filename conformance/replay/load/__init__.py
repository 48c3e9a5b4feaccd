"""A replay as a load: requests start when they are due, and latency counts from then."""
