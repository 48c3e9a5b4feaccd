"""A reference portal: one reading of the System Portal Web API, complete and running."""
