"""What a replay changes at the target: written down first, restored at the end, and reported where it cannot be."""
