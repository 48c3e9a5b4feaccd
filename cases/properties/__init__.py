"""What holds whatever is sent and in whatever order (chapters "Endpoints", "Errors", "States")."""
