"""How stored steps become rows, and rows become weights."""
