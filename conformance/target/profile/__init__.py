"""The profile: what is known of a target."""
