"""The parts of a B policy: the check of its name, the positive part of a spectrum, the search for a ridge."""

import numpy as np
import pytest

from splitmerge.problem.b_policy import POLICIES, check_policy, positive_part, smallest_ridge

EPS = float(np.finfo(float).eps)


def test_names():
    assert [check_policy(policy) for policy in POLICIES] == list(POLICIES)
    for policy in ("drop", None, 1, ["ridge"]):
        with pytest.raises(ValueError, match=r"b_policy is .* give one of 'error', 'ridge', 'restrict'"):
            check_policy(policy)


@pytest.mark.parametrize("dtype", [float, complex])
def test_the_positive_part_whitens(dtype):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((6, 4)).astype(dtype)
    if dtype is complex:
        M += 1j * rng.standard_normal((6, 4))
    B = M @ M.conj().T
    values, vectors = np.linalg.eigh(B)
    part = positive_part(values, vectors, 6 * EPS * values[-1])
    assert part.rank == 4
    Q = part.whitening
    np.testing.assert_allclose(Q.conj().T @ B @ Q, np.eye(4), atol=1e-12)
    # an eigenvalue at the threshold itself is dropped
    assert positive_part(values, vectors, values[-1]).rank == 0
    assert positive_part(values, vectors, values[-2]).rank == 1


@pytest.mark.parametrize(("size", "unit"), [(3.0, 3.0), (0.0, 1.0)])
def test_the_ridge_grows_by_powers_of_ten(size, unit):
    tried = []

    def attempt(ridge):
        tried.append(ridge)
        return "definite" if len(tried) == 3 else None

    ridge, found = smallest_ridge(attempt, 16, EPS, size)
    assert found == "definite"
    assert ridge == tried[-1]
    np.testing.assert_allclose(tried, np.array([1e2, 1e3, 1e4]) * 4 * EPS * unit)
