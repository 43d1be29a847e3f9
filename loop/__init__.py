"""The circle: sessions, arms, learners, sampling of tasks, proposers, judging, the run folder."""
