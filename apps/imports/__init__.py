"""Episodes that other systems recorded, as trajectories of a run."""
