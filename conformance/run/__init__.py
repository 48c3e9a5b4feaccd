"""A run of the cases: its session, its schedule, and what it would do."""
