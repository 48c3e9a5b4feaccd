"""What a replay changes at the target: noted first, restored at the end, named where it cannot be."""
