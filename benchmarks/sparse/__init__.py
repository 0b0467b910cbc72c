"""`sm.solve` against other solvers on sparse pairs: `python -m benchmarks sparse`."""
