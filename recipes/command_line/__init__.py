"""The command line: which recipes there are, and where their settings come from."""
