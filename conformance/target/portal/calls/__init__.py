"""Calls of the endpoints: their headers, the bodies that only the profile shows, and who sends them."""
