"""Playing stored episodes again without a model, and writing them as scripts."""
