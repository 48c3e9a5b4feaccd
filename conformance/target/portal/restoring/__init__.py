"""The way back of every change: whether there is one, and taking it."""
