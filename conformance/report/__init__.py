"""Reports of runs, replays and checks."""
