"""Metrics induced from people's open feedback: what they find good and bad, told apart."""
