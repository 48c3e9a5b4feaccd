"""The parts of a run that the pytest hooks of ``conformance.plugin`` call."""
