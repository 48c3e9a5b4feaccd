"""The target portal: profile, clock, state, and the only access to it."""
