"""Benchmarks: one module each, which makes its tasks."""
