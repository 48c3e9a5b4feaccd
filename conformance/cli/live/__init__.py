"""A run on the terminal: runs pytest on the cases, and shows how far they are in lines of its own."""
