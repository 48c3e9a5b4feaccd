"""The cases, by chapter of the specification."""
