"""Oracles for the tasks on oscar@1."""
