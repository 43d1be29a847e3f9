"""Tasks repeated for the rows of a table."""
