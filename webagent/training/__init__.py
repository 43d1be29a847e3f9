"""How stored steps become rows, and rows become weights."""

from webagent.training.rows import (
    TrainingRow,
    grow_vocabulary,
    make_avoided_rows,
    make_policy_rows,
    make_row,
)

__all__ = ["TrainingRow", "grow_vocabulary", "make_avoided_rows", "make_policy_rows", "make_row"]
