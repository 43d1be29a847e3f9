"""Oracles for MiniWoB++."""
