"""ESPRIT's rotations as weighted least squares."""

import numpy as np
import pytest

from splitmerge.learn.harmonic.roots import rotations


@pytest.mark.parametrize("dtype", [float, complex])
def test_least_squares_in_the_norm_of_the_inverse_covariance(dtype):
    """Φ minimises the residual E₁Φ − E₂ in the norm of N⁻¹, with N of all rows but the last."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is complex else 0)

    signal, M = normal(8, 3), normal(8, 8)
    N = M @ M.conj().T + np.eye(8)
    E = N @ signal
    weighted = np.linalg.solve(N[:-1, :-1], E[:-1])
    expected = np.linalg.eigvals(np.linalg.solve(weighted.conj().T @ E[:-1], weighted.conj().T @ E[1:]))
    found = rotations(signal, N)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-8)
