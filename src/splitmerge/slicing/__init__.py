"""Spectrum slicing: all eigenvalues in an interval, by inertia counts and shift-invert."""
