"""How stored steps become rows, and rows become weights."""

from webagent.training.rows import Row, avoided_rows, grow_vocabulary, policy_rows, row

__all__ = ["Row", "avoided_rows", "grow_vocabulary", "policy_rows", "row"]
