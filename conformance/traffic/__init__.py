"""Traffic of any origin: the exchange, its capture files, its secrets, and the log of a run."""
