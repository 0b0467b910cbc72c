"""Benchmarks as speed ratios of solvers timed in the same run: `python -m benchmarks [NAME …]` (default: all)."""
