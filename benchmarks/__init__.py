"""Speed as ratios, both sides timed in one run: `python -m benchmarks [overhead] [peers] [sparse]`."""
