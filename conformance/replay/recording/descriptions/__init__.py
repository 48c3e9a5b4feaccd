"""What a user reads of a recording: before a replay, and in its report."""
