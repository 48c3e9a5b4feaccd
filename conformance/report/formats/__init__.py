"""The formats in which a run is written."""
