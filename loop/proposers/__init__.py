"""Proposers: what each source of new tasks is shown, how replies are read, what is not taken."""
