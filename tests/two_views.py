"""Data of two views, and what centring and scaling make of them."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [1, 2, 3, 0.1, 5] + [0, 1, -3, 7, 100]
Y = RNG.standard_normal((60, 3)) + X[:, :3]
WEIGHTS = RNG.integers(0, 4, 60).astype(float)


def explicit(X, weights, scale):
    """Rows times roots of weights, over the root of their sum."""
    w = np.ones(len(X)) if weights is None else weights
    Z = X - w @ X / w.sum()
    if scale:
        Z = Z / np.sqrt(w @ Z**2 / w.sum())
    return np.sqrt(w / w.sum())[:, None] * Z
