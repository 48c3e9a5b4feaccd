"""Runs of the cases: session, schedule, and plan."""
