"""Language models taught by stored steps: rows of token ids, losses and the trainer over them."""

from webagent.training.language.rows import Encoded, TokenRow, make_step_rows

__all__ = ["Encoded", "TokenRow", "make_step_rows"]
