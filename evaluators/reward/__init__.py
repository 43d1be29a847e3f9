"""Learned reward models: what labelled episodes teach about success."""
