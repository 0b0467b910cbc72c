"""Speed as ratios, both sides timed in one run: `python -m benchmarks [NAME …]`, all of them without a name."""
