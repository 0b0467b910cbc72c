"""The V-cycle: Hermitian, positive definite, and a good inverse of a Laplacian."""

import numpy as np
import pytest
import scipy.sparse as sp

import splitmerge as sm
from pairs import grid
from splitmerge.preconditioners.multigrid import _Level

SIDE = 20
# A unitary diagonal matrix makes the Laplacian complex, and its smooth vectors multiples of these phases.
PHASES = np.exp(1j * np.arange(SIDE**2))
ROTATED = sp.csr_array(sp.diags_array(PHASES) @ grid(SIDE) @ sp.diags_array(PHASES.conj()))
LAPLACIANS = {"real": grid(SIDE), "complex": ROTATED}


def cycle_of(B):
    multigrid = sm.MultiGrid(PHASES[:, None] if B.dtype.kind == "c" else None)
    return multigrid.prepare(sm.Pencil(sp.eye_array(B.shape[0], format="csr"), B))


def matrix_of(cycle, n, dtype):
    return cycle.gram_block(np.eye(n, dtype=dtype))


@pytest.mark.parametrize("name", LAPLACIANS)
def test_is_symmetric_and_positive_definite(name):
    """Without smoothing after the correction, or with another smoother there, it is not symmetric."""
    B = LAPLACIANS[name]
    cycle = cycle_of(B)
    assert len(cycle.levels) >= 1
    P = matrix_of(cycle, B.shape[0], B.dtype)
    assert np.abs(P - P.conj().T).max() <= 1e-5 * np.abs(P).max()
    assert np.linalg.eigvalsh((P + P.conj().T) / 2)[0] > 0


@pytest.mark.parametrize(("name", "scale"), [("real", 1.0), ("real", 1e-6), ("real", 1e20), ("complex", 1.0)])
def test_convergence_factor(name, scale):
    """The largest eigenvalue of I − PB: what is left of the error after a cycle."""
    B = LAPLACIANS[name] * scale
    P = matrix_of(cycle_of(B), B.shape[0], B.dtype)
    error = np.eye(B.shape[0]) - P @ B.toarray()
    assert np.abs(np.linalg.eigvals(error)).max() <= 0.3


def test_vector_and_block_agree():
    B = LAPLACIANS["real"]
    cycle, R = cycle_of(B), np.random.default_rng(0).standard_normal((B.shape[0], 3))
    X = cycle.gram_block(R)
    for x, r in zip(X.T, R.T, strict=True):
        np.testing.assert_allclose(cycle.gram_solve(np.ascontiguousarray(r)), x, atol=1e-5 * np.abs(x).max())


def test_smoother():
    """It leaves the residual r − Ax of its correction x, and removes the upper part of the spectrum."""
    B = grid(SIDE)

    class Given:
        A = P = R = B

    level = _Level(Given)
    values, vectors = np.linalg.eigh(B.toarray())
    for r, most in ((vectors[:, -1], 0.15), (vectors[:, values.size // 2], 0.3)):
        x, left = level.smooth(r.astype(np.float32))
        np.testing.assert_allclose(left, r - B @ x, atol=1e-5)
        assert np.linalg.norm(left) <= most
        np.testing.assert_allclose(level.smooth(r.astype(np.float32), last=True)[0], x, atol=1e-7)


def test_indefinite_matrices_are_refused():
    for B in (-grid(SIDE), grid(SIDE) - 2 * sp.eye_array(SIDE**2)):
        with pytest.raises(sm.NotPositiveDefinite, match="B is not positive definite"):
            cycle_of(B.tocsr())


def test_the_global_generator_is_left_as_it_was():
    """PyAMG draws from it; the set-up is reproducible, and what the caller draws does not depend on it."""
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random(3)  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    first = matrix_of(cycle_of(grid(SIDE)), SIDE**2, float)
    np.testing.assert_array_equal(np.random.random(3), expected)  # noqa: NPY002
    np.testing.assert_array_equal(matrix_of(cycle_of(grid(SIDE)), SIDE**2, float), first)
