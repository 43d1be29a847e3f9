"""Benchmarks: one module or folder each, with its tasks, its site, its solutions and its rules."""
