"""Adapters for other people's trainers: episodes of `webagent serve` in TRL, verifiers, Inspect."""
