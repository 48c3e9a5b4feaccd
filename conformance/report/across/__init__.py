"""Several runs together: comparison, matrix, history, baseline."""
