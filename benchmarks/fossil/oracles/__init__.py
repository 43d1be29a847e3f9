"""Oracles for the tasks on fossil@1."""
