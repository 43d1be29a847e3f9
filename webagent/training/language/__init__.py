"""Language models taught by stored steps: rows of token ids, losses and the trainer over them."""
