"""`sm.solve` against SciPy in one table of ratios, in minutes: `python -m benchmarks.quick`."""
