"""Properties of a matrix and of a pair, as reported by `splitmerge info`."""
