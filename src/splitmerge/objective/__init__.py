"""The mathematics of the paper: the objective f, its curvature, its quadratic surrogates and the transformed domain."""
