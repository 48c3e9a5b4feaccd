"""The recording of a replay: its exchanges, and the plan made of them."""
