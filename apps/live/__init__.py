"""`webagent run`: one task done live, watched and steered by a person."""

STEERING = "steering"
"""Under it a run's store has who is at work, while the run can be steered by signals."""
