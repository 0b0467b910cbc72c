"""Simulated trials for the tests of CSP and SPoC."""

import numpy as np

SAMPLES = 80
KINDS = ["average reference", "channel twice", "dead channel", "components removed"]


def recordings(trials=40, channels=6, classes=2, seed=0, dtype=float):
    """Trials in which source i is loud in class i, the labels, and the mixing."""
    rng = np.random.default_rng(seed)
    y = np.arange(trials) % classes
    sources = rng.standard_normal((trials, channels, SAMPLES)) * np.linspace(1, 2, channels)[:, None]
    for i in range(classes):
        sources[y == i, i] *= 3 + i
    mixing = rng.standard_normal((channels, channels))
    return (mixing @ sources).astype(dtype), y, mixing


def distinct_classes(trials=60, channels=6, classes=3, seed=0):
    """Trials whose sources have different powers in all classes, which determines the joint diagonalisation."""
    rng = np.random.default_rng(seed)
    y = np.arange(trials) % classes
    sources = rng.standard_normal((trials, channels, SAMPLES)) * rng.uniform(1, 4, (classes, channels))[y][:, :, None]
    return rng.standard_normal((channels, channels)) @ sources, y


def comodulated(trials=50, channels=6, seed=0):
    """Trials in which the power of source 0 is y, the target y, and the mixing."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(1, 20, trials)
    sources = rng.standard_normal((trials, channels, SAMPLES))
    sources[:, 0] *= np.sqrt(y)[:, None]
    mixing = rng.standard_normal((channels, channels))
    return mixing @ sources, y, mixing


def deficient(X, kind):
    """X without some directions, and the rank that is left."""
    channels = X.shape[1]
    if kind == "average reference":
        return X - X.mean(axis=1, keepdims=True), channels - 1
    if kind == "channel twice":
        return np.concatenate([X, X[:, :1]], axis=1), channels
    if kind == "dead channel":
        return np.concatenate([X, 0 * X[:, :1]], axis=1), channels
    out = np.linalg.qr(np.random.default_rng(5).standard_normal((channels, 2)))[0].astype(X.dtype)
    return X - out @ (out.T @ X), channels - 2


def same_up_to_sign(found, expected, tol):
    """Rows that agree, relative to the largest entry, when each may have another sign."""
    signs = np.sign(np.einsum("ij,ij->i", found, expected))[:, None]
    np.testing.assert_allclose(signs * found, expected, rtol=0, atol=tol * np.abs(expected).max())
