"""Where the worlds of a run are opened."""
