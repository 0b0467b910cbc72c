"""Pairs from multivariate statistics (CCA, LDA), and samples with known canonical correlations or discriminants."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..checks import real, whole
from ..typing import Array


def cca_pair(X: ArrayLike, Y: ArrayLike, ridge: float = 0.0) -> tuple[Array, Array]:
    """Canonical correlation analysis: A = [[0, Cxy], [Cyx, 0]] and B = diag(Cxx, Cyy) of samples in rows.

    The columns are centred. The eigenvalues are the canonical correlations, their negatives, and zeros; an eigenvector
    stacks the weights of X and those of Y. `ridge` is added to the diagonal of B, which is otherwise singular if there
    are no more samples than columns.

    >>> from scipy.linalg import eigvalsh
    >>> X, Y = two_views(50, 2, 2, [0.9, 0.5], exact=True, rng=0)
    >>> eigvalsh(*cca_pair(X, Y)).round(10)
    array([-0.9, -0.5,  0.5,  0.9])
    """
    X, Y = _samples(X, "X"), _samples(Y, "Y")
    if len(X) != len(Y):
        raise ValueError(f"X has {len(X)} rows and Y has {len(Y)}; give the same samples in both")
    p, Z = X.shape[1], np.hstack([X - X.mean(axis=0), Y - Y.mean(axis=0)])
    C = Z.T @ Z / len(Z)
    A, B = C.copy(), C
    A[:p, :p] = A[p:, p:] = 0
    B[:p, p:] = B[p:, :p] = 0
    return A, _ridged(B, ridge)


def lda_pair(X: ArrayLike, labels: ArrayLike, ridge: float = 0.0) -> tuple[Array, Array]:
    """Linear discriminant analysis: A and B are the between-class and within-class covariances of samples in rows.

    At most classes − 1 eigenvalues are nonzero. `ridge` is added to the diagonal of B.

    >>> from scipy.linalg import eigvalsh
    >>> X, labels = labelled_clouds(20, 4, [3.0, 1.0], exact=True, rng=0)
    >>> abs(eigvalsh(*lda_pair(X, labels)).round(10))
    array([0., 0., 1., 3.])
    """
    X, names = _samples(X, "X"), np.asarray(labels)
    if names.shape != (len(X),):
        raise ValueError(f"labels has shape {names.shape} and X has {len(X)} rows; give one label for each row")
    if names.dtype.kind == "f" and not np.isfinite(names).all():
        raise ValueError("labels contains NaN or infinity; remove those samples")
    classes, member = np.unique(names, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("labels has a single class; give samples of at least two classes")
    size = np.bincount(member)
    means = np.stack([X[member == c].mean(axis=0) for c in range(len(classes))])
    between, within = means - X.mean(axis=0), X - means[member]
    A = (between * size[:, None]).T @ between / len(X)
    return (A + A.T) / 2, _ridged(within.T @ within / len(X), ridge)


def two_views(
    samples: int, p: int, q: int, correlations: ArrayLike, *, exact: bool = False, rng: Any = None
) -> tuple[Array, Array]:
    """Two Gaussian views with p and q columns and the given population canonical correlations.

    With `exact`, these are the sample correlations up to rounding, and all others are zero.

    >>> X, Y = two_views(200, 3, 2, [0.8], rng=0)
    >>> X.shape, Y.shape
    ((200, 3), (200, 2))
    """
    p, q = whole(p, "p", 1), whole(q, "q", 1)
    samples = whole(samples, "samples", p + q + 1 if exact else 1)
    rho = np.asarray(correlations, dtype=np.float64)
    if rho.ndim != 1 or rho.size > min(p, q) or not (abs(rho) < 1).all():
        raise ValueError(f"correlations must be at most min(p, q) = {min(p, q)} numbers between −1 and 1")
    generator = np.random.default_rng(rng)
    Z = _noise(generator, samples, p + q, np.ones((samples, 1)) if exact else None)
    X, Y = Z[:, :p], Z[:, p:]
    k = rho.size
    Y[:, :k] = rho * X[:, :k] + np.sqrt(1 - rho**2) * Y[:, :k]
    # mix the columns of each view, so that no single column is a canonical variate
    return X @ _mixing(generator, p), Y @ _mixing(generator, q)


def labelled_clouds(
    per_class: int, p: int, discriminants: ArrayLike, *, exact: bool = False, rng: Any = None
) -> tuple[Array, Array]:
    """Gaussian classes in p dimensions and their labels, with one more class than discriminants.

    The discriminants, all positive, are the nonzero population eigenvalues of `lda_pair`. With `exact`, they are the
    sample eigenvalues up to rounding.

    >>> X, labels = labelled_clouds(2, 3, [5.0], rng=0)
    >>> X.shape, labels.tolist()
    ((4, 3), [0, 0, 1, 1])
    """
    d = np.asarray(discriminants, dtype=np.float64)
    if d.ndim != 1 or not d.size or not (d > 0).all() or not np.isfinite(d).all():
        raise ValueError("discriminants must be a non-empty list of positive finite numbers, one fewer than classes")
    classes, p = d.size + 1, whole(p, "p", d.size)
    per_class = whole(per_class, "per_class", p // classes + 2 if exact else 1)
    generator = np.random.default_rng(rng)
    labels = np.repeat(np.arange(classes), per_class)
    indicators = np.eye(classes)[labels]
    # orthonormal contrasts: class means with mean zero and covariance diag(d)
    contrasts = np.linalg.qr(np.column_stack([np.ones(classes), np.eye(classes)[:, 1:]]))[0][:, 1:]
    X = _noise(generator, len(labels), p, indicators if exact else None)
    X[:, : d.size] += (np.sqrt(classes * d) * contrasts)[labels]
    return X @ _mixing(generator, p), labels


def _samples(X: ArrayLike, name: str) -> Array:
    if sp.issparse(X):
        raise ValueError(f"{name} is sparse, but its covariance is dense; give {name}.toarray()")
    data = np.asarray(X)
    if data.ndim != 2 or not data.size or data.dtype.kind not in "iufb":
        raise ValueError(f"{name} must be a real array with samples in rows; it has shape {data.shape}, {data.dtype}")
    if not np.isfinite(data).all():
        raise ValueError(f"{name} contains NaN or infinity; remove or impute those samples")
    return data.astype(np.result_type(data.dtype, np.float32), copy=False)


def _ridged(B: Array, ridge: float) -> Array:
    amount = real(ridge, "ridge", least=0.0)
    B = (B + B.T) / 2
    B[np.diag_indices_from(B)] += amount
    return B


def _noise(generator: np.random.Generator, rows: int, columns: int, against: Array | None) -> Array:
    """Standard normal samples; with `against`, orthogonal to its columns and with unit sample covariance."""
    Z = generator.standard_normal((rows, columns))
    if against is None:
        return Z
    Q = np.linalg.qr(np.column_stack([against, Z]))[0][:, against.shape[1] :]
    return np.asarray(Q * np.sqrt(rows))


def _mixing(generator: np.random.Generator, n: int) -> Array:
    """A random matrix of condition number 3."""
    P, Q = (np.linalg.qr(generator.standard_normal((n, n)))[0] for _ in range(2))
    return np.asarray((P * np.linspace(1.0, 3.0, n)) @ Q)
