"""Times and random values of the target: held against the clock of their response, and against each other."""
