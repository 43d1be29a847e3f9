"""Learners: whoever turns experience with verdicts into a better policy, one file each."""

from loop.learners.state import ArmState, Learner, PredictsPages, Purpose, RemembersAtOnce

__all__ = ["ArmState", "Learner", "PredictsPages", "Purpose", "RemembersAtOnce"]
