"""Learners: whoever turns experience with verdicts into a better policy, one file each."""

from loop.learners.state import ArmState, Learner, Purpose, RemembersAtOnce

__all__ = ["ArmState", "Learner", "Purpose", "RemembersAtOnce"]
